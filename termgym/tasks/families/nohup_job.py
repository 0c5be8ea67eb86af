"""A job does not get to its end: it is hung up, an old lock stops it, or its checkpoint is unusable."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from termgym.checks import Check, FileAbsent, FileHash, OutputContains, ProcessRunning, TextInFile
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, sha256
from termgym.tasks.task import HOME, FileSpec, Service, Task
from termgym.tasks.world import NOUNS, PROJECTS, TOOL_TRACES, World, phrase, prose, sentence, text

JOB = '''\
#!/usr/bin/env python3
"""Work through data/ in batches and write out/result.txt. Goes on from state/checkpoint.json; says all in job.log."""
import hashlib, json, os, pathlib, signal, sys, time

root = pathlib.Path(__file__).resolve().parent
checkpoint, lock = root / "state/checkpoint.json", root / "state/lock"
batches = sorted((root / "data").iterdir())


def say(line):
    with open(root / "job.log", "a") as log:
        print(line, file=log)


def fail(status, line):
    say(line)
    print(f"{name}: {line}", file=sys.stderr)
    sys.exit(status)


def hang_up(signum, frame):
    lock.unlink()
    fail(129, "hangup: the session of this job was closed")


if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
    signal.signal(signal.SIGHUP, hang_up)
try:
    os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
except FileExistsError:
    fail(75, f"{lock} exists: another run is at work")
done, digest = 0, ""
if checkpoint.exists():
    try:
        state = json.loads(checkpoint.read_text())
        done, digest = state["done"], state["digest"]
        if state["batches"] != len(batches):
            raise ValueError(f"is of a run with {state['batches']} batches, there are {len(batches)}")
    except (ValueError, KeyError) as error:
        lock.unlink()
        fail(65, f"cannot go on from {checkpoint}: {error}")
for number, batch in enumerate(batches[done:], start=done + 1):
    time.sleep(PAUSE)
    digest = hashlib.sha256(digest.encode() + batch.read_bytes()).hexdigest()
    checkpoint.write_text(json.dumps({"batches": len(batches), "done": number, "digest": digest}))
    say(f"batch {number} of {len(batches)}")
(root / "out/result.txt").write_text(f"{len(batches)} batches {digest}\\n")
checkpoint.unlink()
lock.unlink()
say(f"done: {len(batches)} batches")
'''
SWEEPER = b'''\
#!/usr/bin/env python3
"""usage: sweeper.py PROGRAM     Hang up every run of the program that would not outlive its session.

House rule: what is meant to go on without its terminal says so by ignoring SIGHUP.
"""
import os, pathlib, signal, sys, time

program = os.fsencode(sys.argv[1])
seen = {}
while True:
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\\0")
            status = (entry / "status").read_text()
        except OSError:
            continue
        if int(entry.name) == os.getpid() or program not in map(os.path.basename, argv[:2]):
            continue
        ignored = int(status.split("SigIgn:")[1].split()[0], 16)
        first = seen.setdefault(entry.name, time.monotonic())
        if not ignored & 1 << signal.SIGHUP - 1 and time.monotonic() - first > 0.4:
            os.kill(int(entry.name), signal.SIGHUP)
            del seen[entry.name]
    time.sleep(0.1)
'''


@dataclass(frozen=True)
class Scene:
    """A job that works through batches, and the sweeper that hangs up what is not protected."""

    name: str
    topic: str
    batches: dict[str, bytes]
    pause: float
    """Time that a batch takes [s]."""
    about: str

    @property
    def root(self) -> str:
        """The job's directory."""
        return f"{HOME}/jobs/{self.topic}"

    @property
    def program(self) -> bytes:
        """The job."""
        return JOB.replace("{name}", self.name).replace("PAUSE", str(self.pause)).encode()

    def digest(self, count: int) -> str:
        """Return what the job knows after ``count`` batches."""
        digest = ""
        for name in sorted(self.batches)[:count]:
            digest = hashlib.sha256(digest.encode() + self.batches[name]).hexdigest()
        return digest

    @property
    def result(self) -> bytes:
        """What the job writes at its end."""
        return f"{len(self.batches)} batches {self.digest(len(self.batches))}\n".encode()


