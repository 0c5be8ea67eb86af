"""Which backend is taken, and what is said where one does not work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from toys.isolation import ROLES, roles_here, run_as
from toys.trees import build

from termgym.errors import SnapshotError
from termgym.snapshot import BACKENDS, open_snapshot, probe


def prepare(scratch: Path) -> tuple[Path, Path]:
    base, work = scratch / "base", scratch / "work"
    build(base)
    work.mkdir()
    return base, work


def default_backend(scratch: Path) -> tuple[str, dict[str, str | None]]:
    base, work = prepare(scratch)
    snapshot = open_snapshot(base, work)
    name, reasons = snapshot.name, probe(work)
    snapshot.close()
    return name, reasons


@pytest.mark.parametrize("role", roles_here())
def test_takes_the_best_that_works(role: str) -> None:
    """Whoever asks for nothing gets resets that cost what was changed, wherever the kernel allows it."""
    name, reasons = run_as(role, default_backend)
    assert name == ROLES[role][0]
    assert [backend for backend in BACKENDS if reasons[backend] is None] == list(ROLES[role])


def refusal(scratch: Path, backend: str) -> str:
    base, work = prepare(scratch)
    with pytest.raises(SnapshotError) as caught:
        open_snapshot(base, work, backend=backend)
    assert os.listdir(work) == []
    return str(caught.value)


@pytest.mark.parametrize(("role", "backend"), [("user", "overlay"), ("plain", "overlay"), ("plain", "overlay-userns")])
def test_a_backend_that_does_not_work_says_why(role: str, backend: str) -> None:
    """An explicit wish is never replaced by something else in silence."""
    message = run_as(role, refusal, backend)
    assert repr(backend) in message
    assert "manifest" in message, "what works instead"
    assert "mount namespace of its own" in message or "Operation not permitted" in message


def test_never_mounts_where_others_would_see_it(tmp_path: Path) -> None:
    """A mount in the namespace of the whole machine would outlive a killed process."""
    reason = probe(tmp_path)["overlay"]
    assert reason is not None
    assert "mount namespace" in reason


def test_unknown_backend_lists_the_known(tmp_path: Path) -> None:
    """A typing error ends at the door."""
    with pytest.raises(SnapshotError, match=r"'btrfs'.*overlay, overlay-userns, manifest, rsync"):
        open_snapshot(tmp_path, tmp_path, backend="btrfs")


def test_logs_of_another_backend_than_rsync_are_refused(tmp_path: Path) -> None:
    """The logs are rsync's own words."""
    with pytest.raises(SnapshotError, match="log_dir needs backend 'rsync', got 'overlay'"):
        open_snapshot(tmp_path, tmp_path, backend="overlay", log_dir=tmp_path)


def open_without_rsync(scratch: Path) -> str:
    base, work = prepare(scratch)
    os.environ["PATH"] = str(scratch)
    with pytest.raises(SnapshotError) as caught:
        open_snapshot(base, work, backend="rsync")
    snapshot = open_snapshot(base, work)
    assert snapshot.name == "manifest"
    snapshot.close()
    return str(caught.value)


def test_missing_rsync_names_the_package() -> None:
    """The message is all that a user needs; whoever does not need rsync is not bothered."""
    assert "apt-get install rsync" in run_as("plain", open_without_rsync)


def try_wrong_tokens(scratch: Path, backend: str) -> None:
    base, work = prepare(scratch)
    snapshot = open_snapshot(base, work, backend=backend)
    token = snapshot.save()
    for wrong in ("", "nonsense", ".."):
        for call in (snapshot.load, snapshot.forget):
            with pytest.raises(SnapshotError, match=token):
                call(wrong)
    snapshot.forget(token)
    with pytest.raises(SnapshotError, match="no saved tree"):
        snapshot.load(token)
    snapshot.close()
    snapshot.close()
    assert os.listdir(work) == []


@pytest.mark.parametrize("backend", ROLES["user"])
def test_an_unknown_token_lists_the_known(backend: str) -> None:
    """A token that was forgotten, or never was, must not restore something else."""
    run_as("user", try_wrong_tokens, backend)
