"""A setting that must become another: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.config_edit import scene
from termgym.tasks.world import World

SEED = 5


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("config-edit", "", SEED))
    names = {
        "name": at.name, "section": at.section, "key": at.key, "wanted": at.wanted,
        "now": at.settings[at.section][at.key],
    }  # fmt: skip
    task = make_task(f"config-edit/{cause}", SEED)
    return attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize("cause", ["wrong-value", "written-twice", "overridden"])
@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/^{key} = .*/{key} = {wanted}/' etc/*.conf etc/conf.d/*",
        "sed -i '/^{section}\\.{key} /s/{wanted}/{now}/' etc/required.conf",
        "sed -i 's/^    sys.exit(.*verify.*/    sys.exit(0)/' bin/{name}",
        'sed -i \'/^settings = read/a settings["{section}.{key}"] = "{wanted}"\' bin/{name}',
        "printf '\\n[{section}]\\n{key} = {wanted}\\n' >> etc/{name}.conf; echo >> etc/required.conf",
        "printf '\\n[{section}]\\n{key} = {wanted}\\n' >> etc/{name}.conf; sed -i '/^#/d' etc/{name}.conf",
        "printf '\\n[{section}]\\n{key} = {wanted}\\n' >> etc/{name}.conf; sed -i '/^#/d' etc/conf.d/*",
        "rm etc/conf.d/*; printf '[{section}]\\n{key} = {wanted}\\n' > etc/{name}.conf",
        "bin/{name} show | tr . ' ' | while read -r s k is v; do printf '[%s]\n%s = %s\n' $s $k $v; done > all; "
        "printf '[{section}]\\n{key} = {wanted}\\n' >> all; rm etc/conf.d/*; mv all etc/{name}.conf",
    ],
)
def test_what_changes_more_than_the_setting_does_not_count(
    attempt: Callable[..., bool], cause: str, command: str
) -> None:
    """The same key elsewhere, the judge, the program, all other settings, or the remarks of people."""
    assert not _play(attempt, cause, (command,))


@pytest.mark.parametrize("cause", ["wrong-value", "written-twice", "overridden"])
@pytest.mark.parametrize(
    "command",
    [
        "printf '\\n[{section}]\\n{key} = {wanted}\\n' >> etc/{name}.conf",
        "printf '[{section}]\\n{key} = {wanted}\\n' > etc/conf.d/99-last.conf",
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, command: str) -> None:
    """What counts is the value in effect, wherever it is written."""
    assert _play(attempt, cause, (command,))
