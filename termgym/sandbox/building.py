"""Building: how a setup program is started on a tree that is to become an initial state."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from termgym.sandbox import bubblewrap
from termgym.sandbox.environment import AGENT_NAME
from termgym.sandbox.execution import drop_to_agent
from termgym.sandbox.settings import Settings
from termgym.sandbox.worlds import setup_environment


def launch_setup(
    settings: Settings,
    confine: Callable[[], None],
    tree: Path,
    argv: Sequence[str],
    fds: Sequence[int],
    output: int,
) -> subprocess.Popen[bytes]:
    """Start a program as the agent, confined to a tree and without network.

    Args:
        settings: of the machine that builds.
        confine: puts the calling process under the machine's limits.
        tree: where.
        argv: the program.
        fds: descriptors that it keeps under their numbers.
        output: where it writes.
    """
    if settings.isolation == "none":
        home = str(tree / "home" / AGENT_NAME)

        def confine_unisolated() -> None:
            confine()
            if settings.real_root:
                drop_to_agent()

        return _popen(argv, fds, output, home, confine_unisolated, setup_environment(home))

    def prepare() -> None:
        for theirs, ours in files.items():
            os.dup2(ours, theirs)
        confine()

    view = bubblewrap.View(tree, settings.root, None, settings.proc_files, filter=settings.filter)
    home = f"/home/{AGENT_NAME}"
    with bubblewrap.launcher(view, None, real_root=settings.real_root, chdir=home) as (prefix, files):
        return _popen([*prefix, *argv], [*fds, *files], output, "/", prepare, setup_environment(home))


def _popen(
    argv: Sequence[str],
    fds: Sequence[int],
    output: int,
    cwd: str,
    preexec: Callable[[], None],
    env: dict[str, str],
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=fds,
        cwd=cwd,
        env=env,
        preexec_fn=preexec,  # the supervisor has one thread
        start_new_session=True,
    )
