"""``python -m linegym warmup``: compile the production line now, not when the first step is taken."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m linegym", description="A production line as an environment.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    warm = verbs.add_parser(
        "warmup",
        help="compile now what the first step would compile",
        description="Compile the production line and keep it for all later processes; half a minute, once a machine. "
        "NUMBA_CACHE_DIR names the directory to keep it in; else it is the package's own, or the user's cache where "
        "nobody may write there.",
    )
    warm.add_argument("--threads", type=_threads, default=2, metavar="N", help="1: leave out several threads [2]")
    given = parser.parse_args(arguments)
    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    from linegym.compilation import warmup  # after the arguments: `--help` answers at once

    began = time.perf_counter()
    warmup(given.threads)
    print(f"the production line is ready ({time.perf_counter() - began:.1f} s)")
    return 0


def _threads(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return number


if __name__ == "__main__":
    sys.exit(main())
