"""Checkpoint: the whole of a training at the end of an iteration, on the disk, so that it goes on with the same bits.

A checkpoint is a folder: ``state.safetensors`` and ``state.json`` hold what the learner has become, ``manifest.json``
the rest, and the SHA-256 of both files and of itself. Nothing in it is a pickle, and nothing a time: equal trainings
have equal bytes. It is written beside its place, synchronised, and renamed; only then ``LATEST`` names it. So whenever
the machine stops, ``LATEST`` names a whole one, and if the disk loses that as well, the one before it still counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save

from rolf.evaluation import atomic
from rolf.variant import canonical, digest
from rolf_adapters.ppo.learner import State

FORMAT = "rolf-checkpoint/1"
LATEST, MANIFEST, TENSORS, VALUES = "LATEST", "manifest.json", "state.safetensors", "state.json"
PARTIAL = ".partial-"
BEGUN = "-begun"
"""Ends the name of one that is written as a return begins; the one that is written at its end takes its place."""
NAME = re.compile(rf"iteration-(\d{{6,}})(?:-rollback-(\d+)({BEGUN})?)?")
PACKAGES = ("rolf", "torch", "numpy", "gymnasium", "transformers", "tokenizers", "llguidance")
"""Whose versions decide whether the same bits come out."""


class CheckpointError(RuntimeError):
    """A checkpoint that is not whole, or not of this training."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A training at the end of an iteration."""

    iteration: int
    """The next one."""
    rollbacks: int
    """How often the training has gone back."""
    good: bool
    """Whether nothing spoke against going back to it."""
    config: Mapping[str, Any]
    """All of the configuration, as plain JSON."""
    course: str
    """Digest of what the course of the training follows from."""
    progress: Mapping[str, Any]
    """What the loop goes on from, as plain JSON."""
    state: State
    versions: Mapping[str, str]
    path: Path
    """Where it lies."""

    @property
    def name(self) -> str:
        """What its folder is called; that of a return which has only begun has a name of its own."""
        back = f"-rollback-{self.rollbacks}" if self.rollbacks else ""
        return f"iteration-{self.iteration:06d}{back}" + (BEGUN if self.progress.get("back") else "")


class Checkpoints:
    """The checkpoints of one training.

    Args:
        folder: Where they lie; it is made.
        keep: How many are kept.
    """

    def __init__(self, folder: Path, keep: int = 3) -> None:
        self.folder = folder
        self.keep = keep

    def save(self, checkpoint: Checkpoint) -> Checkpoint:
        """Write a checkpoint, make it the latest, and remove what is older than those to be kept.

        Returns:
            It, with its path.

        Raises:
            TypeError: the learner's values are no plain JSON.
        """
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            _sync(self.folder.parent)
        for stray in self.folder.glob(f"{PARTIAL}*"):
            shutil.rmtree(stray)
        place = self.folder / checkpoint.name
        partial = self.folder / f"{PARTIAL}{checkpoint.name}"
        partial.mkdir()
        _write(partial, checkpoint)
        if place.exists():  # of a run that was killed before LATEST named it, or that the disk has spoilt
            shutil.rmtree(place)
        partial.rename(place)
        _sync(self.folder)
        atomic.write(self.folder / LATEST, f"{checkpoint.name}\n".encode())
        self._prune()
        return replace(checkpoint, path=place)

    def newest(self) -> tuple[Checkpoint | None, list[str]]:
        """Return the latest checkpoint that is whole, and what is wrong with those that had to be passed over.

        Raises:
            CheckpointError: there are some, and none is whole.
        """
        return self._first(lambda _: True)

    def last_good(self) -> tuple[Checkpoint | None, list[str]]:
        """Return the latest that is whole and that nothing speaks against going back to.

        Raises:
            CheckpointError: there are some, and none is whole.
        """
        return self._first(lambda found: found.good)

    def names(self) -> list[str]:
        """Return the names of all that are here, the latest first: what ``LATEST`` names, then what came before it."""
        there = sorted(self._there(), key=_order, reverse=True)
        latest = self._latest()
        if latest is None:
            return there
        return [latest, *(name for name in there if _order(name) < _order(latest))]

    def _there(self) -> list[str]:
        """Return the names of all folders that are called as checkpoints are; others are somebody's own."""
        return [each.name for each in self.folder.glob("iteration-*") if NAME.fullmatch(each.name)]

    def _first(self, wanted: Any) -> tuple[Checkpoint | None, list[str]]:
        wrong: list[str] = []
        names = self.names()
        for name in names:
            try:
                found = read(self.folder / name)
            except CheckpointError as error:
                wrong.append(str(error))
                continue
            if wanted(found):
                return found, wrong
        if names and len(wrong) == len(names):
            told = "\n  ".join(wrong)
            raise CheckpointError(
                f"no checkpoint is whole:\n  {told}\nput a copy of one back, or begin anew in another folder"
            )
        return None, wrong

    def _latest(self) -> str | None:
        """Return what ``LATEST`` names; None: it cannot be read, and the newest folder counts."""
        try:
            name = (self.folder / LATEST).read_bytes().decode(errors="replace").strip()
        except OSError:
            return None
        return name if NAME.fullmatch(name) else None

    def _prune(self) -> None:
        latest = self._latest()
        names = [each for each in self.names() if each == latest or not each.endswith(BEGUN)]
        kept = set(names[: self.keep])
        good = next((name for name in names if _is_good(self.folder / name)), None)
        for name in self._there():
            if name not in kept | {good}:
                doomed = self.folder / f"{PARTIAL}{name}"
                (self.folder / name).rename(doomed)
                shutil.rmtree(doomed)


