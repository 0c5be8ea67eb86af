"""TermEnv through the real sandbox: every event, every end, and what Gymnasium asks of an environment."""

from __future__ import annotations

import io
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import termgym
from termgym import Event, keys, plan, submit
from termgym.checks import FileExists, TextInFile, VariableSet
from termgym.env import TermEnv
from termgym.episode import Episode
from termgym.errors import SandboxError, TaskError, UnknownTask
from termgym.options import Options
from termgym.plan import ActionPlan
from termgym.render.picture import HEIGHT, WIDTH
from termgym.sandbox.local import LocalSandbox
from termgym.session.session import Session
from termgym.tasks.task import FileSpec, Task

TASK = Task(
    id="test/greet@0",
    instruction="Put the word hello into ~/greeting.",
    goal=(FileExists(path="~/greeting"), TextInFile(path="~/greeting", pattern="hello")),
    files=(FileSpec("/home/agent/note", b"a note\n"),),
    allowed=("/home/agent/greeting",),
    oracle=(ActionPlan(command="echo hello > ~/greeting"),),
    max_steps=20,
)


@pytest.fixture(scope="module")
def shared() -> Iterator[TermEnv]:
    env = TermEnv()
    yield env
    env.close()


@pytest.fixture
def env(shared: TermEnv) -> TermEnv:
    """A free shell, fresh."""
    shared.reset(seed=0)
    return shared


@pytest.fixture
def make() -> Iterator[Callable[..., TermEnv]]:
    made: list[TermEnv] = []

    def maker(*args: Any, **settings: Any) -> TermEnv:
        made.append(TermEnv(*args, **settings))
        return made[-1]

    yield maker
    for each in made:
        each.close()