def scene(world: World) -> Scene:
    """Draw the job; blind to the cause."""
    rng = world.scene
    count = rng.randrange(10, 17)
    batches = {f"{number:03}-{rng.choice(NOUNS)}.txt": text(prose(rng, 4)) for number in range(1, count + 1)}
    name = rng.choice(("reindex", "recount", "rebuild", "collect", "distil", "translate"))
    return Scene(name, rng.choice(PROJECTS), batches, round(1.8 / count, 3), sentence(rng))


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"{at.root}/{at.name} never gets to its end. Start it so that it goes on without a terminal, and stay "
        f"with it until job.log says 'done: {len(at.batches)} batches'; I need out/result.txt. Don't change the "
        "program or data/, and leave the sweeper running, it is not ours.",
        f"My job {at.name} in ~/jobs/{at.topic} keeps breaking off. I have to leave: get it going under nohup and "
        f"watch job.log until it reports done for all {len(at.batches)} batches. The program, its data and the "
        "sweeper in ~/jobs have to stay as they are.",
        f"Please babysit ~/jobs/{at.topic}/{at.name}: it has to run through to 'done' in job.log and write its "
        "result, and so far it has not. It takes a second or two. Neither the program nor data/ may be edited; "
        "the sweeper process belongs to the house and stays.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    count = len(at.batches)
    return (
        FileHash(path=f"{at.root}/out/result.txt", sha256=sha256(at.result)),
        TextInFile(path=f"{at.root}/job.log", pattern=rf"^batch {count} of {count}\ndone: {count} batches\n\Z"),
        FileAbsent(path=f"{at.root}/state/lock"),
        FileHash(path=f"{at.root}/{at.name}", sha256=sha256(at.program)),
        *(FileHash(path=f"{at.root}/data/{name}", sha256=sha256(body)) for name, body in at.batches.items()),
        FileHash(path=f"{HOME}/jobs/sweeper.py", sha256=sha256(SWEEPER)),
        ProcessRunning(pattern=r"jobs/sweeper\.py"),
    )


def _task(
    world: World, at: Scene, state: tuple[FileSpec, ...], log: list[str], complaint: str, exits: int,
    repair: tuple[ActionPlan, ...] = (),
) -> Task:  # fmt: skip
    run = f"(nohup ./{at.name} > nohup.log 2>&1 < /dev/null &)"
    wait = "until tail -n 1 job.log | grep -q '^done'; do sleep 0.1; done"
    rule = "sweeper.py hangs up jobs of closed sessions every now and then. What ignores SIGHUP is left alone.\n"
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(f"{at.root}/{at.name}", at.program, mode=0o755),
            FileSpec(f"{at.root}/README.md", text([f"# {at.topic}", "", at.about])),
            FileSpec(f"{at.root}/job.log", text(log)),
            FileSpec(f"{at.root}/out", kind="dir", mode=0o755),
            FileSpec(f"{at.root}/state", kind="dir", mode=0o755),
            *(FileSpec(f"{at.root}/data/{name}", body) for name, body in at.batches.items()),
            FileSpec(f"{HOME}/jobs/sweeper.py", SWEEPER),
            FileSpec(f"{HOME}/jobs/README", rule.encode()),
            *state,
        ),
        services=(Service(("python3", f"{HOME}/jobs/sweeper.py", at.name), cwd=f"{HOME}/jobs"),),
        allowed=(
            *(f"{at.root}/{name}" for name in ("job.log", "nohup.out", "*.log", "out/**", "state/**")),
            *TOOL_TRACES,
        ),
        symptom=(act(f"cd {at.root} && ./{at.name}", OutputContains(pattern=complaint, stream="stderr"), exits=exits),),
        oracle=(act(f"cd {at.root}"), *repair, act(run), act(wait, timeout=60)),
    )


def _begun(at: Scene, done: int) -> list[str]:
    return [f"batch {number} of {len(at.batches)}" for number in range(1, done + 1)]


def _checkpoint(at: Scene, done: int, batches: int | None = None) -> bytes:
    state = {"batches": batches or len(at.batches), "done": done, "digest": at.digest(done)}
    return json.dumps(state).encode()


def _hangup(world: World) -> Task:
    """Nothing is wrong with the job, but whoever runs it in a plain shell is hung up."""
    at, done = scene(world), world.twist.randrange(2, 4)
    state = FileSpec(f"{at.root}/state/checkpoint.json", _checkpoint(at, done))
    log = [*_begun(at, done), "hangup: the session of this job was closed"]
    return _task(world, at, (state,), log, "hangup: the session", 129)


def _stale_lock(world: World) -> Task:
    """A run that was killed left its lock."""
    at, done = scene(world), world.twist.randrange(2, 5)
    state = (
        FileSpec(f"{at.root}/state/checkpoint.json", _checkpoint(at, done)),
        FileSpec(f"{at.root}/state/lock"),
    )
    repair = act("rm state/lock", FileAbsent(path=f"{at.root}/state/lock"))
    return _task(world, at, state, _begun(at, done), "state/lock exists", 75, (repair,))


def _bad_checkpoint(world: World) -> Task:
    """The checkpoint is cut short, or of another set of data; the one before it may still be there."""
    at, done = scene(world), world.twist.randrange(3, 6)
    whole = _checkpoint(at, done)
    bad = world.twist.choice((whole[: len(whole) // 2], _checkpoint(at, done, len(at.batches) + 3), b""))
    state = [FileSpec(f"{at.root}/state/checkpoint.json", bad)]
    repair = "rm state/checkpoint.json"
    if world.twist.random() < 0.5:
        state.append(FileSpec(f"{at.root}/state/checkpoint.json.1", _checkpoint(at, done - 1)))
        repair = "mv state/checkpoint.json.1 state/checkpoint.json"
    return _task(world, at, tuple(state), _begun(at, done), "cannot go on from", 65, (act(repair),))


FAMILY = Family(
    name="nohup-job",
    summary="a job breaks off before its log says done",
    causes={"hangup": _hangup, "stale-lock": _stale_lock, "bad-checkpoint": _bad_checkpoint},
    tags=("jobs",),
)
