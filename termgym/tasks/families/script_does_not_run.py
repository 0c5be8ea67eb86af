"""A script does not run: its line ends, a mark before its first line, its interpreter, its x bit, or a namesake."""

from __future__ import annotations

from dataclasses import dataclass

from termgym.checks import Check, FileHash, FileMode, OutputContains, TextInFile
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, sentence, text

REPORT = """\
#!/bin/bash
# usage: report [-w]     Write report.txt: what {name} makes of the tables. With -w say which {name} that is.
# Where programs are looked for is in etc/path, a directory a line.
cd "$(dirname "$(readlink -f "$0")")" || exit
while read -r place; do places=$places$place:; done < etc/path
PATH=$places$PATH
[ "$1" = -w ] && { type -P {name}; exit; }
report=$({name} data/*.csv) || { echo "report: {name} failed" >&2; exit 1; }
printf '%s\\n' "$report" > report.txt
"""
SHEBANG = "#!/usr/bin/awk -f\n"
SCRIPT = """\
# usage: {name} TABLE...     Add up the amounts of each table, then of all. {about}
function show() { sub(/.*\\//, "", table); print table, sum }
BEGIN { FS = "," }
FNR == 1 { if (NR > 1) show(); table = FILENAME; sum = 0; next }
{ sum += $2; all += $2 }
END { show(); print "all", all }
"""
NAMESAKE = """\
#!/bin/bash
# The {name} of the tools: an older one, which others still use for their lists.
[ "${{1##*.}}" = list ] || {{ echo "{name}: release 1 reads lists, not $1" >&2; exit 3; }}
wc -l "$@"
"""
TOOLS = f"{HOME}/tools/bin"
FIRST_LINE = r"\A#! ?(/usr)?/bin/(env -S )?[mg]?awk -f\n"
"""Any way to start awk on the file itself."""


@dataclass(frozen=True)
class Scene:
    """A project whose report is made by a script in bin/."""

    root: str
    name: str
    """The script's."""
    about: str
    tables: dict[str, bytes]
    report: bytes

    @property
    def script(self) -> str:
        """The script as it must be, without its first line."""
        return SCRIPT.replace("{name}", self.name).replace("{about}", self.about)

    @property
    def path(self) -> str:
        """The script's path."""
        return f"{self.root}/bin/{self.name}"

    @property
    def report_program(self) -> bytes:
        """The program that a person starts."""
        return REPORT.replace("{name}", self.name).encode()

    @property
    def namesake(self) -> bytes:
        """The other program of this name."""
        return NAMESAKE.format(name=self.name).encode()


def scene(world: World) -> Scene:
    """Draw the project; blind to the cause."""
    rng = world.scene
    tables: dict[str, bytes] = {}
    lines: list[str] = []
    total = 0
    for name in sorted(rng.sample(NOUNS, rng.randrange(3, 7))):
        amounts = [rng.randrange(1, 5_000) for _ in range(rng.randrange(4, 15))]
        tables[f"{name}.csv"] = text(["item,amount", *(f"{rng.choice(NOUNS)},{amount}" for amount in amounts)])
        lines.append(f"{name}.csv {sum(amounts)}")
        total += sum(amounts)
    return Scene(
        root=f"{HOME}/{rng.choice(PLACES)}/{rng.choice(PROJECTS)}",
        name=f"{rng.choice(('sum', 'tally', 'add', 'reckon'))}-{rng.choice(NOUNS)}s",
        about=sentence(rng),
        tables=tables,
        report=text([*lines, f"all {total}"]),
    )


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"./report in {at.root} fails, its script {at.name} does not run as it should. Find out why, repair it so that "
        f"./report works from now on, and run it. What bin/{at.name} does is right: keep its text, all but what keeps "
        "it from running. The tables, ./report itself and ~/tools, which others use, stay as they are.",
        f"I get an error when I start ./report in {at.root}. It needs bin/{at.name}, which has been through several "
        "hands lately. Please make it run again without changing what it does, and write the report. Leave the tables "
        "and ./report alone, as well as everything in ~/tools.",
        f"Can you get {at.root}/report going again? It says that {at.name} failed. I need report.txt, and it has to "
        f"work the next time too. There is nothing wrong with the logic of bin/{at.name}, so leave that as it is; and "
        "please touch neither the tables nor ./report nor the programs in ~/tools.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    shown = sha256(at.report)
    pinned = {f"{at.root}/data/{name}": table for name, table in at.tables.items()}
    pinned |= {f"{at.root}/report": at.report_program, f"{TOOLS}/{at.name}": at.namesake}
    return (
        FileHash(path=f"{at.root}/report.txt", sha256=shown),
        *(FileHash(path=path, sha256=sha256(content)) for path, content in pinned.items()),
        FileMode(path=f"{TOOLS}/{at.name}", mode="0755"),
        TextInFile(path=at.path, pattern=FIRST_LINE),
        # One may mend the line ends of the first line alone.
        holds(f"tail -n +2 {at.path} | tr -d '\\r' | sha256sum", pattern=sha256(at.script.encode())),
        holds(f"cd {at.root} && realpath $(./report -w)", pattern=rf"\A{at.path}\n\Z"),
        # What runs is pinned but for its first line; that must not find an awk of the agent's.
        holds(f"cd {at.root} && PATH=/usr/bin:/bin bin/{at.name} data/*.csv | sha256sum", pattern=shown),
    )


