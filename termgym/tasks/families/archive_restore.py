"""Lost files must come back from a backup: packed with other paths, damaged, or made after the loss."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, FileMode, OutputContains
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import DAY, FIRST_DAY, NOUNS, PROJECTS, TOOL_TRACES, World, phrase, prose, sentence, text

CHECK = b"""\
#!/bin/bash
# Say whether content/ is whole: every file of its INDEX is there and as it was.
cd "$(dirname "$0")/content" || exit
[ -r INDEX ] || { echo "check: content/INDEX is missing" >&2; exit 1; }
sha256sum --quiet -c INDEX && echo "content is whole"
"""
BUILD = b"#!/bin/bash\n# Make the pages anew.\ncat pages/*.txt\n"


@dataclass(frozen=True)
class Scene:
    """A site, what it held on each of four days, and what came after the loss."""

    name: str
    days: tuple[str, ...]
    """When the backups were made, oldest first."""
    states: tuple[Mapping[str, bytes], ...]
    """What content/ held on each of the days; INDEX included."""
    late: Mapping[str, bytes]
    """What arrived in content/inbox after the loss."""

    @property
    def root(self) -> str:
        """The site's directory."""
        return f"{HOME}/sites/{self.name}"

    @property
    def backups(self) -> str:
        """Where the backups are."""
        return f"/srv/backups/{self.name}"

    def archive(self, day: int) -> str:
        """Return the name of a day's archive, without the directory."""
        return f"{self.name}-{self.days[day]}.tar.gz"


def _index(files: Mapping[str, bytes]) -> bytes:
    return text([f"{sha256(files[path])}  {path}" for path in sorted(files) if path != "INDEX"])


def scene(world: World) -> Scene:
    """Draw the site and its history; blind to the cause."""
    rng = world.scene
    pages = {
        f"pages/{noun}.txt": text(prose(rng, rng.randrange(8, 20))) for noun in rng.sample(NOUNS, rng.randrange(6, 11))
    }
    files = {"build": BUILD, **pages}
    start = rng.randrange(1, 15)
    month = rng.randrange(1, 13)
    states: list[Mapping[str, bytes]] = []
    for _ in range(4):
        for path in rng.sample(sorted(pages), 3):
            files[path] += text([sentence(rng)])
        files[f"pages/{rng.choice(NOUNS)}-{rng.randrange(10, 99)}.txt"] = text(prose(rng, 4))
        states.append({**files, "INDEX": _index(files)})
    days = tuple(f"2026-{month:02}-{start + 3 * number:02}" for number in range(4))
    late = {f"inbox/{rng.choice(NOUNS)}.txt": text(prose(rng, 3))}
    return Scene(rng.choice(PROJECTS), days, tuple(states), late)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"The files in {at.root}/content are lost, ./check there says so. Bring them back from the newest backup "
        f"in {at.backups} that is whole, all from that one backup. content/inbox arrived since and has to stay. "
        "In the end content/ holds what it held then and the inbox, nothing else. Leave the backups alone.",
        f"Please restore content/ of the site {at.name} (~/sites/{at.name}); ./check fails since the disk "
        f"trouble. The backups are in {at.backups}, each with the checksums of what the site held on that day. "
        "Take the newest one that can be used, don't mix days, and keep what is in content/inbox now. No other "
        "files should be left in content/, and nothing in the backups may change.",
        f"~/sites/{at.name}/check reports that content/ is not there any more. I want the site as it was at the "
        f"last good backup ({at.backups}), exactly that state with modes and all, plus the inbox as it is now. "
        "Clean up behind yourself in content/, and do not alter any backup.",
    )


