"""What the checks take, and how they say what they found."""

from __future__ import annotations

import functools
import os
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from broken_environments import SOUND, Sound
from gymnasium.vector import AutoresetMode

from rolf.checks import (
    CheckFailed,
    NotApplicable,
    State,
    check_all,
    check_determinism,
    check_no_aliasing,
    check_no_leaks,
    check_restore,
    check_returns,
    check_reward_terms,
    check_seeding,
    check_spaces,
    check_spec,
    check_step_after_end,
    check_step_independence,
    check_vector_equals_single,
)
from rolf.checks.subject import Subject

BUFFER = "broken_environments:OneBuffer-v0"


def found(env: Any, check: Any = check_no_aliasing, **settings: Any) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        check(env, **settings)
    return caught.value


# ---- what is said


def test_names_the_first_difference() -> None:
    """Episode, step and field, and both values: what a person looks for first."""
    failure = found("broken_environments:TermsDoNotSum-v0", check_reward_terms)
    assert failure.check == "check_reward_terms"
    assert failure.place is not None
    assert failure.place == (0, 11, "info.reward_terms")
    assert float(failure.values["reward"]) == pytest.approx(float(failure.values["their sum"]) + 1)
    assert "episode 0, step 11: info.reward_terms" in str(failure)
    assert failure.problem in str(failure)


@pytest.mark.parametrize("terms", [{"move": "far"}, {"move": None}, {"move": float("nan")}, [0.5], 0.5])
def test_terms_that_are_no_numbers_are_a_fault_of_the_environment(terms: Any) -> None:
    """Of the environment, not of the check, which would stop all that come after it."""

    class OddTerms(Sound):
        def step(self, action: Any) -> Any:
            observation, reward, terminated, truncated, info = super().step(action)
            return observation, reward, terminated, truncated, {**info, "reward_terms": terms}

    failure = found(OddTerms, check_reward_terms)
    assert failure.problem == 'info["reward_terms"] must be finite numbers by name'
    assert failure.values["terms"] == repr(terms)


@pytest.mark.parametrize("reward", ["much", None, float("nan")])
def test_a_reward_that_is_no_number_is_no_fault_of_its_terms(reward: Any) -> None:
    class OddReward(Sound):
        def step(self, action: Any) -> Any:
            observation, _, *rest = super().step(action)
            return observation, reward, *rest

    check_reward_terms(OddReward)
    assert found(OddReward, check_returns).place.field == "reward"


def test_names_both_moments_of_what_was_overwritten() -> None:
    failure = found(BUFFER)
    assert failure.place == (0, -1, "observation[0]")
    assert list(failure.values) == ["returned", "after step 0"]
    assert "episode 0, reset: observation[0]" in str(failure)


def test_an_element_of_a_large_array_is_named() -> None:
    class Picture(gym.Env[Any, int]):
        observation_space = gym.spaces.Box(0, 255, (80, 80, 3), np.uint8)
        action_space = gym.spaces.Discrete(2)
        made = 0

        def reset(self, **_: Any) -> Any:
            type(self).made += 1
            seen = np.zeros((80, 80, 3), np.uint8)
            seen[7, 9, 2] = self.made
            return seen, {}

        def step(self, action: int) -> Any:
            return np.zeros((80, 80, 3), np.uint8), 0.0, False, False, {}

    failure = found(Picture, check_determinism, processes=0)
    assert failure.place is not None
    assert failure.place.field == "observation[7][9][2]"
    assert failure.values["first run"] == "1" != failure.values["second run"]


def test_the_program_runs_in_a_fresh_interpreter(tmp_path: Any) -> None:
    """A user pastes it into a file."""
    failure = found("broken_environments:ForgetsGenerator-v0", check_restore)
    script = tmp_path / "again.py"
    script.write_text(failure.reproduction)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("AssertionError: observation[0]: ")


def test_a_failure_can_be_sent_to_another_process() -> None:
    failure = found(BUFFER)
    assert str(pickle.loads(pickle.dumps(failure))) == str(failure)