def _task(
    world: World, at: Scene, complaint: str, repair: str, content: bytes | None = None,
    mode: int = 0o755, tools_first: bool = False,
) -> Task:  # fmt: skip
    places = (TOOLS, f"{at.root}/bin") if tools_first else (f"{at.root}/bin", TOOLS)
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(at.path, content or (SHEBANG + at.script).encode(), mode=mode),
            FileSpec(f"{at.root}/report", at.report_program, mode=0o755),
            FileSpec(f"{at.root}/etc/path", text(places)),
            *(FileSpec(f"{at.root}/data/{name}", table) for name, table in at.tables.items()),
            FileSpec(f"{TOOLS}/{at.name}", at.namesake, mode=0o755),
        ),
        allowed=(f"{at.root}/bin/**", f"{at.root}/etc/**", f"{at.root}/report.txt", *TOOL_TRACES),
        symptom=(
            act(
                f"cd {at.root} && ./report",
                OutputContains(pattern=complaint, stream="stderr"),
                OutputContains(pattern=f"^report: {at.name} failed$", stream="stderr"),
                exits=1,
            ),
        ),
        oracle=(act(f"cd {at.root}"), act(repair), act("./report")),
    )


def _line_ends(world: World) -> Task:
    """The script has been saved with the line ends of Windows; the interpreter takes them for a part of the line."""
    at = scene(world)
    content = (SHEBANG + at.script).replace("\n", "\r\n").encode()
    return _task(world, at, "(cannot|can't) open|[Nn]o such file", f"sed -i 's/\\r$//' bin/{at.name}", content)


def _byte_order_mark(world: World) -> Task:
    """An editor has put a byte order mark in front: then the first line is none, and bash tries it itself."""
    at = scene(world)
    content = ("\ufeff" + SHEBANG + at.script).encode()
    return _task(world, at, "syntax error", f"sed -i '1s/^\\xef\\xbb\\xbf//' bin/{at.name}", content)


def _interpreter(world: World) -> Task:
    """The first line names an interpreter that is not there, or cannot be one."""
    at = scene(world)
    line, complaint = world.twist.choice(
        (
            ("#!/usr/local/bin/awk -f", "required file not found|bad interpreter"),
            ("#!/opt/awk/bin/awk -f", "required file not found|bad interpreter"),
            ("#!/usr/bin/env awk -f", "No such file or directory"),
            ("#!/bin/bash", "syntax error"),
        )
    )
    content = f"{line}\n{at.script}".encode()
    return _task(world, at, complaint, f"sed -i '1s|.*|{SHEBANG.strip()}|' bin/{at.name}", content)


def _no_x_bit(world: World) -> Task:
    """The script has lost its x bit, so that its namesake further down the path is taken."""
    at = scene(world)
    mode = world.twist.choice((0o644, 0o600, 0o664))
    return _task(world, at, "release 1 reads lists", f"chmod 755 bin/{at.name}", mode=mode)


def _namesake(world: World) -> Task:
    """The path leads to a namesake first: it must be looked for in another order."""
    at = scene(world)
    return _task(
        world, at, "release 1 reads lists", "tac etc/path > /tmp/path && cp /tmp/path etc/path", tools_first=True
    )


FAMILY = Family(
    name="script-does-not-run",
    summary="a report fails because a script of its own does not run",
    causes={
        "line-ends": _line_ends,
        "byte-order-mark": _byte_order_mark,
        "interpreter": _interpreter,
        "no-x-bit": _no_x_bit,
        "namesake": _namesake,
    },
    tags=("scripts", "encoding"),
)
