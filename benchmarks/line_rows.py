"""What the twins of the compiled kernel step: the parameter rows of some variants, and how states are told apart."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linegym import layout as L

if TYPE_CHECKING:
    from linegym.variants import Variant

Array = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Rows:
    """Parameters of ``n`` lines, laid out as in ``linegym.layout``."""

    which: NDArray[np.int64]  # (n,)
    """Row of ``plants_short`` and ``plants_real``: lines of one template share its plant."""
    plants_short: NDArray[np.int32]  # (templates, T_ROW)
    plants_real: NDArray[np.float64]  # (templates, G_ROW)
    laws: NDArray[np.float64]  # (n, V_ROW)
    uids: NDArray[np.uint64]  # (n,)

    @classmethod
    def of(cls, variants: Sequence[Variant]) -> Rows:
        """Return the rows of some variants."""
        names = list(dict.fromkeys(variant.template.name for variant in variants))
        templates = {variant.template.name: variant.template for variant in variants}
        plants = [templates[name].plant().rows() for name in names]
        return cls(
            np.array([names.index(variant.template.name) for variant in variants], np.int64),
            np.array([short for short, _ in plants], np.int32),
            np.array([real for _, real in plants], np.float64),
            np.array([variant.row() for variant in variants], np.float64),
            np.array([variant.uid for variant in variants], np.uint64),
        )

    @property
    def n(self) -> int:
        return len(self.which)


def empty_state(n: int) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.float32]]:
    return np.zeros((n, L.H_ROW), np.int16), np.zeros((n, L.I_ROW), np.int32), np.zeros((n, L.F_ROW), np.float32)


def digest(*arrays: Array) -> str:
    """Return what ``Batch.digest`` returns of the same arrays: short, whole and real state, observations, rewards."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
