"""Views: what the shell of a machine sees, on the usual root or on an image, and how bubblewrap is told."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

from termgym.errors import TaskError
from termgym.sandbox import bubblewrap, imageview
from termgym.sandbox.bubblewrap import View
from termgym.sandbox.environment import AGENT_NAME
from termgym.sandbox.imageview import ImageView
from termgym.sandbox.reading import look_up
from termgym.sandbox.settings import Settings
from termgym.sandbox.standing import Standing
from termgym.session.terminal import shell_environment

AnyView: TypeAlias = View | ImageView


def usual(settings: Settings, live: Path, terminals: Path, room: Path, request: dict[str, Any]) -> View:
    """Return the view of a task without an image."""
    return View(
        live,
        settings.root,
        terminals,
        settings.proc_files,
        tuple(request["read_only"]),
        settings.network,
        settings.filter,
        private_memory=bool(request["preload"]),
        room=room,
    )


def on_image(settings: Settings, live: Path, terminals: Path, room: Path, standing: Standing) -> ImageView:
    """Return the view of a task on an image."""
    return ImageView(
        settings.bwrap,
        live,
        settings.root / "dev",
        settings.root / "proc",
        terminals,
        room,
        [*settings.masks, *settings.proc_files],
        standing.person,
        shell_environment(standing.env),
        settings.network,
        settings.filter,
    )


def launcher(
    view: AnyView, pipes: tuple[int, int], *, real_root: bool, chdir: str
) -> AbstractContextManager[tuple[list[str], dict[int, int]]]:
    """Return what ``bubblewrap.launcher`` does, for either kind of view."""
    if isinstance(view, ImageView):
        return imageview.launcher(view, pipes, real_root=real_root, chdir=chdir)
    return bubblewrap.launcher(view, pipes, real_root=real_root, chdir=chdir)


def first_directory(live: Path) -> str:
    """Return where a shell without an image starts: at home, unless the agent has moved or locked it."""
    home = f"/home/{AGENT_NAME}"
    found = look_up(live, home)
    usable = found is not None and stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_IXUSR
    return home if usable else "/"


def check_read_only(live: Path, paths: Iterable[str]) -> None:
    """Check that what is to be mounted read-only is there, and is no link.

    Raises:
        TaskError: it is not.
    """
    for path in paths:
        found = look_up(live, path)
        if found is None or stat.S_ISLNK(found.st_mode):
            raise TaskError(
                f"read-only path {path!r} does not exist in the initial state or leads through a symbolic link; "
                "name the real place"
            )
