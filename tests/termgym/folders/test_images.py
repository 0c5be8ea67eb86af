from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from termgym.folders import read_folder
from termgym.image import build

Where = Callable[[str], Path]


def test_what_a_folder_says_beside_its_dockerfile_is_laid_over_it(folder: Where) -> None:
    recipe = read_folder(folder("harbor-context")).task.image
    assert recipe is not None
    plain = build(recipe)
    told = build(replace(recipe, env={"GREETING": "hi", "MORE": "1"}, cwd="/srv", user="1000"))
    assert (plain.env["GREETING"], plain.workdir, plain.user) == ("hello", "/app", "")
    assert {name: told.env[name] for name in ("GREETING", "MORE")} == {"GREETING": "hi", "MORE": "1"}
    assert (told.workdir, told.user) == ("/srv", "1000")
    assert told.layers == plain.layers  # /srv is there
    assert told.id != plain.id
    assert build(recipe) == plain


def test_a_ready_image_takes_it_too(folder: Where) -> None:
    recipe = read_folder(folder("bench-image")).task.image
    assert recipe is not None
    found = build(recipe)
    assert (found.env["LEVEL"], found.workdir, found.user) == ("3", "/app", "root")
    bare = build(replace(recipe, env={}, cwd="", user=""))
    assert bare.id != found.id
    assert found.layers[:-1] == bare.layers
    assert [path.name for path in Path(found.layers[-1]).iterdir()] == ["app"]


def test_an_odd_directory_is_made_as_it_is_called(folder: Where) -> None:
    recipe = read_folder(folder("bench-image")).task.image
    assert recipe is not None
    found = build(replace(recipe, cwd="/a $b\\c"))
    assert found.workdir == "/a $b\\c"
    assert [path.name for path in Path(found.layers[-1]).iterdir()] == ["a $b\\c"]
