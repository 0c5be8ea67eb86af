"""Time TermEnv beside its peers in one run and print ratios.

    python benchmarks/terminal.py [--quick] [--json FILE]

Contestants take turns round by round, so that a busy machine slows all of them alike; each figure is a median.
A peer that is not installed is named as missing, never left out silently.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import gymnasium
import peers

import termgym

sys.path.insert(0, str(Path(__file__).parent))


@dataclass
class Row:
    """One comparison."""

    what: str
    ours_ms: float
    theirs: str
    theirs_ms: float
    bar: float | None
    """Highest ratio that is good enough; None: shown for information."""

    @property
    def ratio(self) -> float:
        return self.ours_ms / self.theirs_ms


def median_ms(samples: list[float]) -> float:
    return statistics.median(samples) * 1000


def in_turns(contestants: dict[str, Callable[[], object]], rounds: int, burst: int) -> dict[str, float]:
    """Return each contestant's median time of one call [ms]; ``burst`` calls a turn, ``rounds`` turns."""
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            for _ in range(burst):
                began = perf_counter()
                call()
                samples[name].append(perf_counter() - began)
    return {name: median_ms(times) for name, times in samples.items()}


@contextmanager
def blank_env() -> Iterator[gymnasium.Env[object, str]]:
    env = gymnasium.make("termgym:TermEnv-v1", task=None, max_steps=10**9, disable_env_checker=True)
    env.reset(seed=0)
    try:
        yield env
    finally:
        env.close()


def steps(quick: bool) -> list[Row]:
    rows = []
    with ExitStack() as stack:
        env = stack.enter_context(blank_env())
        world = env.unwrapped.episode.session  # type: ignore[attr-defined]
        action = termgym.plan("true")
        contestants: dict[str, Callable[[], object]] = {
            "Session.step": lambda: world.step(b"true", timeout=10.0),
            "env.step": lambda: env.step(action),
        }
        slow: dict[str, Callable[[], object]] = {}
        for name, peer in peers.SHELLS.items():
            call = peers.enter(stack, peer, name)
            if call is not None:
                (slow if name in peers.SLOW else contestants)[name] = call
        rounds = 5 if quick else 20
        fast_ms = in_turns(contestants, rounds, 20)
        slow_ms = in_turns({"Session.step": contestants["Session.step"], **slow}, max(1, rounds // 5), 20)
    for name, bar in peers.STEP_BARS.items():
        if name in fast_ms:
            rows.append(Row("builtin step", fast_ms["Session.step"], name, fast_ms[name], bar))
        elif name in slow_ms:
            rows.append(Row("builtin step", slow_ms["Session.step"], name, slow_ms[name], bar))
    if "pexpect, no delay" in fast_ms:
        rows.append(Row("whole env.step", fast_ms["env.step"], "pexpect, no delay", fast_ms["pexpect, no delay"], 0.6))
    return rows


def resets(quick: bool) -> list[Row]:
    """Whole reset of a home of 10 000 files with 10 changed, beside one rsync restore of the same tree.

    ``at once``: a second reset right after the first, before a spare shell is ready: all of the work, waited for.
    """
    with ExitStack() as stack:
        tree = stack.enter_context(peers.tree(10_000))
        env = stack.enter_context(peers.env_on(tree))
        rsync = peers.enter(stack, lambda: peers.rsync_restore(tree), "rsync")
        change = termgym.plan(peers.CHANGE_TEN)
        samples: dict[str, list[float]] = {"whole reset": [], "whole reset, at once": [], "rsync": []}
        for _ in range(3 if quick else 15):
            env.step(change)
            for name in ("whole reset", "whole reset, at once"):
                began = perf_counter()
                env.reset(seed=0)
                samples[name].append(perf_counter() - began)
            if rsync is not None:
                samples["rsync"].append(rsync())
    if not samples["rsync"]:
        return []
    theirs = median_ms(samples.pop("rsync"))
    return [
        Row(f"{name}, 10 000 files", median_ms(times), "rsync -aHAX --delete", theirs, 0.06)
        for name, times in samples.items()
    ]


def diffs(quick: bool) -> list[Row]:
    """Diff of ten changes in a home of 100 000 files, beside ``diff -r`` of the same trees."""
    count = 20_000 if quick else 100_000
    with ExitStack() as stack:
        tree = stack.enter_context(peers.tree(count))
        env = stack.enter_context(peers.env_on(tree))
        env.step(termgym.plan(peers.CHANGE_TEN))
        assert len(env.unwrapped.diff()) == 10, env.unwrapped.diff()  # type: ignore[attr-defined]
        compare = stack.enter_context(peers.diff_r(tree))
        times = in_turns({"ours": env.unwrapped.diff, "diff -r": compare}, 3 if quick else 5, 1)  # type: ignore[attr-defined]
    bar = None if quick else 0.001  # ours does not grow with the tree, so a small one says little
    return [Row(f"diff of 10 changes, {count} files", times["ours"], "diff -r", times["diff -r"], bar)]


def throughput(quick: bool) -> tuple[int, float]:
    """Return (shells, builtin steps a second in total) through ``make_vec``."""
    shells = 64
    envs = gymnasium.make_vec("termgym:TermEnv-v1", num_envs=shells, task=None, max_steps=10**9)
    try:
        envs.reset(seed=0)
        actions = (termgym.plan("true"),) * shells
        samples = []
        for _ in range(20 if quick else 100):
            began = perf_counter()
            envs.step(actions)
            samples.append(perf_counter() - began)
        return shells, shells / statistics.median(samples)
    finally:
        envs.close()


def report(rows: list[Row], shells: int, rate: float) -> bool:
    print(f"{'what':<34}{'ours [ms]':>11}  {'beside':<26}{'theirs [ms]':>12}{'ratio':>10}{'bar':>8}")
    good = True
    for row in rows:
        verdict = "" if row.bar is None or row.ratio <= row.bar else "  MISSED"
        good &= not verdict
        bar = "" if row.bar is None else f"{row.bar:g}"
        figures = f"{row.ours_ms:>11.3f}  {row.theirs:<26}{row.theirs_ms:>12.3f}{row.ratio:>10.5f}{bar:>8}"
        print(f"{row.what:<34}{figures}{verdict}")
    verdict = "" if rate >= 8000 else "  MISSED"
    print(f"{shells} shells through make_vec: {rate:.0f} builtin steps/s (bar 8000){verdict}")
    return good and not verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds and a smaller tree")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    if shutil.which("rsync") is None:
        print("rsync is missing: apt-get install rsync", file=sys.stderr)
    rows = [*steps(options.quick), *resets(options.quick), *diffs(options.quick)]
    shells, rate = throughput(options.quick)
    if options.json:
        figures = {"rows": [{**asdict(row), "ratio": row.ratio} for row in rows], "shells": shells, "steps_per_s": rate}
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if report(rows, shells, rate) else 1


if __name__ == "__main__":
    sys.exit(main())
