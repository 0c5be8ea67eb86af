"""A delivery is not what was sealed: files were altered, exchanged, or covered up by an edited manifest."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from termgym.checks import Check, FileHash, OutputContains
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, prose, text

AUDIT = b"""\
#!/bin/bash
# Say whether the delivery is what was sealed. What is wrong with it this does not say.
cd "$(dirname "$0")" || exit
found=$({ cat MANIFEST slips/*; sha256sum data/*; } | sha256sum)
[ "${found%% *}" = "$(sed -n 's/^all //p' "/srv/seals/$(basename "$PWD")")" ] && echo "audit: as sealed" && exit
echo "audit: the delivery is not what was sealed" >&2
exit 1
"""
RULES = b"""\
# Seals

A delivery has data/, one slip for each file of it, and a MANIFEST that was written from the slips, for `sha256sum -c`.
Its seal in this directory was taken on arrival and is out of reach of whoever handles the delivery afterwards:

    manifest    what `sha256sum < MANIFEST` said
    slips       what `cat slips/* | sha256sum` said
    all         what audit compares

What no longer agrees with its seal proves nothing.

# Reports

REPORT.txt of a delivery has one line for each file with which something is wrong, in the order of `LC_ALL=C sort`:

    swapped PATH    the file is not as delivered; it is, byte for byte, what was delivered under another name
    short PATH      the file is not as delivered, and has fewer bytes than it had
    changed PATH    the file is not as delivered in any other way
    entry PATH      the file is as delivered, but MANIFEST tells something else about it

PATH is written as in MANIFEST. A report changes nothing but REPORT.txt.
"""
SOLVE = """\
python3 - <<'END' > REPORT.txt
import hashlib, pathlib

def digest(data):
    return hashlib.sha256(data).hexdigest()

slips, lines = {}, dict(line.split("  ", 1)[::-1] for line in open("MANIFEST").read().splitlines())
for slip in pathlib.Path("slips").iterdir():
    words = dict(line.split(": ", 1) for line in slip.read_text().splitlines())
    slips[words["file"]] = (words["sha256"], int(words["bytes"]))
delivered = {sum for sum, _ in slips.values()}
for path, (sum, size) in slips.items():
    data = pathlib.Path(path).read_bytes()
    if digest(data) in delivered - {sum}:
        print("swapped", path)
    elif digest(data) != sum:
        print("short" if len(data) < size else "changed", path)
    elif lines.get(path) != sum:
        print("entry", path)
END
LC_ALL=C sort -o REPORT.txt REPORT.txt"""


@dataclass(frozen=True)
class Scene:
    """A delivery: as it arrived, and as it is now."""

    name: str
    place: str
    arrived: Mapping[str, bytes]
    """The files by path, as delivered."""
    earlier: bytes
    """The manifest of the delivery before: no proof of anything here."""
    now: Mapping[str, bytes]
    """The files by path, as they are."""
    entries: Mapping[str, bytes]
    """The files by path, as MANIFEST tells of them."""

    @property
    def root(self) -> str:
        """The delivery's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def manifest(self) -> bytes:
        """MANIFEST as it is."""
        return _manifest(self.entries)

    @property
    def slips(self) -> dict[str, bytes]:
        """The slips by path."""
        return {
            f"slips/{number:03}": text([f"file: {path}", f"bytes: {len(body)}", f"sha256: {sha256(body)}"])
            for number, (path, body) in enumerate(sorted(self.arrived.items(), key=lambda item: sha256(item[1])))
        }

    @property
    def seal(self) -> bytes:
        """What was noted on arrival."""
        manifest, slips = _manifest(self.arrived), b"".join(self.slips[path] for path in sorted(self.slips))
        return text(
            (
                f"manifest {sha256(manifest)}",
                f"slips {sha256(slips)}",
                f"all {sha256(manifest + slips + manifest)}",  # `sha256sum data/*` prints what MANIFEST should say
            )
        )

    @property
    def report(self) -> bytes:
        """What has to be found."""
        delivered = set(self.arrived.values())
        found = []
        for path, body in self.arrived.items():
            now = self.now[path]
            if now != body:
                cut = "short" if len(now) < len(body) else "changed"
                found.append(f"{'swapped' if now in delivered else cut} {path}")
            elif self.entries[path] != body:
                found.append(f"entry {path}")
        return text(sorted(found))


def _manifest(files: Mapping[str, bytes]) -> bytes:
    return text([f"{sha256(files[path])}  {path}" for path in sorted(files)])


def scene(world: World) -> Scene:
    """Draw the delivery as it arrived; blind to the cause."""
    rng = world.scene
    nouns = rng.sample(NOUNS, rng.randrange(14, 23))
    arrived = {
        f"data/{noun}{rng.choice(('', ' copy', f'-{number}'))}.{rng.choice(('txt', 'csv', 'log'))}": text(
            prose(rng, rng.randrange(4, 15))
        )
        for number, noun in enumerate(nouns)
    }
    earlier = _manifest({path: text(prose(rng, 3)) for path in list(arrived)[3:]})
    return Scene(rng.choice(PROJECTS), rng.choice(PLACES), arrived, earlier, arrived, arrived)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"{at.root}/audit says that the delivery is not what was sealed. Find out which of its files something is "
        "wrong with, and write REPORT.txt there. /srv/seals/README says what a report looks like and what can be "
        "trusted. Change nothing but REPORT.txt, not even what is wrong.",
        f"Please audit the delivery {at.name} in ~/{at.place}: its ./audit fails. I need a REPORT.txt next to it that "
        "names every file that is not right and how, in the form that /srv/seals/README asks for. It is evidence, so "
        "leave the delivery itself exactly as it is.",
        f"Something happened to the delivery ~/{at.place}/{at.name} after it was sealed; ./audit only says that. "
        "Which files are concerned, and what happened to each? Put the answer into REPORT.txt in that directory, as "
        "described in /srv/seals/README. Do not repair, move or touch anything else.",
    )


def _goal(at: Scene, files: Mapping[str, bytes]) -> tuple[Check, ...]:
    listing = text([f"{sha256(files[path])}  ./{path}" for path in sorted(files)])
    return (
        FileHash(path=f"{at.root}/REPORT.txt", sha256=sha256(at.report)),
        FileHash(path=f"/srv/seals/{at.name}", sha256=sha256(at.seal)),
        holds(
            f"cd {at.root} && find . ! -type d ! -path ./REPORT.txt -print0 | LC_ALL=C sort -z | xargs -0 sha256sum "
            "| sha256sum",
            pattern=sha256(listing),
        ),
    )


def _task(world: World, at: Scene) -> Task:
    files = {"audit": AUDIT, "MANIFEST": at.manifest, "MANIFEST.1": at.earlier, **at.slips, **at.now}
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at, files),
        files=(
            FileSpec("/srv/seals/README", RULES),
            FileSpec(f"/srv/seals/{at.name}", at.seal),
            *(
                FileSpec(f"{at.root}/{path}", body, mode=0o755 if path == "audit" else 0o644)
                for path, body in files.items()
            ),
        ),
        allowed=(f"{at.root}/REPORT.txt", *TOOL_TRACES),
        symptom=(act(f"{at.root}/audit", OutputContains(pattern="not what was sealed", stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), act(SOLVE)),
    )


def _other(rng: random.Random, body: bytes) -> bytes:
    """Return a content with one bit of one letter turned, at the same length."""
    letters = [place for place, byte in enumerate(body) if chr(byte).isalpha()]
    place = rng.choice(letters)
    return body[:place] + bytes((body[place] ^ 1 << rng.randrange(3),)) + body[place + 1 :]


def _cut(rng: random.Random, body: bytes) -> bytes:
    """Return the beginning of a content."""
    return body[: len(body) * rng.randrange(30, 95) // 100]


def _altered(world: World) -> Task:
    """Some files have a bit turned, some are cut short."""
    at, rng = scene(world), world.twist
    chosen = rng.sample(sorted(at.arrived), rng.randrange(3, 6))
    bent = {path: (_cut if number % 2 else _other)(rng, at.arrived[path]) for number, path in enumerate(chosen)}
    return _task(world, replace(at, now={**at.arrived, **bent}))


def _swapped(world: World) -> Task:
    """Files hold each other's content, in pairs or in a round; in some worlds one of another delivery is among them."""
    at, rng = scene(world), world.twist
    chosen = rng.sample(sorted(at.arrived), rng.choice((2, 3, 4)))
    moved = {path: at.arrived[chosen[number - 1]] for number, path in enumerate(chosen)}
    if rng.random() < 0.5:
        stray = rng.choice(sorted(set(at.arrived) - set(chosen)))
        moved[stray] = _other(rng, at.arrived[chosen[0]])
    return _task(world, replace(at, now={**at.arrived, **moved}))


def _covered_up(world: World) -> Task:
    """Files were altered and MANIFEST was edited to fit; lines of sound files got wrong on the way."""
    at, rng = scene(world), world.twist
    chosen = rng.sample(sorted(at.arrived), rng.randrange(4, 7))
    bent = {path: (_cut if number % 2 else _other)(rng, at.arrived[path]) for number, path in enumerate(chosen[2:])}
    lines = {chosen[0]: at.arrived[chosen[1]], chosen[1]: at.arrived[chosen[0]]}
    return _task(world, replace(at, now={**at.arrived, **bent}, entries={**at.arrived, **bent, **lines}))


FAMILY = Family(
    name="checksum-audit",
    summary="a delivery that is not what was sealed, and nobody knows which files",
    causes={"altered": _altered, "swapped": _swapped, "covered-up": _covered_up},
    tags=("files", "checksums"),
)
