"""A program refuses a key that others could read or replace: its own bits, a directory on the way, a link, a umask.

The rules are those of OpenSSH's ``StrictModes`` (sshd_config(5)), applied to a link's target as well.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from termgym.checks import Check, FileHash, FileMode, OutputContains
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, prose, text

COURIER = b'''\
#!/usr/bin/env python3
"""usage: courier send | check     Sign what is in outbox/ and put it into sent/; or say whether a key is fit for that.

The key is named in ~/.courier/config. Each time something is sent, ~/.courier/session is made anew from it, with the
umask of the settings. Nobody but the owner may be able to read either of them, nor to replace them: not the file they
really are, nor any directory that leads to it.
"""
import hashlib, hmac, os, pathlib, stat, sys

root = pathlib.Path(__file__).resolve().parent
place = pathlib.Path("/home/agent/.courier")
settings = dict(line.split(" = ") for line in (place / "config").read_text().splitlines() if " = " in line)
key, session, umask = pathlib.Path(settings["key"]), place / "session", int(settings["umask"], 8)


def guard(path):
    real = path.resolve()
    open_file = real.stat().st_mode & 0o077
    if open_file or any(each.stat().st_mode & 0o022 for each in real.parents):
        sys.exit(f"courier: refused: others could read or replace {path}")


def sign(content):
    return hmac.new(key.read_bytes(), content, "sha256").hexdigest()


guard(key)
if sys.argv[1:] == ["send"]:
    session.unlink(missing_ok=True)
    os.umask(umask)
    session.write_text(sign(b"session"))
    guard(session)
    os.umask(0o022)
    (root / "sent").mkdir(exist_ok=True)
    for message in sorted((root / "outbox").iterdir()):
        content = message.read_bytes()
        (root / "sent" / message.name).write_text(content.decode() + f"-- {sign(content)}\\n")
        print("sent", message.name)
elif sys.argv[1:] == ["check"]:
    guard(session)
    if umask & 0o077 != 0o077 or session.read_text() != sign(b"session"):
        sys.exit("courier: the session is not fit for use")
    print("fit", hashlib.sha256(key.read_bytes()).hexdigest())
else:
    sys.exit(__doc__)
'''
PLACE = f"{HOME}/.courier"
PUBLIC = f"{HOME}/public"
PUBLIC_SEEN = rf"\A{HOME}\n{PUBLIC}\n{PUBLIC}/index\.txt\n\Z"


@dataclass(frozen=True)
class Scene:
    """A project that sends signed messages, a person's key, and what others may use."""

    project: str
    place: str
    name: str
    """The key's."""
    key: bytes
    messages: dict[str, bytes]
    team: str
    """Where a team keeps its keys: everybody in the group adds to it."""
    page: bytes
    """What the person shows to everybody."""

    @property
    def root(self) -> str:
        """The project's directory."""
        return f"{HOME}/{self.place}/{self.project}"

    @property
    def key_path(self) -> str:
        """The key, as the settings name it."""
        return f"{PLACE}/{self.name}.key"

    def sent(self, name: str) -> bytes:
        """Return a message as it must arrive."""
        signature = hmac.new(self.key, self.messages[name], "sha256").hexdigest()
        return self.messages[name] + f"-- {signature}\n".encode()


def scene(world: World) -> Scene:
    """Draw the project; blind to the cause."""
    rng = world.scene
    name, team, *subjects = rng.sample(NOUNS, 2 + rng.randrange(2, 5))
    return Scene(
        project=rng.choice(PROJECTS),
        place=rng.choice(PLACES),
        name=name,
        key=text([rng.randbytes(30).hex()]),
        messages={f"{subject}.txt": text(prose(rng, rng.randrange(2, 6))) for subject in sorted(subjects)},
        team=f"/srv/{team}/keys",
        page=text(prose(rng, 3)),
    )


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"`./courier send` in {at.root} refuses to work with my key {at.name}. Find out why, put it right for good "
        f"and send what is in outbox/. It has to be the same key. Do not edit courier; {at.team} belongs to a team "
        "and keeps its modes and contents, and ~/public has to stay open to all readers.",
        f"I can't send anything from ~/{at.place}/{at.project} any more: ./courier says that it does not trust the key "
        f"{at.name}. Please make it acceptable, so that sending works from now on, and send the outbox. Don't make a "
        f"new key, don't touch the program or the team's things in {at.team}, and leave ~/public readable.",
        f"Please get the messages in {at.root}/outbox out with ./courier. It refuses the key {at.name}, which is "
        f"the right one. The program is right to be strict, so leave it alone. Others work in {at.team} and read "
        "~/public: nothing may change for them.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    return (
        FileHash(path=f"{at.root}/courier", sha256=sha256(COURIER)),
        *(FileHash(path=f"{at.root}/sent/{name}", sha256=sha256(at.sent(name))) for name in at.messages),
        *(FileHash(path=f"{at.root}/outbox/{name}", sha256=sha256(body)) for name, body in at.messages.items()),
        holds(f"python3 -I {at.root}/courier check", pattern=rf"\Afit {sha256(at.key)}\n\Z"),
        FileMode(path=at.team, mode="2775"),
        FileHash(path=f"{at.team}/{at.name}.key", sha256=sha256(at.key)),
        FileHash(path=f"{PUBLIC}/index.txt", sha256=sha256(at.page)),
        # Readers come as others: through the directories, to a file that they may read.
        holds(
            f"find {HOME} {PUBLIC} {PUBLIC}/index.txt -maxdepth 0 -perm -001 -o -type f -perm -004", pattern=PUBLIC_SEEN
        ),
    )


