"""Write ``baselines.csv`` anew: ``python -m linegym.data.make_baselines --processes 2``.

Needed whenever the plant, the perturbations, the rewards or the two policies change: a test plays some variants again
and compares. 52 million steps: ten minutes of a processor.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np

from linegym.play import BLOCK, play
from linegym.policies import policy
from linegym.scores import EPISODES, PLACES
from linegym.templates import TEMPLATES, Template
from linegym.variants import Variant

FILE = Path(__file__).with_name("baselines.csv")


def at(template: Template, place: str) -> Variant:
    """Return the variant of a template and a column of the file."""
    if place == "clean":
        return Variant(template)
    family, intensity = place.split(":")
    return Variant(template, **{family: int(intensity)})


def rows(templates: Sequence[Template]) -> list[str]:
    """Return the line of each template."""
    variants = [at(template, place) for template in templates for place in PLACES for _ in range(EPISODES)]
    seeds = np.tile(np.arange(EPISODES, dtype=np.uint64), len(variants) // EPISODES)
    chance, oracle = play(policy("random"), variants, seeds), play(policy("oracle"), variants, seeds)
    shape = (len(templates), len(PLACES), EPISODES)
    columns = (chance.returns.reshape(shape), oracle.returns.reshape(shape), oracle.output.reshape(shape))
    means = np.stack([column.sum(axis=2) / EPISODES for column in columns], axis=2)
    return [
        ",".join([template.name, *(f"{value:.4f}" for value in line)])
        for template, line in zip(templates, means.reshape(len(templates), -1), strict=True)
    ]


def content(processes: int) -> Iterator[str]:
    """Yield the lines of the file."""
    names = [f"{place} {what}" for place in PLACES for what in ("random", "oracle", "output")]
    yield ",".join(["template", *names])
    a_time = BLOCK // (len(PLACES) * EPISODES)
    parts = [TEMPLATES[first : first + a_time] for first in range(0, len(TEMPLATES), a_time)]
    play(policy("no-op"), [Variant(TEMPLATES[0])], [0], horizon=1)  # compiled once, before several would do it at once
    began, done = time.monotonic(), 0
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for lines in pool.imap(rows, parts):
            yield from lines
            done += len(lines)
            print(f"{done} of {len(TEMPLATES)} templates, {time.monotonic() - began:.0f} s", file=sys.stderr)


@click.command()
@click.option("--processes", default=1, show_default=True, help="Processes that play.")
def main(processes: int) -> None:
    """Play the two policies on every variant; write the file, and print the digest that ``linegym.scores`` expects."""
    text = "\n".join(content(processes)) + "\n"
    FILE.write_text(text)
    click.echo(hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main()
