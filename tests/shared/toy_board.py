"""A leaderboard made by hand, with trajectories of both kinds, for tests of the page; nothing in it is measured."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rolf.leaderboard.board import (
    Attribution,
    Board,
    Chance,
    Comparison,
    Curve,
    Entry,
    Estimate,
    Group,
    Point,
    Profile,
    Refused,
    Robustness,
    Sample,
    SplitBoard,
    Verified,
)
from rolf.leaderboard.page import page

FAMILIES = ("sensor", "network", "load")
PARAMETERS = {"sensor noise σ [1]": (0.0, 0.05, 0.15, 0.3), "network round trip [ms]": (10.0, 50.0, 200.0, 800.0)}
STYLES = ("openai-tools", "xml-tags", "hermes")
SKILLS = {"cusum": 0.82, "threshold": 0.71, "table": 0.69, "random": 0.18, "no-op": 0.05}
"""Contestants by rank, and how good they are."""
REFERENCES = {"truthful": 0.96}
CURSED = "/bin/\u202egnp.sh"
"""A path that a right-to-left override turns into something else."""


class Made(NamedTuple):
    """A board and its page."""

    board: Board
    folder: Path
    path: Path


def made(board: Board, folder: Path) -> Made:
    """Make the page of a board."""
    path = folder / "board.html"
    path.write_text(page(board, folder), encoding="utf-8")
    return Made(board, folder, path)


def estimate(value: float, half: float = 0.04) -> Estimate:
    """Return an estimate of that half-width."""
    return Estimate(round(value, 4), round(value - half, 4), round(value + half, 4))


def wobble(*parts: object) -> float:
    """Return a number from -1 to 1 that only looks random."""
    return math.sin(sum(ord(each) * (place + 3) for place, each in enumerate(repr(parts))))


def policy(name: str, **more: Any) -> dict[str, Any]:
    """Return a policy as submission.json has it."""
    told = {"spec": f"toys:{name}", "args": {}, "authors": "The toy makers", "url": "", "privileged": False}
    return {"name": name, "description": f"What {name} does, in a sentence.", **told, "deterministic": True, **more}


def entry(name: str, skill: float, place: int | None, leader: str | None, samples: Sequence[Sample] = ()) -> Entry:
    """Return an entry with something in every view."""
    score = estimate(skill)
    return Entry(
        name=f"toys/{name}",
        digest="d" * 64,
        policy=policy(name, privileged=place is None),
        rank=None if place is None else (place, place + (name == "threshold")),
        verified=Verified("the maintainers", "evaluated", 20, 4, "1.0") if name == "cusum" else None,
        episodes=1_000,
        attempts=5,
        faults=3 if name == "table" else 0,
        malformed=0.75 if name == "random" else 0.0,
        seconds=12.5,
        score=score,
        iqm=estimate(skill + 0.02, 0.03),
        gap=estimate(1 - skill),
        success=estimate(skill * 0.9, 0.05),
        episode_return=estimate(90 * skill - 10, 3.0),
        chances=tuple(
            Chance(k, estimate(1 - (1 - skill * 0.9) ** k, 0.03), estimate((skill * 0.9) ** k, 0.05))
            for k in range(1, 6)
        ),
        profile=profile(skill),
        robustness=Robustness(estimate(skill * 0.85, 0.03), "sensor 5", estimate(skill * 0.4, 0.09)),
        leader=None if leader is None else versus(leader, SKILLS[leader], name, skill),
        families=tuple(group(family, skill, name) for family in FAMILIES),
        levels=tuple(
            Curve(family, tuple(point(float(at), skill * (1 - at * 0.11), name, family) for at in range(6)))
            for family in FAMILIES
        ),
        adaptivity=tuple(
            Curve(parameter, tuple(point(at, skill * (1 - n * 0.17), name, parameter) for n, at in enumerate(values)))
            for parameter, values in PARAMETERS.items()
        ),
        styles=tuple(group(style, skill, name) for style in STYLES),
        attribution=Attribution(
            180, 120, {"sensor": 0.45, "network": 0.2, "load": 0.1 * skill}, 0.35 - 0.1 * skill, skill, 310
        ),
        samples=tuple(samples),
    )


def group(name: str, skill: float, who: str) -> Group:
    """Return a part of the variants."""
    value = skill * 0.9 + 0.05 * wobble(name, who)
    return Group(name, estimate(value, 0.06), estimate(value * 0.9, 0.08), 67)


def point(at: float, value: float, *who: str) -> Point:
    """Return a place of a curve."""
    value = max(0.0, value + 0.02 * wobble(at, who))
    return Point(at, estimate(value, 0.05 + 0.01 * value), estimate(value * 0.9, 0.07), 40)


def profile(skill: float) -> Profile:
    """Return the profile of scores around a skill."""
    thresholds = tuple(round(0.05 * n, 2) for n in range(21))
    values = tuple(round(1 / (1 + math.exp((t - skill) * 14)), 4) for t in thresholds)
    low, high = tuple(max(0.0, v - 0.05) for v in values), tuple(min(1.0, v + 0.05) for v in values)
    return Profile(thresholds, values, low, high)


def versus(first: str, skill: float, second: str, other: float) -> Comparison:
    """Return how one does against another."""
    return Comparison(
        f"toys/{first}",
        f"toys/{second}",
        estimate(skill - other, 0.03),
        estimate((skill - other) * 0.9, 0.05),
        estimate(0.5 + (skill - other) / 2, 0.06),
        0.034,
        0.001,
        40,
    )


def toy_board(folder: Path) -> Board:
    """Return the board, and write its trajectories into the folder."""
    samples = [write_terminal(folder / "toys/cusum", 0, terminal_steps()), *write_lines(folder / "toys/cusum")]
    ranked = list(SKILLS.items())
    entries = [
        entry(name, skill, place, ranked[0][0] if place > 1 else None, samples if place == 1 else ())
        for place, (name, skill) in enumerate(ranked, start=1)
    ] + [entry(name, skill, None, None) for name, skill in REFERENCES.items()]
    everybody = [*ranked, *REFERENCES.items()]
    pairs = tuple(versus(*a, *b) for n, a in enumerate(everybody) for b in everybody[n + 1 :])
    limits = {"steps": 40, "time [s]": 60}
    first = SplitBoard("line-v1/iid", "a" * 64, 200, 40, 5, limits, tuple(entries), pairs)
    second = SplitBoard("term-v1/unseen-cause", "b" * 64, 30, 30, 1, {}, (plain_entry(),), ())
    refused = Refused("mallory/line", ("results.jsonl, line 3: 'score' is not what 00002-0.jsonl.gz gives: got 1.0",))
    return Board((first, second), (refused,))


def plain_entry() -> Entry:
    """Return an entry of which nothing but its score is known, and that without an interval."""
    bare = entry("table", 0.69, 1, None)
    unknown = Estimate(0.69, None, None)
    values = {name: getattr(bare, name) for name in Entry.__slots__}
    nothing = {"levels": (), "adaptivity": (), "styles": (), "families": (), "attribution": None, "robustness": None}
    return Entry(**{**values, **nothing, "rank": (1, 1), "score": unknown, "chances": bare.chances[:1]})


# ---- trajectories


def write_gzip(path: Path, lines: Sequence[Any]) -> None:
    """Write a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode(), mtime=0))


