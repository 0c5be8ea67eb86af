"""A build by make fails: a recipe without its tab, a wrong path, stale parts, a dependency or a generated file missing.

Needs ``make`` and ``awk``, and no compiler.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, prose, sentence, text

MAKEFILE = """\
# The book: all chapters, numbered, behind the title.    make, make check, make clean
include parts.mk
PARTS = $(CHAPTERS:%=build/%.part)

all: build/book.txt

build/%.part: src/%.txt tools/number.awk
\t@mkdir -p build
\tawk -v name=$* -f tools/number.awk src/$*.txt > $@

build/book.txt: src/title $(PARTS)
\tcat src/title $(PARTS) > $@

check: build/book.txt
\ttools/check $<

clean:
\trm -rf build

.PHONY: all check clean
"""
NUMBER = b'BEGIN { print "## " name }\n{ printf "%3d  %s\\n", NR, $0 }\n'
CHECK = b"""\
#!/bin/bash
# usage: tools/check BOOK     Say whether the book has every chapter as it is now.
for chapter in src/*.txt; do
    name=$(basename "$chapter" .txt)
    if awk -v name="$name" -f tools/number.awk "$chapter" | grep -qvxFf "$1"; then
        echo "check: $1 lacks the text of $chapter" >&2
        exit 1
    fi
done
echo "the book is complete"
"""
CONFIGURE = b"""\
#!/bin/bash
# Write parts.mk: which chapters there are. To be run when a chapter has come, gone or changed its name.
cd "$(dirname "$0")" || exit
printf 'CHAPTERS ='  > parts.mk
for chapter in src/*.txt; do printf ' %s' "$(basename "$chapter" .txt)"; done >> parts.mk
echo >> parts.mk
"""


@dataclass(frozen=True)
class Scene:
    """A book with its chapters."""

    name: str
    place: str
    title: bytes
    chapters: Mapping[str, tuple[str, ...]]
    """Lines by name, in the order of the book."""
    before: str
    """What one of the chapters was called before."""
    changed: str
    """The chapter that the goal adds a line to."""
    line: str

    @property
    def root(self) -> str:
        """The book's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def fixed(self) -> dict[str, bytes]:
        """What is right as it is, by path."""
        readme = [
            f"# {self.name}",
            "",
            "`make check` builds build/book.txt from the chapters in src/ and looks whether it is complete. parts.mk",
            "is not kept: ./configure writes it. What is in build/ may be thrown away at any time.",
        ]
        return {
            "README.md": text(readme),
            "configure": CONFIGURE,
            "tools/check": CHECK,
            "tools/number.awk": NUMBER,
            "src/title": self.title,
            **{f"src/{name}.txt": text(lines) for name, lines in self.chapters.items()},
        }

    @property
    def parts(self) -> bytes:
        """What parts.mk has to say."""
        return f"CHAPTERS = {' '.join(self.chapters)}\n".encode()

    def part(self, name: str, lines: tuple[str, ...]) -> bytes:
        """Return what is made of a chapter."""
        return text([f"## {name}", *(f"{number:3}  {line}" for number, line in enumerate(lines, start=1))])

    def book(self, chapters: Mapping[str, tuple[str, ...]]) -> bytes:
        """Return the book that these chapters make."""
        return self.title + b"".join(self.part(name, chapters[name]) for name in chapters)


def scene(world: World) -> Scene:
    """Draw the book; blind to the cause."""
    rng = world.scene
    names = sorted(rng.sample(NOUNS, rng.randrange(4, 9)))
    before = rng.choice([noun for noun in NOUNS if noun not in names])
    chapters = {name: tuple(prose(rng, rng.randrange(4, 12))) for name in names}
    title = text([f"# The {rng.choice(NOUNS)} and the {rng.choice(NOUNS)}", ""])
    line = f"{sentence(rng)} And {sentence(rng).lower()}"
    return Scene(rng.choice(PROJECTS), rng.choice(PLACES), title, chapters, before, rng.choice(names), line)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"`make check` in {at.root} fails. Please repair the build for good: it has to work here, from a clean "
        "directory, and whenever somebody edits a chapter. src/, tools/ and configure are right and stay as they are. "
        "In the end build/book.txt is there, complete and up to date.",
        f"The book in ~/{at.place}/{at.name} does not build any more, see `make check` there. Find the reason and "
        "remove it, so that make does it right from now on, after `make clean` and after any change of a chapter too. "
        "Leave the book built. The chapters, the tools and ./configure must not be touched.",
        f"I need {at.root}/build/book.txt, and `make check` only gives me an error. Nothing is wrong with the texts in "
        "src/, with tools/ or with configure, so do not edit those. Other people build it too, from scratch and again "
        "after each edit of a chapter: that must work as well.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    edited = {**at.chapters, at.changed: (*at.chapters[at.changed], at.line)}
    sums = [sha256(at.book(chapters)) for chapters in (at.chapters, edited, at.chapters)]
    say = "make -s check > /dev/null && sha256sum build/book.txt"
    return (
        FileHash(path=f"{at.root}/build/book.txt", sha256=sums[0]),
        *(FileHash(path=f"{at.root}/{path}", sha256=sha256(body)) for path, body in at.fixed.items()),
        # In a copy, which goes away: as it stands, with an edit that nobody can know of, and from scratch.
        holds(
            f"copy=$(mktemp -d) && trap 'rm -rf \"$copy\"' EXIT && cp -a {at.root}/. $copy && cd $copy && {say} "
            f"&& cp src/{at.changed}.txt old && echo {shlex.quote(at.line)} >> src/{at.changed}.txt && {say} "
            f"&& cp old src/{at.changed}.txt && rm -rf build parts.mk && ./configure && {say}",
            pattern="".join(rf"{each} .*\n" for each in sums),
        ),
    )


def _task(
    world: World,
    at: Scene,
    complaint: str,
    repair: str,
    makefile: str = MAKEFILE,
    parts: bytes | None = None,
    built: Mapping[str, bytes] | None = None,
) -> Task:
    files = {
        **at.fixed,
        "Makefile": makefile.encode(),
        **({} if parts is None else {"parts.mk": parts}),
        **(built or {}),
    }
    oracle: tuple[ActionPlan, ...] = (act(f"cd {at.root}"), act(repair))
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=tuple(
            FileSpec(f"{at.root}/{path}", body, mode=0o755 if path in ("configure", "tools/check") else 0o644)
            for path, body in files.items()
        ),
        allowed=(
            *(f"{at.root}/{path}" for path in ("Makefile", "parts.mk", "build", "build/**")),
            *TOOL_TRACES,
        ),
        symptom=(act(f"cd {at.root} && make check", OutputContains(pattern=complaint, stream="stderr"), exits=2),),
        oracle=(*oracle, act("make check", OutputContains(pattern="^the book is complete$"))),
    )


def _without_tab(world: World) -> Task:
    """A recipe's lines begin with blanks: two of them, so that the first repair shows the second."""
    at, rng = scene(world), world.twist
    recipes = [line for line in MAKEFILE.splitlines() if line.startswith("\t")]
    makefile = MAKEFILE
    for line in rng.sample(recipes, 2):
        makefile = makefile.replace(line, rng.choice(("        ", "    ")) + line[1:])
    return _task(world, at, "missing separator", r"sed -i 's/^  */\t/' Makefile", makefile, at.parts)


