"""A service does not come up: its settings, a left-over mark, its directory, a path of somebody else's, or its port."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains, ProcessRunning, TextInFile
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Service, Task
from termgym.tasks.world import NOUNS, PEOPLE, PROJECTS, TOOL_TRACES, World, phrase, sentence, text

SERVER = b'''\
#!/usr/bin/env python3
"""usage: server.py [--check] CONFIG     Answer questions about a catalogue; or say whether it could be done.

The answer to a line is the SHA-256 of the line, the answers section of the settings, and the catalogue.
"""
import configparser, hashlib, json, os, pathlib, socketserver, sys

config = configparser.ConfigParser()
config.read_string(pathlib.Path(sys.argv[-1]).read_text())
service = config["service"]
port = int(service["port"])
known = json.dumps(dict(config["answers"]), sort_keys=True).encode() + pathlib.Path(service["data"]).read_bytes()
starting = pathlib.Path(service["run"]) / "starting"


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline().strip()
        self.wfile.write(hashlib.sha256(line + known).hexdigest().encode() + b"\\n")


if starting.exists():
    sys.exit(f"server: {starting} says that process {starting.read_text().strip()} is about to start this service")
if sys.argv[1] == "--check":
    os.listdir(starting.parent)
    print("fit", service["name"], port, hashlib.sha256(known).hexdigest())
    sys.exit()
starting.write_text(f"{os.getpid()}\\n")
try:
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer.daemon_threads = True
    server = socketserver.ThreadingTCPServer(("127.0.0.1", port), Answer)
finally:
    starting.unlink()
print("listening on", port, flush=True)
server.serve_forever()
'''
START = b"""\
#!/bin/bash
# usage: start NAME     Start a service in the background and say whether it came up.
cd "$(dirname "$(readlink -f "$0")")" || exit
mkdir -p "$1/log" && : > "$1/log/service.log"
nohup python3 "$PWD/server.py" "$PWD/$1/service.conf" > "$1/log/service.log" 2>&1 < /dev/null &
until grep -q '^listening' "$1/log/service.log"; do
    kill -0 $! 2> /dev/null || { echo "start: $1 did not come up, see $PWD/$1/log/service.log" >&2; exit 1; }
    sleep 0.02
done
cat "$1/log/service.log"
"""
SERVICES = f"{HOME}/services"


@dataclass(frozen=True)
class Program:
    """One service as it is meant to run."""

    name: str
    port: int
    catalogue: bytes
    answers: Mapping[str, str]
    """The settings on which its answers depend."""
    remark: str
    """A comment in the settings that must survive."""

    @property
    def root(self) -> str:
        """The service's directory."""
        return f"{SERVICES}/{self.name}"

    @property
    def run(self) -> str:
        """Where it leaves its marks while it starts."""
        return f"/srv/run/{self.name}"

    @property
    def known(self) -> bytes:
        """What its answers depend on."""
        return json.dumps(self.answers, sort_keys=True).encode() + self.catalogue

    def settings(self, port: int | None = None, data: str | None = None) -> list[str]:
        """Return the lines of its settings."""
        return [
            "[service]",
            f"name = {self.name}",
            f"port = {port or self.port}",
            self.remark,
            f"data = {data or f'{self.root}/catalogue.txt'}",
            f"run = {self.run}",
            "",
            "[answers]",
            *(f"{key} = {value}" for key, value in self.answers.items()),
        ]

    def files(self, settings: list[str] | None = None) -> tuple[FileSpec, ...]:
        """Return the service's files."""
        return (
            FileSpec(f"{self.root}/service.conf", text(settings or self.settings())),
            FileSpec(f"{self.root}/catalogue.txt", self.catalogue),
        )

    @property
    def service(self) -> Service:
        """The running service."""
        return Service(("python3", f"{SERVICES}/server.py", f"{self.root}/service.conf"), self.port, cwd=SERVICES)

    def replies(self, question: str) -> Check:
        """Return the check that this very service answers a question on its port."""
        answer = sha256(question.encode() + self.known)
        return holds(
            f"exec 3<>/dev/tcp/127.0.0.1/{self.port} && echo {question} >&3 && cat <&3",
            pattern=rf"\A{answer}\n\Z", timeout=5, others_run=True,
        )  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """Three services that share a machine; the first does not run."""

    ours: Program
    neighbours: tuple[Program, Program]
    questions: tuple[str, ...]
    """What the services will be asked in the end: nobody can have learnt the answers by heart."""

    @property
    def ports(self) -> bytes:
        """The list of who has which port."""
        rows = sorted((program.port, program.name) for program in (self.ours, *self.neighbours))
        return text(["# port  service", *(f"{port}    {name}" for port, name in rows)])