def _pack(files: Mapping[str, bytes], prefix: str, when: int) -> bytes:
    """Return an uncompressed archive: the same bytes for the same files everywhere."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(f"{prefix}/{path}")
            entry.size, entry.mtime = len(files[path]), when
            entry.mode = 0o755 if path == "build" else 0o644
            entry.uid = entry.gid = 1000
            archive.addfile(entry, io.BytesIO(files[path]))
    return packed.getvalue()


def _listing(files: Mapping[str, bytes]) -> str:
    """Return the digest of what ``sha256sum`` prints for all files, by name."""
    return sha256(text([f"{sha256(files[path])}  ./{path}" for path in sorted(files)]))


def _task(
    world: World, at: Scene, good: int, archives: Mapping[int, bytes], damage: str, seen: ActionPlan, unpack: str
) -> Task:  # fmt: skip
    """Return the task whose answer is the backup of day ``good``."""
    content = f"{at.root}/content"
    readme = [
        f"{at.name}-DAY.sha256 lists what content/ of {at.name} held on DAY; the archive of DAY was packed from it."
    ]
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at, good, archives),
        files=(
            FileSpec(f"{at.root}/check", CHECK, mode=0o755),
            *(FileSpec(f"{content}/{path}", body) for path, body in at.late.items()),
            FileSpec(f"{at.backups}/README", text(readme)),
            *(FileSpec(f"{at.backups}/{at.archive(day)[:-3]}", body) for day, body in archives.items()),
            *(
                FileSpec(f"{at.backups}/{at.name}-{day}.sha256", _index(state))
                for day, state in zip(at.days, at.states, strict=True)
            ),
        ),
        setup=f"set -euo pipefail\ncd {at.backups}\ngzip -9n *.tar\n{damage}\n",
        allowed=(f"{content}/**", *TOOL_TRACES),
        symptom=(
            act(f"cd {at.root} && ./check", OutputContains(pattern="INDEX is missing", stream="stderr"), exits=1),
            seen,
        ),
        oracle=(act(f"cd {at.root}"), act(unpack), act("./check", OutputContains(pattern="content is whole"))),
    )


def _goal(at: Scene, good: int, archives: Mapping[int, bytes]) -> tuple[Check, ...]:
    """Return what must hold: the content of day ``good`` and what came later, and no sound backup harmed."""
    content = f"{at.root}/content"
    sound = [number for number in archives if number <= good]
    return (
        holds(
            f"cd {content} && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum",
            pattern=_listing({**at.states[good], **at.late}),
        ),
        holds(f'others=$(find {content} ! -type f ! -type d) && test -z "$others"'),
        FileMode(path=f"{content}/build", mode="0755"),
        FileHash(path=f"{at.root}/check", sha256=sha256(CHECK)),
        *(
            holds(f"gzip -dc {at.backups}/{at.archive(number)} | sha256sum", pattern=sha256(archives[number]))
            for number in sound
        ),
    )


def _archives(at: Scene, prefixes: Mapping[int, str]) -> dict[int, bytes]:
    """Return the archives by day, packed below ``content`` or another prefix."""
    return {
        day: _pack(state, prefixes.get(day, "content"), FIRST_DAY + 3 * day * DAY)
        for day, state in enumerate(at.states)
    }


def _other_prefix(world: World) -> Task:
    """The newest backups hold their files below a path that leads elsewhere."""
    at, rng = scene(world), world.twist
    prefix = rng.choice(
        (
            f"export/home/{rng.choice(NOUNS)}/sites/{at.name}/content",
            f"backup/{at.name}",
            f"mnt/{rng.choice(NOUNS)}/content",
        )
    )
    archives = _archives(at, {2: prefix, 3: prefix})
    look = act(f"tar -tzf {at.backups}/{at.archive(3)}", OutputContains(pattern=f"^{prefix}/INDEX"))
    unpack = f"tar -xzf {at.backups}/{at.archive(3)} --strip-components={prefix.count('/') + 1} -C content"
    return _task(world, at, 3, archives, "", look, unpack)


def _damaged(world: World) -> Task:
    """The newest backup, or the newest two, cannot be unpacked to the end."""
    at, rng = scene(world), world.twist
    good = rng.choice((2, 2, 1))
    lines = []
    for day in range(good + 1, 4):
        name = at.archive(day)
        if rng.random() < 0.5:
            lines.append(f"truncate -s $(($(stat -c %s {name}) * {rng.randrange(45, 80)} / 100)) {name}")
        else:
            lines.append(
                f"head -c 64 /dev/zero | dd of={name} bs=1 seek=$(($(stat -c %s {name}) / 2)) conv=notrunc status=none"
            )
    look = act(f"gzip -t {at.backups}/{at.archive(3)}", exits=1)
    unpack = f"tar -xzf {at.backups}/{at.archive(good)}"
    return _task(world, at, good, _archives(at, {}), "\n".join(lines), look, unpack)


def _hollow(world: World) -> Task:
    """The newest backup, or the newest two, were made when most files were gone already; they unpack without a word."""
    at, rng = scene(world), world.twist
    good = rng.choice((2, 2, 1))
    archives = _archives(at, {})
    for day in range(good + 1, 4):
        kept = rng.sample(sorted(set(at.states[day]) - {"INDEX"}), rng.randrange(2, 4))
        archives[day] = _pack({path: at.states[day][path] for path in kept}, "content", FIRST_DAY + 3 * day * DAY)
    look = act(f"tar -tzf {at.backups}/{at.archive(3)} | grep -c INDEX", OutputContains(pattern="^0$"), exits=1)
    return _task(world, at, good, archives, "", look, f"tar -xzf {at.backups}/{at.archive(good)}")


FAMILY = Family(
    name="archive-restore",
    summary="lost files must come back from the newest usable backup",
    causes={"other-prefix": _other_prefix, "damaged": _damaged, "hollow": _hollow},
    tags=("archives",),
)
