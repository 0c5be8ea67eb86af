"""A machine is over its limits: one of several like programs never rests, hoards, breeds, or is started again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains, ProcessRunning
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Service, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, text

WORKER = '''\
#!/usr/bin/env python3
"""usage: worker.py NAME     Do the jobs in spool/NAME, then wait for more; prove on a port that the work goes on.

A worker has one ticket, which it takes when it starts. Its work is in memory: who starts again has neither.
"""
import hashlib, os, pathlib, socket, sys, threading, time

farm, name = pathlib.Path(__file__).resolve().parent, sys.argv[1]
ticket = b""
if (farm / "tickets" / name).exists():
    ticket = (farm / "tickets" / name).read_bytes()
    (farm / "tickets" / name).unlink()
port = dict(line.split() for line in (farm / "PORTS").read_text().splitlines())[name]


def prove():
    while True:
        asked, _ = listening.accept()
        with asked:
            word = asked.recv(99).strip()
            asked.sendall(hashlib.sha256(word + ticket).hexdigest().encode() + b"\\n")


held, children = [], 0
jobs = [line.split() for job in sorted((farm / "spool" / name).iterdir()) for line in job.read_text().splitlines()]
for verb, figure in jobs:
    if verb == "hold":
        held.append(bytearray(b"x") * (int(figure) << 20))
    if verb == "share":
        for _ in range(int(figure)):
            if not os.fork():
                while True:
                    time.sleep(3600)
listening = socket.create_server(("127.0.0.1", int(port)))
threading.Thread(target=prove, daemon=True).start()
for verb, figure in jobs:
    if verb == "count":
        number = 0
        while number != int(figure):
            number += 2
while True:
    time.sleep(1)
'''
KEEP = b"""\
#!/bin/bash
# usage: keep NAME     Start the worker NAME again whenever it ends.
while :; do
    python3 "$(dirname "$(readlink -f "$0")")/worker.py" "$1" < /dev/null > /dev/null 2>&1
    sleep 0.1
done
"""
LOAD = b'''\
#!/usr/bin/env python3
"""Say whether the machine is within its limits: nobody runs without rest, holds 96 MB, or is 24 processes."""
import collections, pathlib, sys, time

busy, size, many = collections.Counter(), collections.Counter(), collections.Counter()
for _ in range(20):
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
            argv = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"worker.py" in argv:
            busy[entry.name] += words[0] == "R"
            size[entry.name] = int(words[21]) * 4096
            many[argv] += 1
    time.sleep(0.01)
for figure, limit, what in ((busy, 19, "a process never rests"), (size, 96_000_000, "a process holds too much memory"),
                            (many, 20 * 24 - 1, "a program is too many processes")):
    if max(figure.values(), default=0) > limit:
        sys.exit(f"load: over the limit: {what}")
print("load: within the limits")
'''


@dataclass(frozen=True)
class Scene:
    """A farm of workers that look alike."""

    place: str
    name: str
    ports: Mapping[str, int]
    """By worker."""
    culprit: str
    """The worker that is to end."""
    kept: tuple[str, ...]
    """Neighbours that a keeper watches over."""
    tickets: Mapping[str, str]
    word: str
    """What the goal asks the neighbours."""
    spool: Mapping[str, bytes]
    """The jobs of the neighbours, by path."""

    @property
    def root(self) -> str:
        """The farm's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def neighbours(self) -> list[str]:
        """The workers that go on."""
        return [worker for worker in self.ports if worker != self.culprit]

    def service(self, worker: str, *, kept: bool) -> Service:
        """Return a running worker, below a keeper or by itself."""
        argv = ("bash", f"{self.root}/keep") if kept else ("python3", f"{self.root}/worker.py")
        return Service((*argv, worker), ready_port=self.ports[worker], cwd=self.root)


def scene(world: World) -> Scene:
    """Draw the farm; blind to the cause."""
    rng = world.scene
    stem = rng.choice(NOUNS)
    workers = [f"{stem}-{letter}{rng.randrange(1, 10)}" for letter in rng.sample("abcdefghkmnp", 4)]
    ports = dict(zip(workers, rng.sample(range(6_000, 9_900), 4), strict=True))
    culprit, *others = rng.sample(workers, 4)
    spool = {
        f"spool/{worker}/{number:03}.job": text([f"hold {rng.randrange(1, 9)}", f"count {2 * rng.randrange(9, 99)}"])
        for worker in others
        for number in range(1, rng.randrange(2, 4))
    }
    spool[f"spool/{others[0]}/900.job"] = b"hold 24\nshare 3\n"
    tickets = {worker: f"{rng.getrandbits(128):032x}" for worker in workers}
    place, name, word = rng.choice(PLACES), rng.choice(PROJECTS), f"{rng.getrandbits(64):016x}"
    return Scene(place, name, ports, culprit, (others[0], others[1]), tickets, word, spool)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"Since this morning {at.root}/load says that we are over the limits here. One of the workers of that farm is "
        "to blame. Find out which, and end it for good; its jobs stay in the spool, somebody will look into them. All "
        "the others have to go on undisturbed: a worker that is started again has lost its work.",
        f"Something eats up this machine, see ~/{at.place}/{at.name}/load. It is one of the workers there, and they "
        "all look alike. Please stop the one that it is, so that it stays stopped, and no other: they hold work that "
        "would be lost. No file of the farm is to be changed or removed.",
        f"A worker of the farm ~/{at.place}/{at.name} has run wild; ./load there tells what the limits are. Get rid of "
        "that worker, completely and permanently. Do not restart, pause or end any of its neighbours, since they would "
        "lose what they have done so far, and leave the spool as it is.",
    )