def run(env: TermEnv, command: str, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take a step; return its observation and info."""
    observation, _, _, _, info = env.step(plan(command, **fields))
    return observation, info


# ---- the eleven events


def test_done(env: TermEnv) -> None:
    observation, info = run(env, "echo out; echo err >&2; cd /tmp")
    assert observation["event"] == Event.DONE
    assert observation["exit_code"] == 0
    assert (observation["stdout"], observation["stderr"], observation["cwd"]) == ("out\n", "err\n", "/tmp")
    assert observation["step"] == 1
    assert (info["event"], info["success"]) == ("DONE", False)  # without a goal there is no success


def test_nonzero(env: TermEnv) -> None:
    observation, _ = run(env, "(exit 42)")
    assert (observation["event"], observation["exit_code"]) == (Event.NONZERO, 42)


SURROGATES = ['{"command": "\\ud800"}', '{"command": "\ud800"}', '{"keys": "\\udfff"}']
MALFORMED = [*SURROGATES, "", "ls", "touch /tmp/x", '{"command": 5}', '{"command":"ls","timeout":NaN}', "☕\x00"]


@pytest.mark.parametrize("text", MALFORMED, ids=ascii)
def test_malformed_text_never_reaches_the_shell(env: TermEnv, text: str) -> None:
    observation, reward, terminated, truncated, info = env.step(text)
    assert (observation["event"], observation["exit_code"]) == (Event.MALFORMED, -1)
    assert observation["stderr"]
    assert reward == -0.1
    assert (terminated, truncated) == (False, False)
    assert env.diff() == ()
    assert info["reward_terms"]["plan_quality"] == -0.1


def test_timeout_returns_what_there_was(env: TermEnv) -> None:
    observation, _ = run(env, "echo before; while :; do :; done", timeout=0.3)
    assert (observation["event"], observation["stdout"]) == (Event.TIMEOUT, "before\n")
    assert run(env, "echo after")[0]["stdout"] == "after\n"


def test_waiting_input_takes_keys(env: TermEnv) -> None:
    observation, _ = run(env, "read -p 'name? ' name; echo got $name")
    assert (observation["event"], observation["exit_code"]) == (Event.WAITING_INPUT, -1)
    assert "name?" in observation["stdout"] + observation["stderr"]
    observation, *_ = env.step(keys("Ada Enter"))
    assert (observation["event"], observation["exit_code"]) == (Event.DONE, 0)
    assert "got Ada\n" in observation["stdout"]


def test_a_new_command_ends_what_waits(env: TermEnv) -> None:
    run(env, "X=kept; cat")
    observation, _ = run(env, "echo $X")
    assert (observation["event"], observation["stdout"]) == (Event.DONE, "kept\n")


def test_shell_exited_leaves_files_and_a_new_shell(env: TermEnv) -> None:
    observation, info = run(env, "X=lost; echo kept > ~/f; cd /tmp; exit 3")
    assert (observation["event"], observation["exit_code"]) == (Event.SHELL_EXITED, 3)
    assert info["respawned"] is True
    assert observation["cwd"] == "/home/agent"
    observation, info = run(env, 'pwd; cat f; echo "[$X]"')
    assert observation["stdout"] == "/home/agent\nkept\n[]\n"
    assert info["respawned"] is False


def test_shell_replaced(env: TermEnv) -> None:
    observation, info = run(env, "exec cat")
    assert observation["event"] == Event.SHELL_REPLACED
    assert info["respawned"] is True
    assert run(env, "echo ok")[0]["stdout"] == "ok\n"


def test_killed(env: TermEnv) -> None:
    observation, info = run(env, "kill -9 $$")
    assert (observation["event"], observation["exit_code"]) == (Event.KILLED, 137)
    assert info["respawned"] is True


def test_oom(make: Callable[..., TermEnv]) -> None:
    """The kernel, not the command, ended it; an agent must be able to tell."""
    env = make(limits={"memory_bytes": 64 << 20})
    _, info = env.reset(seed=0)
    if not info["sandbox"]["limits"]["memory"].startswith("cgroup"):
        pytest.skip(f"nothing is killed for memory here: {info['sandbox']['missing']['limit memory']}")
    observation, _ = run(env, "head -c 300M /dev/zero | tail >/dev/null; true")
    assert observation["event"] == Event.OOM
    assert env.metrics["oom_kills"] > 0


def test_rejected_keys(env: TermEnv) -> None:
    observation, reward, *_ = env.step(keys("q"))
    assert observation["event"] == Event.REJECTED
    assert "nothing to type at" in observation["stderr"]
    assert reward == -0.1


def test_keys_that_are_none_are_rejected_and_the_program_still_waits(env: TermEnv) -> None:
    run(env, "cat")
    observation, *_ = env.step(keys("Ctrl-D"))
    assert observation["event"] == Event.REJECTED
    assert env.step(keys("C-d"))[0]["event"] == Event.DONE


def test_a_pattern_that_is_none_is_told(env: TermEnv) -> None:
    """Whatever an agent writes ends in an event, never in an exception of the environment."""
    for pattern in ("(", r"\p{Lu}(?|a|b)", "a" * 10_000):
        dialogue = [{"expect": pattern, "send": "x"}]
        observation, *_ = env.step(json.dumps({"command": "read x", "dialogue": dialogue}))
        assert observation["event"] == Event.MALFORMED
    assert run(env, "echo ok")[0]["stdout"] == "ok\n"


def test_a_hostile_pattern_does_not_hang(env: TermEnv) -> None:
    ask = 'python3 -c \'print("a" * 40, end="", flush=True); input()\''
    began = time.monotonic()
    env.step(plan(ask, dialogue=[("(a|aa)+b", "x\n")], timeout=2))
    assert time.monotonic() - began < 30
    assert run(env, "echo ok")[0]["stdout"] == "ok\n"


def test_not_reset(make: Callable[..., TermEnv]) -> None:
    """`step` with no episode does nothing, says so, and tells a training loop to reset."""
    env = make()
    observation, reward, terminated, truncated, info = env.step(plan("touch /tmp/x"))
    assert (observation["event"], reward, terminated, truncated) == (Event.NOT_RESET, 0.0, False, True)
    assert info["masked"] is True
    env.reset(seed=0)
    env.step(submit())
    assert env.step(plan("ls"))[0]["event"] == Event.NOT_RESET


# ---- actions


def test_dialogue_answers_a_program_that_asks(env: TermEnv) -> None:
    script = "read -p 'user: ' u; read -s -p 'password: ' p; echo; echo $u/$p"
    observation, _ = run(env, script, dialogue=[("user:", "ada\n"), ("password:", "secret\n")])
    assert observation["event"] == Event.DONE
    assert "ada/secret\n" in observation["stdout"]


def test_validation_steps_are_told_and_paid(env: TermEnv) -> None:
    good = [{"type": "file_exists", "path": "made"}, {"type": "output", "pattern": "^done$"}]
    _, reward, *_, info = env.step(plan("touch made; echo done", validation_steps=good))
    assert [(check["of"], check["passed"]) for check in info["checks"]] == [("plan", True)] * 2
    assert reward == 0.0
    _, worse, *_, info = env.step(plan("true", validation_steps=[{"type": "file_exists", "path": "nope"}]))
    assert info["checks"][0]["passed"] is False
    assert worse == info["reward_terms"]["plan_quality"] == -0.05


def test_output_over_the_limit_keeps_head_and_tail(make: Callable[..., TermEnv]) -> None:
    env = make(output_limit=1024)
    env.reset(seed=0)
    observation, info = run(env, "seq 100000")
    assert info["output_truncated"] is True
    assert observation["stdout"].startswith("1\n2\n")
    assert observation["stdout"].endswith("99999\n100000\n")
    assert "bytes left out" in observation["stdout"]
    assert observation in env.observation_space


def test_binary_output_is_text(env: TermEnv) -> None:
    observation, _ = run(env, r"printf '\xff\xfe\x00a\xe2\x98\x95'")
    assert observation["stdout"] == "\ufffd\ufffd\x00a☕"
    assert observation in env.observation_space


def test_a_directory_whose_name_is_no_text(env: TermEnv) -> None:
    observation, _ = run(env, r"""mkdir $'/tmp/\xff'; cd $'/tmp/\xff'""")
    assert observation["cwd"] == "/tmp/\ufffd"
    json.dumps(observation["cwd"]).encode("utf-8")


def test_late_output_is_not_the_next_commands(env: TermEnv) -> None:
    run(env, "{ while [ ! -e /tmp/go ]; do sleep 0.01; done; echo late; touch /tmp/said; } &")
    run(env, "touch /tmp/go; while [ ! -e /tmp/said ]; do sleep 0.01; done")
    observation, _ = run(env, "echo now")
    assert observation["stdout"] == "now\n"


# ---- goal, reward, ends


def test_the_goal_ends_the_episode(make: Callable[..., TermEnv]) -> None:
    env = make(TASK)
    observation, info = env.reset(seed=0)
    assert observation["instruction"] == TASK.instruction
    assert info["task"] == TASK.id
    observation, reward, terminated, truncated, info = env.step(plan("cat note"))
    assert (terminated, info["success"]) == (False, False)
    assert [check["of"] for check in info["checks"]] == ["goal"]
    observation, reward, terminated, truncated, info = env.step(TASK.oracle[0].model_dump_json())
    assert (terminated, truncated, info["success"]) == (True, False, True)
    assert reward == info["reward_terms"]["task_success"] == 3.0
    assert [change.path for change in info["diff"]] == ["/home/agent/greeting"]
    assert info["drift"] == ()
    assert len(info["state_digest"]) == 64


def test_submit_ends_without_success(make: Callable[..., TermEnv]) -> None:
    env = make(TASK)
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(submit())
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)


def test_goal_looked_at_on_submission_only(make: Callable[..., TermEnv]) -> None:
    env = make(TASK, check_goal="submit")
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(plan("echo hello > ~/greeting"))
    assert (reward, terminated, info["success"], info["checks"]) == (0.0, False, False, ())
    _, reward, terminated, _, info = env.step(submit())
    assert (reward, terminated, info["success"]) == (3.0, True, True)


def test_drift_is_what_the_task_does_not_allow(make: Callable[..., TermEnv]) -> None:
    env = make(TASK)
    env.reset(seed=0)
    _, reward, _, _, info = env.step(plan("rm note; echo hello > greeting; echo x > stray"))
    assert info["drift"] == ("/home/agent/note", "/home/agent/stray")
    assert info["reward_terms"]["state_drift"] == -0.5 * 2 * 2.5
    assert reward == sum(info["reward_terms"].values())


def test_processes_are_dead_at_the_end(make: Callable[..., TermEnv]) -> None:
    """A survivor could still write after the diff was taken."""
    env = make(TASK)
    env.reset(seed=0)
    env.step(plan("(setsid sleep 1000 &) ; true"))
    *_, info = env.step(submit())
    assert info["state_digest"] == env.state_digest()
    assert env.episode._sandbox is not None
    assert env.episode._sandbox.processes() == ()


@pytest.mark.parametrize("limit", [1, 3])
def test_max_steps_truncates(make: Callable[..., TermEnv], limit: int) -> None:
    env = make(TASK, max_steps=limit)
    env.reset(seed=0)
    ends = [env.step(plan("true"))[2:4] for _ in range(limit)]
    assert ends == [(False, False)] * (limit - 1) + [(False, True)]


def test_a_tasks_own_max_steps_counts(make: Callable[..., TermEnv]) -> None:
    env = make(TASK)
    env.reset(seed=0)
    ends = [env.step("malformed counts too")[3] for _ in range(TASK.max_steps)]
    assert ends.index(True) == TASK.max_steps - 1


def test_the_trajectory_timeout_stops_a_step_and_truncates(make: Callable[..., TermEnv]) -> None:
    env = make(TASK, trajectory_timeout=0.5)
    env.reset(seed=0)
    observation, _, terminated, truncated, _ = env.step(plan("sleep 100", timeout=100))
    assert (observation["event"], terminated, truncated) == (Event.TIMEOUT, False, True)


def test_required_environment(make: Callable[..., TermEnv]) -> None:
    env = make(Task(id="t@0", instruction="", required_env={"VIRTUAL_ENV": "/srv/venv", "EXTRA": "*"}))
    env.reset(seed=0)
    *_, info = env.step(plan("VIRTUAL_ENV=/srv/venv"))
    assert info["reward_terms"]["env_consistency"] == -12.0
    *_, info = env.step(plan("EXTRA=1"))
    assert info["reward_terms"]["env_consistency"] == 0.0
    *_, info = env.step("no plan, so the shell says nothing of its variables")
    assert info["reward_terms"]["env_consistency"] == 0.0


def test_a_required_environment_that_is_left_counts_no_more(make: Callable[..., TermEnv]) -> None:
    """Unset, or gone with its shell: what the last shell said long ago must not be paid for."""
    env = make(Task(id="t@0", instruction="", required_env={"VIRTUAL_ENV": "*"}))
    env.reset(seed=0)

    def missed(action: str) -> bool:
        return bool(env.step(action)[4]["reward_terms"]["env_consistency"])

    entered, left, gone = plan("VIRTUAL_ENV=/srv/venv"), plan("unset VIRTUAL_ENV"), plan("exit 0")
    assert [missed(each) for each in (entered, left, plan("true"))] == [False, True, True]
    assert [missed(each) for each in (entered, gone, "no plan")] == [False, True, True]
    env.step(entered)
    saved = env.save()
    env.step(left)
    env.restore(saved)  # a new shell: what was not exported is not in it
    assert missed("no plan")


def test_a_required_environment_may_be_there_from_the_start(make: Callable[..., TermEnv]) -> None:
    env = make(Task(id="t@0", instruction="", required_env={"LANG": "C.UTF-8"}))
    env.reset(seed=0)
    assert env.step("no plan")[4]["reward_terms"]["env_consistency"] == 0.0


def test_a_goal_variable_dies_with_its_shell(make: Callable[..., TermEnv]) -> None:
    """Success is a state that lasts, not one that the same command threw away."""
    env = make(Task(id="t@0", instruction="", goal=(VariableSet(name="ANSWER", pattern="42"),)))
    env.reset(seed=0)
    assert env.step(plan("ANSWER=42; exit"))[2] is False
    assert env.step(submit())[4]["success"] is False


def test_a_plan_can_validate_any_variable(env: TermEnv) -> None:
    """The check vocabulary is one: what a goal may look at, a plan may forecast."""
    steps = [{"type": "variable", "name": name, "pattern": "1"} for name in ("EXPORTED", "LOCAL", "ABSENT")]
    _, info = run(env, "export EXPORTED=1; LOCAL=1", validation_steps=steps)
    assert [check["passed"] for check in info["checks"]] == [True, True, False]


def test_a_variable_can_be_the_goal(make: Callable[..., TermEnv]) -> None:
    env = make(Task(id="t@0", instruction="", goal=(VariableSet(name="ANSWER", pattern="42"),)))
    env.reset(seed=0)
    assert env.step(plan("ANSWER=41"))[2] is False
    assert env.step(plan("ANSWER=42"))[2] is True


def test_violations_are_told_logged_and_paid(make: Callable[..., TermEnv]) -> None:
    env = make()
    env.reset(seed=0)
    *_, info = env.step(plan("rm -rf / --no-preserve-root 2>/dev/null", timeout=20))
    assert "rm_rf_root" in info["violations"]
    assert info["reward_terms"]["safety"] == -5.0
    assert env.violations_log[-1].rules == info["violations"]
    assert run(env, "echo alive")[0]["stdout"] == "alive\n"


def test_a_violation_depends_on_where_the_shell_stands(env: TermEnv) -> None:
    assert run(env, "mkdir -p d/e; cd d/e; touch x")[1]["violations"] == ()
    assert run(env, "rm -rf *")[1]["violations"] == ()
    assert run(env, "cd")[1]["violations"] == ()
    assert run(env, "rm -rf *")[1]["violations"] == ("rm_rf_root",)


def test_success_reward(make: Callable[..., TermEnv]) -> None:
    env = make(TASK, reward="success")
    env.reset(seed=0)
    assert [env.step(plan(command))[1] for command in ("false", "echo hello > greeting")] == [0.0, 1.0]


def test_shaped_reward_sees_every_check(make: Callable[..., TermEnv]) -> None:
    env = make(TASK, reward="shaped", weights={"gamma": 1.0})
    env.reset(seed=0)
    assert [env.step(plan(command))[1] for command in ("true", "touch greeting", "rm greeting")] == [0.0, 0.5, -0.5]


class NoSecondShell(LocalSandbox):
    """A machine whose shell never starts again: what an agent may bring about is for the sandbox to find out."""

    def respawn(self) -> Session:
        raise SandboxError("exit status 126")


def test_a_broken_shell_ends_the_episode() -> None:
    """The machine answers and yet no shell starts: that is the agent's doing, so it is paid and not masked."""
    episode = Episode(NoSecondShell, Options())
    episode.start(TASK)
    outcome = episode.step(plan("exit 1"))
    assert (outcome.terminated, outcome.info["failure_kind"], outcome.info["masked"]) == (True, None, False)
    assert outcome.info["reward_terms"]["severe_error"] == -10.0
    assert "no shell starts any more: exit status 126" in outcome.stderr
    assert episode.start(TASK).event is Event.DONE
    episode.close()


@pytest.mark.parametrize("sabotage", ["chmod 000 ~", "fallocate -l 2G /tmp/full; cat /dev/zero > ~/full"])
def test_a_shell_comes_back_whatever_was_done_to_the_files(make: Callable[..., TermEnv], sabotage: str) -> None:
    env = make(limits={"disk_bytes": 16 << 20})
    env.reset(seed=0)
    observation, *_ = env.step(plan(f"{{ {sabotage}; }} 2>/dev/null; exit", timeout=20))
    assert observation["event"] == Event.SHELL_EXITED
    assert run(env, "echo ok")[0]["stdout"] == "ok\n"


# ---- faults of the machine


def test_a_lost_machine_is_not_the_agents_fault(make: Callable[..., TermEnv]) -> None:
    env = make(TASK, backend="local-unsafe")
    env.reset(seed=0)
    env.step(plan("true"))
    sandbox: Any = env.episode._sandbox
    os.kill(sandbox._supervisor._process.pid, 9)
    sandbox._supervisor._process.wait()
    observation, reward, terminated, truncated, info = env.step(plan("exit 1"))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["masked"] is True
    assert info["failure_kind"] == "SandboxLost"
    assert observation in env.observation_space
    observation, info = env.reset(seed=0)
    assert env.step(plan("echo back"))[0]["stdout"] == "back\n"


def test_without_isolation_paths_are_still_the_agents(make: Callable[..., TermEnv]) -> None:
    """The temporary directory that stands in for the root has another name each time; no observation may show it."""
    env = make(TASK, backend="local-unsafe")
    env.reset(seed=0)
    here = [{"type": "file_exists", "path": "made"}, {"type": "file_exists", "path": "~/d/made"}]
    observation, info = run(env, "mkdir d; cd d; touch made", validation_steps=here)
    assert observation["cwd"] == "/home/agent/d"
    assert [check["passed"] for check in info["checks"][:2]] == [True, True]
    saved = env.save()
    run(env, "cd /; rm -r ~/d")
    assert env.restore(saved)[0]["cwd"] == "/home/agent/d"
    assert run(env, "ls")[0]["stdout"] == "made\n"
    assert env.step(plan("echo hello > ~/greeting"))[2] is True


# ---- save and restore


def test_goes_back_to_any_step_any_number_of_times(make: Callable[..., TermEnv]) -> None:
    env = make(TASK, max_steps=10)
    env.reset(seed=0)
    run(env, "mkdir d; cd d; export A='x y'\"'\"'z' B=$'line\\nfeed'; unset LANG; echo one > f")
    saved = env.save()
    digest = env.state_digest()
    for _ in range(3):
        run(env, "export A=other B=other C=new LANG=C; cd /; rm -r ~/d ~/note; echo > ~/other")
        assert env.state_digest() != digest
        observation, _ = env.restore(saved)
        assert observation["cwd"] == "/home/agent/d"
        assert observation["step"] == 1
        assert env.state_digest() == digest
        after, _ = run(env, 'printf "%s|" "$PWD" "$A" "$B" "${C-unset}" "${LANG-unset}"; cat f')
        assert after["stdout"] == "/home/agent/d|x y'z|line\nfeed|unset|unset|one\n"
        assert after["step"] == 2


@pytest.mark.parametrize(("loss", "reason"), [("rmdir ../d", "No such file"), ("chmod 0 .", "Permission denied")])
def test_a_directory_that_cannot_be_entered_again_is_told(env: TermEnv, loss: str, reason: str) -> None:
    """The shell stood where nobody can go; the observation must not say that it stands there again."""
    run(env, f"export KEPT=1; mkdir d; cd d; {loss}")
    saved = env.save()
    run(env, "cd; rm -rf d")
    observation, _ = env.restore(saved)
    assert observation["cwd"] == "/home/agent"
    assert reason in observation["stderr"]
    assert run(env, "echo $PWD $KEPT")[0]["stdout"] == "/home/agent 1\n"


def test_reward_state_goes_back_too(make: Callable[..., TermEnv]) -> None:
    """Else a search could collect the same recovery, or dodge the same penalty, again and again."""
    env = make(TASK)
    env.reset(seed=0)
    missing = plan("true", validation_steps=[{"type": "file_exists", "path": "x"}])
    env.step(missing)
    saved = env.save()
    found = plan("touch x", validation_steps=[{"type": "file_exists", "path": "x"}])
    first = env.step(found)[4]["reward_terms"]
    env.restore(saved)
    assert env.step(found)[4]["reward_terms"] == first
    assert first["recovery"] == 0.8


def test_can_go_back_after_the_end(make: Callable[..., TermEnv]) -> None:
    env = make(TASK)
    env.reset(seed=0)
    saved = env.save()
    assert env.step(plan("echo hello > greeting"))[2] is True
    env.restore(saved)
    assert env.diff() == ()
    assert env.step(plan("ls"))[0]["stdout"] == "note\n"


def test_moments_belong_to_their_episode(env: TermEnv) -> None:
    saved = env.save()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="another episode"):
        env.restore(saved)
    kept = env.save()
    env.forget(kept)
    with pytest.raises(ValueError, match="forgotten"):
        env.restore(kept)


