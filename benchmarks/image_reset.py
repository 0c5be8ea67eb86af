"""Go back to a built image: this machine's whole system as an agent's root, beside what one rsync of it would take.

    python benchmarks/image_reset.py [--rounds 15]

Each round ten files of the system are changed, looked at by diff and digest, and thrown away by a reset, once with the
next shell waiting and once right after another reset. rsync is given the least that it could have to do, three times:
it compares the metadata of /usr with itself and writes nothing. Figures are medians of one run; the exit status is 1 if
a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from termgym.image import Recipe, build
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Task

_T = TypeVar("_T")
BAR = 0.06
"""Highest share of one rsync restore of the same tree that a reset may take."""
CHANGE = "for each in /usr/bin/{env,ls,cat,cp,mv}; do echo >> $each; done; touch /etc/{a,b,c}; rm /usr/bin/{tr,wc}"
_LOOKS = 3  # of rsync
_PAUSE = 0.3  # for the next shell to be made ready [s]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    recipe = Recipe(reference="host")
    task, image = Task(id="image", instruction="", image=recipe), build(recipe)
    times: dict[str, list[float]] = {}
    sandbox = open_sandbox("local")
    try:
        clock(times, "first start", lambda: sandbox.start(task, image=image))
        for number in range(rounds):
            session = sandbox.start(task, image=image)
            clock(times, "builtin step", partial(session.step, b"true", timeout=10))
            session.step(CHANGE.encode(), timeout=10)
            changes = clock(times, "diff", sandbox.diff)
            assert len(changes) == 10, changes
            clock(times, "digest", sandbox.digest)
            time.sleep(_PAUSE)
            clock(times, "reset", lambda: sandbox.start(task, image=image))
            clock(times, "reset, at once", lambda: sandbox.start(task, image=image))
            assert sandbox.diff() == ()
            if number < _LOOKS:
                clock(times, "rsync, at least", rsync)
    finally:
        sandbox.close()
    return report(times)


def rsync() -> None:
    argv = ["rsync", "-aHAXn", "--delete", "/usr/", "/usr/"]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def clock(times: dict[str, list[float]], name: str, action: Callable[[], _T]) -> _T:
    began = time.perf_counter()
    result = action()
    times.setdefault(name, []).append((time.perf_counter() - began) * 1000)
    return result


def report(times: dict[str, list[float]]) -> int:
    unit = statistics.median(times["rsync, at least"])
    print(f"as {'root' if os.getuid() == 0 else 'an ordinary user'}; load {os.getloadavg()[0]:.1f}")
    print(f"{'what':<18} {'median ms':>10} {'of rsync':>9} {'bar':>6}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:<18} {median:>10.2f} {median / unit:>9.4f} {BAR if name.startswith('reset') else '':>6}")
    return int(any(statistics.median(times[name]) / unit > BAR for name in ("reset", "reset, at once")))


if __name__ == "__main__":
    raise SystemExit(main())
