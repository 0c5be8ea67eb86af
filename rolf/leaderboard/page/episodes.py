"""Episodes: those of a board that the page shows, within a budget, with a word about those that it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from rolf.environments import environments
from rolf.evaluation.recording import Recorded
from rolf.leaderboard.board import Board, Entry, Sample, SplitBoard
from rolf.leaderboard.evidence import episodes
from rolf.leaderboard.page.protection import embedded
from rolf.leaderboard.page.sequence import sequence_view
from rolf.leaderboard.page.terminal import is_terminal, terminal_view
from rolf.leaderboard.page.text import title
from rolf.leaderboard.problem import Problems

BUDGET = 6 << 20
"""What all episodes of a page may take [bytes]."""
ALLOWANCE = 160 << 10
"""What one of them may take [bytes]."""
TOO_MUCH = "left out, so that the page does not become too large"
OUTPUT = (4_000, 1_000, 250, 60)
"""Characters shown of each output: the first number with which the episode stays within its allowance."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One sample of the board, and what the page has of it."""

    split: int
    """Number of its split on the board, from 0."""
    entry: Entry
    sample: Sample
    data: Markup | None
    """The episode as JSON, safe in a script element; None: it is not in the page."""
    note: str
    """Why not, or what of it was left out; empty: it is all there."""

    @property
    def file(self) -> str:
        """Where all of it is, relative to the board's folder."""
        return title(f"{self.entry.name}/trajectories/{self.sample.trajectory}", 200)


def shown(board: Board, folder: Path, budget: int = BUDGET) -> Iterator[Shown]:
    """Yield every sample of a board.

    Args:
        board: The board.
        folder: Where its submissions lie.
        budget: What all episodes may take [bytes]; each submission has an equal share.
    """
    known = environments()
    share = budget // max(1, sum(len(split.entries) for split in board.splits))
    for number, split in enumerate(board.splits):
        for entry in split.entries:
            yield from _of_entry(number, split, entry, folder, share, known)


def _of_entry(
    number: int, split: SplitBoard, entry: Entry, folder: Path, share: int, known: Mapping[str, object]
) -> Iterator[Shown]:
    reader = _Reader(folder / entry.name, entry.samples)
    left = share
    for place, sample in enumerate(entry.samples):
        if left <= 0:
            yield Shown(number, entry, sample, None, TOO_MUCH)
            continue
        recorded = reader.read(place)
        if recorded is None:
            yield Shown(number, entry, sample, None, reader.why(sample))
            continue
        data, note = _as_data(split, sample, recorded, known.get(recorded.env_id))
        if data is not None and len(data) > left:
            # Those behind it are worth less room: the page does not look for one that is small enough.
            data, note, left = None, TOO_MUCH, 0
        left -= len(data or "")
        yield Shown(number, entry, sample, data, note)


class _Reader:
    """Reads samples of a submission: those of a block at once, of all others one at a time, for they may be large."""

    def __init__(self, folder: Path, samples: Sequence[Sample]) -> None:
        self._folder = folder
        self._samples = samples
        self._problems = Problems()
        self._blocks = dict(self._found([n for n, each in enumerate(samples) if "#" in each.trajectory]))

    def read(self, place: int) -> Recorded | None:
        """Return the episode of the sample at that place; None: it cannot be read."""
        if "#" in self._samples[place].trajectory:
            return self._blocks.get(place)
        return next((recorded for _, recorded in self._found([place])), None)

    def why(self, sample: Sample) -> str:
        """Return why a sample could not be read."""
        file = f"trajectories/{sample.trajectory.partition('#')[0]}"
        reasons = (each.what for each in self._problems if each.file == file)
        return title(f"it cannot be read: {next(reasons, 'nobody knows why')}", 300)

    def _found(self, places: Sequence[int]) -> Iterator[tuple[int, Recorded]]:
        wanted = [(place, self._samples[place]) for place in places]
        for (place, _), recorded in episodes(self._folder, wanted, self._problems):
            yield place, recorded


def _as_data(split: SplitBoard, sample: Sample, recorded: Recorded, environment: object) -> tuple[Markup | None, str]:
    """Return an episode as JSON, and a note."""
    for most in OUTPUT:
        try:
            view = terminal_view(recorded, most) if is_terminal(recorded) else sequence_view(recorded, environment)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            # A stranger's file may hold anything; a page that says so serves its readers better than none.
            return None, title(f"it is not of the shape that can be shown: {type(error).__name__}: {error}", 200)
        data = embedded(view | {"limits": dict(split.limits), "variant": sample.variant})
        if len(data) <= ALLOWANCE:
            cut = "" if most == OUTPUT[0] else f"only {most:,} characters of each output are shown"
            return data, cut
        if not is_terminal(recorded):
            break
    return None, f"left out: even shortened it takes more than {ALLOWANCE >> 10} KiB"
