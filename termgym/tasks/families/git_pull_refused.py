"""``git pull`` cannot work: histories that parted, no branch, no upstream, a remote that moved, closed folders."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains
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

OLD, NEW = "/srv/git", "/srv/git/shared"
"""Where all repositories were, and where they are now."""


@dataclass(frozen=True)
class Scene:
    """A repository, its clone, and what happened on both sides since."""

    project: str
    place: str
    me: Person
    base: Commit
    tip: Commit
    """What upstream has come to."""
    between: Commit
    """On the way from ``base`` to ``tip``."""
    own: Commit
    """What the person did on main and did not push."""
    side: Commit
    """What the person did on a branch that nobody else has."""
    branch: str
    mine: str
    """The file that ``own`` adds a line to."""
    line: str
    """That line."""
    draft: bytes
    """A file that git does not know."""

    @property
    def origin(self) -> str:
        """The bare repository."""
        return f"{NEW}/{self.project}.git"

    @property
    def clone(self) -> str:
        """The working copy."""
        return f"{HOME}/{self.place}/{self.project}"


def scene(world: World) -> Scene:
    """Draw the repository; blind to the cause."""
    rng = world.scene
    me, *others = people(rng, 4)
    theirs, arriving, mine, other = (f"{folder}/{noun}.txt" for folder, noun in zip(
        rng.choices(("docs", "data", "rules"), k=4), rng.sample(NOUNS, 4), strict=True))  # fmt: skip
    when = FIRST_DAY + rng.randrange(40) * DAY + rng.randrange(DAY)
    project = rng.choice(PROJECTS)
    files = {path: text(prose(rng, rng.randrange(8, 20))) for path in (theirs, mine, other)}
    files["README.md"] = text([f"# {project}", "", *prose(rng, 2)])

    def commit(parent: Commit | None, author: Person, path: str, content: bytes, message: str) -> Commit:
        nonlocal when
        when += rng.randrange(3_600, 2 * DAY)
        before = files if parent is None else parent.files
        return Commit({**before, path: content}, author, when, message, parent)

    base = commit(None, rng.choice(others), "LICENCE", text(prose(rng, 2)), f"Begin {project}")
    between = commit(base, rng.choice(others), theirs, files[theirs] + text([sentence(rng)]), f"Revise {theirs}")
    tip = commit(between, rng.choice(others), arriving, text(prose(rng, 5)), f"Add {arriving}")
    line, more = prose(rng, 2)
    own = commit(base, me, mine, files[mine] + text([line]), f"Say more in {mine}")
    side = commit(base, me, other, files[other] + text([more]), f"Try something in {other}")
    return Scene(
        project, rng.choice(PLACES), me, base, tip, between, own, side,
        f"try-{rng.choice(NOUNS)}", mine, line, text(prose(rng, 3)),
    )  # fmt: skip


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"`git pull` does not work in {at.clone}. Get it to where it should be: on branch main, following main of "
        f"{at.project}'s repository as origin, with the latest from there and with the commit of mine that is not "
        "pushed. Don't push anything yet, and lose nothing: other branches, files that are not committed.",
        f"In ~/{at.place}/{at.project} I can't pull any more. Please mend it, so that main is checked out, is up to "
        "date with origin's main and has my own commit too, and so that the next pull finds its way. Nothing else of "
        "mine in there may get lost, committed or not, and nothing is to be pushed for now.",
        f"Could you see to {at.project} in ~/{at.place}? Pulling fails. I want the newest main from its repository, on "
        "my main, which tracks it, together with what I committed here and have not pushed. Leave the pushing to me, "
        "and keep my other branches and whatever lies around uncommitted.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    git = f"git --no-replace-objects -C {at.clone}"
    return (
        FileHash(path=f"{at.clone}/draft.txt", sha256=sha256(at.draft)),
        holds(
            f"{git} merge-base --is-ancestor {at.tip.id} HEAD "
            f'&& test "$({git} symbolic-ref HEAD)" = refs/heads/main '
            f'&& test "$({git} rev-parse --symbolic-full-name "@{{u}}")" = refs/remotes/origin/main '
            f'&& test "$({git} rev-parse origin/main)" = {at.tip.id} '
            f'&& test "$(realpath "$({git} remote get-url origin)")" = {at.origin} '
            f'&& test "$(git -C {at.origin} for-each-ref)" = "{at.tip.id} commit\trefs/heads/main" '
            f"&& {git} grep -qF -e {shlex.quote(at.line)} HEAD -- {at.mine}"
        ),
        # What is committed is in the files as well, and nothing is left half done.
        holds(f"{git} status --porcelain --untracked-files=no", pattern=r"\A\Z"),
        holds(f"{git} for-each-ref --contains {at.side.id} refs/heads", pattern="commit\trefs/heads/"),
        holds(f"find {at.clone}/.git -type d ! -perm -700", pattern=r"\A\Z"),
    )


def _prepare(at: Scene) -> str:
    """Return the script that makes origin, a frozen copy of it, and the clone.

    The clone knows origin's new objects from the start, though no name leads to them: a `git pull` that has to transfer
    something tells how fast it was, which is another text each time.
    """
    attic = f"{OLD}/attic/{at.project}.git"
    return "\n".join(
        (
            "set -euo pipefail",
            f"git init -q --bare -b main {at.origin}",
            f"cd {at.origin}",
            import_script("main", [at.base]),
            f"git clone -q --bare --no-hardlinks {at.origin} {attic}",
            f"git clone -q --no-hardlinks {at.origin} {at.clone}",
            import_script("main", [at.between, at.tip]),
            f"cd {at.clone}",
            f"git fetch -q {at.origin} main",
            "rm .git/FETCH_HEAD",
            import_script(at.branch, [at.side]),
            import_script("own", [at.own]),
            f"cat > draft.txt <<'END-OF-FILE'\n{at.draft.decode()}END-OF-FILE",
            "",
        )
    )


def _task(world: World, at: Scene, damage: str, complaint: str, *oracle: ActionPlan, on_main: bool = True) -> Task:
    """Return the task; ``on_main`` says whether the person's own commit is on main from the start."""
    own = "git merge -q --ff-only own\n" if on_main else "git checkout -q --detach own\n"
    settings = (
        f"[user]\n\tname = {at.me.name}\n\temail = {at.me.email}\n[pull]\n\trebase = false\n[core]\n\teditor = true\n"
    )
    notice = [
        "All repositories are in shared/ now, under their old names.",
        "attic/ holds copies from before that for the auditors. Nobody works with them, and they do not change.",
    ]
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(FileSpec(f"{HOME}/.gitconfig", settings.encode()), FileSpec(f"{OLD}/README", text(notice))),
        setup=f"{_prepare(at)}{own}git branch -q -D own\n{damage}\n",
        allowed=(f"{at.clone}/**", *TOOL_TRACES),
        symptom=(act(f"cd {at.clone} && git pull", OutputContains(pattern=complaint, stream="stderr"), exits=None),),
        oracle=(act(f"cd {at.clone}"), *oracle),
    )


