"""Through an interface both environments keep all that the public checks ask of an environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import pytest

from rolf.checks import State, check_all
from rolf_wrappers import RotateInterface

LINE_ACTIONS = ('{"wait": true}', '{"order": {"part": "jam"}}', '{"throttle": {"station": 2}}', "What shall I do?")
TERMINAL_ACTIONS = ('{"command": "cd /tmp; ls -AF; false"}', '{"command": "git -C ~ status"}', "What shall I do?")


def tried(make: Callable[[], gym.Env[Any, Any]], actions: Sequence[str], **settings: Any) -> gym.Env[Any, Any]:
    """Return an environment through one style, with answers in it that the checks try: sampled text is never a call."""
    env = RotateInterface(make(), styles=["json-plan"], names=["own"], **settings)
    env.metadata = {**env.metadata, "actions": list(actions)}
    return env


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: tried(lambda: gym.make("linegym:LineEnv-v1", horizon=6), LINE_ACTIONS), id="line"),
        pytest.param(
            lambda: tried(lambda: gym.make("linegym:LineEnv-v1", horizon=6), LINE_ACTIONS, every="step", history=True),
            id="line, at every step",
        ),
        pytest.param(
            lambda: tried(lambda: gym.make("termgym:TermEnv-v1", task="git-dirty-pull", max_steps=4), TERMINAL_ACTIONS),
            id="terminal",
        ),
    ],
)
def test_an_environment_keeps_through_an_interface_what_it_keeps_without(make: Callable[[], Any]) -> None:
    report = check_all(make, steps=8, processes=1)
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 12, str(report)
