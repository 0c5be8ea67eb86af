"""A service does not start because its port is taken: by an old copy, by one that is kept alive, or by a neighbour."""

from __future__ import annotations

import random
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains, ProcessRunning, TextInFile
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Service, Task
from termgym.tasks.world import PROJECTS, TOOL_TRACES, World, phrase, sentence, text

SERVER = '''\
#!/usr/bin/env python3
"""usage: server.py CONFIG     Answer with name, release and state of the catalogue."""
import hashlib, pathlib, socketserver, sys

NAME, RELEASE = "{name}", "{release}"
config = pathlib.Path(sys.argv[1])
settings = dict(line.split(" = ") for line in config.read_text().splitlines() if " = " in line)
state = hashlib.sha256((config.parent / "catalogue.txt").read_bytes()).hexdigest()[:12]


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        self.wfile.write(f"HTTP/1.0 200 OK\\r\\n\\r\\n{{NAME}} {{RELEASE}} {{state}}\\n".encode())


socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer.daemon_threads = True
with socketserver.ThreadingTCPServer(("127.0.0.1", int(settings["port"])), Answer) as server:
    print("listening on", settings["port"], flush=True)
    server.serve_forever()
'''
START = b"""\
#!/bin/bash
# Start the current release in the background and say whether it came up.
cd "$(dirname "$(readlink -f "$0")")" || exit
mkdir -p log && : > log/service.log
nohup python3 "$PWD/current/server.py" "$PWD/service.conf" > log/service.log 2>&1 < /dev/null &
until grep -q '^listening' log/service.log; do
    kill -0 $! 2> /dev/null || { echo "start: did not come up: $(tail -n 1 log/service.log)" >&2; exit 1; }
    sleep 0.05
done
cat log/service.log
"""
KEEP = b"""\
#!/bin/bash
# usage: keep PROGRAM...     Start the program again whenever it ends.
while :; do
    "$@" > /dev/null 2>&1 < /dev/null
    sleep 0.2
done
"""


@dataclass(frozen=True)
class Program:
    """One service as it is meant to run."""

    name: str
    port: int
    release: str
    catalogue: bytes

    @property
    def root(self) -> str:
        """The service's directory."""
        return f"{HOME}/services/{self.name}"

    def server(self, release: str | None = None) -> bytes:
        """Return the server program of a release."""
        return SERVER.format(name=self.name, release=release or self.release).encode()

    def files(self, port: int | None = None) -> tuple[FileSpec, ...]:
        """Return the service's files, its config naming ``port``."""
        config = [f"# {self.name}", f"name = {self.name}", f"port = {port or self.port}"]
        return (
            FileSpec(f"{self.root}/releases/{self.release}/server.py", self.server()),
            FileSpec(f"{self.root}/current", f"releases/{self.release}".encode(), kind="symlink"),
            FileSpec(f"{self.root}/service.conf", text(config)),
            FileSpec(f"{self.root}/catalogue.txt", self.catalogue),
            FileSpec(f"{self.root}/start", START, mode=0o755),
        )

    @property
    def service(self) -> Service:
        """The running service."""
        return Service(
            ("python3", f"{self.root}/current/server.py", f"{self.root}/service.conf"), self.port, cwd=self.root
        )

    @property
    def answers(self) -> str:
        """A bash command that succeeds if this very service answers on its port."""
        state = sha256(self.catalogue)[:12]
        return (
            f"exec 3<>/dev/tcp/127.0.0.1/{self.port} && printf 'GET /health HTTP/1.0\\r\\n' >&3 "
            f'&& test "$(tail -n 1 <&3)" = "{self.name} {self.release} {state}"'
        )


@dataclass(frozen=True)
class Scene:
    """Three services that share a machine; the first does not run."""

    ours: Program
    neighbours: tuple[Program, Program]
    old: str
    """The release of ours before the current one."""

    @property
    def ports(self) -> bytes:
        """The list of who has which port."""
        rows = sorted((program.port, program.name) for program in (self.ours, *self.neighbours))
        return text(["# port  service", *(f"{port}    {name}" for port, name in rows)])


def _program(rng: random.Random, name: str, port: int) -> Program:
    release = f"{rng.randrange(1, 6)}.{rng.randrange(1, 10)}"
    return Program(name, port, release, text([sentence(rng) for _ in range(5)]))


def scene(world: World) -> Scene:
    """Draw the services; blind to the cause."""
    rng = world.scene
    names = rng.sample(PROJECTS, 3)
    ports = rng.sample(range(7_000, 9_900), 3)
    ours, *others = (_program(rng, name, port) for name, port in zip(names, ports, strict=True))
    major, minor = ours.release.split(".")
    return Scene(ours, (others[0], others[1]), f"{major}.{int(minor) - 1}")


