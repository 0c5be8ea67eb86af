"""Files cannot be put where they belong: names that break a script, a name wanted twice or taken, one thing twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, people, phrase, prose, sentence, text

RULES = """\
# The shelf

1. A file inbox/SENDER/NAME goes to shelf/YEAR/NAME. YEAR is that of the date in its first line. NAME stays what it is,
   to the byte, whatever is in it.
2. Files in inbox/ with the same content are one. It comes from the path that sorts first, byte by byte; the others go.
3. What is on the shelf stays there as it is. If a NAME is taken in a YEAR, or several files want it, then those that
   come get their SENDER and a hyphen in front of it.
4. In the end there is no file in inbox/, and nothing on the shelf that did not come from there.
"""
SHELVE = b"""\
#!/bin/bash
# usage: bin/shelve     Put what is in inbox/ onto the shelf (RULES.md), or say why that is not plain and simple.
cd "$(dirname "$0")/../inbox" || exit
stop() { echo "shelve: $*; nothing was moved" >&2; exit 1; }
declare -A wanted seen
for sender in *; do
    cd "$sender" || exit
    for name in *; do
        year=$(head -n 1 $name < /dev/null | sed -n 's/^Date: \\([0-9]*\\)-.*/\\1/p')
        [ -n "$year" ] || stop "no date in $sender/$name"
        [ -z "${wanted[$year/$name]}" ] || stop "$year/$name is wanted twice"
        [ ! -e "../../shelf/$year/$name" ] || stop "$year/$name is taken"
        sum=$(sha256sum < $name)
        [ -z "${seen[$sum]}" ] || stop "$sender/$name is the same as ${seen[$sum]}"
        wanted[$year/$name]=$sender seen[$sum]=$sender/$name
    done
    cd ..
done
for place in "${!wanted[@]}"; do
    mkdir -p "../shelf/${place%%/*}"
    mv "${wanted[$place]}/${place#*/}" "../shelf/$place"
done
"""
SOLUTION = """\
python3 - <<'END'
import collections, pathlib
files = sorted((path for path in pathlib.Path("inbox").glob("*/*")), key=bytes)
first = {}
for path in files:
    if path.read_bytes() in first:
        path.unlink()
    else:
        first[path.read_bytes()] = path
place = {path: pathlib.Path("shelf", content[6:10].decode(), path.name) for content, path in first.items()}
wanted = collections.Counter(place.values())
taken = {each for each in wanted if each.exists()}
for path, target in place.items():
    if wanted[target] > 1 or target in taken:
        target = target.with_name(f"{path.parent.name}-{target.name}")
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
END"""
ODD = (
    "{} {}.txt", "{}  {}.txt", " {}-{}.txt", "{}-{}.txt ", "{}'s {}.txt", "{}$(date)-{}.txt", '{} "{}".txt',
    "{} ü {}.txt", "{};{} .txt", "{} * {}.txt", "{}\\{} .txt", "{} -> {}", "{}\t{}",
)  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """A project with an inbox, where each sender has a folder, and a shelf, where each year has one."""

    root: str
    senders: tuple[str, ...]
    inbox: Mapping[str, bytes]
    """``SENDER/NAME`` -> content: plain names, each once, each content once."""
    shelf: Mapping[str, bytes]
    """``YEAR/NAME`` -> content."""


def scene(world: World) -> Scene:
    """Draw the project; blind to the cause."""
    rng = world.scene
    senders = tuple(person.login for person in people(rng, rng.randrange(3, 6)))
    names = rng.sample([f"{one}-{other}.txt" for one in NOUNS for other in NOUNS if one != other], 24)
    inbox = {f"{rng.choice(senders)}/{name}": _page(world, rng.randrange(2021, 2026)) for name in names[6:]}
    shelf = {f"{rng.randrange(2021, 2026)}/{name}": text([sentence(rng)]) for name in names[:6]}
    return Scene(f"{HOME}/{rng.choice(PLACES)}/{rng.choice(PROJECTS)}", senders, inbox, shelf)


def _page(world: World, year: int) -> bytes:
    rng = world.scene
    day = f"{year}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
    return text([f"Date: {day}", "", *prose(rng, rng.randrange(1, 5))])


def shelved(inbox: Mapping[str, bytes], shelf: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what must be on the shelf in the end, by the rules."""
    first: dict[bytes, str] = {}
    for path in sorted(inbox, key=str.encode):
        first.setdefault(inbox[path], path)
    places = {path: f"{body[6:10].decode()}/{path.partition('/')[2]}" for body, path in first.items()}
    wanted = list(places.values())
    found = dict(shelf)
    for body, path in first.items():
        year, _, name = places[path].partition("/")
        alone = places[path] not in shelf and wanted.count(places[path]) == 1
        found[places[path] if alone else f"{year}/{path.partition('/')[0]}-{name}"] = body
    return found


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"bin/shelve in {at.root} stops and moves nothing. Please put all that is in inbox/ where it belongs, as "
        "RULES.md wants it: the script is no more than a convenience, mend it or do without. No file may get lost or "
        "another name than the rules give it, and what is on the shelf has to stay as it is.",
        f"The inbox of {at.root} is full, because bin/shelve refuses to work. Could you sort all of it onto the shelf? "
        "RULES.md says what goes where. Whether with the script or without it is up to you; but keep to the rules "
        "exactly, and do not damage what has been shelved before.",
        f"Please tidy up {at.root}: all files from inbox/ have to go onto the shelf, by the rules in RULES.md. There "
        "is bin/shelve for that, it gives up with a complaint. I don't mind how you do it, as long as every file ends "
        "up under the right name and the older ones are still there.",
    )


