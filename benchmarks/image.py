"""Build a task's image, beside what else one could do: ``rsync`` of the same tree, and docker where it can be reached.

    python benchmarks/image.py [--rounds 7] [--store DIRECTORY]

The Dockerfile stands on this machine's own system and has no apt in it: WORKDIR, COPY, ENV and one RUN of coreutils.
"cold" builds all of it, "cached" finds every layer, "changed" has another file copied in. Figures are medians of one
run, and the ratios compare figures of the same run. The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from termgym.image import Recipe, Store, build
from termgym.image.bases import host_image

FILES = 200
COLD_BAR, CACHED_BAR = 300.0, 20.0
"""Most that a build may take [ms]."""
TEXT = """FROM host
WORKDIR /app
COPY . .
ENV MODE=bench STAMP={stamp}
RUN ls | sort > names && mkdir -p out && cp *.txt out/ && chmod -R go-w out && wc -c out/* > sizes
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--store", type=Path, help="where the layers are put; else a temporary directory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        times = measure(Path(scratch), options.store or Path(scratch, "store"), options.rounds)
    report(times)
    cold, cached = (statistics.median(times[name]) for name in ("cold", "cached"))
    return 0 if cold <= COLD_BAR and cached <= CACHED_BAR else 1


def measure(scratch: Path, place: Path, rounds: int) -> dict[str, list[float]]:
    store = Store(place)
    host_image(store)
    context = scratch / "context"
    context.mkdir()
    for number in range(FILES):
        (context / f"{number}.txt").write_text(f"{number}\n" * 100)
    docker = shutil.which("docker") if docker_answers() else None
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        write(context, f"{number}-{time.time_ns()}")
        image = clock(times, "cold", lambda: builds(context, store))
        clock(times, "cached", lambda: builds(context, store))
        (context / "0.txt").write_text(f"{time.time_ns()}\n")
        clock(times, "changed", lambda: builds(context, store))
        clock(times, "rsync of the same tree", partial(rsync, image.layers[2:], scratch / f"copy{number}"))
        if docker:
            (context / "Dockerfile").write_text(TEXT.format(stamp=number).replace("FROM host", "FROM debian:12"))
            clock(times, "docker build, cold", lambda: quiet(docker, "build", "--no-cache", "-q", context))
            clock(times, "docker build, cached", lambda: quiet(docker, "build", "-q", context))
            clock(times, "docker run true", lambda: quiet(docker, "run", "--rm", "debian:12", "true"))
    if not docker:
        print("docker is left out: no daemon answers here")
    return times


def builds(context: Path, store: Store):
    return build(Recipe(context=str(context), dockerfile=str(context / "Dockerfile")), store=store)


def write(context: Path, stamp: str) -> None:
    (context / "Dockerfile").write_text(TEXT.format(stamp=stamp))
    (context / "1.txt").write_text(stamp)  # so that COPY is new as well


def rsync(layers: Sequence[str], target: Path) -> None:
    for layer in layers:
        quiet("rsync", "-aHAX", f"{layer}/", f"{target}/")


def docker_answers() -> bool:
    program = shutil.which("docker")
    return program is not None and subprocess.run([program, "info"], capture_output=True, check=False).returncode == 0


def quiet(*argv: object) -> None:
    subprocess.run([str(word) for word in argv], check=True, stdout=subprocess.DEVNULL)


def clock(times: dict[str, list[float]], name: str, action: Callable[[], object]):
    began = time.perf_counter()
    result = action()
    times.setdefault(name, []).append((time.perf_counter() - began) * 1000)
    return result


def report(times: dict[str, list[float]]) -> None:
    unit = statistics.median(times["rsync of the same tree"])
    print(f"{'what':<26} {'median ms':>10} {'of rsync':>9} {'bar ms':>7}")
    bars = {"cold": COLD_BAR, "cached": CACHED_BAR}
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:<26} {median:>10.1f} {median / unit:>9.2f} {bars.get(name, ''):>7}")


if __name__ == "__main__":
    raise SystemExit(main())
