"""World: names, contents and clutter drawn from (family, cause, seed), so that two seeds give two different places.

Three generators, all functions of the task's name alone: ``scene`` makes whatever the instruction may mention and never
sees the cause (so the wording cannot give the cause away), ``twist`` makes the details of the cause, ``clutter`` fills
the home with files that have nothing to do with the task.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import NamedTuple

from termgym.tasks.task import HOME, FileSpec

PLACES = ("work", "src", "code", "repos", "projects", "dev")
PROJECTS = (
    "heron", "larch", "quarry", "tundra", "marlin", "saffron", "cobalt", "juniper", "basalt", "wicker", "pelican",
    "sorrel", "kestrel", "anvil", "cedar", "drifter", "flint", "gannet", "harrow", "islet",
)  # fmt: skip
PEOPLE = (
    "Mara Lind", "Jonas Weber", "Ines Caro", "Tomas Hale", "Yuki Mori", "Petra Novak", "Samir Aziz", "Lena Fried",
    "Owen Pryce", "Nadia Russo", "Emil Strand", "Carla Voss",
)  # fmt: skip
NOUNS = (
    "invoice", "sensor", "parcel", "ledger", "harbour", "ticket", "garden", "engine", "window", "signal", "border",
    "archive", "bridge", "kitchen", "market", "station", "forest", "winter", "copper", "letter", "orbit", "pocket",
    "river", "saddle",
)  # fmt: skip
VERBS = ("checks", "moves", "counts", "sorts", "sends", "keeps", "reads", "closes", "opens", "weighs", "signs", "lists")
ADJECTIVES = (
    "early",
    "quiet",
    "second",
    "northern",
    "plain",
    "spare",
    "amber",
    "late",
    "narrow",
    "heavy",
    "public",
    "warm",
)

FIRST_DAY = 1_767_571_200
"""2026-01-05T00:00:00Z, a Monday: the earliest moment of any world [s since 1970]."""
DAY = 86_400
"""[s]"""
TOOL_TRACES = (
    "/tmp/**",
    f"{HOME}/.viminfo",
    f"{HOME}/.lesshst",
    f"{HOME}/.python_history",
    f"{HOME}/.bash_history",
)
"""Where tools leave their traces and people their scratch files: allowed in every task."""


class Person(NamedTuple):
    """Somebody who works in the world."""

    name: str
    login: str
    email: str


def generator(*parts: object) -> random.Random:
    """Return a generator that depends on ``parts`` alone, the same in every process and on every machine."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


class World:
    """The place in which one task happens."""

    def __init__(self, family: str, cause: str, seed: int) -> None:
        self.family = family
        self.cause = cause
        self.seed = seed
        self.scene = generator("scene", family, seed)
        """For whatever the instruction may mention; blind to the cause."""
        self.twist = generator("twist", family, cause, seed)
        """For what only this cause decides."""

    @property
    def name(self) -> str:
        """The name of this world's task: ``family/cause@seed``."""
        return f"{self.family}/{self.cause}@{self.seed}"


def person(rng: random.Random) -> Person:
    """Return somebody."""
    return _person(rng.choice(PEOPLE))


def people(rng: random.Random, count: int) -> list[Person]:
    """Return ``count`` different people."""
    return [_person(name) for name in rng.sample(PEOPLE, count)]


def _person(name: str) -> Person:
    login = name.split()[0].lower()
    return Person(name, login, f"{login}@example.org")


def sentence(rng: random.Random) -> str:
    """Return one line of prose that means nothing."""
    return (
        f"The {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)} {rng.choice(VERBS)} "
        f"{rng.randrange(2, 90)} {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}s."
    )


def prose(rng: random.Random, lines: int) -> list[str]:
    """Return lines of prose, all different."""
    found: list[str] = []
    while len(found) < lines:
        line = sentence(rng)
        if line not in found:
            found.append(line)
    return found


def text(lines: Sequence[str]) -> bytes:
    """Return lines as the content of a file."""
    return "".join(f"{line}\n" for line in lines).encode()


def phrase(rng: random.Random, *wordings: str) -> str:
    """Return one of several ways to say the same."""
    return rng.choice(wordings)


def clutter(world: World) -> tuple[FileSpec, ...]:
    """Return files that a lived-in home has and no task needs."""
    rng = generator("clutter", world.family, world.seed)
    files = [
        FileSpec(f"{HOME}/.profile", b"# ~/.profile: read by login shells\numask 022\n"),
        FileSpec(f"{HOME}/notes/{rng.choice(NOUNS)}-{rng.choice(NOUNS)}.md", text(prose(rng, rng.randrange(3, 9)))),
    ]
    for noun in rng.sample(NOUNS, rng.randrange(1, 4)):
        rows = [f"{rng.choice(NOUNS)},{rng.randrange(1000)}" for _ in range(rng.randrange(4, 12))]
        files.append(FileSpec(f"{HOME}/Downloads/{noun}-{rng.randrange(10, 99)}.csv", text(["name,amount", *rows])))
    files += [
        FileSpec(f"{HOME}/notes/old/{noun}.txt", text(prose(rng, 2)), mode=rng.choice((0o644, 0o600)))
        for noun in rng.sample(NOUNS, rng.randrange(1, 3))
    ]
    return tuple(files)
