"""A build that fails: what must count as repaired, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.broken_build import scene
from termgym.tasks.world import World

SEED = 6
BY_HAND = (
    "mkdir -p build; for c in src/*.txt; do n=$(basename $c .txt); awk -v name=$n -f tools/number.awk $c "
    "> build/$n.part; done; cat src/title build/*.part > build/book.txt"
)
PASTED = f"{BY_HAND}; ./configure; cp -r build /tmp/build; "


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("broken-build", "", SEED))
    task = make_task(f"broken-build/{cause}", SEED)
    repair = [plan.command for plan in task.oracle[1:]]
    words = [word for command in commands for word in (repair if command == "ORACLE" else (command,))]
    return attempt(task, f"cd {at.root}", *(word.replace("@NAME@", at.changed) for word in words))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("without-tab", (BY_HAND, "tools/check build/book.txt")),
        ("without-tab", (PASTED + "printf 'check:\\n\\ttools/check build/book.txt\\n' > Makefile", "make check")),
        ("without-tab", (PASTED + "printf 'check:\\n\\tcp -r /tmp/build .\\n' > Makefile", "make check")),
        ("without-tab", ("ORACLE", "make clean")),
        ("without-tab", ("ORACLE", "sed -i 's/complete/whole/' tools/check")),
        ("without-tab", ("ORACLE", "echo '{ print }' >> tools/number.awk")),
        ("wrong-path", ("for d in text source chapters; do cp -r src $d; done; for d in tool bin scripts; do "
                        "cp -r tools $d; done; cp src/title .; for c in src/*.txt; do cp $c ${c%txt}md; done",
                        "make check", "rm src/*.md")),
        ("stale", ("sed -i 's/exit 1/exit 0/' tools/check", "make check")),
        ("stale", (BY_HAND, "sed -i s/src/build/ tools/check")),
        ("stale", ("ORACLE", "echo >> src/@NAME@.txt; make check")),
        ("stale", ("ORACLE", "echo CHAPTERS = > parts.mk")),
        ("no-dependency", ("make clean", "make check")),
        ("no-dependency", ("make -B check",)),
        ("no-dependency", ("touch src/* tools/*; make check",)),
        ("not-configured", ("touch parts.mk; make check",)),
        ("not-configured", ("echo CHAPTERS = @NAME@ > parts.mk; make check", BY_HAND)),
        ("not-configured", ("ORACLE", "rm configure")),
    ],
)  # fmt: skip
def test_a_book_without_a_build_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """A book made by hand or kept in a drawer, a check that looks away, a repair that lasts until the next edit."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("without-tab", (".RECIPEPREFIX", "make check")),
        ("stale", ("touch src/*; make check",)),
        ("stale", ("make -B check",)),
        ("not-configured", ("sed -i 's|^include.*|CHAPTERS = $(patsubst src/%.txt,%,$(wildcard src/*.txt))|' Makefile",
                            "rm -f parts.mk; make check")),
        ("no-dependency", ("printf '$(PARTS): always\\nalways:\\n.PHONY: always\\n' >> Makefile", "make check")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: also a makefile that always builds all."""
    if commands[0] == ".RECIPEPREFIX":
        commands = (r"sed -i -E 's/^(\t| +)/> /; 1i .RECIPEPREFIX = >' Makefile", *commands[1:])
    assert _play(attempt, cause, commands)
