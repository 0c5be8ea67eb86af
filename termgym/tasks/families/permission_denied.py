"""A program is not allowed to do its work: a lost x bit, a directory that may not be entered, a read-only target."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from termgym.checks import Check, FileHash, OutputContains
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, sentence, text

PUBLISH = b"""\
#!/bin/bash
# Turn the month's tables into one report.     usage: bin/publish [--check]
# Settings are in etc/publish.conf. With --check nothing is written: it says whether a run would succeed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
setting() { sed -n "s/^$1 *= *//p" "$root/etc/publish.conf" | tail -n 1; }
source=$(setting source)
target=$(setting target)
month=$(setting month)
report=$("$root/lib/totals" "$source")
if [ "${1:-}" = --check ]; then
    [ -d "$target" ] && [ -w "$target" ] && [ -x "$target" ] || { echo "publish: cannot write to $target" >&2; exit 1; }
    echo "ready: $month to $target"
    exit 0
fi
printf '%s\\n' "$report" > "$target/$month.txt"
echo "published $month"
"""
TOTALS = b"""\
#!/bin/bash
# usage: totals DIRECTORY     Add up the amounts of every table, one line a table, then all together.
set -euo pipefail
cd "$1"
all=0
for table in *.csv; do
    sum=0
    { read -r _; while IFS=, read -r _ amount; do sum=$((sum + amount)); done; } < "$table"
    echo "${table%.csv} $sum"
    all=$((all + sum))
done
echo "all $all"
"""


@dataclass(frozen=True)
class Scene:
    """A project that publishes a report from tables to one of two shares."""

    project: str
    place: str
    month: str
    tables: dict[str, bytes]
    report: bytes
    """What the report must say."""
    open_share: str
    """The share that takes files."""
    closed_share: str
    """The share that is mounted read-only."""
    about: str

    @property
    def root(self) -> str:
        """The project's directory."""
        return f"{HOME}/{self.place}/{self.project}"

    @property
    def source(self) -> str:
        """Where the month's tables are."""
        return f"{self.root}/data/{self.month}"


def scene(world: World) -> Scene:
    """Draw the project; blind to the cause."""
    rng = world.scene
    tables: dict[str, bytes] = {}
    lines: list[str] = []
    total = 0
    for name in sorted(rng.sample(NOUNS, rng.randrange(3, 7))):
        amounts = [rng.randrange(1, 5_000) for _ in range(rng.randrange(4, 15))]
        tables[name] = text(["item,amount", *(f"{rng.choice(NOUNS)},{amount}" for amount in amounts)])
        lines.append(f"{name} {sum(amounts)}")
        total += sum(amounts)
    open_share, closed_share = rng.sample(NOUNS, 2)
    return Scene(
        project=rng.choice(PROJECTS),
        place=rng.choice(PLACES),
        month=f"2026-{rng.randrange(1, 13):02}",
        tables=tables,
        report=text([*lines, f"all {total}"]),
        open_share=f"/srv/{open_share}",
        closed_share=f"/srv/{closed_share}",
        about=sentence(rng),
    )


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"bin/publish in {at.root} no longer works for me: it is not allowed to do something it has to do. Put "
        f"that right and run it, so that the report for {at.month} is where its settings say. bin/ and lib/ hold "
        "shared programs: leave their text as it is. Nothing in the project may become writable for everyone.",
        f"The report for {at.month} is missing, because {at.root}/bin/publish stops over some permission problem. "
        "Please find out what it is, fix it and publish the report. The programs themselves are fine and must "
        "not be edited, and please don't open the project up for everybody to write.",
        f"Can you publish {at.month} for me? I run bin/publish in ~/{at.place}/{at.project} and it breaks off, "
        "some access is refused. It should work from now on when it is run like that. Don't change what the "
        "scripts say, and don't make anything world-writable.",
    )


