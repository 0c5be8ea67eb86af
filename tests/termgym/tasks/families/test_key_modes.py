"""A refused key: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.key_modes import PLACE, scene
from termgym.tasks.world import World

SEED = 3
LAX = (
    "sed 's/sys.exit(f\"courier: refused/(f\"/; s|^root = .*|root = pathlib.Path.cwd()|' courier > /tmp/courier "
    "&& python3 /tmp/courier send"
)


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("key-modes", "", SEED))
    names = {"root": at.root, "key": at.key_path, "team": at.team, "name": at.name, "place": PLACE}
    task = make_task(f"key-modes/{cause}", SEED)
    return attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("readable-key", ("chmod 600 {key}",)),
        ("readable-key", ("chmod -R go-rwx ~", "./courier send")),
        ("readable-key", ("chmod 600 {key}; echo 00 > {key}", "./courier send")),
        ("readable-key", ("sed -i 's/0o077/0o000/' courier", "./courier send")),
        ("readable-key", (LAX,)),
        ("readable-key", ("chmod 600 {key}", "./courier send", "chmod 644 {key}")),
        ("open-directory", ("mv ~/public /tmp; chmod go-w ~ {place}", "./courier send")),
        ("open-directory", ("chmod 700 ~ {place}", "./courier send")),
        ("linked-key", ("chmod go-w {team}", "./courier send")),
        ("linked-key", ("mv {team}/{name}.key {key}", "./courier send")),
        ("loose-umask", ("./courier send; chmod 600 {place}/session", "./courier send")),
        ("loose-umask", (LAX, "chmod 600 {place}/session")),
    ],
)
def test_what_leaves_a_door_open_or_closes_anothers_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Another key, another program, sent but open again, or at the cost of those who read and write there."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("readable-key", ("chmod 400 {key}", "./courier send")),
        ("open-directory", ("chmod 711 ~; chmod 700 {place}", "python3 courier send")),
        ("linked-key", ("install -D -m 400 {team}/{name}.key ~/.courier/keys/mine",
                        "sed -i 's|^key = .*|key = {place}/keys/mine|' {place}/config", "./courier send")),
        ("loose-umask", ("sed -i 's/^umask = .*/umask = 177/' {place}/config", "./courier send")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """How the key became private is nobody's business."""
    assert _play(attempt, cause, commands)
