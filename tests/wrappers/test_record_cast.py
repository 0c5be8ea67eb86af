"""RecordCast: files that asciinema's players read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from rolf_wrappers import RecordCast


class Echo(gym.Env[Any, str]):
    """Answers with what was said."""

    action_space = gym.spaces.Text(80)
    observation_space = gym.spaces.Dict({key: gym.spaces.Text(80) for key in ("stdout", "stderr", "cwd")})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return {"stdout": "", "stderr": "", "cwd": "/home"}, {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return {"stdout": "", "stderr": action, "cwd": "/home"}, 0.0, False, False, {}


def test_every_line_is_an_event_of_the_format(tmp_path: Path) -> None:
    """asciicast v2: a header object, then [time, code, data] with times that never fall."""
    with RecordCast(Echo(), tmp_path / "x.cast") as env:
        for _ in range(2):
            env.reset()
            env.step('{"command": "make\\nmake install"}')
            env.step('{"keys": "q"}')
            env.step("no plan")
    header, *events = [json.loads(line) for line in (tmp_path / "x.cast").read_text().splitlines()]
    assert header == {"version": 2, "width": 80, "height": 24}
    assert [code for _, code, _ in events].count("m") == 2
    assert all(code in "om" and isinstance(data, str) for _, code, data in events)
    times = [time for time, _, _ in events]
    assert times == sorted(times)
    shown = "".join(data for _, code, data in events if code == "o")
    assert "make\r\nmake install\r\n" in shown
    assert "q\r\n" in shown
    assert "\n" not in shown.replace("\r\n", "")


def test_refuses_what_is_no_terminal(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="wants a Dict with 'stdout'"):
        RecordCast(gym.make("CartPole-v1"), tmp_path / "x.cast")


def test_does_not_overwrite(tmp_path: Path) -> None:
    (tmp_path / "x.cast").touch()
    with pytest.raises(FileExistsError):
        RecordCast(Echo(), tmp_path / "x.cast")
