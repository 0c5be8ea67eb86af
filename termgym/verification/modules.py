"""Python's modules and pytest's configuration: what is imported in another's place, or runs without being asked."""

from __future__ import annotations

import re
import sys

from termgym.verification.scene import Scene

_SITE = re.compile(r"(.*/(?:site|dist)-packages)(?:/|$)")
_STANDARD = re.compile(r"(/usr(?:/local)?/lib/python3(?:\.\d+)?(?:/lib-dynload)?)/(?!(?:site|dist)-packages)")
_MODULE = re.compile(r"\.(py|pyc|pyo|so|[\w-]+\.so)$")
_HOOKS = ("sitecustomize", "usercustomize")
_ZIP = re.compile(r"/usr(/local)?/lib/python\d+\.zip|.*/(pyvenv\.cfg|python\d*\._pth|pybuilddir\.txt)")
"""Found beside an interpreter or under its prefix, these say where its standard library is (getpath.py)."""
_TEST_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "py"})
_PYTEST = frozenset({"pytest", "_pytest", "pluggy", "iniconfig"})
"""Verifiers bring their own where the image has none; what the agent installed under these names would pass for it."""
_STDLIB = sys.stdlib_module_names - {"test", "this", "antigravity", "turtle", "turtledemo", "idlelib", "tkinter"}
_CONFTEST = ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini")
_PROJECT = ("setup.cfg", "pyproject.toml", "setup.py")
_CALLS_PYTEST = re.compile(rb"tool\.pytest|tool:pytest|pytest\.ini_options")


def guarded(path: str, scene: Scene) -> bool:
    """Return whether a Python file of the image's is shown as it was, wherever it lies."""
    if _SITE.match(path) or path.endswith("/pyvenv.cfg"):
        return True
    return path.rpartition("/")[2] in _CONFTEST and _above_tests(path, scene)


def planted(path: str, scene: Scene) -> bool:
    """Return whether a new file would be imported in another's place, or without anybody asking for it."""
    name = path.rpartition("/")[2]
    stem = name.split(".", 1)[0]
    if stem in _HOOKS and (name == stem or _MODULE.search(name) or name.endswith(".pl")):
        return True
    if _ZIP.fullmatch(path) and (name != "pyvenv.cfg" or _beside_a_program(path, scene)):
        return True
    if _configures_pytest(path, name, scene):
        return True
    if site := _SITE.match(path):
        return _planted_in_site(path, name, site.group(1), scene)
    if standard := _STANDARD.match(path):
        return _shadows_sibling(path, scene) or _stale(path, scene) or _top(path, standard.group(1)) in _TEST_RUNNERS
    return _shadows_from_workdir(path, scene)


def _planted_in_site(path: str, name: str, site: str, scene: Scene) -> bool:
    if name.endswith(".pth"):
        return _runs_code(scene.read(path))
    if name == "entry_points.txt":
        return b"[pytest11]" in (scene.read(path) or b"[pytest11]")
    if _shadows_sibling(path, scene) or _stale(path, scene):
        return True
    top = _top(path, site)
    if top in _PYTEST or (name.endswith(".dist-info") and name.split("-", 1)[0].lower() in _PYTEST):
        return True
    return any(top in _modules(other, scene) for other in _sites(scene) if other != site)


def leads_elsewhere(path: str, scene: Scene) -> bool:
    """Return whether a new link stands on the way to programs or modules that a verifier looks for at fixed places."""
    if any(each == path or each.startswith(path + "/") for each in scene.path):
        return True
    own = path.removeprefix(scene.home) if path.startswith(scene.home + "/.local") else path
    return re.fullmatch(r"(/usr(/local)?|/\.local)/lib(/python3[\d.]*)?", own) is not None or (
        path.endswith(("/site-packages", "/dist-packages", "/__pycache__"))
    )


def _runs_code(content: bytes | None) -> bool:
    """Return whether a .pth file does more than name directories; so does one that cannot be read."""
    return content is None or any(line.startswith((b"import ", b"import\t")) for line in content.splitlines())


def _shadows_sibling(path: str, scene: Scene) -> bool:
    """Return whether the image has a module or package of that name in the same directory."""
    directory, _, name = path.rpartition("/")
    if not _MODULE.search(name) or directory.endswith("/__pycache__"):
        return False
    return name.split(".", 1)[0] in _modules(directory, scene)


def _stale(path: str, scene: Scene) -> bool:
    """Return whether a file is bytecode for a source of the image's: it may say anything."""
    directory, _, name = path.rpartition("/")
    if not directory.endswith("/__pycache__"):
        return False
    source = f"{directory.removesuffix('/__pycache__')}/{name.split('.', 1)[0]}.py"
    return name.endswith((".pyc", ".pyo")) and scene.tree.has(source)


def _sites(scene: Scene) -> list[str]:
    """Return the image's directories of installed modules that belong to its system."""
    found = []
    for lib in ("/usr/lib", "/usr/local/lib", f"{scene.home}/.local/lib"):
        for python in scene.tree.names(lib):
            if python.startswith("python3"):
                found += [f"{lib}/{python}/{kind}-packages" for kind in ("site", "dist")]
    return found


def _modules(directory: str, scene: Scene) -> frozenset[str]:
    names = scene.tree.names(directory)
    stems = {name.split(".", 1)[0] for name in names if "." not in name or _MODULE.search(name)}
    return frozenset(stems - {"__pycache__"})


def _top(path: str, above: str) -> str:
    return path.removeprefix(above + "/").split("/", 1)[0].split(".", 1)[0]


def _beside_a_program(path: str, scene: Scene) -> bool:
    directory = path.rpartition("/")[0]
    return directory in scene.path or any(each.rpartition("/")[0] == directory for each in scene.path)


def _configures_pytest(path: str, name: str, scene: Scene) -> bool:
    if name not in (*_CONFTEST, *_PROJECT) or not _above_tests(path, scene):
        return False
    if path.count("/") == 1:  # in the root, above /tests
        return True
    if scene.deliverable(path) or scene.word(name):
        return False
    return name in _CONFTEST or (name != "setup.py" and _CALLS_PYTEST.search(scene.read(path) or b"") is not None)


def _above_tests(path: str, scene: Scene) -> bool:
    """Return whether pytest, called in the working directory, reads configuration from where ``path`` lies."""
    directory = path.rpartition("/")[0]
    return directory == "" or directory == scene.workdir or scene.workdir.startswith(directory + "/")


def _shadows_from_workdir(path: str, scene: Scene) -> bool:
    """Return whether ``python -m pytest`` in the working directory would import a file instead of a library's."""
    inside = path.removeprefix(scene.workdir.rstrip("/") + "/")
    if inside == path or not _MODULE.search(path) or scene.deliverable(path):
        return False
    parts = inside.split("/")
    if len(parts) > 2 or (len(parts) == 2 and parts[1].split(".", 1)[0] != "__init__"):
        return False
    top = parts[0].split(".", 1)[0]
    named = any(scene.word(each) for each in (inside, f"{top}/", parts[0])) or _in_tests(inside, scene)
    return top in _TEST_RUNNERS or (top in _STDLIB and not named)


def _in_tests(inside: str, scene: Scene) -> bool:
    return inside in scene.tests
