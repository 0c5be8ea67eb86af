"""The command line of bubblewrap: which namespaces, which mounts, which user."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from termgym.errors import SandboxUnavailable
from termgym.sandbox.child import spawn
from termgym.sandbox.environment import AGENT_GID, AGENT_UID, HOSTNAME, WRITABLE_ROOTS
from termgym.sandbox.rootfs import furnished

AS_AGENT = ("setpriv", f"--reuid={AGENT_UID}", f"--regid={AGENT_GID}", "--clear-groups", "--inh-caps=-all", "--")
PRIVATE_MEMORY = str(64 << 20)  # [bytes], docker's default too; without a size it would be half of the host's
LAUNCH_FDS = _INFO_FD, _GO_FD, FILTER_FD, OPTIONS_FD = (236, 237, 238, 239)
"""What bubblewrap is given, below the shell's own numbers; the supervisor keeps them free."""
_PATIENCE = 20.0  # [s]


@dataclass(frozen=True, slots=True)
class View:
    """What one sandbox sees."""

    live: Path
    """The tree with the agent's writable roots in it."""
    root: Path
    """What ``rootfs`` made."""
    pts: Path | None
    """A devpts instance of its own, shown where there is a ``room``; None: that of the root."""
    proc_files: Sequence[tuple[str, str]]
    read_only: Sequence[str] = ()
    """Agent paths inside the writable roots that are mounted read-only."""
    network: bool = False
    filter: bytes | None = None
    """The seccomp filter (``callfilter``)."""
    private_memory: bool = False
    """/dev/shm is the sandbox's own instead of the tree's: then what lies there does not count as a change."""
    room: Path | None = None
    """A directory in which all of it can be put together, to be bound as one; None: bubblewrap does it bit by bit."""


def executable() -> str | None:
    """Return the path of bubblewrap, or None."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")


@contextmanager
def launcher(
    view: View, pipes: tuple[int, int] | None, *, real_root: bool, chdir: str
) -> Iterator[tuple[list[str], dict[int, int]]]:
    """Yield the argv that a program's own argv is appended to, and the descriptors to start it with: its -> ours.

    Where the view has a ``room``, bubblewrap must have its own namespaces (``pipes`` tell) before the context ends.

    Its numbers are always the same, for ``ps`` shows them.

    ``pipes``: where bubblewrap says its child's pid, and where it waits for a byte before it goes on.

    The options travel in a file: the agent can read the command line of its pid 1, and the host's paths are none of
    its business.

    As real root the program becomes the agent by setpriv and keeps no capability; as an ordinary user the
    sandbox is a user namespace in which the agent's uid is the caller's own.
    """
    passed: dict[int, int] = {}
    argv = namespaces(network=view.network, real_root=real_root, uid=AGENT_UID, gid=AGENT_GID)
    if pipes is not None:
        argv += wait_for_limits(pipes, passed)
    argv += ["--dev-bind", str(view.room or view.root), "/", "--proc", "/proc"]
    for source, target in view.proc_files:
        argv += ["--ro-bind", source, target]
    if view.private_memory:
        argv += ["--perms", "1777", "--size", PRIVATE_MEMORY, "--tmpfs", "/dev/shm"]
    if view.room is None:
        argv += [word for root in _shared_roots(view) for word in ("--bind", str(view.live / root), f"/{root}")]
    argv += _read_only(view)
    argv += ["--chdir", chdir]
    if real_root:
        # All of them until setpriv takes them away: a program that gains any by exec loses its personality, and with
        # it the fixed addresses (capabilities(7), security/commoncap.c).
        argv += ["--cap-add", "ALL"]
    with contextlib.ExitStack() as files:
        if view.room is not None:
            files.enter_context(furnished(view.room, view.root, view.live, _shared_roots(view), view.pts))
        if view.filter is not None:
            passed[FILTER_FD] = file_of(view.filter, files)
            argv += ["--seccomp", str(FILTER_FD)]
        passed[OPTIONS_FD] = file_of(b"".join(os.fsencode(word) + b"\0" for word in argv), files)
        program = AS_AGENT if real_root else ()
        yield [executable() or "bwrap", "--args", str(OPTIONS_FD), "--", *program], passed


def namespaces(*, network: bool, real_root: bool, uid: int, gid: int) -> list[str]:
    """Return the options for namespaces of one's own; ``uid`` and ``gid`` are those in a user namespace."""
    argv = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if not network:
        argv.append("--unshare-net")
    if not real_root:
        argv += ["--unshare-user", "--uid", str(uid), "--gid", str(gid)]
    # --new-session is left out on purpose: it would take the controlling terminal away.
    argv += ["--hostname", HOSTNAME, "--die-with-parent"]
    return argv


def wait_for_limits(pipes: tuple[int, int], passed: dict[int, int]) -> list[str]:
    """Return the options for telling a child's pid and then waiting, and note the descriptors that it takes."""
    passed |= {_INFO_FD: pipes[0], _GO_FD: pipes[1]}
    return ["--info-fd", str(_INFO_FD), "--block-fd", str(_GO_FD)]


def rehearse(tree: Path, shown: Path, proc_files: Sequence[tuple[str, str]], *, real_root: bool) -> None:
    """Build a sandbox once around nothing.

    Raises:
        SandboxUnavailable: it cannot be built here; says what bubblewrap says and what helps.
    """
    for root in WRITABLE_ROOTS:
        (tree / root).mkdir(parents=True)
    view = View(tree, shown, None, proc_files)
    with open(os.memfd_create("said"), "rb") as said, open(os.devnull, "rb") as null:
        with launcher(view, None, real_root=real_root, chdir="/") as (prefix, passed):
            streams = {0: null.fileno(), 1: said.fileno(), 2: said.fileno(), **passed}
            status = spawn([*prefix, "true"], {"PATH": "/usr/bin:/bin"}, streams).wait(_PATIENCE)
        said.seek(0)
        if status != 0:
            told = said.read().decode("utf-8", "replace").strip() or f"exit status {status}"
            raise SandboxUnavailable(
                f"bubblewrap cannot build a sandbox on this machine ({told}); in a container allow what it lacks "
                "(docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined), or ask for "
                "backend='local-unsafe' to run without isolation"
            )


def file_of(content: bytes, files: contextlib.ExitStack) -> int:
    """Return a descriptor from which ``content`` can be read once."""
    fd = os.memfd_create("options")
    files.callback(os.close, fd)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _read_only(view: View) -> list[str]:
    """Mount read-only paths, each on a chain of mounts, for a mount point cannot be renamed.

    Else the agent would move a directory above such a path away, put a symbolic link in its place and start a new
    shell: then what the link leads to on the host would be mounted.
    """
    argv = []
    pinned: set[str] = set()
    for path in sorted(view.read_only):
        root = next(root for root in WRITABLE_ROOTS if path.startswith(f"/{root}/"))
        parts = path.removeprefix(f"/{root}/").split("/")
        for end in range(1, len(parts)):
            above = "/".join([f"/{root}", *parts[:end]])
            if above not in pinned:
                pinned.add(above)
                argv += ["--bind", f"{view.live}{above}", above]
        argv += ["--ro-bind", f"{view.live}{path}", path]
    return argv


def _shared_roots(view: View) -> list[str]:
    return [root for root in WRITABLE_ROOTS if root != "dev/shm" or not view.private_memory]
