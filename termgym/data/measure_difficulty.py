"""Write ``difficulty.csv`` anew: ``python -m termgym.data.measure_difficulty --processes 2``.

Needed when a family joins, leaves or changes. With `--only NAME` the rows of other families stay as they are. Some
six seconds a world: half an hour of a processor for all.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import click

from termgym.assignment import sandbox_opener
from termgym.difficulty import Measured, measure, measured
from termgym.episode import Episode
from termgym.options import Options
from termgym.tasks.registry import causes, families

FILE = Path(__file__).with_name("difficulty.csv")


def measure_one(job: tuple[str, str, int]) -> Measured:
    """Measure one cause on a machine of its own."""
    options = Options.of({})
    with closing(Episode(sandbox_opener(options), options)) as episode:
        return measure(*job, episode)


def rows(names: tuple[str, ...], worlds: int, processes: int) -> Iterator[Measured]:
    """Yield the row of each cause of the families named, in order."""
    jobs = [(family, cause, worlds) for family in names for cause in causes(family)]
    began = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for done, row in enumerate(pool.imap(measure_one, jobs), start=1):
            yield row
            print(f"{done} of {len(jobs)} causes, {time.monotonic() - began:.0f} s: {row}", file=sys.stderr)


def written(found: Iterable[Measured]) -> str:
    """Return the file that rows make."""
    lines = [",".join(Measured._fields)]
    lines += [f"{row.family},{row.cause},{row.worlds},{','.join(f'{value:.3f}' for value in row[3:])}" for row in found]
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--processes", default=1, show_default=True, help="Processes that play.")
@click.option("--worlds", default=5, show_default=True, help="Worlds of each cause.")
@click.option("--only", multiple=True, type=click.Choice(families()), metavar="NAME", help="Measure this family alone.")
def main(processes: int, worlds: int, only: tuple[str, ...]) -> None:
    """Guess at every cause, and write the file, each row as soon as it is known."""
    every = [(family, cause) for family in families() for cause in causes(family)]
    known = {(row.family, row.cause): row for row in measured()} if FILE.exists() else {}
    for row in rows(only or families(), worlds, processes):
        known[row.family, row.cause] = row
        FILE.write_text(written([known[each] for each in every if each in known]))


if __name__ == "__main__":
    main()
