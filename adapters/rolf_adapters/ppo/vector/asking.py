"""Asking: an environment that is asked for variants must tell that it plays them, or what is measured is a lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class UnknownVariant(ValueError):
    """An environment that was asked for a variant does not tell that it plays it."""


def check_asked(asked: Sequence[str], told: NDArray[np.object_], rows: NDArray[np.bool_]) -> None:
    """See that rows which have begun an episode play the variants that they were asked to.

    Args:
        asked: Of each row.
        told: What each row tells, empty where it tells nothing.
        rows: Which have begun one.

    Raises:
        UnknownVariant: one plays another, or does not tell.
    """
    for row in np.flatnonzero(rows).tolist():
        if told[row] == asked[row]:
            continue
        tells = repr(told[row]) if told[row] else "nothing"
        raise UnknownVariant(
            f"the environment was asked for the variant {asked[row]!r} in row {row} and tells {tells} in "
            "info['variant_id']; environment.split and environment.variants are for environments whose "
            "reset(options={'variants': [...]}) takes a variant a row, and that tell each as it was asked for. Give "
            "variants as such an environment tells them, or leave both keys out and say in environment.kwargs what is "
            "played"
        )
