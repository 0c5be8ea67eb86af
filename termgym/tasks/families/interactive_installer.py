"""An installer that asks gives up when Return is the answer to all: its licence, a directory, a port, an older attempt.

It talks to a terminal only, so that it has to be answered and not merely fed.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from termgym.checks import Check, FileAbsent, FileHash, OutputContains
from termgym.plan import ActionPlan, Exchange
from termgym.tasks.family import Family, act, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, prose, text

INSTALLER = '''\
#!/usr/bin/env python3
"""usage: install     Install {name} {release}. Asks on the terminal; Return takes the answer in brackets."""
import base64, hashlib, pathlib, shutil, sys

PAGE = 12
PROGRAM = "{program}"
here = pathlib.Path(__file__).resolve().parent
journal = here / "unfinished"


def ask(question, default, *allowed):
    while True:
        print(f"{{question}} [{{default}}]: ", end="", flush=True)
        line = sys.stdin.readline() or sys.exit("\\ninstall: aborted")
        answer = line.strip() or default
        if not allowed or answer in allowed:
            return answer
        print("Please answer in full:", " or ".join(allowed))


def read_licence():
    lines = (here / "LICENCE").read_text().splitlines()
    for start in range(0, len(lines), PAGE):
        print(*lines[start : start + PAGE], sep="\\n")
        print("-- Return for more --", end="", flush=True)
        sys.stdin.readline() or sys.exit("\\ninstall: aborted")
    if ask("Do you accept the licence?", "{accept}", "yes", "no") == "no":
        sys.exit("install: the licence was not accepted, nothing is installed")


def choose_directory():
    target = pathlib.Path(ask("Directory", "{directory}")).expanduser()
    try:
        target.mkdir(parents=True, exist_ok=True)
        (target / ".probe").touch()
        (target / ".probe").unlink()
    except OSError as error:
        sys.exit(f"install: cannot write to {{target}}: {{error.strerror}}")
    return target


def choose_port():
    port = ask("Port", "{port}")
    for line in pathlib.Path("~/apps/PORTS").expanduser().read_text().splitlines():
        if line.split()[0] == port and line.split()[1] != "{name}":
            sys.exit(f"install: port {{port}} belongs to {{line.split()[1]}}")
    return port


if not sys.stdin.isatty():
    sys.exit("install: this is no terminal, nobody could answer")
if journal.exists():
    left = pathlib.Path(journal.read_text().strip())
    print(f"An installation into {{left}} was not finished.")
    if ask("Go on with it?", "yes", "yes", "no") == "yes":
        sys.exit(f"install: cannot go on, {{left}} holds another program")
    if ask(f"Remove all that is in {{left}}?", "yes", "yes", "no") == "yes":
        shutil.rmtree(left)
    journal.unlink()
read_licence()
target = choose_directory()
port = choose_port()
journal.write_text(f"{{target}}\\n")
records = "none"
if (target / "records").exists():
    records = ask("There are records of an earlier release: keep or replace?", "replace", "keep", "replace")
    if records == "replace":
        shutil.rmtree(target / "records")
(target / "records").mkdir(exist_ok=True)
(target / "bin").mkdir(exist_ok=True)
(target / "bin/{name}").write_bytes(base64.b64decode(PROGRAM))
(target / "bin/{name}").chmod(0o755)
answers = f"release = {release}\\ndirectory = {{target}}\\nport = {{port}}\\nrecords = {{records}}\\n"
seal = hashlib.sha256(f"{seal} {{answers}}".encode()).hexdigest()
(target / "receipt").write_text(f"{{answers}}seal = {{seal}}\\n")
journal.unlink()
print("{name} {release} is installed in", target)
'''
PROGRAM = '''\
#!/usr/bin/env python3
"""{about}"""
import pathlib

root = pathlib.Path(__file__).resolve().parent.parent
print("{name} {release}:", len(list((root / "records").iterdir())), "records")
'''
PAGES = 2
"""How many screens the licence takes."""
MORE, QUESTION = "-- Return for more --", r"\]: $"


@dataclass(frozen=True)
class Scene:
    """A program to be installed where an earlier release and other people's programs are."""

    name: str
    release: str
    place: str
    port: int
    neighbours: tuple[str, str]
    neighbour_port: int
    """The port of the first neighbour."""
    share: str
    """A read-only place that others install into."""
    program: bytes
    records: dict[str, bytes]
    licence: bytes
    seal: str

    @property
    def source(self) -> str:
        """Where the installer is."""
        return f"{HOME}/{self.place}/{self.name}-{self.release}"

    @property
    def target(self) -> str:
        """Where the program has to go."""
        return f"{HOME}/apps/{self.name}"

    @property
    def receipt(self) -> bytes:
        """What the installer leaves if it was given the right answers."""
        answers = f"release = {self.release}\ndirectory = {self.target}\nport = {self.port}\nrecords = keep\n"
        return f"{answers}seal = {sha256(f'{self.seal} {answers}'.encode())}\n".encode()

    @property
    def ports(self) -> bytes:
        """Who has which port."""
        return text([f"{self.port} {self.name}", f"{self.neighbour_port} {self.neighbours[0]}"])

    def installer(self, accept: str = "yes", directory: str | None = None, port: int | None = None) -> bytes:
        """Return the installer with its answers for those who press Return."""
        return INSTALLER.format(
            name=self.name,
            release=self.release,
            program=base64.b64encode(self.program).decode(),
            accept=accept,
            directory=directory or f"~/apps/{self.name}",
            port=port or self.port,
            seal=self.seal,
        ).encode()


