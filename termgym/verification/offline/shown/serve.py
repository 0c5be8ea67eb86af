"""Do what a verifier asks of uv and pip with the packages that are at hand, and say so if that cannot be done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import NoReturn

from .environments import Environment, active, link, made, own, project
from .requirements import HERE, Requirement, meets, requirement, unserved, wanted

LISTS = ("--with-requirements", "-r", "--requirement", "--requirements")
"""Options that name a file of packages."""
VALUED = {
    "uvx": {
        "-p",
        "--python",
        "-w",
        "--with",
        "--from",
        "--index-url",
        "-i",
        "--cache-dir",
        "--with-requirements",
        "-c",
    },
    "run": {"-p", "--python", "-w", "--with", "--project", "--directory", "--env-file", "--extra", "--group"},
    "pip": {"-r", "--requirement", "-c", "--constraint", "-i", "--index-url", "--extra-index-url", "-f", "--find-links"}
    | {
        "-t",
        "--target",
        "--prefix",
        "--python",
        "-p",
        "--timeout",
        "--retries",
        "--trusted-host",
        "--root-user-action",
    },
    "add": {"-p", "--python", "--group", "--optional", "--index", "--script", "-r", "--requirements"},
    "venv": {"-p", "--python", "--prompt"},
}


def main(argv: list[str]) -> None:
    """Do what ``argv`` (the tool's name and its arguments) says."""
    tool, arguments = argv[0], argv[1:]
    if tool == "uvx":
        _uvx(arguments)
    elif tool == "pip":
        _pip(arguments, None)
    else:
        _uv(arguments)


def _run(environment: Environment, command: list[str]) -> NoReturn:
    if not command:
        sys.exit(0)
    variables = environment.variables()
    if command[0].endswith(".py") and os.path.exists(command[0]):
        command = ["python", *command]
    try:
        os.execvpe(command[0], command, variables)
    except OSError as error:
        print(f"uv: cannot run {command[0]!r}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


def _split(arguments: list[str], valued: set[str], *, stop: bool) -> tuple[dict[str, list[str]], list[str]]:
    """Return the options and what is left; ``stop``: at the first word that is no option."""
    options: dict[str, list[str]] = {}
    left: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            return options, left + words
        if not word.startswith("-") or word == "-":
            left.append(word)
            if stop:
                return options, left + words
            continue
        name, joined, value = word.partition("=")
        if joined:
            options.setdefault(name, []).append(value)
        elif name in valued:
            options.setdefault(name, []).append(words.pop(0) if words else "")
        elif len(word) > 2 and word[:2] in valued and word[1] != "-":
            options.setdefault(word[:2], []).append(word[2:])
        else:
            options.setdefault(name, [])
    return options, left


def _with(options: dict[str, list[str]]) -> list[Requirement]:
    texts = [text for name in ("-w", "--with") for value in options.get(name, []) for text in _commas(value)]
    files = [
        value
        for name in ("--with-requirements", "-r", "--requirement", "--requirements")
        for value in options.get(name, [])
    ]
    return [requirement(text) for text in texts] + [each for file in files for each in _listed(file)]


def _commas(value: str) -> list[str]:
    """Return packages that are divided by commas; a comma before a comparison divides conditions."""
    return [text for text in re.split(r",(?!\s*[<>=!~])", value) if text.strip()]


def _listed(path: str) -> list[Requirement]:
    with open(path) as file:
        lines = [line.split(" #")[0].strip() for line in file]
    return [requirement(line) for line in lines if line and not line.startswith(("#", "-"))]


def _uvx(arguments: list[str]) -> NoReturn:
    options, command = _split(arguments, VALUED["uvx"], stop=True)
    if not command:
        print("uv 0.0.0 (rolf)")
        sys.exit(0)
    requirements = _with(options)
    packages = options.get("--from", [])
    name, version = requirement(command[0])
    if packages:
        requirements += [requirement(text) for text in packages]
    elif name not in ("python", "python3"):
        requirements.append(Requirement(name, f"=={version}" if version[:1].isdigit() else version))
        command[0] = re.split(r"[@=<>~!\[]", command[0])[0]
    environment = Environment(own(f"tool-{os.getpid()}"))
    environment.add(requirements)
    _run(environment, command)


def _uv(arguments: list[str]) -> None:
    globals_, words = _split(arguments, {"--directory", "--project", "--cache-dir", "--color"}, stop=True)
    for directory in globals_.get("--directory", []):
        os.chdir(directory)
    if "--version" in globals_ or "-V" in globals_ or not words:
        print("uv 0.0.0 (rolf)")
        return
    verb, rest = words[0], words[1:]
    if verb == "tool" and rest[:1] == ["run"]:
        _uvx(rest[1:])
    elif verb in ("init", "sync", "lock", "cache", "self", "python", "version", "export"):
        return
    elif verb == "add":
        options, packages = _split(rest, VALUED["add"], stop=False)
        project().add([requirement(text) for text in packages] + _with(options))
    elif verb == "run":
        _uv_run(*_split(rest, VALUED["run"], stop=True))
    elif verb == "venv":
        _, places = _split(rest, VALUED["venv"], stop=False)
        Environment(os.path.abspath(places[0] if places else ".venv"))
    elif verb == "pip":
        _uv_pip(rest)
    else:
        unserved("uv " + " ".join(arguments))


def _uv_run(options: dict[str, list[str]], command: list[str]) -> NoReturn:
    ours, place = own("project" + os.getcwd().replace("/", "_")), active()
    requirements = _with(options)
    if ours not in made() and place is not None and place not in made() and not requirements:
        # The image's own environment of a project: uv would run in it as it is.
        path = os.path.join(place, "bin") + os.pathsep + os.environ.get("PATH", "")
        os.environ.update(VIRTUAL_ENV=place, PATH=path)
        os.execvp(command[0], command)
    environment = project()
    environment.add(requirements)
    _run(environment, command)


def _uv_pip(arguments: list[str]) -> None:
    options, _ = _split(arguments, VALUED["pip"], stop=False)
    place = active()
    ours = place is not None and place in made() and "--system" not in options
    _pip(arguments, place if ours else None)


def _pip(arguments: list[str], environment: str | None) -> None:
    options, words = _split(arguments, VALUED["pip"], stop=False)
    if not words or words[0] in ("list", "show", "freeze", "check", "config", "cache", "--version"):
        _real_pip(arguments)
        return
    if words[0] in ("uninstall", "sync"):
        return
    local = [word for word in words[1:] if word.startswith((".", "/")) or word.endswith((".whl", ".tar.gz"))]
    if words[0] != "install" or local or "-e" in options or "--editable" in options or "-t" in options:
        _real_pip(arguments)
        return
    requirements = [requirement(word) for word in words[1:]] + _with(options)
    if environment is not None:
        Environment(environment).add(requirements)
        return
    missing = [each for each in requirements if not _installed(*each)]
    if any(name == "uv" for name, _ in missing):
        _link_uv("/usr/local/bin")
    link(wanted(missing), _purelib(), "/usr/local/bin", sys.executable)
    print("Requirements served by rolf, without network")


def _purelib() -> str:
    """Return where this Python looks for packages: Debian's is called otherwise than sysconfig says to a venv."""
    return _asked("import site; print(site.getsitepackages()[0])") or unserved("pip: this Python has no place for it")


def _link_uv(directory: str) -> None:
    for name in ("uv", "uvx"):
        place = os.path.join(directory, name)
        if os.path.lexists(place):
            os.unlink(place)
        os.symlink(os.path.join(HERE, "uv", name), place)


def _installed(name: str, condition: str) -> bool:
    """Return whether the image has a package already."""
    version = _asked(f"import importlib.metadata as m; print(m.version({name!r}))")
    return version is not None and meets(version, condition)


def _asked(code: str) -> str | None:
    """Return what this Python, with all of its packages, prints for a line of code; None where that fails."""
    argv = [sys.executable, "-I", "-c", code]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def _real_pip(arguments: list[str]) -> None:
    """Let the image's own pip do it; without an index it can do what needs no network."""
    if _asked("import pip") is None:
        unserved("pip " + " ".join(arguments))
    variables = {**os.environ, "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    done = subprocess.run([sys.executable, "-m", "pip", *arguments], env=variables, check=False)
    if done.returncode != 0:
        unserved("pip " + " ".join(arguments))
