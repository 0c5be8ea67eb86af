"""What an agent learns in seconds: a small line, and errands in a terminal that take two commands."""

from __future__ import annotations

from typing import Any

from toy_lines import chain

from linegym.plant import Fault
from linegym.templates import CustomTemplate
from linegym.variants import Variant
from termgym.checks import FileExists
from termgym.tasks.task import FileSpec, Task

FILES, FOLDERS = ("bill", "letter"), ("work", "home")


SMALL = Variant(
    CustomTemplate(
        "small",
        chain(
            (4, 4, 4),
            (4, 4),
            dominant=Fault.BEARING,
            allowed=(Fault.BEARING, Fault.JAM),
            fault=0.9,
            noise=1.0,
            spread=0.1,
            scrap=0.01,
        ),
    )
)
"""Three stations with two kinds of fault: an expert earns 84 a shift, reacting to alarms 63, acting at random 22."""


def run(command: str) -> dict[str, Any]:
    """Return the call that runs a command."""
    return {"tool": "run", "arguments": {"command": command}}


MENU = {f"cd {folder}": run(f"cd ~/{folder}") for folder in FOLDERS} | {
    f"mv {file}": run(f"mv ~/{file} .") for file in FILES
}
"""Two of them do an errand, in the right order."""


def errands() -> list[Task]:
    """Return one for each file and folder; the instruction says which, and the menu is the same in all."""
    return [_errand(file, folder) for file in FILES for folder in FOLDERS]


def _errand(file: str, folder: str) -> Task:
    files = [FileSpec(f"/home/agent/{each}", each.encode()) for each in FILES]
    folders = [FileSpec(f"/home/agent/{each}", kind="dir", mode=0o755) for each in FOLDERS]
    return Task(
        id=f"errand/{file}-{folder}@0",
        instruction=f"Put the {file} into {folder}.",
        files=(*files, *folders),
        goal=(FileExists(path=f"/home/agent/{folder}/{file}"),),
    )
