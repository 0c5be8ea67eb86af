"""Make ``tables.json`` anew: ``python -m linegym.data.make_tables``.

The two tables stand for the normal quantile and the sine, which no mathematical library computes alike on every
machine. mpmath computes each entry with 60 digits, and Python rounds it correctly to a double: the result depends on
nothing but the formula. Needs mpmath (``pip install 'rolf[test]'``); nothing else in the package does.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from mpmath import erfinv, mp, mpf, sinpi, sqrt  # type: ignore[import-untyped]

from linegym.plant import SINE_ENTRIES

DIGITS = 60
LEVELS = ((22, 512), (18, 256), (12, 256), (6, 256))
"""Shift and number of cells of each level of the normal table; a level has one entry more than cells."""


def normal(shift: int, entry: int) -> float:
    """Return ``-quantile((entry << shift) * 2**-32)``, the argument 0 replaced by ``2**-33``."""
    argument = mpf(entry << shift) / 2**32 if entry else mpf(1) / 2**33
    return float(sqrt(2) * erfinv(1 - 2 * argument))


def sine(entry: int) -> float:
    """Return ``sin(2 pi entry / SINE_ENTRIES)``."""
    return float(sinpi(mpf(2 * entry) / SINE_ENTRIES))


def tables() -> dict[str, list[str]]:
    """Return both tables as hexadecimal floats, which no reader can round."""
    with mp.workdps(DIGITS):
        return {
            "normal": [normal(shift, entry).hex() for shift, cells in LEVELS for entry in range(cells + 1)],
            "sine": [sine(entry).hex() for entry in range(SINE_ENTRIES)],
        }


def main() -> None:
    """Write the file, and print the digest that ``linegym.tables`` must expect."""
    content = (json.dumps(tables(), indent=0) + "\n").encode()
    Path(__file__).with_name("tables.json").write_bytes(content)
    print(hashlib.sha256(content).hexdigest())


if __name__ == "__main__":
    main()
