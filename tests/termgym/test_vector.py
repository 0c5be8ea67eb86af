"""TermVectorEnv: many shells at once, each row what a single environment gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, VectorEnv

from termgym import Event, keys, plan, submit
from termgym.batching import batch_infos
from termgym.tasks.task import Task
from termgym.vector import TermVectorEnv

MODES = list(AutoresetMode)
LONG_AGO = Task(id="long@0", instruction="take your time", max_steps=1000)


@pytest.fixture
def make() -> Iterator[Callable[..., VectorEnv[Any, Any, Any]]]:
    made: list[VectorEnv[Any, Any, Any]] = []

    def maker(num_envs: int, **settings: Any) -> VectorEnv[Any, Any, Any]:
        made.append(gym.make_vec("termgym:TermEnv-v1", num_envs=num_envs, **settings))
        return made[-1]

    yield maker
    for each in made:
        each.close()


def without_sandbox(infos: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in infos.items() if not key.endswith("sandbox")}


SCRIPT = [
    [plan("echo a; cd /tmp"), plan("false"), "malformed"],
    [plan("pwd"), plan("cat"), plan("exit 4")],
    [plan("echo x > ~/f"), keys("hi Enter"), submit()],
    [plan("cat ~/f"), keys("C-d"), plan("echo after the end")],
    [submit(), plan("echo b"), plan("ls")],
    [plan("pwd"), plan("true"), plan("true")],
]
"""Three rows that do different things and end at different times."""


@pytest.mark.parametrize("mode", MODES)
def test_equals_single_environments_row_by_row(make: Callable[..., Any], mode: AutoresetMode) -> None:
    """The rows of Gymnasium's own SyncVectorEnv are single environments; ours must give the same, in every mode."""
    settings = {"task": "config-edit", "max_steps": 4}
    ours = make(3, autoreset_mode=mode, **settings)
    theirs = make(3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **settings)
    first, second = ours.reset(seed=7), theirs.reset(seed=7)
    assert data_equivalence(first[0], second[0], exact=True)
    assert data_equivalence(without_sandbox(first[1]), without_sandbox(second[1]), exact=True)
    ended = np.zeros(3, dtype=bool)
    for number, actions in enumerate(SCRIPT):
        if mode is AutoresetMode.DISABLED and ended.any():
            for env in (ours, theirs):
                env.reset(options={"reset_mask": ended.copy()})
        one, two = ours.step(actions), theirs.step(tuple(actions))
        for index in range(4):
            assert data_equivalence(one[index], two[index], exact=True), (number, index, one[index], two[index])
        assert data_equivalence(without_sandbox(one[4]), without_sandbox(two[4]), exact=True), (number, one[4], two[4])
        ended = np.logical_or(one[2], one[3])
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert one[0] in ours.observation_space


def test_a_list_gives_each_row_its_task(make: Callable[..., Any]) -> None:
    env = make(3, task=["config-edit", None, LONG_AGO])
    observation, infos = env.reset(seed=0)
    assert infos["task"][0].startswith("config-edit/")
    assert list(infos["task"][1:]) == ["blank", "long@0"]
    assert observation["instruction"][2] == "take your time"


def test_rows_do_not_see_each_other(make: Callable[..., Any]) -> None:
    env = make(2)
    env.reset(seed=0)
    env.step([plan("X=0; echo zero > ~/f"), plan("X=1; echo one > ~/f")])
    observation, *_ = env.step([plan("echo $X $(cat ~/f)")] * 2)
    assert observation["stdout"] == ("0 zero\n", "1 one\n")


def test_commands_run_at_the_same_time(make: Callable[..., Any]) -> None:
    env = make(8)
    env.reset(seed=0)
    began = time.monotonic()
    env.step([plan("sleep 0.5")] * 8)
    assert time.monotonic() - began < 2.0  # one after another would take 4


def test_a_slow_row_does_not_spoil_the_others(make: Callable[..., Any]) -> None:
    """What background jobs of finished rows write must not make the loop spin, nor be lost."""
    env = make(2)
    env.reset(seed=0)
    noisy = "{ while [ ! -e /tmp/stop ]; do echo noise; done; } & true"
    used = time.process_time()
    observation, *_ = env.step([plan(noisy), plan("sleep 1; echo slow")])
    used = time.process_time() - used
    assert observation["stdout"][1] == "slow\n"
    assert used < 0.15  # a loop that spins takes all it gets
    *_, infos = env.step([plan("touch /tmp/stop"), plan("true")])
    assert "noise" in infos["late_output"][0]


def test_every_row_recovers_by_itself(make: Callable[..., Any]) -> None:
    env = make(4)
    env.reset(seed=0)
    observation, *_ = env.step([plan("exit 1"), plan("kill -9 $$"), plan("read x"), plan("exec cat")])
    expected = [Event.SHELL_EXITED, Event.KILLED, Event.WAITING_INPUT, Event.SHELL_REPLACED]
    assert observation["event"].tolist() == expected
    for _ in range(3):
        observation, *_ = env.step([plan("echo ok")] * 4)
        assert observation["stdout"] == ("ok\n",) * 4


def test_a_failed_machine_masks_its_row_alone(make: Callable[..., Any]) -> None:
    env = make(2, backend="local-unsafe")
    env.reset(seed=0)
    sandbox = env.envs[0].episode._sandbox
    sandbox._supervisor._process.kill()
    sandbox._supervisor._process.wait()
    observation, rewards, _, truncated, infos = env.step([plan("exit 1"), plan("echo fine")])
    assert truncated.tolist() == [True, False]
    assert infos["failure_kind"].tolist() == ["SandboxLost", None]
    assert infos["masked"].tolist() == [True, False]
    assert observation["stdout"][1] == "fine\n"
    assert rewards.tolist() == [0.0, 0.0]
    env.step([plan("ls")] * 2)  # the row is reset on a new machine
    observation, *_ = env.step([plan("echo back")] * 2)
    assert observation["stdout"] == ("back\n", "back\n")


