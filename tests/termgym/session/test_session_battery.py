"""Hostile shell constructs: each ends in an exact result or an explicit event, and the next step works."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from termgym.event import Event
from termgym.result import StepResult
from termgym.session.host import host_session
from termgym.session.session import Session

HERE = Path(__file__).parent
BIG = {
    "@BIG_1MB": "X=" + "a" * 1_000_000 + "; echo ${#X}",
    "@PASTE_20K": "\n".join(f"v{i}={i}" for i in range(20_000)) + "\necho $v19999",
}
PROBE = b"echo ok$((1+1)) $ST"


def load(name: str) -> list[Any]:
    rows = [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=row["name"]) for row in rows]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with host_session(env={**os.environ, "SCRATCH": str(tmp_path)}) as session:
        session.step(b"ST=7; cd /usr", timeout=5)
        yield session
    # Some of the constructs write there, whoever runs them; a server of tmux leaves its socket.
    for left in ("/tmp/xx", f"/tmp/tmux-{os.getuid()}/rolf-test"):
        Path(left).unlink(missing_ok=True)


def check(session: Session, row: dict[str, Any], timeout: float) -> None:
    command = BIG.get(row["command"], row["command"])
    result = session.step(command.encode("utf-8", "surrogateescape"), timeout=timeout)
    assert result.event.name.lower() in row["events"]
    if "exit_code" in row:
        assert result.exit_code == row["exit_code"]
    if row["next_step"] == "respawned":
        assert not session.alive
    elif row["next_step"] == "exact-or-gone" and not session.alive:
        assert result.event in (Event.SHELL_EXITED, Event.SHELL_REPLACED, Event.KILLED)
    else:
        assert session.alive
        check_next(session.step(PROBE, timeout=row.get("timeout", 5)), row, session)


def check_next(following: StepResult, row: dict[str, Any], session: Session) -> None:
    if row["next_step"] in ("exact", "exact-or-gone"):
        assert (following.event, following.stdout) == (Event.DONE, b"ok2 7\n")
        assert following.stderr in EXTRA_STDERR.get(row["name"], (b"",))
        assert session.alive
    elif row["next_step"] == "as-bash":
        assert following.event in (Event.DONE, Event.NONZERO)
    else:  # any explicit event
        assert following.event is not Event.WAITING_INPUT or session.waiting


# What a person's bash shows there too.
EXTRA_STDERR = {"set -x": (b"+ echo ok2 7\n",), "set -v": (PROBE + b"\n",)}


@pytest.mark.parametrize("row", load("shell_battery.jsonl"))
def test_ends_as_the_battery_says(session: Session, row: dict[str, Any]) -> None:
    check(session, row, timeout=1.5)


@pytest.mark.parametrize("row", load("session_constructs.jsonl"))
def test_survives_further_constructs(session: Session, row: dict[str, Any]) -> None:
    check(session, row, timeout=row.get("timeout", 0.8 if "timeout" in row["events"] else 10))