def read(path: Path) -> Checkpoint:
    """Return the checkpoint that lies in a folder.

    Raises:
        CheckpointError: it is not whole; says what is wrong.
    """
    manifest = _manifest(path)
    pieces = {name: _piece(path / name, told) for name, told in manifest["files"].items()}
    try:
        state = State(load(pieces[TENSORS]), json.loads(pieces[VALUES]))
    except (SafetensorError, ValueError) as error:  # written like that, for the digests are right
        raise CheckpointError(f"{str(path)!r}: its state cannot be read: {error}") from error
    known = ("iteration", "rollbacks", "good", "config", "course", "progress", "versions")
    return Checkpoint(**{name: manifest[name] for name in known}, state=state, path=path)


def versions() -> dict[str, str]:
    """Return the versions that decide whether the same bits come out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def difference(there: Mapping[str, Any], now: Mapping[str, Any], above: str = "") -> Iterable[str]:
    """Yield the keys in which two trees of plain JSON differ, with both values."""
    for key in sorted({*there, *now}):
        named = f"{above}{key}"
        before, after = there.get(key), now.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from difference(before, after, f"{named}.")
        elif before != after:
            yield f"{named}: {json.dumps(before)[:80]} there, {json.dumps(after)[:80]} now"


def _write(folder: Path, checkpoint: Checkpoint) -> None:
    """Write the files of a checkpoint and wait until the disk has them."""
    tensors = {name: tensor.detach().contiguous().clone() for name, tensor in checkpoint.state.tensors.items()}
    try:
        pieces = {TENSORS: save(tensors), VALUES: canonical(checkpoint.state.values)}
    except (TypeError, ValueError) as error:
        raise TypeError(f"State.values of the learner are no plain JSON (NaN is none either): {error}") from error
    manifest = {
        "format": FORMAT,
        "iteration": checkpoint.iteration,
        "rollbacks": checkpoint.rollbacks,
        "good": checkpoint.good,
        "config": dict(checkpoint.config),
        "course": checkpoint.course,
        "progress": dict(checkpoint.progress),
        "versions": dict(checkpoint.versions),
        "files": {
            name: {"bytes": len(piece), "sha256": hashlib.sha256(piece).hexdigest()} for name, piece in pieces.items()
        },
    }
    pieces[MANIFEST] = canonical(manifest | {"digest": digest(manifest)})
    for name, piece in pieces.items():
        with (folder / name).open("xb") as file:
            file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    _sync(folder)


def _manifest(path: Path) -> dict[str, Any]:
    """Return what the manifest of a checkpoint says."""
    try:
        raw = (path / MANIFEST).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{str(path)!r} holds no checkpoint: {MANIFEST}: {error.strerror}") from error
    try:
        told = json.loads(raw)
        whole = canonical(told) == raw and told.pop("digest") == digest(told)
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise CheckpointError(f"{str(path)!r}: {MANIFEST} is damaged: its digest is another one")
    if told.get("format") != FORMAT:
        raise CheckpointError(f"{str(path)!r}: format is {told.get('format')!r}; this version reads {FORMAT!r}")
    return dict(told)


def _is_good(path: Path) -> bool:
    try:
        return bool(_manifest(path)["good"])
    except CheckpointError:
        return False


def _piece(path: Path, told: Mapping[str, Any]) -> bytes:
    """Return what a file holds, if it is what the manifest says."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{str(path.parent)!r}: {path.name}: {error.strerror}") from error
    if len(raw) != told["bytes"]:
        wrong = f"{path.name} has {len(raw):,} of {told['bytes']:,} bytes"
        raise CheckpointError(f"{str(path.parent)!r} is not whole: {wrong}")
    if hashlib.sha256(raw).hexdigest() != told["sha256"]:
        raise CheckpointError(f"{str(path.parent)!r}: {path.name} is damaged: its SHA-256 is another one")
    return raw


def _order(name: str) -> tuple[int, int, bool]:
    """Return what checkpoints are in order by: one after a return is later than all before it."""
    found = NAME.fullmatch(name)
    assert found is not None
    return int(found[2] or 0), int(found[1]), found[3] is None


def _sync(folder: Path) -> None:
    """See that names which were put into a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