def test_refuses_to_save_what_it_cannot_keep(env: TermEnv) -> None:
    run(env, "cat")
    with pytest.raises(RuntimeError, match="waits for input"):
        env.save()
    env.step(submit())
    with pytest.raises(RuntimeError, match="running episode"):
        env.save()


@pytest.mark.parametrize("method", ["diff", "state_digest", "save"])
def test_nothing_to_ask_before_a_reset(make: Callable[..., TermEnv], method: str) -> None:
    with pytest.raises(RuntimeError, match="call reset first"):
        getattr(make(), method)()


# ---- seeds and worlds


def test_the_world_follows_from_task_and_seed(make: Callable[..., TermEnv]) -> None:
    first, second = make("config-edit"), make("config-edit")
    worlds = []
    for env in (first, second):
        env.reset(seed=3)
        worlds.append([env.reset()[1]["task"] for _ in range(3)] + [env.reset(seed=3)[1]["task"]])
    assert worlds[0] == worlds[1]
    assert len(set(worlds[0])) == 4


def test_the_world_can_be_pinned(make: Callable[..., TermEnv]) -> None:
    env = make("config-edit")
    _, info = env.reset(seed=1, options={"world_seed": 5})
    assert info["task"].endswith("@5")
    cause = info["task"].split("@")[0]
    assert make(f"{cause}@7").reset(seed=1)[1]["task"] == f"{cause}@7"