def _files(at: Scene, target: str) -> tuple[FileSpec, ...]:
    settings = [
        f"month = {at.month}",
        f"source = {at.source}",
        "# any directory below /srv; see README",
        f"target = {target}",
    ]
    readme = [
        f"# {at.project}",
        "",
        at.about,
        "",
        f"bin/publish adds up data/MONTH and leaves MONTH.txt in the target: {at.open_share}/{at.project} or",
        f"{at.closed_share}/{at.project}. Readers look in both, the share that takes the file is the right one.",
    ]
    older = f"2025-{1 + int(at.month[5:]) % 12:02}.txt"
    return (
        FileSpec(f"{at.root}/README.md", text(readme)),
        FileSpec(f"{at.root}/etc/publish.conf", text(settings)),
        FileSpec(f"{at.root}/bin/publish", PUBLISH, mode=0o755),
        FileSpec(f"{at.root}/lib/totals", TOTALS, mode=0o755),
        *(FileSpec(f"{at.source}/{name}.csv", table) for name, table in at.tables.items()),
        *(FileSpec(f"{share}/{at.project}/{older}", b"all 0\n") for share in (at.open_share, at.closed_share)),
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    return (
        FileHash(path=f"{at.root}/bin/publish", sha256=sha256(PUBLISH)),
        FileHash(path=f"{at.root}/lib/totals", sha256=sha256(TOTALS)),
        *(FileHash(path=f"{at.source}/{name}.csv", sha256=sha256(table)) for name, table in at.tables.items()),
        holds(
            f"cd {at.root} && target=$(sed -n 's/^target *= *//p' etc/publish.conf | tail -n 1) "
            f'&& [[ $target == /srv/* ]] && echo "{sha256(at.report)}  $target/{at.month}.txt" | sha256sum -c --status '
            '&& bin/publish --check && open=$(find . -perm -o+w ! -type l) && test -z "$open"'
        ),
    )


def _task(world: World, at: Scene, complaint: str, exits: int, oracle: tuple[ActionPlan, ...]) -> Task:
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=_files(at, f"{at.open_share}/{at.project}"),
        read_only=(at.closed_share,),
        allowed=(f"{at.root}/**", f"{at.open_share}/{at.project}/**", *TOOL_TRACES),
        symptom=(act(f"cd {at.root} && bin/publish", OutputContains(pattern=complaint, stream="stderr"), exits=exits),),
        oracle=(act(f"cd {at.root}"), *oracle, act("bin/publish", OutputContains(pattern=f"published {at.month}"))),
    )


def _not_executable(world: World) -> Task:
    """The program, or the one that it calls, has no x bit."""
    at = scene(world)
    program = world.twist.choice(("bin/publish", "lib/totals"))
    mode = world.twist.choice(("644", "664", "600"))
    task = _task(world, at, f"{program}: Permission denied", 126, (act(f"chmod 755 {program}"),))
    return replace(task, setup=f"chmod {mode} {at.root}/{program}\n")


def _closed_directory(world: World) -> Task:
    """A directory on the way may not be entered."""
    at = scene(world)
    place, complaint = world.twist.choice(
        (
            (f"{at.root}/data", f"{at.source}: Permission denied"),
            (at.source, f"{at.source}: Permission denied"),
            (f"{at.open_share}/{at.project}", f"{at.month}.txt: Permission denied"),
        )
    )
    mode = world.twist.choice(("644", "600", "444"))
    task = _task(world, at, re.escape(complaint), 1, (act(f"chmod 755 {place}"),))
    return replace(task, setup=f"chmod {mode} {place}\n")


def _read_only_target(world: World) -> Task:
    """The target is on a share that is mounted read-only: no mode helps, the settings must point elsewhere."""
    at = scene(world)
    task = _task(
        world, at, "Read-only file system", 1,
        (act(f"sed -i 's|{at.closed_share}/|{at.open_share}/|' etc/publish.conf"),),
    )  # fmt: skip
    return replace(task, files=_files(at, f"{at.closed_share}/{at.project}"))


FAMILY = Family(
    name="permission-denied",
    summary="a program is refused access to something it needs",
    causes={
        "not-executable": _not_executable,
        "closed-directory": _closed_directory,
        "read-only-target": _read_only_target,
    },
    tags=("permissions",),
)
