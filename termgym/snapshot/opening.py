"""Which snapshots work here, found out by using them, and the best of them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from termgym.errors import SnapshotError
from termgym.snapshot.layers import Ground
from termgym.snapshot.manifest import ManifestSnapshot
from termgym.snapshot.mounting import shares_mounts
from termgym.snapshot.overlay import OverlaySnapshot
from termgym.snapshot.protocol import Snapshot
from termgym.snapshot.rsync import RsyncSnapshot

BACKENDS = ("overlay", "overlay-userns", "manifest", "rsync")
"""In the order in which they are preferred."""

_probed: dict[tuple[str, int], str | None] = {}


def open_snapshot(
    base: Path,
    work: Path,
    *,
    backend: str | None = None,
    size_bytes: int | None = None,
    log_dir: Path | None = None,
    ground: Ground | None = None,
) -> Snapshot:
    """Make a live tree that starts equal to a base tree.

    Args:
        base: the tree that never changes.
        work: an empty directory for the snapshot's own things; for the overlay backends on a tmpfs, in a private
            mount namespace.
        backend: one of ``BACKENDS``; None takes the first that works.
        size_bytes: how much may be written [bytes]; only the overlay backends can bound it.
        log_dir: where ``rsync`` writes what it restored and what differed; asking for logs asks for that backend.
        ground: where ``base`` shows the layers of an image: these; then digests are of what departs from it.

    Raises:
        SnapshotError: the backend does not work here, or none does; says why.
    """
    if log_dir is not None:
        if backend not in (None, "rsync"):
            raise SnapshotError(f"log_dir needs backend 'rsync', got {backend!r}; leave the backend out")
        backend = "rsync"
    if backend is not None and backend not in BACKENDS:
        raise SnapshotError(f"unknown snapshot backend {backend!r}; allowed are {', '.join(BACKENDS)}")
    for name in BACKENDS if backend is None else (backend,):
        if _reason(name, work) is None:
            return _open(name, base, work, size_bytes, log_dir, ground)
    reasons = probe(work)
    why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason and backend in (None, name))
    works = ", ".join(name for name, reason in reasons.items() if reason is None) or "none"
    asked = "no snapshot backend works" if backend is None else f"snapshot backend {backend!r} does not work"
    raise SnapshotError(f"{asked} in {str(work)!r} ({why}); what works there: {works}")


def _open(
    name: str,
    base: Path,
    work: Path,
    size_bytes: int | None = None,
    log_dir: Path | None = None,
    ground: Ground | None = None,
) -> Snapshot:
    if name == "manifest":
        return ManifestSnapshot(base, work, ground=ground)
    if name == "rsync":
        return RsyncSnapshot(base, work, log_dir=log_dir, ground=ground)
    return OverlaySnapshot(base, work, backend=name, size_bytes=size_bytes, ground=ground)


def probe(work: Path) -> dict[str, str | None]:
    """Return for each backend None if it works in this directory, else the reason why not.

    Each is really used once in a filesystem; the answer is kept for the process.
    """
    return {name: _reason(name, work) for name in BACKENDS}


def _reason(name: str, work: Path) -> str | None:
    key = (name, os.stat(work).st_dev)
    if key not in _probed:
        _probed[key] = _try(name, work)
    return _probed[key]


def _try(name: str, work: Path) -> str | None:
    """Use a backend on a toy tree; return what went wrong."""
    if name in ("overlay", "overlay-userns") and shares_mounts():
        return "this process has no mount namespace of its own, and mounts would stay behind"
    with tempfile.TemporaryDirectory(prefix="probe-", dir=work) as scratch:
        base, own = Path(scratch, "base"), Path(scratch, "work")
        (base / "d").mkdir(parents=True)
        own.mkdir()
        (base / "d" / "f").write_bytes(b"before")
        os.link(base / "d" / "f", base / "g")
        try:
            snapshot = _open(name, base, own)
        except OSError as error:
            return str(error).replace(scratch, "…")  # the reason is the same in every run, and the folder's name is not
        try:
            return _exercise(snapshot)
        except OSError as error:
            return f"a toy tree failed: {error}".replace(scratch, "…")
        finally:
            snapshot.close()


def _exercise(snapshot: Snapshot) -> str | None:
    """Change a toy tree in the ways that half-working backends stumble over."""
    live = snapshot.live
    if snapshot.name != "overlay-userns":
        os.rename(live / "d", live / "e")
        (live / "g").write_bytes(b"after")
        if (live / "e" / "f").read_bytes() != b"after":
            return "hard links break when they are written to"
    else:
        os.unlink(live / "d" / "f")
        os.rmdir(live / "d")
    if not snapshot.diff():
        return "changes are not seen"
    snapshot.restore()
    if snapshot.diff() or (live / "d" / "f").read_bytes() != b"before":
        return "restoring leaves changes behind"
    return None