def observation(step: int, stdout: str = "", stderr: str = "", code: int = 0) -> dict[str, Any]:
    """Return what a terminal shows."""
    told = {"cwd": "/home/agent", "event": 0, "instruction": "Make `make` work again."}
    return {**told, "exit_code": [code], "stderr": stderr, "stdout": stdout, "step": [step]}


def terminal_step(number: int, command: str, stdout: str, stderr: str = "", **more: Any) -> dict[str, Any]:
    """Return a step of a terminal."""
    code = 1 if stderr else 0
    last = bool(more.pop("last", False))
    terms = {"task_success": float(last), "plan_quality": -0.1 if stderr else 0.0}
    check = {"of": "goal", "check": "file_exists /home/agent/a.out kind='file'", "passed": last, "detail": ""}
    info = {"event": "NONZERO" if stderr else "DONE", "success": last, "reward_terms": terms, "checks": [check]}
    return {
        "type": "step",
        "action": [json.dumps({"command": command})],
        "observation": observation(number, stdout, stderr, code),
        "reward": sum(terms.values()),
        "terminated": last,
        "truncated": False,
        "info": {**info, "violations": [], "failure_kind": None, **more},
    }


def terminal_steps() -> list[dict[str, Any]]:
    """Return an episode's steps."""
    return [
        terminal_step(1, "make", "", "make: *** No rule to make target 'main.c', needed by 'a.out'.  Stop.\n"),
        terminal_step(2, "ls -la", "total 8\n-rw-r--r-- 1 agent agent 96 \x1b[1;34mmain.cc\x1b[0m\n"),
        terminal_step(3, "mv main.cc main.c && make", "cc -o a.out main.c\n", last=True),
    ]


def write_terminal(
    folder: Path, index: int, steps: Sequence[Any], diff: Sequence[Any] | None = None, variant: str = "make-fails"
) -> Sample:
    """Write a terminal episode, and return its sample."""
    header = {"type": "header", "format": "rolf-trajectory/1", "env_id": "termgym:TermEnv-v1", "kwargs": {}}
    reset = {"type": "reset", "seed": 1, "options": None, "observation": observation(0), "info": {"task": variant}}
    changed = [{"path": "/home/agent/a.out", "kind": "added", "before": None, "after": "file"}]
    total = sum(step["reward"] for step in steps)
    final = {"type": "final", "steps": len(steps), "episode_return": total, "state_digest": "ab" * 32}
    lines = [header | {"wrappers": [], "volatile": []}, reset, *steps]
    write_gzip(
        folder / f"trajectories/{index:05}-0.jsonl.gz", [*lines, final | {"diff": changed if diff is None else diff}]
    )
    name = f"{index:05}-0.jsonl.gz"
    return Sample(name, index, variant, 0, "sensor", 3, "xml-tags", True, 0.75, total, len(steps))


def write_lines(folder: Path) -> list[Sample]:
    """Write a block of two episodes of an environment that nobody has, and return their samples."""
    actions = [[n % 7 for n in range(60)], [0] * 60]
    lines = [
        {
            "format": "rolf-actions/1",
            "env_id": "nowhere:Toy-v1",
            "kwargs": {},
            "seed": 7 + n,
            "actions": done,
            "rewards": [0.25 * (action - 2) for action in done],
            "info": {"output": 12 + n, "success": n == 0, "shift": {"claims": 4, "note": "</script>"}},
            "terminated": False,
            "truncated": True,
            "state_digest": "",
        }
        for n, done in enumerate(actions)
    ]
    write_gzip(folder / "trajectories/block-00000.jsonl.gz", lines)
    return [
        Sample(
            f"block-00000.jsonl.gz#{n + 1}",
            n,
            f"serial/toy+network:{n}",
            0,
            "network",
            n,
            "",
            n == 0,
            0.5,
            sum(line["rewards"]),
            60,
        )
        for n, line in enumerate(lines)
    ]
