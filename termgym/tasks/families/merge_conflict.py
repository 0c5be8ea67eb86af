"""A branch does not get into main: the same lines changed, a file moved, a merge or rebase half done or done badly."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileAbsent, FileHash, OutputContains
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
    VERBS,
    Person,
    World,
    people,
    phrase,
    prose,
    sentence,
    text,
)

CHECK = '''\
"""usage: check.py [-]     Say what the rules in rules/ (or on standard input) come to, or what is wrong with them."""
import pathlib, sys

place = pathlib.Path(__file__).resolve().parent / "rules"
files = {"input": sys.stdin.read()} if sys.argv[1:] == ["-"] else {
    path.name: path.read_text() for path in sorted(place.glob("*.conf"))
}
found = {}
for name, content in files.items():
    for number, line in enumerate(content.splitlines(), 1):
        key, equals, words = line.partition(" = ")
        if not line or line.startswith("#"):
            continue
        if not equals:
            sys.exit(f"check: {name}, line {number}: this is no rule: {line}")
        if key in found:
            sys.exit(f"check: {name}, line {number}: there is a rule for {key} already")
        found[key] = sorted(words.split(", "))
for key in sorted(found):
    print(key, *found[key])
'''
Rules = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Scene:
    """A repository, main, and a branch that parted from it."""

    root: str
    conf: str
    """The rules that both changed."""
    moved: str
    """Where main has them if it has moved them."""
    branch: str
    theirs: Person
    """Whose branch it is."""
    me: Person
    base: Commit
    main: Commit
    """What main has come to."""
    main_moved: Commit
    """The same, but main has moved the rules and written them anew."""
    first: Commit
    """The branch's change to the rules."""
    second: Commit
    """Its other change."""
    ours: Rules
    """Main's rules."""
    their: Rules
    """The branch's rules."""
    merged: Rules
    """What the rules must come to: every word of either side."""
    title: str
    page: str
    """What the branch's other change is in."""


def scene(world: World) -> Scene:
    """Draw the repository; blind to the cause."""
    rng = world.scene
    me, theirs, other = people(rng, 3)
    name, moved, page, more, *keys = rng.sample(NOUNS, 12)
    before, ours, their = _rules(rng, keys[:7])
    merged = {key: (*ours.get(key, ()), *(w for w in their[key] if w not in ours.get(key, ()))) for key in their}
    title = f"# {sentence(rng)}"
    conf, when, days = f"rules/{name}.conf", FIRST_DAY + rng.randrange(40) * DAY, rng.randrange(1, 6) * DAY
    files = {
        "check.py": CHECK.encode(),
        conf: written(before, title),
        f"docs/{page}.txt": text(prose(rng, 6)),
        f"docs/{more}.txt": text(prose(rng, 6)),
    }
    base = Commit(files, other, when, "Begin with some rules", None)
    now, again = {**files, conf: written(ours, title)}, {key: ours[key][::-1] for key in reversed(list(ours))}
    message = f"Add to the rules, say more about the {more}"
    now[f"docs/{more}.txt"] += text([sentence(rng)])
    elsewhere = {path: body for path, body in now.items() if path != conf}
    elsewhere[f"rules/{moved}.conf"] = written(again, f"# {sentence(rng)}")
    first = Commit({**files, conf: written(their, title)}, theirs, when + days, f"Let the {keys[6]} be ruled too", base)
    last = {**first.files, f"docs/{page}.txt": files[f"docs/{page}.txt"] + text([sentence(rng)])}
    return Scene(
        root=f"{HOME}/{rng.choice(PLACES)}/{rng.choice(PROJECTS)}",
        conf=conf, moved=f"rules/{moved}.conf", branch=f"{theirs.login}/{keys[6]}", theirs=theirs, me=me, base=base,
        main=Commit(now, other, when + DAY, message, base),
        main_moved=Commit(elsewhere, other, when + DAY, message, base),
        first=first,
        second=Commit(last, theirs, when + days + 3_600, f"Describe the {page} better", first),
        ours=ours, their=their, merged=merged, title=title, page=f"docs/{page}.txt",
    )  # fmt: skip


