"""A policy that nobody understands is told apart from one that is weak, however its answers are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluations import rows, write_split

from rolf.evaluation.malformed import is_malformed
from rolf.variant import Variant

Run = Callable[..., Any]
STEPS = 4
SETTINGS = {"task": "git-dirty-pull/untracked@1", "max_steps": STEPS}
ROTATED = {
    "name": "RotateInterface",
    "entry_point": "rolf_wrappers.rotate_interface:RotateInterface",
    "kwargs": {"styles": ["openai-tools"], "names": ["own"]},
}
CALLED = {"name": "ToolCallAction", "entry_point": "rolf_wrappers.tool_call_action:ToolCallAction", "kwargs": {}}
POLICY = '''
import json


class Speaker:
    """Says a number of things that are no call, and then the same call for ever."""

    def __init__(self, mumbles, form):
        self.mumbles, self.call = mumbles, json.dumps(form)

    def begin(self, start):
        self.step = 0

    def act(self, observation, info):
        self.step += 1
        return "Sure, I will." if self.step <= self.mumbles else self.call
'''
PLAN = {"command": "true"}
CALL = {"tool": "run", "arguments": PLAN}
MESSAGE = {"tool_calls": [{"function": {"name": "run", "arguments": PLAN}}]}


def evaluated(rolf: Run, toys: Path, mumbles: int, form: Any, *more: str, wrappers: Any = ()) -> Any:
    """Evaluate a policy whose first answers are no calls, in a terminal; two attempts."""
    (toys / "speaker.py").write_text(POLICY)
    split = write_split(toys / "one.json", (Variant("termgym:TermEnv-v1", SETTINGS, wrappers=wrappers),))
    words = ["--policy-arg", f"mumbles={mumbles}", "--policy-arg", f"form={json.dumps(form)}"]
    return rolf("eval", "--split", split, "--policy", "speaker:Speaker", *words, "--out", "out", *more)


@pytest.mark.parametrize(
    ("wrappers", "form"),
    [((), PLAN), ((CALLED,), CALL), ((ROTATED,), MESSAGE)],
    ids=["event", "calls", "interface"],
)
def test_what_is_no_call_is_counted(rolf: Run, toys: Path, wrappers: Any, form: Any) -> None:
    """Once, whether the environment reads its own actions, a wrapper of calls does, or one of texts."""
    done = evaluated(rolf, toys, 1, form, wrappers=wrappers)
    assert done.returncode == 0, done.stderr
    assert "invalid  2 of 8 steps (MALFORMED), 0 episodes without any valid call" in done.stdout
    assert "warning" not in done.stderr
    assert [row["malformed"] for row in rows(toys / "out")] == [1, 1]


def test_a_policy_that_is_never_understood_is_warned_of(rolf: Run, toys: Path) -> None:
    """Its score alone is that of one which does nothing."""
    for kept in (0, 2):  # a run that finds everything there says the same
        done = evaluated(rolf, toys, STEPS, PLAN)
        assert "invalid  8 of 8 steps (MALFORMED), 2 episodes without any valid call" in done.stdout
        assert "warning: 8 of 8 steps were no valid call, so the score says whether the policy is" in done.stderr
        assert "zcat out/trajectories/00000-0.jsonl.gz" in done.stderr
        assert (f"{kept} of 2 episodes are there already" in done.stderr) is bool(kept)
    told = json.loads(evaluated(rolf, toys, STEPS, PLAN, "--json").stdout)
    assert told["malformed"] == {"steps": 8, "of": 8, "episodes": 2}


def test_who_is_understood_hears_nothing_of_it(rolf: Run, toys: Path) -> None:
    """And the rows are what they were before anybody counted."""
    done = evaluated(rolf, toys, 0, PLAN)
    assert "invalid" not in done.stdout
    assert "warning" not in done.stderr
    assert all("malformed" not in row for row in rows(toys / "out"))


@pytest.mark.parametrize(
    ("info", "malformed"),
    [
        ({}, False),
        ({"event": "DONE", "interface": {"malformed": ""}, "call": {"malformed": ""}}, False),
        ({"interface": "malformed", "call": ["malformed"], "event": {"MALFORMED": 1}}, False),
        ({"event": "MALFORMED"}, True),
        ({"interface": {"malformed": "no call"}}, True),
        ({"call": {"malformed": "no call"}}, True),
    ],
)
def test_the_info_says_it_whatever_else_lies_there(info: dict[str, Any], malformed: bool) -> None:
    """It is read from strangers' trajectories too."""
    assert is_malformed(info) is malformed
