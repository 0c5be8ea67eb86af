"""The parts of the demo that environments bring themselves, on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable
from rich.text import Text

from rolf.environments import Environment, Exhibitor
from rolf.exhibit import Charts, Figures, Picture, Prose, Section, Table


class Bar:
    """A bar that shows how far something is, from the first word of it to ``stop``.

    Args:
        talk: Where it is drawn; where nobody can see it move, it is not.
    """

    def __init__(self, talk: Console) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._bar = Progress(*columns, console=talk, transient=True, disable=not talk.is_terminal)

    def move(self, done: int, total: int) -> None:
        """Move it; see ``rolf.exhibit.Progress``."""
        if not self._bar.tasks:
            self._bar.add_task("steps", total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def stop(self) -> None:
        """Take it away."""
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._bar.stop()


def exhibit(environment: Environment, count: int, seed: int, console: Console, talk: Console) -> list[Section]:
    """Show what an environment brings, as it comes; nothing when it brings nothing.

    Raises:
        RuntimeError: this machine cannot run it.
    """
    sections: list[Section] = []
    if not isinstance(environment, Exhibitor):
        return sections
    bar = Bar(talk)
    try:
        for section in environment.demonstrate(count, seed, bar.move):
            bar.stop()
            show_section(console, section)
            sections.append(section)
    finally:
        bar.stop()
    return sections


def show_section(console: Console, section: Section) -> None:
    """Print a section; what can only be drawn is left to the page."""
    console.print(Text(f"\n{section.title}", style="bold"))
    for block in section.blocks:
        match block:
            case Prose(text):
                console.print(Text(text))
            case Figures(figures):
                width = max(len(figure.value) for figure in figures)
                for figure in figures:
                    line = Text(f"{figure.value:>{width}}  {figure.label}")
                    console.print(line.append(f"  {figure.note}" if figure.note else "", style="dim"))
            case Table():
                console.print(_table(block))
            case Charts() | Picture():
                pass


def _table(block: Table) -> RichTable:
    table = RichTable(title=Text(block.title) if block.title else None, title_justify="left", box=None)
    for number, heading in enumerate(block.headings):
        table.add_column(Text(heading), justify="right" if number in block.numbers else "left")
    for row in block.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