def _rules(rng: random.Random, keys: list[str]) -> tuple[Rules, Rules, Rules]:
    """Return the rules at first, main's and the branch's: each adds a word to two of them, and the branch a rule."""
    before = {key: tuple(rng.sample(VERBS, rng.randrange(2, 4))) for key in keys[:-1]}
    ours, their = dict(before), dict(before)
    words = iter(rng.sample(NOUNS, 4))
    for key in rng.sample(keys[:-1], 2):
        ours[key] = (*before[key], next(words))
        their[key] = (*before[key], next(words))
    their[keys[-1]] = tuple(rng.sample(VERBS, 2))
    return before, ours, their


def written(rules: Rules, title: str) -> bytes:
    """Return rules as a file."""
    return text([title, *(f"{key} = {', '.join(words)}" for key, words in rules.items())])


def _instruction(world: World, at: Scene) -> str:
    them = at.theirs.name
    return phrase(
        world.scene,
        f"The branch {at.branch} has to get into main in {at.root}, and I can't get it in: either git refuses, or "
        "`python3 check.py` is not content afterwards. Please bring it to an end: main checked out, all committed, "
        f"nothing half done. Both sides only added words to rules, and all of them count. {them}'s two commits keep "
        "their author and subject, and main's history stays.",
        f"Please merge {at.branch} into main in {at.root}; `git merge {at.branch} && python3 check.py` does not work. "
        "In the end main must be checked out and clean, with no merge or rebase under way, and hold what main had as "
        f"well as what {them} did: no word of any rule may get lost. Do not rewrite main, and let {them}'s two "
        "commits be seen in its log as they are.",
        f"I am stuck with {at.root}: main should have what is on {at.branch}. Can you get it done, so that check.py "
        f"passes on main and nothing is left unfinished or uncommitted? Words that main or {them} added to the rules "
        f"must all be there. Add to main's history, do not replace it; the two commits of {them} belong into it with "
        "name and subject.",
    )


def _goal(at: Scene, main: Commit, conf: str) -> tuple[Check, ...]:
    git = f"git --no-replace-objects -C {at.root}"
    rules = "".join(f"{key} {' '.join(sorted(words))}\n" for key, words in sorted(at.merged.items()))
    files = {**main.files, at.page: at.second.files[at.page]}
    names, others = text(sorted(files)).decode(), [path for path in sorted(files) if path != conf]
    return (
        *(FileAbsent(path=f"{at.root}/.git/{name}") for name in ("MERGE_HEAD", "rebase-merge", "rebase-apply")),
        FileHash(path=f"{at.root}/check.py", sha256=sha256(CHECK.encode())),
        holds(
            f'{git} merge-base --is-ancestor {main.id} HEAD && test "$({git} symbolic-ref HEAD)" = refs/heads/main '
            f"&& {git} log --format='%an: %s' HEAD | grep -xF -e '{at.theirs.name}: {at.first.message}' "
            f"-e '{at.theirs.name}: {at.second.message}' | sort -u | wc -l",
            pattern=r"\A2\n\Z",
        ),
        holds(f"{git} status --porcelain --untracked-files=no", pattern=r"\A\Z"),
        holds(f"{git} ls-tree -r --name-only HEAD", pattern=rf"\A{names}\Z"),
        holds(
            f"{git} show {' '.join(f'HEAD:{path}' for path in others)} | sha256sum",
            pattern=rf"\A{sha256(b''.join(files[path] for path in others))} ",
        ),
        holds(f"{git} show HEAD:{conf} | python3 -I {at.root}/check.py -", pattern=rf"\A{rules}\Z"),
        holds(f"python3 -I {at.root}/check.py", pattern=rf"\A{rules}\Z"),
    )


def _put(at: Scene, path: str, rules: Rules) -> str:
    """Return the command that writes rules into a file."""
    return f"cat > {path} <<'END'\n{written(rules, at.title).decode()}END"


def _task(
    world: World, at: Scene, begun: str, complaint: OutputContains, *oracle: ActionPlan, moved: bool = False
) -> Task:
    """Return the task; ``begun`` is what somebody has done to the repository, ``moved`` which history main has."""
    main = at.main_moved if moved else at.main
    # A world is a copy with other inodes: git must not take its files for changed, or `git merge --abort` refuses.
    core = "[core]\n\teditor = true\n\tcheckStat = minimal\n\ttrustctime = false\n"
    settings = f"[user]\n\tname = {at.me.name}\n\temail = {at.me.email}\n{core}"
    setup = (
        "set -euo pipefail",
        f"git init -q -b main {at.root}",
        f"cd {at.root}",
        import_script("main", [at.base, main]),
        import_script(at.branch, [at.first, at.second]),
        "git reset -q --hard main",
        begun,
        "find . -name .git -prune -o -type f -exec touch -d @$SOURCE_DATE_EPOCH {} +",
        "git update-index -q --refresh || true  # files with conflicts have no one state",
        "",
    )
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at, main, at.moved if moved else at.conf),
        files=(FileSpec(f"{HOME}/.gitconfig", settings.encode()),),
        setup="\n".join(setup),
        allowed=(f"{at.root}/**", *TOOL_TRACES),
        symptom=(act(f"cd {at.root} && git merge {at.branch} && python3 check.py", complaint, exits=None),),
        oracle=(act(f"cd {at.root}"), *oracle),
    )