def _files(at: Scene, job: bytes) -> dict[str, bytes]:
    """Return what may not change, by path."""
    return {
        "worker.py": WORKER.encode(),
        "keep": KEEP,
        "load": LOAD,
        "PORTS": text([f"{worker} {port}" for worker, port in at.ports.items()]),
        f"spool/{at.culprit}/001.job": job,
        **at.spool,
    }


def _goal(at: Scene, files: Mapping[str, bytes]) -> tuple[Check, ...]:
    return (
        *(FileHash(path=f"{at.root}/{path}", sha256=sha256(body)) for path, body in files.items()),
        ProcessRunning(pattern=rf"(worker\.py|keep) {at.culprit}$", negate=True),
        *(ProcessRunning(pattern=rf"keep {worker}$") for worker in at.kept),
        *(
            holds(
                f"exec 3<>/dev/tcp/127.0.0.1/{at.ports[worker]} && echo {at.word} >&3 && head -n 1 <&3",
                pattern=f"^{sha256(f'{at.word}{at.tickets[worker]}'.encode())}$",
                timeout=5,
                others_run=True,
            )
            for worker in at.neighbours
        ),
    )


def _end(pattern: str) -> ActionPlan:
    """Return the plan that ends all that match, until there is none (pgrep may be missing)."""
    return act(
        "while :; do left=; for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q "
        f"'{pattern} $'; then left=1; kill ${{entry#/proc/}} 2> /dev/null; fi; done; [ $left ] || break; done"
    )


def _task(world: World, at: Scene, job: str, complaint: str, *, kept: bool = False) -> Task:
    """Return the task in which a job makes the culprit run wild."""
    files = _files(at, job.encode())
    ends = [_end(f"keep {at.culprit}")] if kept else []
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at, files),
        files=(
            *(
                FileSpec(f"{at.root}/{path}", body, mode=0o755 if path in ("keep", "load") else 0o644)
                for path, body in files.items()
            ),
            *(FileSpec(f"{at.root}/tickets/{worker}", ticket.encode()) for worker, ticket in at.tickets.items()),
        ),
        services=tuple(
            at.service(worker, kept=worker in at.kept or (kept and worker == at.culprit)) for worker in at.ports
        ),
        allowed=(f"{at.root}/tickets/**", *TOOL_TRACES),
        symptom=(act(f"{at.root}/load", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(*ends, _end(rf"worker.py {at.culprit}"), act(f"{at.root}/load", OutputContains(pattern="within"))),
    )


def _never_rests(world: World) -> Task:
    """It counts to a number that it never meets."""
    at = scene(world)
    return _task(world, at, f"hold 2\ncount {1 + 2 * world.twist.randrange(50, 500)}\n", "never rests")


def _hoards(world: World) -> Task:
    """It holds more memory than all others together."""
    at = scene(world)
    return _task(world, at, f"hold {world.twist.randrange(100, 140)}\ncount 8\n", "too much memory")


def _breeds(world: World) -> Task:
    """It has children by the dozen, which outlive it."""
    at = scene(world)
    return _task(world, at, f"share {world.twist.randrange(24, 40)}\ncount 6\n", "too many processes")


def _kept(world: World) -> Task:
    """It never rests, or hoards, and a keeper of its own starts it again."""
    at, rng = scene(world), world.twist
    job, complaint = rng.choice(
        (
            (f"hold 2\ncount {1 + 2 * rng.randrange(50, 500)}\n", "never rests"),
            (f"hold {rng.randrange(100, 140)}\n", "too much memory"),
        )
    )
    return _task(world, at, job, complaint, kept=True)


FAMILY = Family(
    name="runaway-process",
    summary="one of several like processes eats up the machine",
    causes={"never-rests": _never_rests, "hoards": _hoards, "breeds": _breeds, "kept": _kept},
    tags=("processes",),
)