def _program(rng: random.Random, name: str, port: int) -> Program:
    answers = {key: str(rng.randrange(2, 90)) for key in rng.sample(NOUNS, rng.randrange(3, 6))}
    remark = f"# {rng.choice(PEOPLE)}: {sentence(rng)}"
    return Program(name, port, text([sentence(rng) for _ in range(5)]), answers, remark)


def scene(world: World) -> Scene:
    """Draw the services; blind to the cause."""
    rng = world.scene
    ports = rng.sample(range(7_000, 9_900), 3)
    ours, *others = (_program(rng, *pair) for pair in zip(rng.sample(PROJECTS, 3), ports, strict=True))
    return Scene(ours, (others[0], others[1]), tuple(f"q{rng.randrange(10**9)}" for _ in range(3)))


def _instruction(world: World, at: Scene) -> str:
    name = at.ours.name
    return phrase(
        world.scene,
        f"`~/services/start {name}` says that {name} did not come up. Find out why, and get it running with it, on the "
        "port that ~/services/PORTS has for it and with all its settings. The other services must not be interrupted. "
        "PORTS, server.py, start and the catalogues stay as they are, and so do the remarks in the settings.",
        f"Our service {name} is down, and `~/services/start {name}` does not bring it up any more. Please repair that "
        "for good and start it so. It belongs on its port from ~/services/PORTS; nothing in its settings may get lost, "
        "not even a remark. Hands off the programs, the catalogues and the other services, which are in use.",
        f"I can't start {name} with ~/services/start, it does not come up. I need it to answer again, on its own port "
        "(see ~/services/PORTS), the way it is configured and started from there. Keep everything else as it is: "
        "PORTS, the two programs, comments and other settings, the catalogues, and the neighbours that run.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    programs, ours = (at.ours, *at.neighbours), at.ours
    pinned = {f"{SERVICES}/PORTS": at.ports, f"{SERVICES}/server.py": SERVER, f"{SERVICES}/start": START}
    pinned |= {f"{one.root}/catalogue.txt": one.catalogue for one in programs}
    return (
        *(FileHash(path=path, sha256=sha256(content)) for path, content in pinned.items()),
        TextInFile(path=f"{ours.root}/service.conf", pattern=f"^{re.escape(ours.remark)}$"),
        holds(
            f"python3 -I {SERVICES}/server.py --check {ours.root}/service.conf",
            pattern=rf"\Afit {ours.name} {ours.port} {sha256(ours.known)}\n\Z",
        ),
        ProcessRunning(pattern=rf"python3? {SERVICES}/server\.py {ours.root}/service\.conf$"),
        *(one.replies(question) for one, question in zip(programs, at.questions, strict=True)),
    )


def _task(
    world: World, at: Scene, complaint: str, repair: ActionPlan,
    settings: list[str] | None = None, run: tuple[FileSpec, ...] | None = None,
) -> Task:  # fmt: skip
    """Return the task; ``settings`` and ``run`` are what ours has, if it has not what it should."""
    ours = at.ours
    start = f"{SERVICES}/start {ours.name}"
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(f"{SERVICES}/PORTS", at.ports),
            FileSpec(f"{SERVICES}/server.py", SERVER, mode=0o755),
            FileSpec(f"{SERVICES}/start", START, mode=0o755),
            *ours.files(settings),
            *(file for program in at.neighbours for file in program.files()),
            *(FileSpec(program.run, mode=0o755, kind="dir") for program in at.neighbours),
            *((FileSpec(ours.run, mode=0o755, kind="dir"),) if run is None else run),
        ),
        services=tuple(program.service for program in at.neighbours),
        allowed=(
            f"{ours.root}/service.conf", f"{ours.root}/log", f"{ours.root}/log/**", ours.run, f"{ours.run}/**",
            *TOOL_TRACES,
        ),
        symptom=(
            act(
                f"{start} || {{ cat {ours.root}/log/service.log >&2; false; }}",
                OutputContains(pattern="did not come up", stream="stderr"),
                OutputContains(pattern=complaint, stream="stderr"),
                exits=1,
            ),
        ),
        oracle=(repair, act(start, OutputContains(pattern=f"listening on {ours.port}"))),
    )  # fmt: skip


