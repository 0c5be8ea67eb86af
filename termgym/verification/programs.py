"""Programs, libraries and start-up files: which are shown as the image has them, and which stand in another's place."""

from __future__ import annotations

import re
import struct

from termgym.verification.imagetree import ImageTree
from termgym.verification.scene import Scene

_SYSTEM = re.compile(r"/(usr|bin|sbin|lib|lib32|lib64|libx32)(/|$)")
_DATA = re.compile(r"/usr/(local/)?(share|src|include|games)/(?!(perl|perl5|python3|pyshared|nodejs|npm)(/|$))")
"""Read by programs, run by none. Tasks change what lies there, such as the pages of a web server."""
_STARTUP = re.compile(
    r"/etc/(ld\.so\.preload|ld\.so\.conf|ld\.so\.conf\.d/.*|ld\.so\.cache|profile|profile\.d/.*|bash\.bashrc"
    r"|zsh/.*|environment|alternatives/.*|pip\.conf|uv/.*|xdg/pip/.*|perl/.*|python\d?[\d.]*/.*|nsswitch\.conf"
    r"|ssl/openssl\.cnf|wgetrc|curlrc|gai\.conf)"
)
_PERSONAL = re.compile(
    r"\.(bashrc|bash_profile|bash_login|bash_aliases|bash_env|profile|zshrc|zshenv|zprofile|curlrc|wgetrc|pydistutils\.cfg)"
    r"|\.(pip|config/pip|config/uv|config/pytest)(/.*)?"
)
_LIBRARIES = re.compile(r"/(usr/)?(local/)?lib(32|64|x32)?(/[^/]+-linux-[^/]+)?/[^/]+\.so[.\d]*")
_PLUGINS = re.compile(r"/gconv/")
_TESTERS = ("pytest", "py.test", "uv", "uvx")
"""Programs that verifiers fetch where they are missing."""
CACHE = "/etc/ld.so.cache"


def guarded(path: str, scene: Scene) -> bool:
    """Return whether what the image has at a path is shown to the verifier whatever the agent did to it."""
    if _SYSTEM.match(path):
        return _DATA.match(path) is None
    return is_startup(path, scene.home) or path in scene.path or path.rpartition("/")[0] in scene.path


def is_startup(path: str, home: str) -> bool:
    """Return whether shells, loaders or installers read a file on their own."""
    if _STARTUP.fullmatch(path):
        return True
    return path.startswith(f"{home}/") and _PERSONAL.fullmatch(path[len(home) + 1 :]) is not None


def planted(path: str, scene: Scene) -> bool:
    """Return whether a new file would be run or loaded in the place of one that the image or the tools provide."""
    directory, _, name = path.rpartition("/")
    if path != CACHE and is_startup(path, scene.home):
        return not path.startswith("/etc/alternatives/")
    if _PLUGINS.search(path):
        return _SYSTEM.match(path) is not None
    if directory in scene.path:
        return _shadows_program(directory, name, scene)
    return _LIBRARIES.fullmatch(path) is not None and _shadows_library(directory, name, scene.tree)


def _shadows_program(directory: str, name: str, scene: Scene) -> bool:
    if name in scene.tools or name in _TESTERS:
        return True
    here = scene.tree.resolve(directory)
    later = scene.path[scene.path.index(directory) + 1 :]
    return any(name in scene.tree.names(each) for each in later if scene.tree.resolve(each) != here)


def _shadows_library(directory: str, name: str, tree: ImageTree) -> bool:
    here = tree.resolve(directory)
    return any(name in tree.names(each) for each in _library_directories(tree) if tree.resolve(each) != here)


def _library_directories(tree: ImageTree) -> list[str]:
    roots = ("/usr/local/lib", "/lib", "/usr/lib", "/lib64", "/usr/lib64")
    return [*roots, *(f"{root}/{name}" for root in roots for name in tree.names(root) if "-linux-" in name)]


def cache_misleads(live: bytes | None, image: bytes | None) -> bool:
    """Return whether the loader's cache leads a library of the image's elsewhere.

    A cache that the agent made by ``ldconfig`` after it had installed a library is honest: it knows more, and the same.
    """
    if live is None or image is None:
        return live != image
    try:
        now, before = _cached(live), _cached(image)
    except (struct.error, ValueError, IndexError):
        return True
    return any(now.get(name) != places for name, places in before.items())


_MAGIC = b"glibc-ld.so.cache1.1"  # sysdeps/generic/dl-cache.h, struct cache_file_new


def _cached(content: bytes) -> dict[bytes, set[bytes]]:
    start = content.index(_MAGIC)
    (count,) = struct.unpack_from("I", content, start + len(_MAGIC))
    if count > 1 << 20:
        raise ValueError(count)
    found: dict[bytes, set[bytes]] = {}
    for number in range(count):
        _, key, value = struct.unpack_from("iII", content, start + 48 + number * 24)
        name, place = (content[start + at : content.index(b"\0", start + at)] for at in (key, value))
        found.setdefault(name, set()).add(place)
    return found