def scene(world: World) -> Scene:
    """Draw the programs; blind to the cause."""
    rng = world.scene
    name, *neighbours = rng.sample(PROJECTS, 3)
    port, neighbour_port = rng.sample(range(7_000, 9_900), 2)
    release = f"{rng.randrange(2, 6)}.{rng.randrange(10)}"
    about = " ".join(prose(rng, 1))
    return Scene(
        name=name,
        release=release,
        place=rng.choice(PLACES),
        port=port,
        neighbours=(neighbours[0], neighbours[1]),
        neighbour_port=neighbour_port,
        share=f"/srv/{rng.choice(NOUNS)}",
        program=PROGRAM.format(name=name, release=release, about=about).encode(),
        records={f"{noun}.txt": text(prose(rng, 3)) for noun in sorted(rng.sample(NOUNS, rng.randrange(2, 6)))},
        licence=text(prose(rng, 12 * PAGES - rng.randrange(8))),
        seal=rng.randbytes(8).hex(),
    )


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"./install in {at.source} gives up, though I press Return at each of its questions. Please install {at.name} "
        f"{at.release} with it: into ~/apps/{at.name}, on port {at.port}, with the records that are there kept. The "
        "receipt that it leaves is needed. Do not edit the installer, and let nothing happen to the rest of ~/apps.",
        f"I want {at.name} {at.release} in ~/apps/{at.name} on port {at.port}. Its installer, {at.source}/install, "
        "asks a lot; I just press Return, and it breaks off. Can you get through it? Our old records have to be kept, "
        "the other programs in ~/apps too, and the installer and its receipt must be genuine.",
        f"Please run the installer of {at.name} {at.release} for me, it is in {at.source}. With Return for every "
        f"answer it ends in an error. It should go into ~/apps/{at.name} and use port {at.port}. Keep the records of "
        "the release before. Leave the installer as it is, and whatever else is in ~/apps.",
    )


def _goal(at: Scene, installer: bytes) -> tuple[Check, ...]:
    others = {f"{HOME}/apps/{name}/data.txt": sha256(text([name, at.seal])) for name in at.neighbours}
    return (
        FileHash(path=f"{at.source}/install", sha256=sha256(installer)),
        FileHash(path=f"{at.target}/bin/{at.name}", sha256=sha256(at.program)),
        FileHash(path=f"{at.target}/receipt", sha256=sha256(at.receipt)),
        *(FileHash(path=f"{at.target}/records/{name}", sha256=sha256(body)) for name, body in at.records.items()),
        *(FileHash(path=path, sha256=digest) for path, digest in others.items()),
        FileHash(path=f"{HOME}/apps/PORTS", sha256=sha256(at.ports)),
        FileAbsent(path=f"{at.source}/unfinished"),
    )


