"""Virtual environments for verifiers, as uv makes them: the image's interpreter and none of its packages."""

from __future__ import annotations

import os
import subprocess
import sys

from .requirements import HERE, LOGS, Requirement, shelf, wanted

STORE = os.path.join(os.path.dirname(LOGS), "environments")
"""On the file system that was made for this verification, so nobody can have prepared one."""


_ACTIVATE = """VIRTUAL_ENV="{0}"; export VIRTUAL_ENV
PATH="{1}:$PATH"; export PATH
deactivate() {{ :; }}
hash -r 2>/dev/null
"""


class Environment:
    """A virtual environment, as uv makes one: the image's interpreter, none of its packages."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.packages = os.path.join(directory, "lib", version, "site-packages")
        self.programs = os.path.join(directory, "bin")
        if directory not in made():
            self._make()

    def _make(self) -> None:
        if os.path.lexists(self.directory):
            subprocess.run(["rm", "-rf", self.directory], check=True)  # a link to it is removed, not what it leads to
        os.makedirs(self.packages, exist_ok=True)
        os.makedirs(self.programs, exist_ok=True)
        interpreter = os.path.realpath(sys.executable)
        for name in ("python", "python3"):
            os.symlink(interpreter, os.path.join(self.programs, name))
        with open(os.path.join(self.directory, "pyvenv.cfg"), "w") as file:
            file.write(f"home = {os.path.dirname(interpreter)}\ninclude-system-site-packages = false\n")
        _script(os.path.join(self.programs, "activate"), _ACTIVATE.format(self.directory, self.programs))
        for name in ("pip", "pip3"):
            pip = os.path.join(HERE, "bin", "uv-pip")
            _script(os.path.join(self.programs, name), f'#!/bin/sh\nVIRTUAL_ENV="{self.directory}" exec {pip} "$@"\n')
        os.makedirs(STORE, exist_ok=True)
        with open(os.path.join(STORE, "made"), "a") as file:
            file.write(self.directory + "\n")

    def add(self, requirements: list[Requirement]) -> None:
        """Put packages in."""
        link(wanted(requirements), self.packages, self.programs, os.path.join(self.programs, "python"))

    def variables(self) -> dict[str, str]:
        """Return the variables of a program that runs in it."""
        path = self.programs + os.pathsep + os.environ.get("PATH", "/usr/bin:/bin")
        variables = {**os.environ, "VIRTUAL_ENV": self.directory, "PATH": path}
        variables.pop("PYTHONHOME", None)
        return variables


def made() -> list[str]:
    """Return the environments that were made in this verification."""
    try:
        with open(os.path.join(STORE, "made")) as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def link(names: list[str], packages: str, programs: str, interpreter: str) -> None:
    """Let an interpreter find packages, and a shell their programs."""
    stock = shelf()
    os.makedirs(packages, exist_ok=True)
    os.makedirs(programs, exist_ok=True)
    with open(os.path.join(packages, "rolf-tools.pth"), "a") as file:
        file.writelines(os.path.join(HERE, "site", stock[name]["directory"]) + "\n" for name in names)
    for name in names:
        for script, target in stock[name]["scripts"].items():
            module, _, function = target.partition(":")
            body = f"import sys\nfrom {module} import {function.split('.')[0]}\nsys.exit({function}())\n"
            _script(os.path.join(programs, script), f"#!{interpreter}\n{body}")


def _script(path: str, text: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def own(name: str) -> str:
    """Return the place of an environment of ours."""
    return os.path.join(STORE, name)


def active() -> str | None:
    """Return the environment that is switched on, or that lies in the working directory."""
    for place in (os.environ.get("VIRTUAL_ENV", ""), os.path.abspath(".venv")):
        if place and os.path.exists(os.path.join(place, "pyvenv.cfg")):
            return place
    return None


def project() -> Environment:
    """Return the environment of the working directory that ``uv add`` fills: one of ours, whatever lies there."""
    switched_on = active()
    if switched_on is not None and switched_on in made():
        return Environment(switched_on)
    return Environment(own("project" + os.getcwd().replace("/", "_")))
