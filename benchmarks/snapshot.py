"""Put a home back, and say what changed, beside ``rsync -aHAX --delete`` and ``diff -r`` in one run.

    python benchmarks/snapshot.py [--sizes 1000 10000 100000] [--rounds 7]

All trees lie on one tmpfs in a private mount namespace (as an ordinary user: in a user namespace), so the disk takes no
side. Each round changes ten files and lets every contender undo them or find them, one after the other; the figures are
medians, and the ratios compare figures of the same run. The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from termgym.snapshot import copy_tree, open_snapshot, probe

CHANGES = 10
FILES_IN_DIRECTORY = 100
RESET_BARS = {1_000: 0.05, 10_000: 0.02, 100_000: 0.005}
"""Files -> most of one rsync restore that a reset may cost."""
DIFF_BARS = {100_000: 0.001}
"""Files -> most of one ``diff -r`` that a diff may cost."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], metavar="FILES")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        return enter()
    scratch = Path("/mnt")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", scratch], check=True)
    print(f"{'files':>7} {'what':<28} {'median ms':>10} {'ratio':>9} {'bar':>7}")
    met = [measure(scratch / str(size), size, options.rounds) for size in options.sizes]
    return 0 if all(met) else 1


def enter() -> int:
    """Run this script again in its own mount namespace."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *user, "--mount", "--propagation", "private", "--", sys.executable, *sys.argv, "--inside"]
    return subprocess.run(command, check=False).returncode


def measure(scratch: Path, size: int, rounds: int) -> bool:
    """Measure one size of home; return whether it meets its bars."""
    scratch.mkdir()
    base = scratch / "base"
    build(base, size)
    plain = scratch / "plain"
    copy_tree(base, plain)
    snapshots = {}
    for name in ("overlay", "overlay-userns", "manifest"):
        work = scratch / name
        work.mkdir()
        if probe(work)[name] is None:
            snapshots[name] = open_snapshot(base, work, backend=name)
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        change(plain, size)
        clock(times, "diff -r", run("diff", "-r", "--no-dereference", base, plain, status=1))
        clock(times, "rsync restore", run("rsync", "-aHAX", "--delete", f"{base}/", f"{plain}/"))
        for name, snapshot in snapshots.items():
            change(snapshot.live, size)
            clock(times, f"{name} diff", snapshot.diff)
            clock(times, f"{name} digest", snapshot.digest)
            assert len(snapshot.diff()) == CHANGES, snapshot.diff()
            clock(times, f"{name} reset", snapshot.restore)
    met = report(times, size)
    for snapshot in snapshots.values():
        snapshot.close()
    return met


def build(base: Path, size: int) -> None:
    home = base / "home" / "agent"
    home.mkdir(parents=True)
    for number in range(size):
        path = place(base, number)
        if number % FILES_IN_DIRECTORY == 0:
            path.parent.mkdir()
        path.write_bytes(b"x" * (number % 3_000))


def place(root: Path, number: int) -> Path:
    return root / "home" / "agent" / f"d{number // FILES_IN_DIRECTORY}" / f"f{number}"


def change(root: Path, size: int) -> None:
    """Append to four files, remove three, add three; spread over the home."""
    for turn in range(CHANGES):
        path = place(root, turn * size // CHANGES)
        if turn % 3 == 0:
            with path.open("ab") as file:
                file.write(b"more")
        elif turn % 3 == 1:
            path.unlink()
        else:
            path.with_suffix(".new").write_bytes(b"new")


def run(*command: str | Path, status: int = 0) -> Callable[[], object]:
    def call() -> None:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        assert done.returncode == status, f"{command[0]} ended with {done.returncode}"

    return call


def clock(times: dict[str, list[float]], what: str, call: Callable[[], object]) -> None:
    started = time.perf_counter()
    call()
    times.setdefault(what, []).append((time.perf_counter() - started) * 1e3)


def report(times: dict[str, list[float]], size: int) -> bool:
    """Print the medians, and their ratios to rsync (resets) or ``diff -r`` (diffs and digests)."""
    medians = {what: statistics.median(values) for what, values in times.items()}
    met = True
    for what, median in medians.items():
        ratio = median / medians["rsync restore" if what.endswith(("reset", "restore")) else "diff -r"]
        bars = RESET_BARS if what == "overlay reset" else DIFF_BARS if what == "overlay diff" else {}
        bar = bars.get(size)
        missed = bar is not None and ratio > bar
        met = met and not missed
        shown = "" if bar is None else f"{bar:g}" + (" MISSED" if missed else "")
        print(f"{size:>7} {what:<28} {median:>10.3f} {ratio:>9.5f} {shown:>7}", flush=True)
    return met


if __name__ == "__main__":
    sys.exit(main())
