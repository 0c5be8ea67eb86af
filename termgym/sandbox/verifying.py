"""One verification, in the supervisor: the agent's tree under a layer that is thrown away, and the verifier in it.

Every process of the agent is dead and its namespaces are gone. Whatever it planted at /tests, /logs or where the tools
appear is out of the way; what comes back of /logs is read from a filesystem that the agent never saw.
"""

from __future__ import annotations

import base64
import contextlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from termgym.sandbox import syscalls
from termgym.sandbox.birth import Shell
from termgym.sandbox.child import spawn
from termgym.sandbox.environment import inside_image
from termgym.sandbox.imageview import LAUNCHERS_ENV, ImageView
from termgym.sandbox.mending import hide, opened_way, put_back
from termgym.sandbox.person import find_person
from termgym.sandbox.reading import read_place
from termgym.sandbox.rootfs import bind_closed
from termgym.sandbox.standing import Standing
from termgym.sandbox.syscalls import open_in_root
from termgym.session.terminal import shell_environment
from termgym.snapshot.copying import copy_tree
from termgym.snapshot.protocol import Snapshot
from termgym.snapshot.walking import opened_root

_TESTS, _LOGS = "tests", "logs"
_FOLDERS = ("verifier", "agent", "artifacts")
_ROOM = 1 << 30  # for what a verifier writes to /logs, and for its tests [bytes]
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


class Verifying:
    """What is mounted for one verification.

    Args:
        snapshot: the agent's tree.
        standing: the image that it stands on.
        directory: for mount points of its own; exists.
        request: the fields of ``termgym.verification.request.Verification``.
        real_root: whether files can be given to any user.

    Raises:
        TaskError: the image has no such user.
        OSError, SnapshotError: the machine failed.
    """

    def __init__(
        self, snapshot: Snapshot, standing: Standing, directory: Path, request: Mapping[str, Any], *, real_root: bool
    ) -> None:
        self._place = directory / "verification"
        self._request = request
        self._standing = standing
        self._undo = contextlib.ExitStack()
        person = find_person(standing.base, request["user"]) if real_root else standing.person
        self._person = person
        try:
            self._place.mkdir()
            self._undo.callback(self._place.rmdir)
            self._tree = self._undo.enter_context(snapshot.aside())
            hide(self._tree, request["hidden"])
            heavy = put_back(self._tree, standing.base, request["put_back"], real_root=real_root)
            self._covers = [(standing.base / path.lstrip("/"), path.lstrip("/")) for path in heavy]
            tests = self._memory(_TESTS)
            copy_tree(Path(request["tests"]), tests, owner=(0, 0))
            logs = self._memory(_LOGS)
            for name in _FOLDERS:
                (logs / name).mkdir()
                (logs / name).chmod(0o777)
            self._covers += [(tests, _TESTS), (logs, _LOGS)]
            if request["tools"]:
                self._covers.append((self._bound(Path(request["tools"])), request["tools_at"].lstrip("/")))
            for _, name in self._covers:
                with opened_way(self._tree, name):
                    pass
        except BaseException:
            self.close()
            raise

    def _memory(self, name: str) -> Path:
        """Return a directory in memory that the agent has never seen."""
        place = self._place / name
        place.mkdir()
        self._undo.callback(place.rmdir)
        syscalls.mount("tmpfs", place, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, f"mode=755,size={_ROOM}")
        self._undo.callback(syscalls.umount, place, syscalls.MNT_DETACH)
        return place

    def _bound(self, source: Path) -> Path:
        """Return a place where a directory of the host is shown, read-only."""
        place = self._place / "tools"
        bind_closed(source, place)
        self._undo.callback(place.rmdir)
        self._undo.callback(syscalls.umount, place, syscalls.MNT_DETACH)
        return place

    def view(self, agents: ImageView) -> ImageView:
        """Return what the verifier sees, given what the agent saw."""
        env = inside_image(self._standing.image_env, self._person.home)
        if self._request["tools"]:
            env["PATH"] = f"{self._request['tools_at']}/bin:{env['PATH']}"
        env |= self._request["env"]
        covers = (*agents.covers, *self._covers)
        return replace(agents, live=self._tree, person=self._person, env=shell_environment(env), covers=covers)

    @property
    def directory(self) -> str:
        """Where the verifier starts."""
        return self._standing.first_directory(self._tree, self._request["workdir"])

    def spawn(self, output: int, output_end: int, prefix: Sequence[str], files: Mapping[int, int]) -> Shell:
        """Start the verifier behind a launcher, both of its streams into one pipe."""
        with open(os.devnull, "rb") as null:
            streams = {0: null.fileno(), 1: output_end, 2: output_end, **files}
            process = spawn([*prefix, *self._request["command"]], LAUNCHERS_ENV, streams)
        return Shell(process, output, output, output, output, output)

    def collect(self) -> dict[str, Any]:
        """Return what the verifier wrote, of what was asked for; every process of it is dead."""
        files, odd = {}, {}
        for name in self._request["collect"]:
            try:
                content = self._read(f"{_LOGS}/verifier/{name}")
            except ValueError as error:
                odd[name] = str(error)
                continue
            if content is not None:
                files[name] = base64.b64encode(content).decode()
        return {"files": files, "odd": odd}

    def _read(self, name: str) -> bytes | None:
        """Return the content of a regular file, or None if nothing is there.

        Raises:
            ValueError: something else is there; says what.
        """
        largest = self._request["largest"]
        with opened_root(self._place) as root:
            try:
                place = open_in_root(root, name, os.O_PATH | os.O_NOFOLLOW, follow=False)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise ValueError(f"cannot be reached: {error.strerror}") from error
        try:
            found = os.fstat(place)
            if not stat.S_ISREG(found.st_mode):
                raise ValueError(f"is {_KINDS.get(stat.S_IFMT(found.st_mode), 'a device')}, not a regular file")
            if found.st_size > largest:
                raise ValueError(f"holds {found.st_size} bytes; allowed are {largest}")
            return read_place(place, largest) or b""
        finally:
            os.close(place)

    def close(self) -> None:
        """Unmount and remove all of it."""
        self._undo.close()
