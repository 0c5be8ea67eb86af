"""Other projects' files: unchanged, and with their licences."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files

from toy_board import Made

from rolf.leaderboard.page.document import SCRIPTS, STYLES

VENDOR = files("rolf.leaderboard.page.vendor")
LISTED = json.loads(VENDOR.joinpath("files.json").read_text(encoding="utf-8"))
OWN = {"__init__.py", "__pycache__", "README.md", "files.json", "take.py"}


def test_every_file_is_the_one_that_was_taken() -> None:
    for name, told in LISTED.items():
        assert hashlib.sha256(VENDOR.joinpath(name).read_bytes()).hexdigest() == told["sha256"], name
    assert {each.name for each in VENDOR.iterdir()} - OWN == set(LISTED)


def test_every_file_in_the_page_is_listed_with_a_licence() -> None:
    used = {name.removeprefix("vendor/") for name in (*SCRIPTS, *STYLES) if name.startswith("vendor/")}
    assert used == {name for name in LISTED if not name.startswith("LICENSE")}
    licensed = {told["package"] for name, told in LISTED.items() if name.startswith("LICENSE")}
    assert {LISTED[name]["package"] for name in used} <= licensed


def test_the_page_carries_the_licences(toy: Made) -> None:
    """Copies of the software must have the notices with them, and a page is a copy."""
    text = toy.path.read_text(encoding="utf-8")
    for name, told in LISTED.items():
        if name.startswith("LICENSE"):
            line = VENDOR.joinpath(name).read_text(encoding="utf-8").strip().splitlines()[0].strip()
            assert line in text
            assert f"{told['package']} {told['version']}" in text


def test_the_readme_names_the_versions() -> None:
    readme = VENDOR.joinpath("README.md").read_text(encoding="utf-8")
    for package, called in (
        ("asciinema-player", "asciinema-player"),
        ("@observablehq/plot", "Observable Plot"),
        ("d3", "D3"),
    ):
        version = next(told["version"] for told in LISTED.values() if told["package"] == package)
        assert f"{called} {version}" in readme