def test_the_same_actions_give_the_same_episode(make: Callable[..., TermEnv]) -> None:
    commands = [
        "ls -la",
        "echo $$ $RANDOM_NOT_SET; id; hostname",
        "git init -q r; cd r; git commit -q --allow-empty -m x",
    ]
    commands += ["git log", "sleep 0.01 & wait; jobs", "false", "exit 3", "cat /proc/uptime /proc/loadavg"]
    told = []
    for _ in range(2):
        env = make(TASK)
        outcome = [env.reset(seed=4)[0]]
        outcome += [env.step(plan(command))[:4] for command in commands]
        *rest, info = env.step(submit())
        told.append((outcome, rest, info))
    assert gym.utils.env_checker.data_equivalence(told[0], told[1], exact=True), told


# ---- Gymnasium


@pytest.mark.parametrize(
    "settings", [{}, {"task": "permission-denied"}, {"task": "git-dirty-pull", "reward": "shaped"}]
)
def test_passes_gymnasiums_checker_without_a_word(settings: dict[str, Any]) -> None:
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("error")
        env = gym.make("termgym:TermEnv-v1", **settings)
        check_env(env.unwrapped)
        env.close()


def test_what_a_step_returns_has_plain_types(env: TermEnv) -> None:
    for _, reward, terminated, truncated, info in (env.step(plan("false")), env.step("x"), env.step(submit())):
        assert type(reward) is float
        assert type(terminated) is type(truncated) is type(info["success"]) is type(info["masked"]) is bool
        assert all(type(value) is float for value in info["reward_terms"].values())
        assert "-0.0" not in str(info["reward_terms"])