def test_disabled_mode_wants_a_reset(make: Callable[..., Any]) -> None:
    env = make(2, autoreset_mode="Disabled")
    env.reset(seed=0)
    env.step([submit(), plan("true")])
    with pytest.raises(gym.error.ResetNeeded, match=r"rows \[0\]"):
        env.step([plan("true")] * 2)
    observation, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert observation["step"].ravel().tolist() == [0, 1]
    env.step([plan("true")] * 2)


def test_calls_reach_the_rows(make: Callable[..., Any]) -> None:
    env = make(2, render_mode="ansi")
    env.reset(seed=5)
    env.step([plan("echo hello"), plan("touch ~/new")])
    assert [len(diff) for diff in env.call("diff")] == [0, 1]
    assert all(metrics["wall_s"] > 0 for metrics in env.get_attr("metrics"))
    assert "hello" in env.render()[0]
    assert env.np_random_seed == (5, 6)
    assert len(env.np_random) == 2


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda env: env.step([plan("ls")]), "got 1 actions for 2 rows"),
        (lambda env: env.reset(seed=[1]), "got 1 seeds for 2 rows"),
        (lambda env: env.reset(options={"reset_mask": [True, False]}), "array of 2 booleans"),
        (lambda env: env.reset(options={"reset_mask": np.zeros(2, dtype=bool)}), "one True at least"),
        (lambda _: TermVectorEnv(0), "num_envs=0"),
        (lambda _: TermVectorEnv(2, task=["config-edit"]), "1 tasks for num_envs=2 rows"),
        (lambda _: TermVectorEnv(1, autoreset_mode="Later"), "Later"),
    ],
)
def test_bad_calls_say_what_is_allowed(make: Callable[..., Any], call: Callable[[Any], Any], told: str) -> None:
    env = make(2)
    with pytest.raises(ValueError, match=told):
        call(env)


def test_a_partial_reset_cannot_come_first(make: Callable[..., Any]) -> None:
    env = make(2)
    with pytest.raises(gym.error.ResetNeeded, match="never been reset"):
        env.reset(options={"reset_mask": np.array([True, False])})


def test_gymnasiums_vector_wrappers_work(make: Callable[..., Any]) -> None:
    env = gym.wrappers.vector.RecordEpisodeStatistics(make(2, max_steps=2))
    env.reset(seed=0)
    env.step([plan("false"), plan("true")])
    *_, infos = env.step([plan("false"), plan("true")])
    assert infos["episode"]["r"].tolist() == pytest.approx([-0.2, 0.0])


def test_gymnasiums_worker_processes_work() -> None:
    """AsyncVectorEnv: a process a row, observations through shared memory."""
    env = AsyncVectorEnv([lambda: gym.make("termgym:TermEnv-v1") for _ in range(2)])
    try:
        env.reset(seed=0)
        observation, *_ = env.step((plan("echo ☕; cd /tmp"), plan("exit 2")))
        assert observation["stdout"] == ("☕\n", "")
        assert observation["cwd"] == ("/tmp", "/home/agent")
        assert observation["event"].tolist() == [Event.DONE, Event.SHELL_EXITED]
        assert observation in env.observation_space
    finally:
        env.close()


def test_close_can_be_repeated(make: Callable[..., Any]) -> None:
    env = make(2)
    env.reset(seed=0)
    env.close()
    env.close()
    assert env.closed


@pytest.mark.parametrize(
    "infos",
    [
        [],
        [(0, {"a": 1, "b": True, "c": 0.5, "d": "text", "e": None, "f": (1, 2), "g": {"x": 1.0}, "h": np.arange(3)})],
        [(0, {"a": 1}), (1, {"a": 2, "b": "x"}), (2, {"b": "y", "n": {"k": 1}})],
        [(1, {"final_obs": {"o": 1}, "final_info": {"s": True}}), (1, {"s": False}), (2, {"s": True})],
        [(0, {"n": {}}), (1, {"n": {}})],
    ],
)
def test_infos_are_batched_as_gymnasium_does(infos: list[tuple[int, dict[str, Any]]]) -> None:
    expected: dict[str, Any] = {}
    reference = VectorEnv[Any, Any, Any]()
    reference.num_envs = 3
    for row, info in infos:
        expected = reference._add_info(expected, info, row)
    assert data_equivalence(batch_infos(3, infos), expected, exact=True)


@pytest.mark.slow
def test_forty_environments_outlive_their_episodes() -> None:
    """Past two dozen sandboxes the supervisor has more descriptors than the shell's own numbers leave room below."""
    envs = gym.make_vec("termgym:TermEnv-v1", num_envs=40, task=None, max_steps=2)
    try:
        envs.reset(seed=0)
        for _ in range(7):
            observation, *_ = envs.step((plan("echo $((6 * 7))"),) * 40)
        assert set(observation["stdout"]) <= {"42\n", ""}
        assert "42\n" in observation["stdout"]
    finally:
        envs.close()


def test_one_action_for_all_rows_is_refused() -> None:
    """Its characters would be counted as actions."""
    envs = gym.make_vec("termgym:TermEnv-v1", num_envs=2, task=None)
    try:
        with pytest.raises(TypeError, match="for 2 rows; give a sequence of actions"):
            envs.step(plan("ls"))
    finally:
        envs.close()
