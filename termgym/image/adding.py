"""``ADD``: what ``COPY`` does, and archives are unpacked, and addresses fetched."""

from __future__ import annotations

import hashlib
import os
import posixpath
import subprocess
import tarfile
import urllib.request
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from termgym.image.context import Entry, Origin
from termgym.image.copying import LARGEST, Copy, Placed, plan_copy
from termgym.image.dockerfile import Step
from termgym.image.layering import ROOT
from termgym.image.running import SHOWN
from termgym.image.state import State
from termgym.image.tree import Tree
from termgym.sandbox.bubblewrap import executable

if TYPE_CHECKING:
    from termgym.image.builder import Build

_SCHEMES = ("http", "https", "ftp")
_CHUNK = 1 << 20  # [bytes]


def plan_add(
    build: Build, state: State, step: Step, words: Sequence[str], owner: tuple[int, int], room: Path
) -> list[Copy]:
    """Return what an ``ADD`` copies.

    Args:
        build: the build.
        state: the image so far.
        step: the instruction.
        words: its sources and its target, expanded.
        owner: who it will belong to.
        room: a scratch directory.

    Raises:
        ImageError: as for ``COPY``; an address with no network; an archive that leads out of its target.
    """
    *sources, target = words
    tree = state.tree(build.prefix)
    copies = []
    many = len(sources) > 1
    for number, source in enumerate(sources):
        place = room / str(number)
        place.mkdir()
        if urlsplit(source).scheme in _SCHEMES:
            origin = Origin(Tree([place], build.prefix), source)
            name = _fetch(build, step, source, place)
            copies.append(plan_copy(step, [name, target], origin, tree, state.workdir, owner, dated=False))
            continue
        if source.startswith("git@") or source.endswith(".git"):
            raise step.fault(f"{source} is a git repository", "clone it in a RUN, or COPY it")
        copy = plan_copy(step, [source, target + "/" * (many and not target.endswith("/"))], build.context(step), tree,
                         state.workdir, owner, dated=False)  # fmt: skip
        copies.append(_unpacked(build, state, step, copy, target, place))
    return copies


def _fetch(build: Build, step: Step, address: str, place: Path) -> str:
    """Fetch an address; return the name that it has in ``place``."""
    if not build.network:
        raise step.fault(f"{address} needs the network", "allow it (build_network=True), or COPY a file")
    name = posixpath.basename(unquote(urlsplit(address).path)) or "index.html"
    try:
        found = _download(build, step, address, place / name)
    except OSError as error:
        raise step.fault(f"{address} cannot be fetched ({error})", "look at the address and at the network") from error
    (place / name).chmod(0o600)
    wanted = step.flag("checksum")
    if wanted and wanted != f"sha256:{found}":
        raise step.fault(f"{address} has the checksum sha256:{found}", f"--checksum demands {wanted}")
    return name


def _download(build: Build, step: Step, address: str, target: Path) -> str:
    """Write what an address gives to a file; return its SHA-256."""
    known = hashlib.sha256()
    size = 0
    with urllib.request.urlopen(address, timeout=build.left(step)) as answer, open(target, "wb") as file:
        while chunk := answer.read(_CHUNK):
            size += len(chunk)
            known.update(chunk)
            file.write(chunk)
            build.left(step)
            if size > LARGEST:
                raise step.fault(f"{address} is larger than {LARGEST >> 30} GiB", "fetch it in a RUN")
    return known.hexdigest()


def _unpacked(build: Build, state: State, step: Step, copy: Copy, target: str, place: Path) -> Copy:
    """Return the same copy with the content of its archives in their place."""
    if step.flag("unpack") == "false":
        return copy
    items: list[Placed] = []
    dated = copy.dated
    into = state.tree(build.prefix).resolve(posixpath.join(state.workdir, target))
    for item in copy.items:
        path = item.entry.found.sources[0]
        top_level = not item.entry.place and not item.entry.found.is_directory
        if not (top_level and os.path.isfile(path) and tarfile.is_tarfile(path)):
            items.append(item)
            continue
        _unpack(step, path, place)
        origin = Origin(Tree([place], build.prefix), path)
        top = origin.tree.find("/")
        assert top is not None
        items += (Placed(posixpath.join(into, each.place) if each.place else into, each, _owner_of(build, each))
                  for each in origin.entries(top))  # fmt: skip
        dated = True
    return replace(copy, items=tuple(items), dated=dated)


def _owner_of(build: Build, entry: Entry) -> tuple[int, int]:
    status = entry.found.status
    return (status.st_uid, status.st_gid) if build.store.privileged else ROOT


def _unpack(step: Step, path: str, place: Path) -> None:
    """Unpack an archive, by a tar that can write nowhere else: what it holds is not to be trusted."""
    name = os.path.basename(path)
    try:
        with tarfile.open(path) as archive:
            if sum(member.size for member in archive) > LARGEST:
                raise step.fault(f"{name} unpacks to more than {LARGEST >> 30} GiB", "unpack it in a RUN")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise step.fault(f"{name} cannot be unpacked ({error})", "correct the archive") from error
    argv = [executable() or "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev"]
    argv += ["--bind", str(place), str(place), "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        argv += [
            word for name in ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID") for word in ("--cap-add", f"CAP_{name}")
        ]
    argv += ["tar", "--extract", "--numeric-owner", "--preserve-permissions", f"--directory={place}", f"--file={path}"]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise step.fault(f"{name} cannot be unpacked ({done.stderr.strip()[-SHOWN:]})", "correct the archive")