def test_an_error_of_the_environment_is_a_failure_with_its_cause() -> None:
    class Falls(Sound):
        def step(self, action: Any) -> Any:
            if self.tick == 3:
                raise OSError("disk full")
            return super().step(action)

    failure = found(Falls, check_seeding)
    assert "step raised OSError: disk full" in failure.problem
    assert failure.place == (0, 3, "")
    assert isinstance(failure.__cause__, OSError)


def test_a_wrong_number_of_values_is_a_failure() -> None:
    class Old(Sound):
        """As Gym had it before 0.26."""

        def step(self, action: Any) -> Any:
            observation, reward, terminated, _, info = super().step(action)
            return observation, reward, terminated, info

    failure = found(Old, check_spaces)
    assert failure.problem == "step must return (observation, reward, terminated, truncated, info)"


# ---- what is taken


@pytest.mark.parametrize(
    ("env", "code"),
    [
        (SOUND, f"gymnasium.make({SOUND!r}, disable_env_checker=True)"),
        ((SOUND, {"stride": 0.2}), f"gymnasium.make({SOUND!r}, stride=0.2, disable_env_checker=True)"),
        (Sound, "Sound()"),
        (functools.partial(Sound, stride=0.2), "Sound(stride=0.2)"),
    ],
)
def test_the_program_makes_what_was_checked(env: Any, code: str) -> None:
    subject = Subject.of(env)
    assert subject.code.expression == code
    scope: dict[str, Any] = {}
    exec("\n".join([*subject.code.imports, f"env = {code}"]), scope)
    assert scope["env"].unwrapped.stride == subject.make().unwrapped.stride


def test_what_cannot_be_written_down_is_told() -> None:
    code = Subject.of((SOUND, {"stride": 0.2, "by": Sound})).code
    assert code.expression == f"gymnasium.make({SOUND!r}, stride=0.2, by=..., disable_env_checker=True)"
    assert code.imports[1] == "# by: what was given is <class 'broken_environments.Sound'>"


def test_a_function_without_a_name_is_told_by_its_place() -> None:
    subject = Subject.of(lambda: Sound())
    assert subject.code.expression == "make_env()"
    assert subject.code.imports[0].startswith("# make_env: the function of ")
    assert "test_checks.py, line " in subject.code.imports[0]