def test_gymnasiums_wrappers_work() -> None:
    env = gym.make("termgym:TermEnv-v1", max_episode_steps=2)
    env = gym.wrappers.RecordEpisodeStatistics(env)
    env.reset(seed=0)
    env.step(plan("false"))
    *_, truncated, info = env.step(plan("false"))
    assert truncated is True
    assert info["episode"]["r"] == pytest.approx(-0.2)
    assert info["episode"]["l"] == 2
    env.close()


def test_order_is_enforced_by_make() -> None:
    env = gym.make("termgym:TermEnv-v1")
    with pytest.raises(gym.error.ResetNeeded):
        env.step(plan("ls"))
    env.close()


def test_close_can_be_repeated_and_reset_begins_anew(make: Callable[..., TermEnv]) -> None:
    env = make()
    env.close()
    env.reset(seed=0)
    env.close()
    env.close()
    assert env.step(plan("ls"))[0]["event"] == Event.NOT_RESET
    env.reset(seed=0)
    assert run(env, "echo again")[0]["stdout"] == "again\n"


def test_close_works_when_the_machine_is_gone(make: Callable[..., TermEnv]) -> None:
    env = make(backend="local-unsafe")
    env.reset(seed=0)
    sandbox: Any = env.episode._sandbox
    sandbox._supervisor._process.kill()
    sandbox._supervisor._process.wait()
    env.close()
    env.close()
    assert env.step(plan("ls"))[0]["event"] == Event.NOT_RESET


