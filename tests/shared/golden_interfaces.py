"""Golden texts: what a policy is told in each style, as it was when its scores were measured.

    python tests/shared/golden_interfaces.py      # write tests/rolf/interface/golden/ anew

A text that changes is another interface: what was trained or measured through it does not compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toy_tools import TOOLS

from rolf.interface import Call, Role, Section, style
from rolf.interface.catalogue import STYLES
from rolf.interface.layouts import LAYOUTS
from rolf.interface.prompts import PROMPTS, prompt

FOLDER = Path(__file__).parent.parent / "rolf" / "interface" / "golden"
CALLS = (
    Call(
        "shell", {"command": "grep -c '<b>' *.html && echo \"$HOME\" > `mktemp`\n", "timeout": 2.5, "exit_code": None}
    ),
    Call("dispatch", {"technician": 0, "claim": "no"}),
    Call("submit"),
)
SECTIONS = (
    Section("instruction", "Find the fault.", Role.OUTPUT),
    Section("stdout", "a <b>\n```\nc `d`", Role.OUTPUT),
    Section("stderr", "", Role.OUTPUT),
    Section("exit_code", None),
    Section("event", "TIMEOUT"),
    Section("cwd", "/home/agent", Role.PLACE),
)


def texts() -> Mapping[str, str]:
    """Return every golden text by the name of its file."""
    found = {}
    for name in STYLES:
        calls = "\n\n".join(style(name).write(call, TOOLS, "Let me see.") for call in CALLS)
        found[f"style-{name}.txt"] = f"{style(name).describe(TOOLS)}\n\n======== calls\n\n{calls}\n"
    for name in PROMPTS:
        found[f"prompt-{name}.txt"] = prompt(name, "Keep it running.", style("json-plan"), TOOLS)
    for name, layout in LAYOUTS.items():
        found[f"layout-{name}.txt"] = layout(SECTIONS, "ls") + "\n"
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, "utf-8")
