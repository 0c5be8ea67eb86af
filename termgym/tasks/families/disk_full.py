"""A job finds no room on the disk: a deleted log that is still held, one that never ends, a cache, or a reserve.

The disk is the episode's own, `Limits.disk_bytes` large. Overlay snapshots bound it and count what is written from the
start of the episode on, by services therefore. Copying snapshots (``manifest``, ``rsync``) do not bound it: there the
job finds room, and only the limit on a single file keeps the host's disk from being filled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains, ProcessRunning
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Limits, Service, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, prose, text

DISK = 8 << 20
"""[bytes]"""
MEGABYTE = 1 << 20
FULL = 16
"""More than there is room for [MiB]."""
PRESS = b'''\
#!/usr/bin/env python3
"""Press all of data/ into out/image, which is as large as SIZE says [bytes]."""
import pathlib, sys

root = pathlib.Path(__file__).resolve().parent
size = int((root / "SIZE").read_text())
data = b"".join(path.read_bytes() for path in sorted((root / "data").iterdir()))
image = root / "out/image"
try:
    with open(image, "wb") as out:
        while out.tell() < size:
            out.write(data[: size - out.tell()])
except OSError as error:
    image.unlink()
    sys.exit(f"press: out/image: {error.strerror}")
print(f"pressed {size} bytes")
'''
RECORDER = '''\
#!/usr/bin/env python3
"""usage: recorder.py NAME MEGABYTES     Record NAME in log/NAME.log: so many megabytes, or without end if 0."""
import pathlib, sys, time

root, name, size = pathlib.Path(__file__).resolve().parent, sys.argv[1], int(sys.argv[2])
block = (f"{name}: nothing to tell\\n" * 9999)[: 1 << 16].encode()
with open(root / "log" / f"{name}.log", "ab", buffering=0) as log:
    written = 0
    while not size or written < size << 20:
        try:
            written += log.write(block)
        except OSError:
            (root / "run" / name).touch()
            if size:
                break
            time.sleep(0.02)
    (root / "run" / name).touch()
    while True:
        time.sleep(3600)
'''
NIGHTLY = b"""\
#!/bin/bash
# usage: nightly NAME MEGABYTES     Record for the night, then tidy up.
cd "$(dirname "$0")" || exit
python3 "$PWD/recorder.py" "$@" < /dev/null > /dev/null 2>&1 &
until [ -e "run/$1" ]; do sleep 0.02; done
rm "log/$1.log"
: > run/nightly
"""
FILL = b"""\
#!/bin/bash
# usage: fill DIRECTORY NAME MEGABYTES     Make a file, megabyte by megabyte.
mkdir -p "$1"
head -c "$3"M /dev/zero | tr '\\0' x > "$1/$2"
: > "$(dirname "$0")/run/$2"
"""


@dataclass(frozen=True)
class Scene:
    """A job, the recorders beside it, and what else takes room."""

    name: str
    place: str
    data: Mapping[str, bytes]
    size: int
    """Of what is pressed [bytes]."""
    vault: Mapping[str, bytes]
    neighbour: str
    """The recorder that belongs to others."""
    leftover: str
    """The recorder that may run, and nobody wants."""
    blob: str
    """The file in the cache."""

    @property
    def root(self) -> str:
        """The job's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def cache(self) -> str:
        """The job's cache."""
        return f"{HOME}/.cache/{self.name}"

    @property
    def image(self) -> bytes:
        """What the job makes."""
        whole = b"".join(self.data[name] for name in sorted(self.data))
        return (whole * (self.size // len(whole) + 1))[: self.size]

    @property
    def record(self) -> bytes:
        """What the neighbours have recorded."""
        return (f"{self.neighbour}: nothing to tell\n" * 9999)[: 1 << 16].encode() * 16

    @property
    def fixed(self) -> dict[str, bytes]:
        """What may not change, by path in the job's directory."""
        readme = [
            f"# {self.name}",
            "",
            "The disk is small, and everything written since the machine came up is on it.",
            "",
            f"- log/: each recorder has a log here. The recorder {self.neighbour} and its log are the neighbours'.",
            "  Any other recorder is left over from some night; it may be ended, and its log is worth nothing.",
            f"- ~/.cache/{self.name}: is made again when it is needed; may be emptied.",
            "- /srv/reserve/ballast: 1 MiB, held back for the hour of need; not more, not less, and not for us.",
            "- vault/: originals. There is no other copy.",
        ]
        return {
            "README.md": text(readme),
            "press": PRESS,
            "recorder.py": RECORDER.encode(),
            "nightly": NIGHTLY,
            "fill": FILL,
            "SIZE": f"{self.size}\n".encode(),
            **{f"data/{name}": body for name, body in self.data.items()},
            **{f"vault/{name}": body for name, body in self.vault.items()},
        }

    def filled(self, folder: str, name: str, megabytes: int) -> Service:
        """Return what makes a file of a size [MiB] when the machine comes up."""
        argv = ("bash", f"{self.root}/fill", folder, name, str(megabytes))
        return Service(argv, ready_path=f"{self.root}/run/{name}", cwd=self.root)

    def recorder(self, name: str, megabytes: int) -> Service:
        """Return a recorder."""
        argv = ("python3", f"{self.root}/recorder.py", name, str(megabytes))
        return Service(argv, ready_path=f"{self.root}/run/{name}", cwd=self.root)


def scene(world: World) -> Scene:
    """Draw the job; blind to the cause."""
    rng = world.scene
    data = {f"{noun}.csv": text(prose(rng, rng.randrange(20, 40))) for noun in rng.sample(NOUNS, 4)}
    vault = {f"{noun}.orig": text(prose(rng, 9)) * 300 for noun in rng.sample(NOUNS, 2)}
    size = rng.randrange(13 * MEGABYTE // 4, 4 * MEGABYTE)
    neighbour, leftover, blob = rng.sample(NOUNS, 3)
    return Scene(rng.choice(PROJECTS), rng.choice(PLACES), data, size, vault, neighbour, leftover, f"{blob}.blob")


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"{at.root}/press stops because the disk is full. Make room and run it, so that out/image is there whole. "
        "What may go and what may not is in the README; find out what takes the room before you throw anything away. "
        "Whatever filled the disk must not fill it again by itself.",
        f"No space left on device: that is all I get from ~/{at.place}/{at.name}/press. I need its out/image. Please "
        "find what eats up the disk, and get rid of that. The README there says what belongs to whom and what is worth "
        "nothing; everything else has to be left as it is, programs included.",
        f"Please get ~/{at.place}/{at.name}/press to run through to a complete out/image; the disk is full. See README "
        "there for what may be given up, and don't touch the rest: the neighbours' recorder, the vault and the "
        "programs stay. There should be room left on the disk when you are done.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    return (
        FileHash(path=f"{at.root}/out/image", sha256=sha256(at.image)),
        *(FileHash(path=f"{at.root}/{path}", sha256=sha256(body)) for path, body in at.fixed.items()),
        FileHash(path=f"{at.root}/log/{at.neighbour}.log", sha256=sha256(at.record)),
        FileHash(path="/srv/reserve/ballast", sha256=sha256(b"x" * MEGABYTE)),
        ProcessRunning(pattern=rf"{at.root}/recorder\.py {at.neighbour} "),
        ProcessRunning(pattern=rf"{at.root}/recorder\.py {at.leftover} 0", negate=True),
        holds("test $(df --output=avail -k /home | tail -n 1) -ge 512"),
    )


def _task(
    world: World, at: Scene, repair: tuple[ActionPlan, ...], *services: Service, cache: int = 1, reserve: int = 1
) -> Task:
    """Return the task in which the last of ``services``, the cache or the reserve takes all the room."""
    shares = sorted(((cache, f"{at.cache}", at.blob), (reserve, "/srv/reserve", "ballast")))
    folders = (f"{at.root}/log", f"{at.root}/run", f"{at.root}/out", at.cache, "/srv/reserve")
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            *(FileSpec(folder, kind="dir", mode=0o755) for folder in folders),
            *(
                FileSpec(f"{at.root}/{path}", body, mode=0o755 if path in ("press", "nightly", "fill") else 0o644)
                for path, body in at.fixed.items()
            ),
        ),
        services=(
            at.recorder(at.neighbour, 1),
            *(at.filled(folder, name, size) for size, folder, name in shares),
            *services,
        ),
        limits=Limits(disk_bytes=DISK, file_bytes=DISK),
        allowed=(
            *(f"{at.root}/{folder}/**" for folder in ("log", "run", "out")),
            *(at.cache, f"{at.cache}/**", "/srv/reserve/**"),
            *TOOL_TRACES,
        ),
        symptom=(act(f"{at.root}/press", OutputContains(pattern="No space left", stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), *repair, act("./press", OutputContains(pattern=f"^pressed {at.size} "))),
    )


def _end(at: Scene) -> ActionPlan:
    """Return the plan that ends the leftover and waits until it has let go of its log (pgrep may be missing)."""
    return act(
        "for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q "
        f"'^python3 .*recorder.py {at.leftover} '; then "
        "kill ${entry#/proc/}; while kill -0 ${entry#/proc/} 2> /dev/null; do sleep 0.02; done; fi; done"
    )


def _deleted(world: World) -> Task:
    """A log was removed while its recorder held it: `du` does not see it, `df` does."""
    at = scene(world)
    argv = ("bash", f"{at.root}/nightly", at.leftover, str(FULL))
    nightly = Service(argv, ready_path=f"{at.root}/run/nightly", cwd=at.root)
    return _task(world, at, (_end(at),), nightly)


def _endless(world: World) -> Task:
    """A recorder writes without end, and takes up whatever room is made."""
    at = scene(world)
    return _task(world, at, (_end(at), act(f"rm log/{at.leftover}.log")), at.recorder(at.leftover, 0))


def _cache(world: World) -> Task:
    """The cache has grown over all limits."""
    at = scene(world)
    return _task(world, at, (act(f"rm {at.cache}/{at.blob}"),), cache=FULL)


def _reserve(world: World) -> Task:
    """What is held back for the hour of need is all there is."""
    at = scene(world)
    return _task(world, at, (act("truncate -s 1M /srv/reserve/ballast"),), reserve=FULL)


FAMILY = Family(
    name="disk-full",
    summary="a job finds no room left on the disk",
    causes={"deleted": _deleted, "endless": _endless, "cache": _cache, "reserve": _reserve},
    tags=("disk", "processes"),
)
