"""The parts of the demo that environments bring themselves, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable
from rich.text import Text

from rolf.environments import Environment, Exhibitor
from rolf.exhibit import Charts, Figures, Picture, Prose, Section, Table


class Screen:
    """Tells a person at a terminal what is waited for; see ``rolf.exhibit.Watcher``."""

    def __init__(self, talk: Console) -> None:
        self._talk = talk
        self._bar: Progress | None = None

    def say(self, text: str) -> None:
        """Print a line."""
        self._talk.print(Text(text, style="dim"))

    def progress(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._bar is None:
            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self._bar = Progress(*columns, console=self._talk, transient=True)
            self._bar.add_task("steps", total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def finish(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def watched(talk: Console) -> Iterator[Screen]:
    """Have somebody told what is waited for; the bar is gone at the end, whatever happened."""
    screen = Screen(talk)
    try:
        yield screen
    finally:
        screen.finish()


def exhibit(environment: Environment, count: int, seed: int, console: Console, talk: Console) -> list[Section]:
    """Show what an environment brings, as it comes; nothing when it brings nothing.

    Raises:
        RuntimeError: this machine cannot run it.
    """
    sections: list[Section] = []
    if not isinstance(environment, Exhibitor):
        return sections
    with watched(talk) as screen:
        for section in environment.demonstrate(count, seed, screen):
            screen.finish()
            show_section(console, section)
            sections.append(section)
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
    table = RichTable(title=block.title or None, title_justify="left", box=None)
    for number, heading in enumerate(block.headings):
        table.add_column(heading, justify="right" if number in block.numbers else "left")
    for row in block.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
