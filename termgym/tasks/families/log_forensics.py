"""Who deleted the record? The logs name a person, a token, or a session that somebody else's service acted for."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime

from termgym.checks import Check, OutputContains, TextInFile
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import DAY, FIRST_DAY, NOUNS, TOOL_TRACES, World, people, phrase, sentence, text

RECORDS = b"""\
#!/bin/bash
# usage: bin/records get RECORD
index=$(dirname "$0")/../index.txt
grep -m 1 "^$2 " "$index" || { echo "records: $2: no such record" >&2; exit 4; }
"""
DAYS = 5
"""Days that the logs reach back; the last two are plain, the older ones compressed."""
NOISE = 40
"""Lines a day of either log that have nothing to do with it."""


@dataclass(frozen=True)
class Scene:
    """A desk whose records vanish, and the logs of an ordinary week."""

    record: str
    start: int
    """When the first of the logs begins [s since 1970]."""
    logins: tuple[str, ...]
    index: bytes
    api: tuple[tuple[int, str], ...]
    auth: tuple[tuple[int, str], ...]
    root: str


@dataclass(frozen=True)
class Deed:
    """What really happened, and what the logs say about it."""

    login: str
    address: str
    when: int
    api: tuple[tuple[int, str], ...]
    auth: tuple[tuple[int, str], ...]

    @property
    def actor(self) -> str:
        """The person, token or session that the log of the deed names."""
        return self.api[-1][1].split()[0].split(":")[1].rpartition("/")[2]


def _address(rng: random.Random) -> str:
    return f"10.{rng.randrange(1, 9)}.{rng.randrange(256)}.{rng.randrange(2, 250)}"


def _code(rng: random.Random, prefix: str) -> str:
    return f"{prefix}{rng.randrange(0x1000, 0xFFFF):04x}"


def _stamp(when: int) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _request(actor: str, address: str, verb: str, record: str, status: int) -> str:
    return f"actor={actor} addr={address} {verb} {record} {status}"


def scene(world: World) -> Scene:
    """Draw the desk and the noise in its logs; blind to the cause."""
    rng = world.scene
    kind, number = rng.choice(NOUNS), rng.randrange(100, 9_000)
    logins = tuple(person.login for person in people(rng, 7))
    start = FIRST_DAY + DAY * rng.randrange(60)
    api: list[tuple[int, str]] = []
    auth: list[tuple[int, str]] = []
    for _ in range(NOISE * DAYS):
        actor = rng.choice((f"user:{rng.choice(logins)}", _code(rng, "token:tk_"), f"svc:gateway/{_code(rng, 's-')}"))
        verb, status = rng.choice(
            (("GET", 200), ("GET", 404), ("PUT", 200), ("POST", 201), ("DELETE", 204), ("DELETE", 403))
        )
        other = f"{kind}/{number}{rng.randrange(10)}" if rng.random() < 0.1 else f"{kind}/{rng.randrange(9_000, 9_999)}"
        address = "127.0.0.1" if actor.startswith("svc") else _address(rng)
        api.append((start + rng.randrange(DAYS * DAY), _request(actor, address, verb, other, status)))
        what = rng.choice((f"session {_code(rng, 's-')} opened", f"token {_code(rng, 'tk_')} issued", "login failed"))
        auth.append((start + rng.randrange(DAYS * DAY), f"{what} user:{rng.choice(logins)} addr={_address(rng)}"))
    rows = [f"{kind}/{rng.randrange(9_000, 9_999)} {sentence(rng)}" for _ in range(12)]
    root = f"{HOME}/{rng.choice(('desk', 'office', 'registry', 'counter'))}"
    return Scene(f"{kind}/{number}", start, logins, text(sorted(rows)), tuple(api), tuple(auth), root)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"The record {at.record} is gone (`bin/records get {at.record}` in {at.root}), and somebody deleted it. "
        "Find out from logs/ which person that was, from which address that person came, and when the record "
        "went for good. Write one line `login address time` to answer.txt there, the time as the log writes it. "
        "Leave the logs as they are.",
        f"`{at.root}/bin/records get {at.record}` finds nothing any more. I need the login of the person behind "
        "the deletion that counts, the address the person worked from and the time of the deletion as in the "
        f"log, all on one line in {at.root}/answer.txt, separated by blanks. The logs, in logs/, must not be "
        "changed.",
        f"Who made {at.record} disappear? bin/records in {at.root} does not know it any more. Look through logs/ "
        "and put the login (a person, not a token or a service), the person's address and the time stamp of the "
        "deletion into answer.txt, in this order on a single line. Please do not touch the logs themselves.",
    )


def _red_herrings(at: Scene, rng: random.Random, when: int) -> tuple[tuple[int, str], ...]:
    """Return a deletion that was undone, attempts that were refused, and a look at the record afterwards."""
    first, second, third, fourth = rng.sample(at.logins, 4)
    early = at.start + rng.randrange(DAY // 2)
    refused = [(early + rng.randrange(DAY, 2 * DAY), third), (when + rng.randrange(900, 9_000), fourth)]
    return (
        (early, _request(f"user:{first}", _address(rng), "DELETE", at.record, 204)),
        (early + 4_000, _request(f"user:{second}", _address(rng), "POST", at.record, 201)),
        *((moment, _request(f"user:{who}", _address(rng), "DELETE", at.record, 403)) for moment, who in refused),
        (when + 600, _request(f"user:{second}", _address(rng), "GET", at.record, 404)),
    )


def _moment(at: Scene, rng: random.Random) -> int:
    """Return a moment on the second or third day: its log is compressed, and there is a day before it."""
    return at.start + rng.randrange(1, 3) * DAY + rng.randrange(DAY // 4, DAY)


def _direct(world: World) -> Task:
    """The log names the person."""
    at, rng = scene(world), world.twist
    login, address, when = rng.choice(at.logins), _address(rng), _moment(at, rng)
    return _task(
        world,
        at,
        Deed(login, address, when, ((when, _request(f"user:{login}", address, "DELETE", at.record, 204)),), ()),
    )


def _token(world: World) -> Task:
    """The log names a token, which belonged to different people in turn."""
    at, rng = scene(world), world.twist
    token, address, when = _code(rng, "tk_"), _address(rng), _moment(at, rng)
    before, login, after = rng.sample(at.logins, 3)
    auth = (
        (when - rng.randrange(20, 30) * 3_600, f"token {token} issued user:{before} addr={_address(rng)}"),
        (when - 15 * 3_600, f"token {token} revoked user:{before} addr={_address(rng)}"),
        (when - rng.randrange(2, 15) * 3_600, f"token {token} issued user:{login} addr={_address(rng)}"),
        (when + rng.randrange(2, 30) * 3_600, f"token {token} issued user:{after} addr={_address(rng)}"),
    )
    return _task(
        world,
        at,
        Deed(login, address, when, ((when, _request(f"token:{token}", address, "DELETE", at.record, 204)),), auth),
    )


def _session(world: World) -> Task:
    """The log names a service that acted for a session, whose number was used before and after."""
    at, rng = scene(world), world.twist
    session, address, when = _code(rng, "s-"), _address(rng), _moment(at, rng)
    before, login, after = rng.sample(at.logins, 3)
    auth = (
        (when - 22 * 3_600, f"session {session} opened user:{before} addr={_address(rng)}"),
        (when - 20 * 3_600, f"session {session} closed user:{before} addr={_address(rng)}"),
        (when - rng.randrange(200, 9_000), f"session {session} opened user:{login} addr={address}"),
        (when + rng.randrange(200, 900), f"session {session} closed user:{login} addr={address}"),
        (when + rng.randrange(3_600, 20_000), f"session {session} opened user:{after} addr={_address(rng)}"),
    )
    line = _request(f"svc:gateway/{session}", "127.0.0.1", "DELETE", at.record, 204)
    return _task(world, at, Deed(login, address, when, ((when, line),), auth))


def _rotated(at: Scene, name: str, events: tuple[tuple[int, str], ...]) -> tuple[FileSpec, ...]:
    """Return one log as its daily files, the newest without a number."""
    days: list[list[str]] = [[] for _ in range(DAYS)]
    for when, line in sorted(events):
        days[min((when - at.start) // DAY, DAYS - 1)].append(f"{_stamp(when)} {line}")
    names = [f"{name}.log", *(f"{name}.log.{age}" for age in range(1, DAYS))]
    return tuple(
        FileSpec(f"{at.root}/logs/{file}", text(lines)) for file, lines in zip(names, reversed(days), strict=True)
    )


def _task(world: World, at: Scene, deed: Deed) -> Task:
    api = _rotated(at, "api", (*at.api, *deed.api, *_red_herrings(at, world.twist, deed.when)))
    # By chance the noise may speak of the same token or session: then there would be two answers.
    noise = [event for event in at.auth if event[1].split()[1] != deed.actor]
    auth = _rotated(at, "auth", (*noise, *deed.auth))
    answer = f"{deed.login} {deed.address} {_stamp(deed.when)}"
    everything = "".join(f"{log.path}* " for log in (*api, *auth) if log.path.endswith(".log"))
    newest_first = sorted((*api, *auth), key=lambda log: log.path)
    digest = sha256(b"".join(log.content for log in newest_first))
    goal: tuple[Check, ...] = (
        TextInFile(path=f"{at.root}/answer.txt", pattern=rf"\A\s*{answer}\s*\Z".replace(".", r"\.")),
        holds(f'test "$(gzip -cdf {everything}| sha256sum)" = "{digest}  -"'),
    )
    missing = OutputContains(pattern=f"{at.record}: no such record", stream="stderr")
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=goal,
        files=(
            FileSpec(f"{at.root}/bin/records", RECORDS, mode=0o755),
            FileSpec(f"{at.root}/index.txt", at.index),
            *api,
            *auth,
        ),
        setup=f"gzip -9n {at.root}/logs/*.log.[2-9]\n",
        allowed=(f"{at.root}/answer.txt", *TOOL_TRACES),
        symptom=(act(f"{at.root}/bin/records get {at.record}", missing, exits=4),),
        oracle=_read_up(at, deed, answer),
    )  # fmt: skip


def _read_up(at: Scene, deed: Deed, answer: str) -> tuple[ActionPlan, ...]:
    """Return the plans of somebody who reads the log of the deed, then who was behind it, then writes."""
    return (
        act(f"cd {at.root}"),
        act(f"zgrep -h ' {at.record} ' logs/api.log* | sort", OutputContains(pattern=_stamp(deed.when))),
        act(f"zgrep -h '{deed.actor}' logs/auth.log* | sort", OutputContains(pattern=f"user:{deed.login}")),
        act(
            f"echo '{answer}' > answer.txt",
            TextInFile(path=f"{at.root}/answer.txt", pattern=answer.replace(".", r"\.")),
        ),
    )


FAMILY = Family(
    name="log-forensics",
    summary="a record was deleted, and the logs know by whom",
    causes={"direct": _direct, "token": _token, "session": _session},
    tags=("logs",),
)
