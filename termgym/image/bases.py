"""Bases: which root filesystem of this machine a name in ``FROM`` stands for.

In this order: what the user's own table says; a root filesystem that ``rolf tasks rootfs build`` made; this machine's
own system, for distributions that it can stand in for.
"""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import platformdirs

from termgym.errors import ImageError
from termgym.image.dockerfile import Step
from termgym.image.hostbase import host_layers, os_release, system_name
from termgym.image.image import Image
from termgym.image.making import make_directory
from termgym.image.pythonbase import python_image
from termgym.image.references import TOOLS, Reference, parse_reference
from termgym.image.roots import Root, find_root
from termgym.image.state import PATH, digest
from termgym.image.store import Store
from termgym.image.tree import Tree

TABLE = "ROLF_BASES"
"""Environment variable that names another table than the user's ``bases.toml``."""
_FLOOR = ("dev", "proc", "sys")
_TOOLS_ALONE = {"ghcr.io/astral-sh/uv": ("uv", "uvx")}
"""Images from which programs are copied -> those programs."""


class Bases:
    """The table of one build."""

    def __init__(self, store: Store, further: Mapping[str, str]) -> None:
        self._store = store
        self._own = {**_read_table(), **further}

    def find(self, text: str, step: Step | None = None) -> Image:
        """Return the image of that name.

        Raises:
            ImageError: nothing here stands for it; says how to change that.
        """
        place = self._mapped(text)
        if place is not None:
            return self._directory(text, place)
        reference = parse_reference(text)
        if text == "scratch":
            return self._scratch()
        if text == "host":
            return host_image(self._store)
        if reference.name in _TOOLS_ALONE:
            return self._tools(reference, step)
        if reference.name not in TOOLS and find_root(self._store, reference.name) is None:
            raise self._unknown(reference, step)
        image = self._fitting(reference, step)
        return python_image(self._store, image, reference) if reference.name == "python" else image

    def _mapped(self, text: str) -> str | None:
        """Return what the user's table says: exact names first, then patterns."""
        if text in self._own:
            return self._own[text]
        return next((place for pattern, place in self._own.items() if fnmatchcase(text, pattern)), None)

    def _directory(self, text: str, place: str) -> Image:
        root = find_root(self._store, place)
        if root is not None:
            return _root_image(root)
        if place == "host":
            return host_image(self._store)
        if not os.path.isabs(place) or not os.path.isdir(place):
            raise ImageError(
                f"base {text!r} is mapped to {place!r}, which is no directory; give an absolute path, "
                "or the name of a root filesystem (`rolf tasks rootfs list`)"
            )
        real = os.path.realpath(place)
        status = os.stat(real)
        return Image(digest(["directory", real, status.st_ino, _packages(real)]), (real,))

    def _scratch(self) -> Image:
        key = digest("scratch")[:32]
        target = self._store.layer(key)
        if not target.is_dir():
            with self._store.scratch() as place:
                for name in _FLOOR:
                    make_directory(place / "tree" / name)
                self._store.keep(place / "tree", target)
        return Image(digest(["scratch"]), (str(target),))

    def _tools(self, reference: Reference, step: Step | None) -> Image:
        """Return an image with nothing but programs of this machine."""
        names = _TOOLS_ALONE[reference.name]
        places = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", PATH)])
        found = [shutil.which(name, path=places) for name in names]
        missing = [name for name, path in zip(names, found, strict=True) if path is None]
        if missing:
            raise _fault(step, f"{reference.text}: this machine has no {' and '.join(missing)} to lend",
                         f"install it (pip install {names[0]}), or {_ADVICE}")  # fmt: skip
        paths = [os.path.realpath(path) for path in found if path]
        sizes = [(path, os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in paths]
        key = digest(["tools", sizes])[:32]
        target = self._store.layer(key)
        if not target.is_dir():
            with self._store.scratch() as place:
                make_directory(place / "tree")
                for name, path in zip(names, paths, strict=True):
                    shutil.copyfile(path, place / "tree" / name)
                    (place / "tree" / name).chmod(0o755)
                self._store.keep(place / "tree", target)
        note = f"{reference.text} is this machine's own {' and '.join(names)}"
        return Image(digest(["tools", key]), (str(target),), notes=(note,))

    def _stand_in(self, reference: Reference) -> Image:
        """Return this machine's own system, with a note unless it is what was asked for."""
        image = host_image(self._store)
        own = f"{os_release().get('ID', '')}-{os_release().get('VERSION_ID', '')}"
        if own in reference.roots:
            return Image(image.id, image.layers)
        better = reference.roots[0] if reference.name in ("debian", "ubuntu") else ""
        better = f"; `rolf tasks rootfs build {better}` makes a real one" if better else ""
        return Image(
            image.id, image.layers, notes=(f"{reference.text} stands on this machine's {system_name()}{better}",)
        )

    def _fitting(self, reference: Reference, step: Step | None) -> Image:
        """Return the first image that has all the programs which the reference promises."""
        roots = (find_root(self._store, name) for name in (*reference.roots, reference.name))
        missing: list[str] = []
        for make in (*(partial(_root_image, root) for root in roots if root), partial(self._stand_in, reference)):
            image = make()
            tree = Tree(image.layers, self._store.prefix)
            missing = [tool for tool in TOOLS.get(reference.name, ())
                       if not any(tree.find(f"{directory}/{tool}") for directory in PATH.split(":"))]  # fmt: skip
            if not missing:
                return image
        raise _fault(step, f"{reference.text}: there is no {', '.join(missing)} in what stands for it here", _ADVICE)

    def _unknown(self, reference: Reference, step: Step | None) -> ImageError:
        near = get_close_matches(reference.name.rpartition("/")[2], (*TOOLS, "scratch", "host"), n=1)
        meant = f"did you mean {near[0]}? Else " if near else ""
        return _fault(step, f"no root filesystem here stands for {reference.text!r}", f"{meant}{_ADVICE}")


_ADVICE = (
    "make one (`rolf tasks rootfs build NAME`) and say so in ~/.config/rolf/bases.toml: "
    '[bases] "IMAGE:TAG" = "NAME or /path/to/root"'
)


def host_image(store: Store | None = None) -> Image:
    """Return the image of the host's own system directories, called ``host``."""
    layers = tuple(str(layer) for layer in host_layers(store or Store()))
    return Image(digest(["host", layers[-1].rpartition("/")[2]]), layers, notes=(f"host is {system_name()}",))


def _root_image(root: Root) -> Image:
    return Image(digest(["root", root.identity]), (str(root.tree),))


def _packages(place: str) -> str:
    status = Path(place, "var/lib/dpkg/status")
    return digest(status.read_text(errors="replace")) if status.is_file() else ""


def _read_table() -> dict[str, str]:
    """Return the user's own table.

    Raises:
        ImageError: it is not as it must be.
    """
    path = Path(os.environ.get(TABLE) or Path(platformdirs.user_config_dir("rolf"), "bases.toml"))
    if not path.is_file():
        if TABLE in os.environ:
            raise ImageError(f"{TABLE}={str(path)!r} is no file; give a TOML file with a table [bases]")
        return {}
    try:
        table = tomllib.loads(path.read_text()).get("bases", {})
    except tomllib.TOMLDecodeError as error:
        raise ImageError(f'{path}: {error}; write [bases] and below it "IMAGE:TAG" = "/path/to/root"') from error
    wrong = [name for name, value in table.items() if not isinstance(value, str)]
    if wrong:
        raise ImageError(f"{path}: bases.{wrong[0]} is {table[wrong[0]]!r}; give a path or a name in quotes")
    return dict(table)


def _fault(step: Step | None, wrong: str, advice: str) -> ImageError:
    return step.fault(wrong, advice) if step else ImageError(f"{wrong}; {advice}")