def _broken_settings(world: World) -> Task:
    """A line of the settings is none that can be read."""
    at = scene(world)
    lines = at.ours.settings()
    place, line, complaint = world.twist.choice(
        (
            (1, f"name {at.ours.name}", "ParsingError"),
            (7, "[answers", "ParsingError"),
            (6, f"port = {at.ours.port}", "DuplicateOptionError"),
            (0, ";[service]", "MissingSectionHeaderError"),
        )
    )
    right = lines[place]
    lines[place] = line
    repair = f"sed -i '{place + 1}s/.*/{right}/' {at.ours.root}/service.conf"
    return _task(world, at, complaint, act(repair), lines)


def _left_mark(world: World) -> Task:
    """A start that died left its mark, and the process that it names is no more."""
    at = scene(world)
    process = world.twist.randrange(40_000, 4_000_000)
    mark = f"{at.ours.run}/starting"
    run = (FileSpec(mark, text([str(process)])),)
    return _task(world, at, f"process {process} is about to start", act(f"rm {mark}"), run=run)


def _no_run_directory(world: World) -> Task:
    """The directory for its marks is gone; or it is a link to where nothing is."""
    at = scene(world)
    run = at.ours.run
    link = (FileSpec(run, f"/srv/run.old/{at.ours.name}".encode(), kind="symlink"),)
    linked = world.twist.random() < 0.4
    repair = act(f"rm -f {run} && mkdir {run}")
    return _task(world, at, f"No such file or directory: '{run}/starting'", repair, run=link if linked else ())


def _foreign_path(world: World) -> Task:
    """The settings name the catalogue in the home of somebody who had the service before."""
    at = scene(world)
    owner = world.twist.choice(PEOPLE).split()[0].lower()
    data = f"/home/{owner}/services/{at.ours.name}/catalogue.txt"
    repair = f"sed -i 's|^data = .*|data = {at.ours.root}/catalogue.txt|' {at.ours.root}/service.conf"
    return _task(world, at, f"No such file or directory: '{data}'", act(repair), at.ours.settings(data=data))


def _foreign_port(world: World) -> Task:
    """The settings name the port of a neighbour, which has to stay."""
    at = scene(world)
    port = world.twist.choice(at.neighbours).port
    repair = f"sed -i 's/^port = .*/port = {at.ours.port}/' {at.ours.root}/service.conf"
    return _task(world, at, "Address already in use", act(repair), at.ours.settings(port=port))


FAMILY = Family(
    name="service-does-not-start",
    summary="a service does not come up when it is started",
    causes={
        "broken-settings": _broken_settings,
        "left-mark": _left_mark,
        "no-run-directory": _no_run_directory,
        "foreign-path": _foreign_path,
        "foreign-port": _foreign_port,
    },
    tags=("services", "network"),
)