def _wrong_path(world: World) -> Task:
    """A rule names files by a path that they do not have."""
    at, rng = scene(world), world.twist
    right, wrong = rng.choice(
        (
            ("part: src/%.txt", f"part: {rng.choice(('text', 'source', 'chapters'))}/%.txt"),
            ("txt tools/number.awk", f"txt {rng.choice(('tool', 'bin', 'scripts'))}/number.awk"),
            ("book.txt: src/title", "book.txt: title"),
            ("src/%.txt tools", "src/%.md tools"),
        )
    )
    repair = f"sed -i 's|{wrong}|{right}|' Makefile"
    return _task(world, at, "No rule to make target", repair, MAKEFILE.replace(right, wrong), at.parts)


def _old_parts(world: World, at: Scene) -> dict[str, bytes]:
    """Return what was built of earlier chapters. It is as old as its sources, as all files of an initial state are."""
    rng = world.twist
    earlier = dict(at.chapters)
    for name in rng.sample(sorted(at.chapters), rng.randrange(1, 4)):
        earlier[name] = tuple(prose(rng, rng.randrange(3, 9)))
    parts = {f"build/{name}.part": at.part(name, lines) for name, lines in earlier.items()}
    return {**parts, "build/book.txt": at.book(earlier)}


def _stale(world: World) -> Task:
    """Parts of earlier chapters look as new as the chapters: make has nothing to do."""
    at = scene(world)
    return _task(world, at, "lacks the text of", "make clean", parts=at.parts, built=_old_parts(world, at))


def _no_dependency(world: World) -> Task:
    """The same, and the rule does not say that a part depends on its chapter, so it will happen again."""
    at, rng = scene(world), world.twist
    wrong = rng.choice(("part: tools/number.awk", "part: src/title tools/number.awk", "part:"))
    makefile = MAKEFILE.replace("part: src/%.txt tools/number.awk", wrong)
    repair = f"sed -i 's|^build/%.{wrong}$|build/%.part: src/%.txt tools/number.awk|' Makefile && make clean"
    return _task(world, at, "lacks the text of", repair, makefile, at.parts, _old_parts(world, at))


def _not_configured(world: World) -> Task:
    """The generated list of chapters is missing, or is of a time when one of them had another name."""
    at, rng = scene(world), world.twist
    if rng.random() < 0.5:
        return _task(world, at, r"parts\.mk: No such file", "./configure")
    old = at.parts.replace(rng.choice(sorted(at.chapters)).encode(), at.before.encode())
    return _task(world, at, f"No rule to make target 'build/{at.before}.part'", "./configure", parts=old)


FAMILY = Family(
    name="broken-build",
    summary="a build by make fails its own check",
    causes={
        "without-tab": _without_tab,
        "wrong-path": _wrong_path,
        "stale": _stale,
        "no-dependency": _no_dependency,
        "not-configured": _not_configured,
    },
    tags=("build", "make"),
)
