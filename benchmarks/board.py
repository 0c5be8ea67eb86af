"""How long a whole leaderboard takes: policies evaluated on a split, validated, ranked and rendered.

    .venv/bin/python benchmarks/board.py

plays six shipped policies on all of ``line-v1/iid`` (200 variants, 5 attempts each: 6,000 shifts of 600 ticks) by two
processes, validates the six submissions with five episodes of each played again, and writes the page, the tables and
the JSON file. Each step is the command that people type, so that the start of Python and the loading of compiled code
count.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

POLICIES = ("no-op", "random", "threshold", "cusum", "oracle-diagnosis", "oracle")
LIMIT = 180.0
"""What all of it may take on two cores that nobody else uses [s]."""
ROLF = (sys.executable, "-c", "from rolf.cli import main; main()")


def timed(name: str, command: Sequence[str]) -> tuple[float, float]:
    """Run a command; print and return its time by the clock and on the processors [s]."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*ROLF, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:<28}{clock:8.1f} s{busy:8.1f} s on the processors", flush=True)
    return clock, busy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", default="line-v1/iid", help="what is played")
    parser.add_argument("--policies", nargs="+", default=POLICIES, help="who plays")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, help="keep everything there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = args.out or Path(temporary)
        jobs = ["--jobs", str(args.jobs)]
        steps = {
            f"eval {policy}": ["eval", "--split", args.split, "--policy", policy, "--out", str(out / policy), *jobs]
            for policy in args.policies
        }
        steps["board validate"] = ["board", "validate", str(out)]
        files = [word for kind in ("html", "markdown", "json") for word in (f"--{kind}", str(out / f"board.{kind}"))]
        steps["board render"] = ["board", "render", str(out), *files]
        times = [timed(name, command) for name, command in steps.items()]
        clock, busy = (sum(each) for each in zip(*times, strict=True))
        print(f"{'all of it':<28}{clock:8.1f} s{busy:8.1f} s on the processors; {os.cpu_count()} cores", flush=True)
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file() and path.parent != out)
        page = (out / "board.html").stat().st_size
        print(f"{len(args.policies)} submissions: {size / 1e6:.1f} MB; page: {page / 1e6:.1f} MB")
        verdict = "within" if clock <= LIMIT else "beyond"
        print(f"{verdict} {LIMIT:.0f} s")


if __name__ == "__main__":
    main()
