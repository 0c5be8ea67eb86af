"""``git pull`` refuses: local edits in the way, a file in the way, an unfinished merge, or a left-over lock."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import cached_property

from termgym.checks import Check, FileAbsent, FileExists, FileHash, OutputContains
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.history import Commit, import_script
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import (
    DAY,
    FIRST_DAY,
    NOUNS,
    PLACES,
    PROJECTS,
    TOOL_TRACES,
    Person,
    World,
    people,
    phrase,
    prose,
    sentence,
    text,
)


@dataclass(frozen=True)
class Scene:
    """A repository, its clone, and what happened upstream since."""

    project: str
    place: str
    me: Person
    base: tuple[Commit, ...]
    incoming: tuple[Commit, ...]
    contested: str
    """The file that upstream changed near its top and the person may have changed too."""
    steady: str
    """A file that upstream changed and the person did not."""
    arriving: str
    """A file that is new upstream."""
    mine: str
    """A file that upstream did not touch: there is always an uncommitted edit in it."""

    @property
    def origin(self) -> str:
        """The bare repository."""
        return f"/srv/git/{self.project}.git"

    @property
    def clone(self) -> str:
        """The working copy."""
        return f"{HOME}/{self.place}/{self.project}"

    @cached_property
    def tip(self) -> Commit:
        """What upstream has come to."""
        return self.incoming[-1]


def scene(world: World) -> Scene:
    """Draw the repository; blind to the cause."""
    rng = world.scene
    me, *others = people(rng, 4)
    contested, steady, mine, arriving = (f"{folder}/{noun}.txt" for folder, noun in zip(
        rng.choices(("docs", "data", "rules"), k=4), rng.sample(NOUNS, 4), strict=True))  # fmt: skip
    when = FIRST_DAY + rng.randrange(40) * DAY + rng.randrange(DAY)
    project = rng.choice(PROJECTS)
    files = {path: text(prose(rng, rng.randrange(24, 40))) for path in (contested, steady, mine)}
    files["README.md"] = text([f"# {project}", "", *prose(rng, 3)])

    def commit(parent: Commit | None, message: str) -> Commit:
        nonlocal when
        when += rng.randrange(3_600, 3 * DAY)
        return Commit(dict(files), rng.choice(others), when, message, parent)

    base = [commit(None, f"Begin {project}")]
    for _ in range(rng.randrange(1, 4)):
        files["README.md"] += text([sentence(rng)])
        base.append(commit(base[-1], f"Say more about the {rng.choice(NOUNS)}"))
    incoming: list[Commit] = []
    for path, line in ((contested, 2), (steady, rng.randrange(4, 20)), (arriving, 0)):
        files[path] = _edited(files[path], line, sentence(rng)) if path in files else text(prose(rng, 6))
        incoming.append(commit(incoming[-1] if incoming else base[-1], f"Revise {path}"))
    return Scene(project, rng.choice(PLACES), me, tuple(base), tuple(incoming), contested, steady, arriving, mine)


def _edited(content: bytes, line: int, new: str) -> bytes:
    lines = content.decode().splitlines()
    lines[line] = new
    return text(lines)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"`git pull` in {at.clone} stops with an error. Bring the working copy up to date with origin/main. There "
        "is work of mine in there that I have not pushed: none of it may get lost, committed or not.",
        f"I can't pull in ~/{at.place}/{at.project} any more, git refuses. I need the latest main there, checked "
        "out on my main branch. Careful, there are things in there that exist nowhere else; keep all of them.",
        f"Could you get {at.project} (in ~/{at.place}) up to date? `git pull` does not work for me. Everything I "
        "did there myself and did not push yet has to survive, in whatever form: in the files, in a commit or in "
        "a stash.",
    )


def _prepare(at: Scene, mine: str) -> str:
    """Return the script that makes origin, the clone, and the edit that is always there.

    The clone knows origin's new objects from the start, though no name leads to them: a `git pull` that has to transfer
    something tells how fast it was, which is another text each time.
    """
    return "\n".join(
        (
            "set -euo pipefail",
            f"git init -q --bare -b main {at.origin}",
            f"cd {at.origin}",
            import_script("main", at.base),
            f"git clone -q --no-hardlinks {at.origin} {at.clone}",
            import_script("main", at.incoming),
            f"cd {at.clone}",
            f"git fetch -q {at.origin} main",
            "rm .git/FETCH_HEAD",
            f"printf '%s\\n' {shlex.quote(mine)} >> {at.mine}",
            "",
        )
    )


def _survives(at: Scene, line: str) -> Check:
    """Return the check that a line is still somewhere durable: a file of the home, a commit of a ref, or a stash."""
    word, git = shlex.quote(line), f"git -C {at.clone}"
    stashes = f"{git} log -g --format='%H %P' refs/stash 2>/dev/null"  # parents hold the index and untracked files
    return holds(
        f"grep -rqF --exclude-dir=.git -- {word} {HOME} "
        f"|| {git} grep -qF -e {word} $({git} rev-list --all) $({stashes}) --"
    )


def _goal(at: Scene, *precious: str) -> tuple[Check, ...]:
    git = f"git -C {at.clone}"
    return (
        FileHash(path=f"{at.clone}/{at.steady}", sha256=sha256(at.tip.files[at.steady])),
        FileExists(path=f"{at.clone}/{at.arriving}", kind="file"),
        *(FileAbsent(path=f"{at.clone}/.git/{name}") for name in ("index.lock", "MERGE_HEAD")),
        holds(
            f"export GIT_OPTIONAL_LOCKS=0; {git} merge-base --is-ancestor {at.tip.id} HEAD "
            f'&& test -z "$({git} ls-files -u)" '
            f'&& test "$({git} symbolic-ref HEAD)" = refs/heads/main '
            f'&& test "$({git} rev-parse --abbrev-ref "@{{u}}")" = origin/main '
            f'&& test "$({git} remote get-url origin)" = {at.origin} '
            f"&& ! {git} grep -qE '^(<<<<<<<|>>>>>>>) '"
        ),
        *(_survives(at, line) for line in precious),
    )


def _task(
    world: World, at: Scene, damage: str, precious: tuple[str, ...], complaint: str, oracle: tuple[ActionPlan, ...]
) -> Task:
    mine, *_ = precious
    config = (
        f"[user]\n\tname = {at.me.name}\n\temail = {at.me.email}\n[pull]\n\trebase = false\n[core]\n\teditor = true\n"
    )
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at, *precious),
        # An editor that accepts every message: which editor a host has must not decide how `git pull` goes.
        files=(FileSpec(f"{HOME}/.gitconfig", config.encode()),),
        setup=_prepare(at, mine) + damage,
        allowed=(f"{at.clone}/**", *TOOL_TRACES),
        symptom=(act(f"cd {at.clone} && git pull", OutputContains(pattern=complaint, stream="stderr"), exits=None),),
        oracle=(act(f"cd {at.clone}"), *oracle),
    )


def _modified(world: World) -> Task:
    """Uncommitted edits in a file that upstream changed; in some worlds on the very same line."""
    at, rng = scene(world), world.twist
    mine, edit = prose(rng, 2)
    overlap = rng.random() < 0.4
    contested = at.base[-1].files[at.contested]
    line = 2 if overlap else contested.count(b"\n") - 3
    edited = _edited(contested, line, edit).decode()
    damage = f"cat > {at.contested} <<'END-OF-FILE'\n{edited}END-OF-FILE\n"
    finish = () if overlap else (act("git stash pop"),)
    return _task(
        world, at, damage, (mine, edit), r"local changes to the following files would be overwritten by merge",
        (act("git stash"), act("git pull"), *finish),
    )  # fmt: skip


def _untracked(world: World) -> Task:
    """A file that git does not know has the name of one that arrives."""
    at, rng = scene(world), world.twist
    mine, *lines = prose(rng, rng.randrange(4, 9))
    folder = at.arriving.rpartition("/")[0]
    damage = f"mkdir -p {folder}\ncat > {at.arriving} <<'END-OF-FILE'\n{text(lines).decode()}END-OF-FILE\n"
    return _task(
        world, at, damage, (mine, lines[-1]), r"untracked working tree files would be overwritten by merge",
        (
            act(f"mv {at.arriving} {at.arriving}.mine", FileAbsent(path=f"{at.clone}/{at.arriving}")),
            act("git pull", FileExists(path=f"{at.clone}/{at.arriving}")),
        ),
    )  # fmt: skip


def _unfinished_merge(world: World) -> Task:
    """A merge was resolved by hand and never concluded; in some worlds the resolution is not even added."""
    at, rng = scene(world), world.twist
    mine, ours, theirs, resolution = prose(rng, 4)
    added = rng.random() < 0.5
    when = at.tip.when + rng.randrange(600, DAY)
    branch = f"{rng.choice(NOUNS)}-{rng.choice(NOUNS)}"
    parent = at.base[-1]
    left, right = (
        Commit(
            {**parent.files, "README.md": _edited(parent.files["README.md"], 2, line)}, at.me, when + i, message, parent
        )
        for i, (line, message) in enumerate(((ours, "Reword the introduction"), (theirs, f"Describe {branch}")))
    )
    resolved = _edited(left.files["README.md"], 2, resolution).decode()
    damage = "\n".join(
        (
            f"cp {at.mine} .git/kept",
            import_script("main", [left]),
            import_script(branch, [right]),
            "git reset -q --hard main",
            f"mv .git/kept {at.mine}",
            f"! git merge -q {branch} > /dev/null 2>&1",
            f"cat > README.md <<'END-OF-FILE'\n{resolved}END-OF-FILE",
            "git add README.md" if added else "",
            "",
        )
    )
    complaint = r"You have not concluded your merge" if added else r"you have unmerged files"
    return _task(
        world, at, damage, (mine, ours, theirs, resolution), complaint,
        (act("git add README.md"), act("git commit --no-edit"), act("git pull --no-edit")),
    )  # fmt: skip


def _stale_lock(world: World) -> Task:
    """A git that died left its lock on the index."""
    at, rng = scene(world), world.twist
    mine, edit = prose(rng, 2)
    damage = f"printf '%s\\n' {shlex.quote(edit)} >> README.md\ntouch .git/index.lock\n"
    return _task(
        world, at, damage, (mine, edit), re.escape("index.lock': File exists"),
        (act("rm .git/index.lock", FileAbsent(path=f"{at.clone}/.git/index.lock")), act("git pull")),
    )  # fmt: skip


FAMILY = Family(
    name="git-dirty-pull",
    summary="git pull refuses in a working copy with unpushed work",
    causes={
        "modified": _modified,
        "untracked": _untracked,
        "unfinished-merge": _unfinished_merge,
        "stale-lock": _stale_lock,
    },
    tags=("git",),
)
