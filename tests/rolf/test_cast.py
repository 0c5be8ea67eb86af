"""The events of an asciicast: what RecordCast writes, and what the leaderboard's page plays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym

from rolf import cast
from rolf_wrappers import RecordCast


class Echo(gym.Env[Any, str]):
    """Answers with what was said."""

    action_space = gym.spaces.Text(80)
    observation_space = gym.spaces.Dict({key: gym.spaces.Text(80) for key in ("stdout", "stderr", "cwd")})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return {"stdout": "", "stderr": "", "cwd": "/home", "instruction": "Say it."}, {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return {"stdout": "out", "stderr": "err\n", "cwd": "/home"}, 0.0, False, False, {}


def test_the_recorder_writes_these_events(tmp_path: Path) -> None:
    """A trajectory that is shown later must look as if it had been recorded."""
    moments = iter(range(10))
    with RecordCast(Echo(), tmp_path / "x.cast", clock=lambda: next(moments)) as env:
        before, _ = env.reset()
        after, *_ = env.step('{"command": "ls\\nls"}')
    made = [cast.HEADER, *cast.begun(1, 1, before), cast.entered(2, '{"command": "ls\\nls"}'), cast.answered(3, after)]
    assert (tmp_path / "x.cast").read_text() == "".join(json.dumps(each) + "\n" for each in made)
    assert made[2:] == [
        (1, "o", "\x1b[2J\x1b[HSay it.\r\n/home$ "),
        (2, "o", "ls\r\nls\r\n"),
        (3, "o", "outerr\r\n/home$ "),
    ]


def test_what_was_typed_is_what_a_plan_holds() -> None:
    typed = ['{"command": "ls"}', '{"keys": "q"}', '{"submit": true}', "plain", "[1]", 7]
    assert [cast.typed(each) for each in typed] == ["ls", "q", '{"submit": true}', "plain", "[1]", "7"]
