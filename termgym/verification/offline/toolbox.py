"""Toolbox: a directory of tools for verifiers, made once from this very Python's packages and wheels that lie ready."""

from __future__ import annotations

import compileall
import functools
import hashlib
import json
import os
import py_compile
import shutil
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from rolf.cache import cache_directory

WHEELS = "wheels"
"""Directory below the cache whose wheels are offered beside what rolf has installed: ``pip download -d …``."""
OFFERED = ("pytest", "pytest-json-ctrf", "pytest-timeout", "exceptiongroup", "tomli", "typing-extensions")
"""Installed packages that are offered, with what they need. The last three are for Python before 3.11."""
PROGRAMS = {
    "bin/curl": "fetch.sh",
    "bin/wget": "fetch.sh",
    "bin/apt-get": "packages.sh",
    "bin/apt": "packages.sh",
    "bin/apk": "packages.sh",
    "bin/pip": "serve.sh",
    "bin/pip3": "serve.sh",
    "bin/uv-pip": "serve.sh",
    "uv/uv": "serve.sh",
    "uv/uvx": "serve.sh",
    "python/python": "python.sh",
    "python/python3": "python.sh",
}
"""The tools: where each lies, and of what it is a copy. ``python`` is for images that have one."""
_SHOWN = Path(__file__).parent / "shown"
_PURE = (".so", ".pyd")


class Offered(NamedTuple):
    """One package that verifiers can have."""

    name: str
    version: str
    source: metadata.Distribution | Path
    """Where it is installed, or its wheel."""


@functools.cache
def toolbox() -> str:
    """Return the directory with the tools, made if it is not there yet.

    What it holds depends on the tools and the packages alone, so it is made once for each set of versions.
    """
    offered = _offered()
    place = cache_directory("verifier-tools") / _digest(offered)
    if not place.exists():
        fresh = Path(mkdtemp(prefix="new-", dir=place.parent))
        try:
            _fill(fresh, offered)
            fresh.chmod(0o755)
            os.rename(fresh, place)
        except OSError:
            shutil.rmtree(fresh)
            if not place.exists():  # else another process was quicker
                raise
    return str(place)


def names() -> frozenset[str]:
    """Return the names of the tools."""
    return frozenset(program.rpartition("/")[2] for program in PROGRAMS if not program.startswith("python/"))


def _offered() -> list[Offered]:
    """Return the packages, those in wheels first: somebody has put them there on purpose."""
    found: dict[str, Offered] = {}
    for wheel in sorted(cache_directory(WHEELS).glob("*-none-any.whl")):
        name, version = wheel.name.split("-")[:2]
        found[canonicalize_name(name)] = Offered(canonicalize_name(name), version, wheel)
    todo = list(OFFERED)
    while todo:
        name = canonicalize_name(todo.pop())
        if name not in found and (package := _installed(name)) is not None:
            found[name] = package
            todo += _needs(package)
    return sorted(found.values(), key=lambda package: package.name)


def _installed(name: str) -> Offered | None:
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    if any(str(file).endswith(_PURE) for file in package.files or ()):  # for this Python alone
        return None
    return Offered(name, package.version, package)


def _metadata(package: Offered) -> metadata.PathDistribution | metadata.Distribution:
    if isinstance(package.source, metadata.Distribution):
        return package.source
    inside = zipfile.Path(package.source)
    found = next(each for each in inside.iterdir() if each.name.endswith(".dist-info"))
    return metadata.PathDistribution(found)


def _needs(package: Offered) -> list[str]:
    """Return what a package needs on any Python, extras left out."""
    needs = (Requirement(text) for text in _metadata(package).requires or ())
    return [canonicalize_name(need.name) for need in needs if not (need.marker and "extra" in str(need.marker))]


def _digest(offered: list[Offered]) -> str:
    content = hashlib.sha256()
    for file in sorted((*_SHOWN.glob("*.py"), *_SHOWN.glob("*.sh"))):
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    content.update(repr([(package.name, package.version) for package in offered]).encode())
    content.update(repr(PROGRAMS).encode())
    return content.hexdigest()[:32]


def _fill(place: Path, offered: list[Offered]) -> None:
    library = place / "lib"
    (library / "shown").mkdir(parents=True)
    for file in _SHOWN.glob("*.py"):
        shutil.copyfile(file, library / "shown" / file.name)
    for file in _SHOWN.glob("*.sh"):
        shutil.copyfile(file, library / file.name)
    for program, source in PROGRAMS.items():
        (place / program).parent.mkdir(exist_ok=True)
        shutil.copyfile(_SHOWN / source, place / program)
        (place / program).chmod(0o755)
    known = {package.name for package in offered}
    described = {package.name: _shelve(package, place / "site", known) for package in offered}
    (place / "packages.json").write_text(json.dumps(described, indent=1))
    # Nobody can write there later, so no other Python will keep what it has compiled.
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(place / "site", quiet=2, invalidation_mode=unchecked)
    compileall.compile_dir(library, quiet=2, invalidation_mode=unchecked)


def _shelve(package: Offered, site: Path, known: set[str]) -> dict[str, object]:
    """Copy a package and return what the tools must know of it."""
    directory = f"{package.name}-{package.version}"
    for name, content in _contents(package):
        target = site / directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    described = _metadata(package)
    scripts = {entry.name: entry.value for entry in described.entry_points if entry.group == "console_scripts"}
    return {
        "version": package.version,
        "directory": directory,
        "requires": [name for name in _needs(package) if name in known],
        "scripts": scripts,
        "python": _oldest_python(described.metadata.json.get("requires_python", "")),
    }


def _contents(package: Offered) -> Iterator[tuple[str, bytes]]:
    if isinstance(package.source, Path):
        with zipfile.ZipFile(package.source) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist() if not name.endswith("/"))
        return
    for file in package.source.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            yield str(file), file.read_binary()


def _oldest_python(condition: object) -> list[int]:
    """Return the oldest Python 3 that ``Requires-Python`` lets pass."""
    allowed = SpecifierSet(str(condition))
    return next(([3, minor] for minor in range(30) if allowed.contains(f"3.{minor}.99")), [3, 99])
