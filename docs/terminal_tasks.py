"""Write reference/terminal-tasks.md from the families, their split and their measured difficulty; a test sees that it
is up to date.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from termgym.difficulty import Measured, measured
from termgym.splits import rows
from termgym.tasks import families, summary
from termgym.weak import REPAIRS

PAGE = Path(__file__).parent / "reference" / "terminal-tasks.md"
HEAD = """\
# The terminal's tasks

{count} families with {causes} causes: one symptom a family, and what may lie behind it. Written by
`python docs/terminal_tasks.py`; `rolf list` shows the same families.

`task="family"` lets the seed choose the cause, `task="family/cause"` pins it, `task="family/cause@7"` its world too.
*Set* is where a cause belongs: [train and test on tasks](../how-to/train-and-test-on-tasks.md).

## How hard they are

Measured in {worlds} worlds of a cause, not estimated: how often somebody gets through who guesses and does not look.
Anyone can measure it again: `python -m termgym.data.measure_difficulty --processes 2`.

Who guesses has {repairs} stock repairs: set modes, remove locks, stash and pull, end what runs, and so on
(`termgym/weak.py`). A guess is one of them in every place that the instruction names, and then
what the instruction quotes. So much is known: the words of the instruction, and what anybody would try who has read the
titles of the families. Not known is what a command prints and how it ends, which cause it is, what the goal looks at,
and which files are somebody's work.

- **one guess**: the chance that a repair drawn at random, alone on the untouched world, reaches the goal.
- **any guess**: the share of worlds in which at least one of the repairs does.
- **at random**: the share of worlds in which an episode of random repairs does, each on what the ones before have left.
- **oracle**: how many steps the shortest known way takes.

A cause is *easy* if any guess, or an episode at random, reaches the goal in half of the worlds or more, *medium* if in
any, *hard* if in none. That is no measure of how hard it is for somebody who looks: only of how much looking it takes.

| level | causes |
|---|--:|
{levels}
"""


def text() -> str:
    """Return the page."""
    found = measured()
    levels = [f"| {level} | {sum(row.level == level for row in found)} |" for level in ("easy", "medium", "hard")]
    worlds = sorted({row.worlds for row in found})
    head = HEAD.format(
        count=len(families()),
        causes=len(found),
        worlds=" or ".join(map(str, worlds)),
        repairs=len(REPAIRS),
        levels="\n".join(levels),
    )
    parts = {row.family: [each for each in found if each.family == row.family] for row in found}
    return head + "".join(line for family in families() for line in _family(family, parts[family]))


def _family(name: str, found: list[Measured]) -> Iterator[str]:
    yield f"\n## {name}\n\n{summary(name).capitalize()}.\n\n"
    yield "| cause | set | worlds | one guess | any guess | at random | oracle | level |\n"
    yield "|---|---|--:|--:|--:|--:|--:|---|\n"
    sets = {(row.family, row.cause): row.part for row in rows()}
    for row in found:
        shares = f"{row.guess:.0%} | {row.any_guess:.0%} | {row.haphazard:.0%} | {row.oracle_steps:.1f}"
        yield f"| `{row.cause}` | {sets[row.family, row.cause]} | {row.worlds} | {shares} | {row.level} |\n"


if __name__ == "__main__":
    PAGE.write_text(text())