@pytest.mark.parametrize("env", [Sound(), 3, ("CartPole-v1",), ("CartPole-v1", [])])
def test_refuses_what_cannot_be_made_again(env: Any) -> None:
    """One environment is not enough: what differs between two fresh ones is what most checks are about."""
    with pytest.raises(TypeError, match=r"give an id, \(id, kwargs\), a .*Variant, or a function"):
        check_seeding(env)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"seeds": []}, "seeds=\\[\\] is not allowed"),
        ({"seeds": 3}, "seeds=3 is not allowed"),
        ({"seeds": [-1]}, "whole numbers from 0"),
        ({"steps": 0}, "steps=0 is not allowed"),
        ({"actions": []}, "actions=\\[\\] is not allowed"),
        ({"actions": 7}, "give a function, some actions, or None"),
    ],
)
def test_refuses_settings_that_check_nothing(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        check_seeding(SOUND, **settings)


@pytest.mark.parametrize("settings", [{"actions": "left"}, {"volatile": "info.time"}])
def test_refuses_one_string_for_several(settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="put it into a list"):
        check_seeding(SOUND, **settings)


@pytest.mark.parametrize(
    ("env_id", "kind", "told"),
    [
        ("CartPoll-v1", gym.error.NameNotFound, "Did you mean: `CartPole`"),
        ("Nowhere-v0", gym.error.NameNotFound, "name its module too: MODULE:Nowhere-v0"),
        ("json:Nowhere-v0", gym.error.NameNotFound, "importing 'json' registers no 'Nowhere-v0'"),
        (
            "no_such.place:Nowhere-v0",
            ModuleNotFoundError,
            "No module named 'no_such', which is to register 'no_such.pl",
        ),
    ],
)
def test_an_unknown_environment_is_an_error_that_says_what_is_missing(
    env_id: str, kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told):
        check_all(env_id)


def test_what_a_module_itself_lacks_is_told_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The id is right then, and its package is there."""
    (tmp_path / "wants_more.py").write_text("import no_such_thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_thing'$"):
        check_all("wants_more:Nowhere-v0")


# ---- how it acts


class Listener(Sound):
    """Writes down what it is asked to do."""

    heard: list[list[Any]]

    def reset(self, **settings: Any) -> Any:
        type(self).heard.append([])
        return super().reset(**settings)

    def step(self, action: Any) -> Any:
        self.heard[-1].append(action)
        return super().step(action)


@pytest.fixture
def listener() -> type[Listener]:
    return type("Listener", (Listener,), {"heard": []})


def test_a_sequence_of_actions_is_played_over_again(listener: type[Listener]) -> None:
    check_spec_free = functools.partial(check_step_independence, seeds=[0], steps=5)
    check_spec_free(listener, actions=[2, 0, 1])
    assert listener.heard[0] == [2, 0, 1, 2, 0]
    assert listener.heard[2:] == [[2, 0], [2, 0, 1, 2, 0]]  # episode 0 cut short, then episode 1 as it was


def test_a_function_acts_on_what_it_sees(listener: type[Listener]) -> None:
    def act(generator: np.random.Generator, observation: Any, info: Any) -> int:
        assert observation.shape == (3,)
        return info["tick"] % 3 if "tick" in info else int(generator.integers(3))

    check_seeding(listener, actions=act, seeds=[0], steps=4)
    assert listener.heard[0] == [0, 1, 2, 0]


def test_samples_keep_to_the_mask() -> None:
    """Few of the 545 actions of a line are possible at a time; to sample the others would check little."""

    class Masked(Sound):
        def reset(self, **settings: Any) -> Any:
            observation, info = super().reset(**settings)
            return observation, {**info, "action_mask": np.array([0, 0, 1], np.int8)}

        def step(self, action: Any) -> Any:
            assert action == 2
            observation, reward, terminated, truncated, info = super().step(action)
            return observation, reward, terminated, truncated, {**info, "action_mask": np.array([0, 0, 1], np.int8)}

    check_spaces(Masked)


def test_actions_worth_trying_are_tried() -> None:
    tried = set()

    class Secret(Sound):
        metadata = {"render_modes": [], "actions": (100, 200)}  # noqa: RUF012 - as Gymnasium declares it

        def step(self, action: Any) -> Any:
            tried.add(int(action))
            return super().step(action % 3)

    check_seeding(Secret)
    assert {100, 200} < tried <= {0, 1, 2, 100, 200}


# ---- what may differ


class Clock(Sound):
    """Tells how often it was made, which is another number every time."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.number = self.made

    def seeded(self, seed: int | None) -> None:
        self.entropy = seed or 0

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated, {**info, "clock": {"made": self.made}}

    def reset(self, **settings: Any) -> Any:
        self.number = 0
        return super().reset(**settings)


def test_what_may_differ_is_not_compared() -> None:
    assert found(Clock, check_determinism, processes=0).place == (0, 0, "info.clock.made")
    check_determinism(Clock, processes=0, volatile=["info.clock.made"])
    check_determinism(Clock, processes=0, volatile=["info.clock"])

    class Declared(Clock):
        metadata = {"render_modes": [], "volatile": ("info.clock",)}  # noqa: RUF012 - as Gymnasium declares it

    check_determinism(Declared, processes=0)


def test_global_generators_are_left_as_they_were() -> None:
    """A check in somebody's script must not change what the script draws."""
    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    check_all(SOUND, processes=0, skip=["no_leaks"])
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]


# ---- what does not apply


