"""Images made by hand for tests: a tiny one with a few programs in it, and this machine's own system."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from termgym.image import bases
from termgym.image.image import Image
from termgym.image.recipe import Recipe
from termgym.image.store import Store
from termgym.tasks.task import Task

PROGRAMS = (
    "bash",
    "cat",
    "chmod",
    "chown",
    "id",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "rm",
    "setpriv",
    "setsid",
    "sleep",
    "stat",
    "touch",
    "tr",
)
PASSWD = "root:x:0:0:root:/root:/bin/bash\nann:x:1001:1002:Ann:/home/ann:/bin/bash\n"
GROUP = "root:x:0:\nann:x:1002:\nwheel:x:10:root,ann\n"


def tiny_layer(layer: Path, programs: tuple[str, ...] = PROGRAMS) -> Path:
    """Fill a directory with programs of this machine, the libraries that they need, and two users."""
    for name in ("bin", "etc", "home/ann", "proc", "root", "srv", "tmp"):
        (layer / name).mkdir(parents=True)
    for program in programs:
        found = shutil.which(program, path="/usr/bin:/bin:/usr/sbin:/sbin")
        assert found is not None
        shutil.copy(found, layer / "bin" / program)
        told = subprocess.run(["ldd", found], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+)", told):
            target = layer / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(library, target)
    shutil.copytree("/usr/lib/locale/C.utf8", layer / "usr/lib/locale/C.utf8")
    (layer / "tmp").chmod(0o1777)
    (layer / "root").chmod(0o700)
    (layer / "etc/passwd").write_text(PASSWD)
    (layer / "etc/group").write_text(GROUP)
    if os.getuid() == 0:
        os.chown(layer / "home/ann", 1001, 1002)
    return layer


def tiny_image(directory: Path, env: Mapping[str, str] | None = None, **fields: Any) -> Image:
    """Return an image of one layer, made in a new directory."""
    return Image("tiny", (str(tiny_layer(directory)),), env or {}, **fields)


def host_image(**fields: Any) -> Image:
    """Return this machine's own system, as ``FROM host`` means it."""
    return replace(bases.host_image(Store()), **fields)


def imaged_task(**fields: Any) -> Task:
    """Return a task that has an image."""
    return Task(id="imaged", instruction="", image=Recipe(reference="host"), **fields)
