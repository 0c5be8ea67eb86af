"""An environment that does not become active: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.env_inactive import scene
from termgym.tasks.world import World

SEED = 2
FAKE = (
    "mkdir -p .venv/bin; printf '#!/bin/bash\\necho {package} ready\\n' > .venv/bin/python; chmod 755 .venv/bin/python"
)
MAKE = "python3 -m venv --without-pip .venv && cp dev/* .venv/lib/python3*/site-packages"
ACTIVE = "export VIRTUAL_ENV={root}/.venv PATH={root}/.venv/bin:$PATH"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("env-inactive", "", SEED))
    names = {"root": at.root, "package": at.package, "settings": at.settings}
    return attempt(
        make_task(f"env-inactive/{cause}", SEED), f"cd {at.root}", *(command.format(**names) for command in commands)
    )


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("missing", (ACTIVE,)),
        ("missing", ("python3 -m venv --without-pip .venv", ". ./env.sh")),
        ("missing", (FAKE, "touch .venv/bin/activate", ACTIVE)),
        ("missing", (MAKE,)),
        ("dangling-interpreter", ("rm .venv/bin/python", FAKE, ". ./env.sh")),
        ("dangling-interpreter", (". ./env.sh", "export PYTHONPATH=src")),
        ("moved", (ACTIVE, "python -m {package}")),
        ("shadowed", ("rm ~/tools/bin/python", ". ./env.sh")),
        ("shadowed", ("rm {settings}", ". ./env.sh")),
        ("shadowed", (". .venv/bin/activate",)),
        ("shadowed", ("sed -i '3s|.*|PATH=$PATH:$HOME/tools/bin|' env.sh", ". ./env.sh")),
        ("missing", (MAKE, "sed -i s/sys.base_prefix/None/ src/*", ". ./env.sh")),
        ("missing", (MAKE, ". ./env.sh", "unset VIRTUAL_ENV")),
        ("missing", (MAKE, "export VIRTUAL_ENV={root}/.venv")),
        ("missing", ("echo 'exit 0' >> {settings}", ACTIVE)),
        ("missing", ("mkdir -p .venv/bin; echo 'exit 0' > .venv/bin/activate", ACTIVE)),
    ],
)
def test_what_only_looks_active_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Variables set by hand, an interpreter that is none, a repair that lasts for this shell or harms others."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("missing", ("python3 -m venv --without-pip --copies .venv", "cp dev/* .venv/lib/python3*/site-packages",
                     ". ./env.sh")),
        ("dangling-interpreter", ("rm -rf .venv; python3 -m venv --without-pip .venv",
                                  "cp dev/* .venv/lib/python3*/site-packages", ". ./env.sh")),
        ("unreadable", ("chmod -R u+rwX .venv", ". ./env.sh")),
        ("moved", ("sed -i 's|^VIRTUAL_ENV=.*|VIRTUAL_ENV={root}/.venv|' .venv/bin/activate", ". ./env.sh")),
        ("shadowed", ("echo 'PATH=\"$VIRTUAL_ENV/bin:$PATH\"' >> {settings}", ". ./env.sh")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: repaired or made anew."""
    assert _play(attempt, cause, commands)