def _parted(world: World) -> Task:
    """Both sides have new commits, and the settings of this clone allow a fast forward alone."""
    at = scene(world)
    return _task(
        world, at, "git config pull.ff only", "Not possible to fast-forward", act("git pull --no-ff --no-edit")
    )


def _no_branch(world: World) -> Task:
    """No branch is checked out, and the commit was made nevertheless: no name leads to it."""
    at = scene(world)
    plans = (act("git branch kept"), act("git checkout -q main"), act("git pull"), act("git merge -q --no-edit kept"))
    return _task(world, at, "", "You are not currently on a branch", *plans, on_main=False)


def _no_upstream(world: World) -> Task:
    """Main follows nothing, or a branch that has another name now."""
    at = scene(world)
    damage, complaint = world.twist.choice(
        (
            ("git branch -q --unset-upstream", "There is no tracking information for the current branch"),
            ("git config branch.main.merge refs/heads/master", "no such ref was fetched"),
            ("git config branch.main.merge refs/heads/develop", "no such ref was fetched"),
        )
    )
    plans = (act("git fetch -q origin main"), act("git branch -q -u origin/main"), act("git pull --no-edit"))
    return _task(world, at, damage, complaint, *plans)


def _moved_remote(world: World) -> Task:
    """The repository is elsewhere now; an old copy of it could be pulled from, and has nothing new."""
    at = scene(world)
    url = f"{OLD}/{at.project}.git"
    return _task(
        world,
        at,
        f"git remote set-url origin {url}",
        f"'{re.escape(url)}' does not appear to be a git repository",
        act(f"git remote set-url origin {at.origin}"),
        act("git pull --no-edit"),
    )


def _closed_folders(world: World) -> Task:
    """Folders of git's may not be written to."""
    at = scene(world)
    folder, mode, complaint = world.twist.choice(
        (
            (".git", "a-w", r"cannot open '?\.git/FETCH_HEAD'?: Permission denied"),
            (".git/refs/remotes/origin", "a-w", "Permission denied"),
            # Where the folder for an object is there already, nothing has to be made in the one above.
            (".git/objects", "a-w -R", "insufficient permission for adding an object"),
        )
    )
    damage = f"chmod {mode} {folder}"
    return _task(world, at, damage, complaint, act(f"chmod -R u+w {folder}"), act("git pull --no-edit"))


FAMILY = Family(
    name="git-pull-refused",
    summary="git pull does not work in a clone with a commit that is not pushed",
    causes={
        "parted": _parted,
        "no-branch": _no_branch,
        "no-upstream": _no_upstream,
        "moved-remote": _moved_remote,
        "closed-folders": _closed_folders,
    },
    tags=("git",),
)