def _left(at: Scene, world: World) -> str:
    """Return the command that leaves a conflict marked; in some worlds another has been settled for main alone."""
    lines, forget = [at.title], world.twist.random() < 0.5
    for key, words in at.merged.items():
        ours, their = (f"{key} = {', '.join(rules.get(key, ()))}" for rules in (at.ours, at.their))
        if words == at.their[key]:
            lines.append(their)
        elif forget:
            lines.append(ours)
            forget = False
        else:
            lines += ["<<<<<<< HEAD", ours, "=======", their, f">>>>>>> {at.branch}"]
    return f"cat > {at.conf} <<'END'\n{text(lines).decode()}END"


def _same_lines(world: World) -> Task:
    """Nothing has begun; both sides changed the same lines."""
    at = scene(world)
    return _task(
        world, at, "", OutputContains(pattern=rf"^CONFLICT \(content\): Merge conflict in {at.conf}$"),
        act(f"! git merge {at.branch}"), act(_put(at, at.conf, at.merged)), act(f"git add {at.conf}"),
        act("git commit --no-edit"),
    )  # fmt: skip


def _moved_file(world: World) -> Task:
    """Nothing has begun; main has moved the rules that the branch changed, and has written them anew."""
    at = scene(world)
    return _task(
        world, at, "", OutputContains(pattern=rf"^CONFLICT \(modify/delete\): {at.conf} deleted in HEAD"),
        act(f"! git merge {at.branch}"), act(f"git rm -q {at.conf}"), act(_put(at, at.moved, at.merged)),
        act(f"git add {at.moved}"), act("git commit --no-edit"),
        moved=True,
    )  # fmt: skip


def _unfinished_merge(world: World) -> Task:
    """Somebody has begun to merge and left the rest."""
    at = scene(world)
    begun = f"! git merge -q {at.branch} > /dev/null 2>&1\n{_left(at, world)}"
    return _task(
        world, at, begun, OutputContains(pattern="Merging is not possible because you have unmerged", stream="stderr"),
        act(_put(at, at.conf, at.merged)), act(f"git add {at.conf}"), act("git commit --no-edit"),
    )  # fmt: skip


def _unfinished_rebase(world: World) -> Task:
    """Somebody has begun to put the branch on top of main; no branch is checked out meanwhile."""
    at = scene(world)
    begun = f"git checkout -q {at.branch}\n! git rebase -q main > /dev/null 2>&1"
    return _task(
        world, at, begun, OutputContains(pattern="Merging is not possible because you have unmerged", stream="stderr"),
        act(_put(at, at.conf, at.merged)), act(f"git add {at.conf}"), act("git rebase --continue"),
        act("git checkout -q main"), act(f"git merge {at.branch}"),
    )  # fmt: skip


def _committed_marks(world: World) -> Task:
    """The merge has been committed, marks of the conflict and all: to git nothing is left to do."""
    at = scene(world)
    begun = f"! git merge -q {at.branch} > /dev/null 2>&1\n{_left(at, world)}\ngit commit -qam 'Merge {at.branch}'"
    return _task(
        world, at, begun, OutputContains(pattern="this is no rule: <<<<<<< HEAD", stream="stderr"),
        act(_put(at, at.conf, at.merged)), act("git commit -qam 'Settle what the merge has left open'"),
    )  # fmt: skip


FAMILY = Family(
    name="merge-conflict",
    summary="a branch does not get into main",
    causes={
        "same-lines": _same_lines,
        "moved-file": _moved_file,
        "unfinished-merge": _unfinished_merge,
        "unfinished-rebase": _unfinished_rebase,
        "committed-marks": _committed_marks,
    },
    tags=("git",),
)
