"""What stands ready for episodes on an image: its layers as one tree, and who starts how in it. Made once an image."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from termgym.errors import SandboxUnavailable, TaskError
from termgym.sandbox.environment import EPOCH, HOSTNAME, inside_image
from termgym.sandbox.person import Person, find_person
from termgym.sandbox.reading import find_program
from termgym.sandbox.syscalls import open_in_root
from termgym.snapshot.copying import copy_attributes, set_owner, set_times
from termgym.snapshot.entry import is_visible
from termgym.snapshot.layers import Ground, Stack
from termgym.snapshot.walking import opened_root

_KEPT = 16
_MOUNT_POINTS = ("dev", "proc", "sys")
_SHELL = "bash"
_HOSTS = f"127.0.0.1\tlocalhost {HOSTNAME}\n::1\tlocalhost ip6-localhost ip6-loopback\n"


@dataclass(frozen=True, slots=True)
class Standing:
    """One image, ready to be lived in."""

    base: Path
    """The whole of it, read-only."""
    ground: Ground
    person: Person
    env: Mapping[str, str]
    """What a shell starts with."""
    image_env: Mapping[str, str]
    """The part of it that is the image's own."""
    workdir: str
    missing: Mapping[str, str]
    """What is not as the image wants it on this host, and why."""

    def first_directory(self, live: Path, wanted: str = "") -> str:
        """Return where a program starts: where it is wanted or in ``WORKDIR``, unless that is no directory."""
        directory = wanted or self.workdir
        with opened_root(live) as root:
            try:
                os.close(open_in_root(root, directory, os.O_PATH | os.O_DIRECTORY))
            except (OSError, ValueError):
                return "/"
        return directory


class Standings:
    """Makes images ready, and keeps the most recently used ones.

    Args:
        directory: a new directory on a memory filesystem of this process's own.
        real_root: whether files can be given to any user.
        redirects: whether overlayfs follows redirects (not in a user namespace).
        no_fence: why nothing holds root's number of processes here; None where something does.
    """

    def __init__(self, directory: Path, *, real_root: bool, redirects: bool, no_fence: str | None) -> None:
        self._directory = directory
        self._real_root = real_root
        self._redirects = redirects
        self._no_fence = no_fence
        self._known: OrderedDict[str, tuple[Stack, Standing]] = OrderedDict()
        self._number = 0
        directory.mkdir()
        if real_root:
            os.setgroups([])  # what is started inherits them, and the agent of an image is root already

    def get(self, image: Mapping[str, Any], *, network: bool) -> Standing:
        """Return an image made ready.

        Raises:
            TaskError: nothing can be started in it: no bash, no such user.
            SnapshotError: its layers cannot be put together here.
            SandboxUnavailable: root could not be kept from filling the process table.
        """
        if self._no_fence is not None:
            raise SandboxUnavailable(
                f"an image runs as root, whose processes only a control group can count ({self._no_fence}); give this "
                "process a writable pids controller, or run it as an ordinary user"
            )
        key = json.dumps([image, network], sort_keys=True)
        if key not in self._known:
            self._known[key] = self._make(image, network=network)
        self._known.move_to_end(key)
        return self._known[key][1]

    def _make(self, image: Mapping[str, Any], *, network: bool) -> tuple[Stack, Standing]:
        self._number += 1
        place = self._directory / str(self._number)
        place.mkdir()
        try:
            stack = self._stack(place, [Path(layer) for layer in reversed(image["layers"])], network=network)
            try:
                return stack, self._standing(stack, image, network=network)
            except BaseException:
                stack.close()
                raise
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise

    def _stack(self, place: Path, layers: list[Path], *, network: bool) -> Stack:
        """Put the layers together under one of our own: what docker lays over an image when it runs it."""
        bare = Stack(layers, place / "bare", redirects=self._redirects)
        try:
            _furnish(place / "top", bare.whole, network=network)
        finally:
            bare.close()
        return Stack([place / "top", *layers], place / "stack", redirects=self._redirects)

    def _standing(self, stack: Stack, image: Mapping[str, Any], *, network: bool) -> Standing:
        missing: dict[str, str] = {}
        person = find_person(stack.whole, image["user"])
        if not self._real_root:
            missing["image owners"] = "an ordinary user can give files to nobody else, so chown and apt fail"
            if person.uid != 0:
                missing["image user"] = f"user {image['user']!r} runs as root of a user namespace with one user"
            person = Person(0, 0, (), person.home if person.uid == 0 else find_person(stack.whole, "").home)
        elif network:
            missing["image network"] = "root on the host's network reaches what listens there for root alone"
        env = inside_image(image["env"], person.home)
        _require_shell(stack.whole, env["PATH"])
        workdir = image["workdir"] or "/"
        ground = Ground(image["id"], stack.layers)
        return Standing(stack.whole, ground, person, env, dict(image["env"]), workdir, missing)

    def trim(self, used: set[Path]) -> None:
        """Let go of the least recently used images that no sandbox stands on."""
        idle = [key for key, (_, standing) in self._known.items() if standing.base not in used]
        for key in idle[: max(0, len(self._known) - _KEPT)]:
            stack, standing = self._known.pop(key)
            stack.close()
            shutil.rmtree(standing.base.parent.parent)


def _furnish(top: Path, bare: Path, *, network: bool) -> None:
    """Fill the uppermost layer: places to mount on, and the files that say where the machine is in its network."""
    top.mkdir()
    _dress(bare, top, b".")
    for name in _MOUNT_POINTS:
        if not os.path.lexists(bare / name):
            (top / name).mkdir(mode=0o755)
        elif (bare / name).is_symlink() or not (bare / name).is_dir():
            raise TaskError(f"/{name} of the image is no directory; leave it to the sandbox to fill")
    if os.path.lexists(bare / "etc") and ((bare / "etc").is_symlink() or not (bare / "etc").is_dir()):
        return
    (top / "etc").mkdir(mode=0o755)
    resolving = Path("/etc/resolv.conf").read_text() if network and os.path.exists("/etc/resolv.conf") else ""
    for name, text in {"hosts": _HOSTS, "hostname": f"{HOSTNAME}\n", "resolv.conf": resolving}.items():
        (top / "etc" / name).write_text(text)
        (top / "etc" / name).chmod(0o644)
        os.utime(top / "etc" / name, (EPOCH, EPOCH))
    if (bare / "etc").is_dir():
        _dress(bare, top, b"etc")
    else:
        os.utime(top / "etc", (EPOCH, EPOCH))


def _dress(source: Path, target: Path, name: bytes) -> None:
    """Make one directory look like another one, for it hides that from sight."""
    with opened_root(source) as old, opened_root(target) as new:
        status = os.stat(name, dir_fd=old)
        with contextlib.suppress(OSError):  # of a user that does not exist in this user namespace
            set_owner(new, name, status)
        os.chmod(name, stat.S_IMODE(status.st_mode), dir_fd=new)
        copy_attributes(old, name, new, name, is_visible)
        set_times(new, name, status)


def _require_shell(tree: Path, path: str) -> None:
    if find_program(tree, path, _SHELL) is None:
        raise TaskError(
            f"the image has no {_SHELL} on its PATH ({path}), and an agent works in one; install it, e.g. "
            "RUN apk add bash"
        )