@pytest.mark.parametrize(
    ("check", "env", "reason"),
    [
        (check_reward_terms, "CartPole-v1", 'info of no step has "reward_terms"'),
        (check_restore, "CartPole-v1", "has save"),
        (check_spec, Sound, "no spec"),
        (check_restore, lambda: gym.make_vec(SOUND, num_envs=2), "has save"),
        (check_vector_equals_single, lambda: gym.make_vec(SOUND, num_envs=2), "it is a vector environment"),
    ],
)
def test_says_why_it_does_not_apply(check: Any, env: Any, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        check(env)


def test_an_episode_without_an_end_has_no_step_after_it() -> None:
    with pytest.raises(NotApplicable, match="no episode ends within 11 steps; raise steps"):
        check_step_after_end(SOUND, steps=11)
    check_step_after_end(SOUND, steps=12)


def test_what_cannot_leave_the_process_is_not_counted_elsewhere() -> None:
    lock = threading.Lock()
    with pytest.raises(NotApplicable, match="cannot be made in another process"):
        check_no_leaks(lambda: (lock, Sound())[1])


def test_rows_that_cannot_be_seeded_apart_are_compared_in_gymnasiums_own_way() -> None:
    """CartPole's own vector form draws all rows from one generator."""
    with pytest.raises(NotApplicable, match="cannot be seeded apart"):
        check_vector_equals_single("CartPole-v1", mode="native")
    check_vector_equals_single("CartPole-v1")


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_rows_begin_again_in_every_way(mode: AutoresetMode) -> None:
    """Twelve steps are an episode, so each row begins twice; one that begins as before is caught."""
    settings = {"autoreset_mode": mode.value}
    check_vector_equals_single(SOUND, mode="native", vector_kwargs=settings)
    env_id = "broken_environments:RowsRepeat-v0"
    failure = found(env_id, check_vector_equals_single, mode="native", vector_kwargs=settings)
    assert failure.place is not None
    assert (failure.place.episode, failure.place.step) == (1, -1)
    with pytest.raises(AssertionError):
        exec(failure.reproduction, {})
    exec(failure.reproduction.replace(env_id, SOUND), {})


def test_rows_in_processes_are_compared_too() -> None:
    check_vector_equals_single("CartPole-v1", mode="async", rows=2, seeds=[0])


def test_other_arguments_of_the_vector_form_are_asked_for() -> None:
    with pytest.raises(NotApplicable, match="give vector_kwargs"):
        check_vector_equals_single((SOUND, {"stride": 0.1}), mode="native")
    check_vector_equals_single((SOUND, {"stride": 0.1}), mode="native", vector_kwargs={})
    with pytest.raises(ValueError, match="mode='fast' is not known"):
        check_vector_equals_single(SOUND, mode="fast")


# ---- all of them


def test_a_report_tells_all_results() -> None:
    told = []
    report = check_all(BUFFER, only=["no_aliasing", "restore", "seeding"], tell=told.append)
    assert list(report.results) == told
    assert [result.check for result in told] == ["seeding", "no_aliasing", "restore"]
    assert [result.state for result in told] == [State.PASSED, State.FAILED, State.PASSED]
    assert not report.passed
    lines = str(report).splitlines()
    assert lines[0] == "ok      seeding"
    assert lines[1].startswith("FAILED  no_aliasing           what an earlier call returned was changed")
    assert lines[-1] == f"{BUFFER}: 2 passed, 1 failed"


def test_a_report_raises_what_failed() -> None:
    check_all(SOUND, only=["seeding"]).require()
    with pytest.raises(CheckFailed, match="check_no_aliasing"):
        check_all(BUFFER, only=["no_aliasing", "seeding"]).require()
    with pytest.raises(ExceptionGroup, match="fails 2 of 2 checks") as caught:
        check_all("broken_environments:WrongType-v0", only=["spaces", "vector_equals_single"]).require()
    assert [error.check for error in caught.value.exceptions] == [  # type: ignore[attr-defined]
        "check_spaces",
        "check_vector_equals_single",
    ]


@pytest.mark.parametrize("name", ["only", "skip"])
def test_a_check_that_is_none_is_told(name: str) -> None:
    with pytest.raises(ValueError, match="there is no check 'seedling'; did you mean 'seeding'"):
        check_all(SOUND, **{name: ["seedling"]})  # type: ignore[arg-type]


def test_a_setting_that_no_check_takes_is_told() -> None:
    with pytest.raises(TypeError, match="no check takes 'stps'; did you mean 'steps'"):
        check_all(SOUND, stps=3)