def _files(at: Scene, installer: bytes) -> tuple[FileSpec, ...]:
    old = PROGRAM.format(name=at.name, release="1.0", about="The release before.").encode()
    return (
        FileSpec(f"{at.source}/install", installer, mode=0o755),
        FileSpec(f"{at.source}/LICENCE", at.licence),
        FileSpec(f"{HOME}/apps/PORTS", at.ports),
        FileSpec(f"{at.target}/bin/{at.name}", old, mode=0o755),
        *(FileSpec(f"{at.target}/records/{name}", body) for name, body in at.records.items()),
        *(FileSpec(f"{HOME}/apps/{name}/data.txt", text([name, at.seal])) for name in at.neighbours),
        FileSpec(f"{at.share}/README", b"Ask the operators if something is to be installed here.\n"),
    )


def _task(
    world: World, at: Scene, installer: bytes, complaint: str, returns: int,
    first: tuple[tuple[str, str], ...] = (), left: str = "",
) -> Task:  # fmt: skip
    """Return the task.

    Args:
        world: Where it is.
        at: Its scene.
        installer: The installer's text.
        complaint: How it ends for somebody who presses Return.
        returns: After how many questions it does.
        first: What is asked before the licence, and the right answers.
        left: The directory of an attempt that was not finished.
    """
    pages = (Exchange(expect=MORE, send="\n"),) * (0 if left else PAGES)
    symptom = ActionPlan(
        command=f"cd {at.source} && ./install",
        timeout=30.0,
        expected_exit_code=1,
        dialogue=(*pages, *(Exchange(expect=QUESTION, send="\n"),) * returns),
        validation_steps=(OutputContains(pattern=complaint, stream="stderr"),),
    )
    oracle = ActionPlan(
        command=f"{at.source}/install",
        timeout=30.0,
        dialogue=tuple(Exchange(expect=asked, send=f"{said}\n") for asked, said in (*first, *_answers(at))),
        validation_steps=(OutputContains(pattern="is installed in"),),
    )
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at, installer),
        files=(*_files(at, installer), *((FileSpec(f"{at.source}/unfinished", text([left])),) if left else ())),
        read_only=(at.share,),
        allowed=(f"{at.source}/unfinished", f"{at.target}/**", *TOOL_TRACES),
        symptom=(symptom,),
        oracle=(oracle, act(f"{at.target}/bin/{at.name}", OutputContains(pattern=f"^{at.name} {at.release}: "))),
    )


def _answers(at: Scene) -> tuple[tuple[str, str], ...]:
    """Return what is asked, page by page, and the right answers."""
    return (
        *((MORE, ""),) * PAGES,
        ("accept the licence", "yes"),
        ("Directory", f"~/apps/{at.name}"),
        ("Port", str(at.port)),
        ("keep or replace", "keep"),
    )


def _refused_licence(world: World) -> Task:
    """Return means that the licence is not accepted."""
    at = scene(world)
    return _task(world, at, at.installer(accept="no"), "the licence was not accepted", 1)


def _closed_directory(world: World) -> Task:
    """Return means a directory on a share that is read-only."""
    at = scene(world)
    installer = at.installer(directory=f"{at.share}/{world.twist.choice(('apps', 'opt', 'local'))}/{at.name}")
    return _task(world, at, installer, "Read-only file system", 2)


def _foreign_port(world: World) -> Task:
    """Return means the port of another program."""
    at = scene(world)
    installer = at.installer(port=at.neighbour_port)
    return _task(world, at, installer, f"port {at.neighbour_port} belongs to {at.neighbours[0]}", 3)


def _unfinished(world: World) -> Task:
    """An attempt that was broken off had aimed at a neighbour; Return goes on with it, or removes the neighbour."""
    at = scene(world)
    left = f"{HOME}/apps/{world.twist.choice(at.neighbours)}"
    first = (("Go on with it", "no"), ("Remove all", "no"))
    return _task(world, at, at.installer(), "cannot go on, .* holds another program", 1, first, left)


FAMILY = Family(
    name="interactive-installer",
    summary="an installer gives up when Return is the answer to all its questions",
    causes={
        "refused-licence": _refused_licence,
        "closed-directory": _closed_directory,
        "foreign-port": _foreign_port,
        "unfinished": _unfinished,
    },
    tags=("dialogue", "installing"),
)