def _task(
    world: World, at: Scene, damage: str, repair: ActionPlan, umask: str = "077", refused: str | None = None
) -> Task:
    settings = [f"# {world.scene.choice(NOUNS)}", f"key = {at.key_path}", f"umask = {umask}"]
    complaint = OutputContains(
        pattern=re.escape(f"others could read or replace {refused or at.key_path}"), stream="stderr"
    )
    other = world.scene.choice(PROJECTS)
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(f"{at.root}/courier", COURIER, mode=0o755),
            *(FileSpec(f"{at.root}/outbox/{name}", body) for name, body in at.messages.items()),
            FileSpec(PLACE, mode=0o755, kind="dir"),
            FileSpec(f"{PLACE}/config", text(settings)),
            FileSpec(at.key_path, at.key, mode=0o600),
            FileSpec(f"{PLACE}/{other}.key", text([world.scene.randbytes(30).hex()]), mode=0o644),
            FileSpec(f"{at.team}/{at.name}.key", at.key, mode=0o600),
            FileSpec(f"{at.team}/{other}.key", text([world.scene.randbytes(30).hex()]), mode=0o600),
            FileSpec(f"{PUBLIC}/index.txt", at.page),
        ),
        setup=f"chmod 2775 {at.team}\n{damage}\n",
        allowed=(HOME, PLACE, f"{PLACE}/**", f"{at.root}/sent", f"{at.root}/sent/**", *TOOL_TRACES),
        symptom=(act(f"cd {at.root} && ./courier send", complaint, exits=1),),
        oracle=(act(f"cd {at.root}"), repair, act("./courier send", OutputContains(pattern="^sent "))),
    )


def _readable_key(world: World) -> Task:
    """The key itself is open to others."""
    at = scene(world)
    path = at.key_path
    mode = world.twist.choice(("644", "640", "604", "660"))
    return _task(world, at, f"chmod {mode} {path}", act(f"chmod 600 {path}", FileMode(path=path, mode="0600")))


def _open_directory(world: World) -> Task:
    """The key is closed, but others may write its directory or the home, and so could replace it."""
    at = scene(world)
    place = world.twist.choice((PLACE, HOME))
    mode = world.twist.choice(("775", "777", "757"))
    return _task(world, at, f"chmod {mode} {place}", act(f"chmod 755 {place}", FileMode(path=place, mode="0755")))


def _linked_key(world: World) -> Task:
    """The key is a link into the team's directory, which has to stay open to the team."""
    at = scene(world)
    return _task(
        world,
        at,
        f"ln -sf {at.team}/{at.name}.key {at.key_path}",
        act(f"cp --remove-destination {at.team}/{at.name}.key {at.key_path} && chmod 600 {at.key_path}"),
    )


def _loose_umask(world: World) -> Task:
    """What is made from the key is open each time that it is made: changing its bits by hand does not last."""
    at = scene(world)
    umask = world.twist.choice(("022", "002", "027"))
    repair = act(f"sed -i 's/^umask = .*/umask = 077/' {PLACE}/config")
    return _task(world, at, "", repair, umask, refused=f"{PLACE}/session")


FAMILY = Family(
    name="key-modes",
    summary="a program refuses a key that others could read or replace",
    causes={
        "readable-key": _readable_key,
        "open-directory": _open_directory,
        "linked-key": _linked_key,
        "loose-umask": _loose_umask,
    },
    tags=("permissions", "keys"),
)