def _instruction(world: World, at: Scene) -> str:
    ours = at.ours
    return phrase(
        world.scene,
        f"{ours.name} does not come up: {ours.root}/start says that the address is already in use. Get release "
        f"{ours.release} running in the background, on the port that ~/services/PORTS has for it, and no other "
        "release beside it. The other services must not be interrupted, and PORTS and the programs stay as they "
        "are.",
        f"Please start {ours.name} (~/services/{ours.name}/start); for me it fails with 'Address already in use'. "
        f"It has to run as release {ours.release} and only that, on its own port from ~/services/PORTS. Leave "
        "PORTS, the server programs and all the other services alone: people are using them.",
        f"I cannot start {ours.name}, its address is in use. I want {ours.name} {ours.release}, only this "
        "release, to answer on the port that is listed for it in ~/services/PORTS. Its neighbours run on; do not "
        "stop them, and do not edit PORTS or any server.py.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    programs = (at.ours, *at.neighbours)
    return (
        FileHash(path=f"{HOME}/services/PORTS", sha256=sha256(at.ports)),
        *(FileHash(path=f"{one.root}/current/server.py", sha256=sha256(one.server())) for one in programs),
        *(FileHash(path=f"{one.root}/catalogue.txt", sha256=sha256(one.catalogue)) for one in programs),
        TextInFile(path=f"{at.ours.root}/service.conf", pattern=f"^port = {at.ours.port}$"),
        ProcessRunning(pattern=rf"{at.ours.root}/(current|releases/{at.ours.release})/server\.py"),
        ProcessRunning(pattern=rf"releases/{at.old}/server\.py", negate=True),
        *(holds(one.answers, timeout=5, others_run=True) for one in programs),
    )


def _task(
    world: World, at: Scene, services: tuple[Service, ...], oracle: tuple[ActionPlan, ...], port: int | None = None
) -> Task:
    old = FileSpec(f"{at.ours.root}/releases/{at.old}/server.py", at.ours.server(at.old))
    keep = FileSpec(f"{HOME}/services/keep", KEEP, mode=0o755)
    neighbours = [file for program in at.neighbours for file in program.files()]
    complaint = OutputContains(pattern="Address already in use", stream="stderr")
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(FileSpec(f"{HOME}/services/PORTS", at.ports), old, keep, *at.ours.files(port), *neighbours),
        services=(*services, *(program.service for program in at.neighbours)),
        allowed=(f"{at.ours.root}/service.conf", f"{at.ours.root}/log", f"{at.ours.root}/log/**", *TOOL_TRACES),
        symptom=(act(f"{at.ours.root}/start", complaint, exits=1),),
        oracle=(*oracle, act(f"{at.ours.root}/start", OutputContains(pattern=f"listening on {at.ours.port}"))),
    )


def _end(pattern: str) -> ActionPlan:
    """Return the plan that ends what matches and waits until it is gone (pgrep may be missing)."""
    return act(
        f"for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q '{pattern}'; then "
        "kill ${entry#/proc/}; while kill -0 ${entry#/proc/} 2> /dev/null; do sleep 0.05; done; fi; done"
    )


def _old_copy(at: Scene) -> tuple[str, ...]:
    return ("python3", f"{at.ours.root}/releases/{at.old}/server.py", f"{at.ours.root}/service.conf")


def _stale_copy(world: World) -> Task:
    """The release before still runs."""
    at = scene(world)
    stale = Service(_old_copy(at), at.ours.port, cwd=at.ours.root)
    return _task(world, at, (stale,), (_end(f"releases/{at.old}/server"),))


def _kept_copy(world: World) -> Task:
    """The release before runs under a keeper that starts it again: the keeper has to go first."""
    at = scene(world)
    kept = Service(("bash", f"{HOME}/services/keep", *_old_copy(at)), at.ours.port, cwd=at.ours.root)
    return _task(
        world, at, (kept,), (_end(f"services/keep .*releases/{at.old}"), _end(f"^python3 .*releases/{at.old}/server"))
    )


def _neighbour(world: World) -> Task:
    """Our config names the port of another service, which has to stay."""
    at = scene(world)
    taken = world.twist.choice(at.neighbours).port
    repair = act(f"sed -i 's/^port = .*/port = {at.ours.port}/' {at.ours.root}/service.conf")
    return _task(world, at, (), (repair,), port=taken)


FAMILY = Family(
    name="port-in-use",
    summary="a service does not start because its address is in use",
    causes={"stale-copy": _stale_copy, "kept-copy": _kept_copy, "neighbour": _neighbour},
    tags=("services", "network"),
)