def test_usable_after_an_exception(make: Callable[..., TermEnv]) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="'world'"):
        env.reset(options={"world": 3})
    env.reset(seed=0)
    assert run(env, "echo ok")[0]["stdout"] == "ok\n"


def test_a_task_that_cannot_be_built_is_told(make: Callable[..., TermEnv]) -> None:
    env = make(Task(id="bad@0", instruction="", setup="echo the reason >&2; exit 7"))
    with pytest.raises(TaskError, match=r"exit status 7[\s\S]*the reason"):
        env.reset(seed=0)


def test_a_dropped_environment_gives_its_machine_back() -> None:
    env = TermEnv(backend="local-unsafe")
    env.reset(seed=0)
    sandbox: Any = env.episode._sandbox
    process = sandbox._supervisor._process
    del env, sandbox
    assert process.wait(10) == 0


def test_a_forked_child_does_not_type_into_its_parents_shell(env: TermEnv) -> None:
    """Trainers fork; both processes hold the same pty."""
    run(env, "X=parents")
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads, from Python 3.12 on
        child = os.fork()
    if child == 0:
        try:
            event = env.step(plan("X=childs"))[0]["event"]
            env.reset(seed=0)
            said = run(env, "echo child")[0]["stdout"]
            env.close()
            os.write(write, json.dumps([event, said]).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answers:
        assert json.load(answers) == [Event.NOT_RESET, "child\n"]
    os.waitpid(child, 0)
    assert run(env, "echo $X")[0]["stdout"] == "parents\n"


# ---- arguments


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"reward": "sparse"}, ValueError, r"reward='sparse' is not known; allowed are 'terms', 'success', 'shaped'"),
        ({"check_goal": "never"}, ValueError, "'step', 'submit'"),
        ({"clock": "stopped"}, ValueError, "'real', 'frozen'"),
        ({"render_mode": "svg"}, ValueError, "'ansi', 'human', 'rgb_array'"),
        ({"max_step": 3}, TypeError, "did you mean 'max_steps'"),
        ({"max_steps": 0}, ValueError, "max_steps=0 is out of range"),
        ({"max_steps": 2.5}, TypeError, "whole number"),
        ({"max_steps": True}, TypeError, "whole number"),
        ({"output_limit": 10}, ValueError, "from 1024 to"),
        ({"trajectory_timeout": 0}, ValueError, "above 0"),
        ({"trajectory_timeout": float("nan")}, ValueError, "finite"),
        ({"trajectory_timeout": "1h"}, TypeError, "seconds"),
        ({"network": 1}, TypeError, "True or False"),
        ({"weights": {"safty": 1}}, ValueError, "weights has no field 'safty'; allowed are success"),
        ({"weights": 5}, TypeError, "RewardWeights or a mapping"),
        ({"limits": {"memory": 5}}, ValueError, "limits has no field 'memory'; allowed are memory_bytes"),
        ({"task": "git-dirty-pul"}, UnknownTask, "Did you mean 'git-dirty-pull'"),
        ({"task": 5}, TypeError, "a name such as"),
        ({"backend": "vm"}, ValueError, "backend='vm' is not known; allowed are 'local', 'local-unsafe'"),
        ({"snapshot": "zfs"}, ValueError, "snapshot='zfs' is not known; allowed are None, 'overlay'"),
    ],
)
def test_bad_arguments_say_what_is_allowed(settings: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        TermEnv(**settings)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, None])
def test_bad_world_seeds_are_refused(env: TermEnv, seed: object) -> None:
    with pytest.raises(ValueError, match="whole number from 0"):
        env.reset(options={"world_seed": seed})