def _goal(at: Scene, inbox: Mapping[str, bytes], shelf: Mapping[str, bytes]) -> tuple[Check, ...]:
    wanted = {f"./{path}".encode(): sha256(body) for path, body in shelved(inbox, shelf).items()}
    listing = b"".join(digest.encode() + b"  " + path + b"\0" for path, digest in sorted(wanted.items()))
    return (
        FileHash(path=f"{at.root}/RULES.md", sha256=sha256(RULES.encode())),
        holds(
            f"cd {at.root}/shelf && find . ! -type d -print0 | sort -z | xargs -0 sha256sum -z | sha256sum",
            pattern=rf"\A{sha256(listing)}  -\n\Z",
        ),
        holds(f"find {at.root}/shelf ! -type d ! -type f", pattern=r"\A\Z"),
        holds(f"find {at.root} -path '*/inbox/*' ! -type d", pattern=r"\A\Z"),
    )


def _task(world: World, at: Scene, complaint: str, inbox: Mapping[str, bytes], shelf: Mapping[str, bytes]) -> Task:
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at, inbox, shelf),
        files=(
            FileSpec(f"{at.root}/RULES.md", RULES.encode()),
            FileSpec(f"{at.root}/bin/shelve", SHELVE, mode=0o755),
            *(FileSpec(f"{at.root}/inbox/{path}", body) for path, body in inbox.items()),
            *(FileSpec(f"{at.root}/shelf/{path}", body) for path, body in shelf.items()),
        ),
        allowed=(f"{at.root}/inbox/**", f"{at.root}/shelf/**", f"{at.root}/bin/shelve", *TOOL_TRACES),
        symptom=(act(f"cd {at.root} && bin/shelve", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), act(SOLUTION, OutputContains(pattern=r"\A\Z", stream="stderr"))),
    )


def _odd_names(world: World) -> Task:
    """Names with spaces, line feeds, leading hyphens and what else a shell takes for its own."""
    at, rng = scene(world), world.twist
    odd = [f"-{rng.choice(NOUNS)}.txt", f"--{rng.choice(NOUNS)}", f"{rng.choice(NOUNS)}\n{rng.choice(NOUNS)}.txt"]
    odd += [form.format(*rng.sample(NOUNS, 2)) for form in rng.sample(ODD, rng.randrange(2, 5))]
    inbox = dict(at.inbox)
    for path, name in zip(rng.sample(sorted(inbox), len(odd)), odd, strict=True):
        inbox[f"{path.partition('/')[0]}/{name}"] = inbox.pop(path)
    return _task(world, at, "no date in ", inbox, at.shelf)


def _wanted_twice(world: World) -> Task:
    """Two or three senders have different files of the same name and year."""
    at, rng = scene(world), world.twist
    inbox = dict(at.inbox)
    for path in rng.sample(sorted(inbox), rng.randrange(2, 5)):
        sender, _, name = path.partition("/")
        head = inbox[path][:17]
        others = [each for each in at.senders if each != sender]
        for other in rng.sample(others, rng.randrange(1, 3)):
            inbox[f"{other}/{name}"] = head + text(["", *prose(rng, 2)])
    return _task(world, at, "is wanted twice", inbox, at.shelf)


def _place_taken(world: World) -> Task:
    """Something else of the same name and year is on the shelf already."""
    at, rng = scene(world), world.twist
    shelf = dict(at.shelf)
    for path in rng.sample(sorted(at.inbox), rng.randrange(2, 5)):
        year = at.inbox[path][6:10].decode()
        shelf[f"{year}/{path.partition('/')[2]}"] = text(prose(rng, 2))
    return _task(world, at, "is taken", at.inbox, shelf)


def _same_content(world: World) -> Task:
    """Some files are there twice, under another name or from another sender; others only look alike."""
    at, rng = scene(world), world.twist
    inbox = dict(at.inbox)
    alike, *copied = rng.sample(sorted(inbox), rng.randrange(4, 8))
    for path in (alike, *copied):
        copy = f"{rng.choice(at.senders)}/{rng.choice(('copy', 'again', 'a'))}-of-{path.partition('/')[2]}"
        inbox[copy] = inbox[path] + (b"\n" if path == alike else b"")
    return _task(world, at, "is the same as", inbox, at.shelf)


FAMILY = Family(
    name="rename-organise",
    summary="a script that files things away stops before it has moved anything",
    causes={
        "odd-names": _odd_names,
        "wanted-twice": _wanted_twice,
        "place-taken": _place_taken,
        "same-content": _same_content,
    },
    tags=("files", "naming"),
)
