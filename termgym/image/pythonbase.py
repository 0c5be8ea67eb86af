"""The image called ``python``: Python in /usr/local, with pip, and free to be installed into.

Docker's has its own Python there. Ours is a virtual environment of the system's Python, at the same place: the same
paths, the same ``python``, ``pip`` and site-packages, and what the distribution manages stays out of the way.
"""

from __future__ import annotations

import ensurepip
import importlib.metadata
import re
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from termgym.errors import ImageError
from termgym.image.image import Image
from termgym.image.making import make_directory, make_file
from termgym.image.marks import whiteout
from termgym.image.references import Reference
from termgym.image.state import PATH, digest
from termgym.image.store import Store
from termgym.image.tree import Tree
from termgym.sandbox.environment import EPOCH
from termgym.snapshot.copying import freeze_times

_SYSTEM = "/usr/bin/python3"
_FORMAT = 1
_PIP = "#!/usr/local/bin/python3\nimport sys\n\nfrom pip._internal.cli.main import main\n\nsys.exit(main())\n"


def python_image(store: Store, image: Image, reference: Reference) -> Image:
    """Return an image with Python as docker's ``python`` has it, on another one.

    Raises:
        ImageError: no pip is at hand to be put in.
    """
    tree = Tree(image.layers, store.prefix)
    system = tree.find(_SYSTEM)
    env = {"PATH": PATH, "LANG": "C.UTF-8"}
    if system is None or tree.find("/usr/local/bin/pip"):
        return Image(digest(["python", image.id]), image.layers, env, notes=image.notes)
    version = re.sub(r"^.*python", "", system.path)  # the target of the link python3
    pip_version, pip = _find_pip()
    key = digest(["python", _FORMAT, image.id, version, pip_version])[:32]
    target = store.layer(key)
    if not target.is_dir():
        with store.scratch() as place:
            _furnish(place / "tree", tree, version, pip())
            freeze_times(place / "tree", EPOCH)
            store.keep(place / "tree", target)
    notes = list(image.notes)
    if reference.version and not f"{version}.".startswith(f"{'.'.join(reference.version.split('.')[:2])}."):
        notes.append(f"{reference.text} has Python {version} here")
    return Image(digest(["python", key]), (*image.layers, str(target)), env, notes=tuple(notes))


def _furnish(tree: Path, below: Tree, version: str, pip: Mapping[str, bytes]) -> None:
    local = tree / "usr/local"
    packages = local / f"lib/python{version}/site-packages"
    make_directory(packages)
    make_directory(local / "bin")
    make_file(local / "pyvenv.cfg", b"home = /usr/bin\ninclude-system-site-packages = false\n")
    for name, target in (("python3", _SYSTEM), ("python", "python3"), (f"python{version}", "python3")):
        (local / "bin" / name).symlink_to(target)
    for name in ("pip", "pip3", f"pip{version}"):
        make_file(local / "bin" / name, _PIP.encode(), 0o755)
    for name, content in pip.items():
        make_directory((packages / name).parent)
        make_file(packages / name, content)
    managed = f"usr/lib/python{version}/EXTERNALLY-MANAGED"
    if below.find(f"/{managed}"):
        make_directory((tree / managed).parent)
        whiteout(tree / managed)


def _find_pip() -> tuple[str, Callable[[], Mapping[str, bytes]]]:
    """Return a version of pip and what reads it: the wheel that comes with Python, or the pip beside this program.

    Raises:
        ImageError: there is neither.
    """
    places = (Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels"))
    wheel = next((path for place in places for path in sorted(place.glob("pip-*.whl"))), None)
    if wheel is not None:
        return wheel.name, partial(_unpacked, wheel)
    try:
        found = importlib.metadata.distribution("pip")
    except importlib.metadata.PackageNotFoundError as error:
        raise ImageError(
            "FROM python needs a pip to put in, and this Python has none; install it (python -m ensurepip), "
            "or make a root filesystem with one (`rolf tasks rootfs build`)"
        ) from error
    kept = [path for path in found.files or () if path.parts[0] != ".." and "__pycache__" not in path.parts]
    return found.version, lambda: {str(path): path.read_binary() for path in kept}


def _unpacked(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