# ---- rendering


def test_ansi(make: Callable[..., TermEnv]) -> None:
    env = make(render_mode="ansi")
    env.reset(seed=0)
    run(env, "echo hello; ls nope")
    text = env.render()
    assert isinstance(text, str)
    assert "$ echo hello; ls nope\nhello\n" in text
    assert "No such file" in text
    env.reset(seed=0)
    assert "hello" not in str(env.render())


def test_human(make: Callable[..., TermEnv]) -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        env = make(render_mode="human")
        env.reset(seed=0)
        run(env, "echo hello")
        assert env.render() is None
    assert out.getvalue().count("hello\n") == 2  # typed, and answered


def test_rgb_array(make: Callable[..., TermEnv]) -> None:
    env = make(render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    run(env, "printf '\\e[41m   \\e[0m'")
    after = env.render()
    assert isinstance(before, np.ndarray)
    assert isinstance(after, np.ndarray)
    assert before.shape == after.shape == (HEIGHT, WIDTH, 3)
    assert not np.array_equal(before, after)
    assert (after == [0xCC, 0, 0]).all(axis=2).sum() >= 3 * 8 * 16 * 0.9
    env.reset(seed=0)
    assert np.array_equal(before, env.render())


def test_record_video(tmp_path: Path) -> None:
    """The frames really make a film."""
    env = gym.make("termgym:TermEnv-v1", render_mode="rgb_array")
    env = gym.wrappers.RecordVideo(env, str(tmp_path / "films"), episode_trigger=lambda _: True, disable_logger=True)
    env.reset(seed=0)
    for command in ("ls -la /", "echo hello"):
        env.step(plan(command))
    env.close()
    films = list(tmp_path.glob("films/*.mp4"))
    assert len(films) == 1
    assert films[0].stat().st_size > 1000


def test_without_a_render_mode_render_says_what_to_do(env: TermEnv) -> None:
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert env.render() is None


def test_public_names_write_actions() -> None:
    assert json.loads(termgym.submit()) == {"submit": True}


def test_the_shell_inherits_nothing_of_ours(env: TermEnv) -> None:
    """A descriptor of the supervisor's socket in the agent's hands would let it forge checks, diffs and digests."""
    observation, _ = run(env, "ls -l /proc/$$/fd; echo; ls -l /proc/self/fd")
    shell, program = observation["stdout"].split("\n\n")
    assert shell.count("socket") == 1, shell  # by which it gets its commands
    assert "socket" not in program


def test_reset_options_and_saved_moments_of_another_kind_are_refused() -> None:
    env = gym.make("TermEnv-v1", task=None)
    with pytest.raises(TypeError, match=r"options=\[1\] is of type list; give a mapping"):
        env.reset(options=[1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"restore got 'x'; give what save\(\) returned"):
        env.unwrapped.restore("x")  # type: ignore[attr-defined]
    env.close()


def test_two_threads_in_one_step_are_refused(make: Callable[..., TermEnv]) -> None:
    """One shell cannot run two commands at once; whose output would it be?"""
    env = make()
    env.reset(seed=0)
    refused: list[str] = []

    def interfere() -> None:
        try:
            env.step(plan("echo mine"))
        except RuntimeError as error:
            refused.append(str(error))

    other = threading.Timer(0.3, interfere)
    other.start()
    observation, *_ = env.step(plan("sleep 1; echo done"))
    other.join()
    assert observation["stdout"] == "done\n"
    assert len(refused) == 1
    assert "give every thread its own" in refused[0]
