"""The environments here, Gymnasium's CartPole, and what is wrapped, pass all checks that apply to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TimeLimit

import linegym
import rolf_wrappers
from rolf.checks import (
    CHECKS,
    Report,
    State,
    check_all,
    check_restore,
    check_spec,
    check_vector_equals_single,
)
from rolf.variant import Variant

ALONE = {"reward_terms", "restore", "vector_equals_single", "spec", "step_before_reset", "step_after_end"}
"""What has nothing to say of vector environments, and `step_independence`."""
PROCESSES = ("determinism", "no_leaks")
"""Checks that start fresh interpreters, which takes most of the time; once for each environment is enough."""


def assert_passes(report: Report, inapplicable: set[str]) -> None:
    """All checks apply but these, and pass."""
    states = {result.check: result.state for result in report.results}
    assert {check for check, state in states.items() if state is State.INAPPLICABLE} == inapplicable, str(report)
    assert set(states.values()) <= {State.PASSED, State.INAPPLICABLE}, str(report)


def test_cartpole_passes() -> None:
    assert_passes(check_all("CartPole-v1", processes=1, steps=60), {"reward_terms", "restore"})


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync"])
def test_cartpole_in_rows_passes(mode: str) -> None:
    """Its own vector form draws all rows from one generator, so episodes that end early change the next."""

    def rows() -> Any:
        return gym.make_vec("CartPole-v1", num_envs=3, vectorization_mode=mode)

    report = check_all(rows, processes=0, skip=["no_leaks"])
    assert_passes(report, ALONE | {"step_independence"})


def test_the_terminal_passes_with_a_task() -> None:
    env = ("termgym:TermEnv-v1", {"task": "git-dirty-pull", "max_steps": 6})
    assert_passes(check_all(env, steps=6, processes=1), set())


def test_the_terminal_passes_as_a_free_shell() -> None:
    report = check_all("termgym:TermEnv-v1", steps=10, processes=0, skip=["no_leaks"])
    assert_passes(report, {"step_after_end"})


def test_the_line_passes() -> None:
    env = ("linegym:LineEnv-v1", {"variant": "serial/thermocouple/profinet/bearing+sensor:3+load:2", "horizon": 24})
    assert_passes(check_all(env, processes=1), {"reward_terms"})


def test_the_line_passes_with_other_spaces() -> None:
    settings = {"action": "multi", "observation": "dict", "horizon": 40, "ticks_per_step": 2}
    report = check_all(("linegym:LineEnv-v1", settings), processes=0, skip=["no_leaks"])
    assert_passes(report, {"reward_terms"})


def test_a_line_with_parameters_of_its_own_is_the_same_in_rows() -> None:
    """Its variant has no id that says all of it, so rows are made from the variant itself."""
    template = linegym.template("serial/thermocouple/profinet/bearing")
    disturbed = linegym.Variant(template, sensor=linegym.SensorPerturbation(noise=2.0))
    assert "custom-" in disturbed.id
    check_vector_equals_single(("linegym:LineEnv-v1", {"variant": disturbed, "horizon": 12}), mode="native")


def noisy_line() -> Any:
    line = gym.make("linegym:LineEnv-v1", horizon=24, disable_env_checker=True)
    stuck = rolf_wrappers.StickObservation(line, {"probability": 0.2})
    return rolf_wrappers.NetworkObservation(stuck, {"latency": 1.5, "to_bad": 0.2})


def drifting_pole() -> Any:
    pole = gym.make("CartPole-v1", disable_env_checker=True, max_episode_steps=20)
    return rolf_wrappers.NetworkAction(rolf_wrappers.DriftObservation(pole, {"rate": 0.1}), {"latency": 1.0})


def counted_shell() -> Any:
    shell = gym.make("termgym:TermEnv-v1", disable_env_checker=True)
    return RecordEpisodeStatistics(TimeLimit(rolf_wrappers.MetricsInfo(shell), 6))


def test_a_wrapped_line_passes() -> None:
    """What a wrapper delays it cannot put back, so it is the line inside that goes back to a moment."""
    assert_passes(check_all(noisy_line, processes=0, skip=["no_leaks"]), {"reward_terms"})


def test_wrapped_cartpole_passes() -> None:
    assert_passes(check_all(drifting_pole, processes=0, skip=["no_leaks"]), {"reward_terms", "restore"})


def test_a_wrapped_shell_passes_but_for_what_is_measured() -> None:
    """Times differ from run to run. MetricsInfo declares so, but for RecordEpisodeStatistics somebody has to."""
    measured = ["info.episode.t"]
    report = check_all(counted_shell, volatile=measured, steps=6, processes=0, skip=["no_leaks"])
    assert_passes(report, set())


def test_a_variant_with_wrappers_passes() -> None:
    wrapper = {
        "name": "StickObservation",
        "entry_point": "rolf_wrappers.stick_observation:StickObservation",
        "kwargs": {"sticking": {"probability": 0.5, "steps": 3}},
    }
    variant = Variant("linegym:LineEnv-v1", {"horizon": 12}, wrappers=(wrapper,))
    report = check_all(variant, processes=0, skip=["no_leaks"])
    assert_passes(report, {"reward_terms"})


def test_gymnasiums_own_wrappers_pass() -> None:
    """They record their arguments; what a plain function makes is made again from its spec."""
    check_spec(lambda: FlattenObservation(gym.make("CartPole-v1", disable_env_checker=True)))


def test_the_line_goes_back_inside_a_wrapper_that_counts() -> None:
    """TimeLimit counts on when the line goes back; it is left out, and so is right."""
    check_restore(lambda: TimeLimit(gym.make("linegym:LineEnv-v1", disable_env_checker=True), 7), steps=20)


@pytest.mark.parametrize("check", sorted(set(CHECKS) - {"no_leaks"}))
def test_a_check_takes_every_form_of_an_environment(check: str) -> None:
    """An id, an id with arguments, a variant and a function are the same environment."""
    forms: list[Callable[[], Any] | Any] = ["CartPole-v1", ("CartPole-v1", {}), Variant("CartPole-v1")]
    if check not in PROCESSES:
        forms.append(lambda: gym.make("CartPole-v1", disable_env_checker=True))
    reports = [check_all(form, only=[check], processes=0, steps=30) for form in forms[1:]]
    assert len({report.results[0].state for report in reports}) == 1
    assert reports[0].passed
