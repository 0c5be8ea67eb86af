"""Write ``baselines.csv`` anew: ``python -m linegym.data.make_baselines --threads 2``.

Needed whenever the plant, the perturbations, the rewards or the two policies change: a test plays some variants again
and compares. About 40 million steps: six minutes on two free cores.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator
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


def rows(templates: tuple[Template, ...], threads: int) -> Iterator[str]:
    """Yield the line of each template."""
    variants = [at(template, place) for template in templates for place in PLACES for _ in range(EPISODES)]
    seeds = np.tile(np.arange(EPISODES, dtype=np.uint64), len(variants) // EPISODES)
    chance = play(policy("random"), variants, seeds, threads=threads)
    oracle = play(policy("oracle"), variants, seeds, threads=threads)
    shape = (len(templates), len(PLACES), EPISODES)
    columns = (chance.returns.reshape(shape), oracle.returns.reshape(shape), oracle.output.reshape(shape))
    means = np.stack([column.sum(axis=2) / EPISODES for column in columns], axis=2)
    for template, line in zip(templates, means.reshape(len(templates), -1), strict=True):
        yield ",".join([template.name, *(f"{value:.4f}" for value in line)])


def content(templates: tuple[Template, ...], threads: int) -> Iterator[str]:
    """Yield the lines of the file."""
    names = [f"{place} {what}" for place in PLACES for what in ("random", "oracle", "output")]
    yield ",".join(["template", *names])
    a_time = BLOCK // (len(PLACES) * EPISODES)
    began = time.monotonic()
    for first in range(0, len(templates), a_time):
        yield from rows(templates[first : first + a_time], threads)
        done = min(first + a_time, len(templates))
        print(f"{done} of {len(templates)} templates, {time.monotonic() - began:.0f} s", file=sys.stderr)


@click.command()
@click.option("--threads", default=1, show_default=True, help="Threads that step the lines.")
def main(threads: int) -> None:
    """Play the two policies on every variant; write the file, and print the digest that ``linegym.scores`` expects."""
    text = "\n".join(content(TEMPLATES, threads)) + "\n"
    FILE.write_text(text)
    click.echo(hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main()
