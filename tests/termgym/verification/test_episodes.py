"""Episodes of task folders end in a verdict: graded, staged, kept and gone back to, or masked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from termgym.episode import Episode
from termgym.errors import TaskError
from termgym.event import Event
from termgym.image import Recipe
from termgym.options import Options
from termgym.outcome import Outcome
from termgym.plan import plan, submit
from termgym.sandbox.local import LocalSandbox
from termgym.tasks.task import Task
from termgym.tasks.verifier import Solution, Stage, Verifier

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the image stands on the host's own, which only root can show")
REWARD = "> /logs/verifier/reward.txt\n"


class World:
    """Builds tasks whose verifiers are scripts."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._number = 0
        self.folder("environment", Dockerfile="FROM debian:12\nWORKDIR /app\nENV GREETING=hello\n")

    def folder(self, name: str, **files: str) -> str:
        """Return a directory of these files; ``_`` stands for a dot in their names."""
        directory = self._place / name
        directory.mkdir()
        for file, content in files.items():
            (directory / file.replace("_", ".")).write_text(content)
        return str(directory)

    def _next(self) -> str:
        self._number += 1
        return str(self._number)

    def verifier(self, script: str, **fields: object) -> Verifier:
        """Return a verifier that is a shell script."""
        return Verifier(self.folder(self._next(), test_sh=script), **fields)  # type: ignore[arg-type]  # of Verifier

    def solution(self, script: str, **env: str) -> Solution:
        """Return a solution that is a shell script."""
        return Solution(self.folder(self._next(), solve_sh=script), env=env)

    def task(self, script: str = "", **fields: object) -> Task:
        """Return a task; ``script`` is its verifier unless there are stages."""
        environment = str(self._place / "environment")
        recipe = Recipe(context=environment, dockerfile=f"{environment}/Dockerfile")
        if script:
            fields["verifier"] = self.verifier(script)
        return Task("t", "do it", image=recipe, allowed=("/**",), **fields)  # type: ignore[arg-type]  # of Task


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(scope="module")
def terms() -> Iterator[Episode]:
    """An episode that is paid in terms."""
    opened = Episode(LocalSandbox, Options())
    yield opened
    opened.close()


def ended(episode: Episode, task: Task, *commands: str) -> Outcome:
    """Return the end of an episode of these commands and a submission."""
    episode.start(task)
    for command in commands:
        episode.step(plan(command))
    return episode.step(submit())


def test_starts_where_the_image_says(episode: Episode, world: World) -> None:
    """In its working directory, with its variables, as its user."""
    first = episode.start(world.task(f"echo 1 {REWARD}"))
    assert (first.cwd, first.instruction) == ("/app", "do it")
    assert episode.step(plan("echo $GREETING $(id -u); pwd")).stdout == "hello 0\n/app\n"
    assert episode.step(plan("exit")).cwd == "/app"


@pytest.mark.parametrize(
    ("said", "paid", "success"), [("0.25", 0.25, False), ("1", 1.0, True), ("3", 1.0, True), ("-1", 0.0, False)]
)
def test_a_graded_reward_is_paid(
    episode: Episode, terms: Episode, world: World, said: str, paid: float, success: bool
) -> None:
    """From 0 to 1; ``info`` has what was said."""
    task = world.task(f"echo {said} {REWARD}")
    end = ended(episode, task)
    assert (end.reward, end.terminated, end.info["success"]) == (paid, True, success)
    assert end.info["verifier"]["reward"] == float(said)
    assert ended(terms, task).info["reward_terms"]["task_success"] == 3.0 * paid


def test_the_verifiers_own_path_is_kept(episode: Episode, world: World) -> None:
    """Behind the tools that are lent to it."""
    verifier = world.verifier(f"echo $PATH; echo 1 {REWARD}", env={"PATH": "/opt/own:/usr/bin:/bin"})
    end = ended(episode, world.task(verifier=verifier))
    assert end.info["verifier"]["output"] == "/run/rolf/bin:/run/rolf/python:/opt/own:/usr/bin:/bin"


def test_every_reward_is_told_and_the_exit_status_is_ignored(episode: Episode, world: World) -> None:
    end = ended(
        episode, world.task('echo said; echo \'{"reward": 0.5, "style": 1}\' > /logs/verifier/reward.json; exit 3')
    )
    told = end.info["verifier"]
    assert told["rewards"] == {"reward": 0.5, "style": 1.0}
    assert (told["exit_code"], told["timed_out"], told["output"]) == (3, False, "said")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 0", "wrote no /logs/verifier"),
        (f"echo NaN {REWARD}", "not finite"),
        (f"echo '' {REWARD}", "no number"),
        ("echo '[1]' > /logs/verifier/reward.json", "no number"),
        (f"echo 1 {REWARD} kill -9 $$", "signal"),
        ("mkdir /logs/verifier/reward.txt", "is a directory"),
        (f"ln -s /etc/passwd /logs/verifier/reward.txt; : {REWARD[2:-1]}.not", "is a symbolic link"),
        (f"apt-get install -y no-such-package; echo 0 {REWARD}", "apt-get install no-such-package"),
    ],
)
def test_no_verdict_masks_the_episode(episode: Episode, world: World, script: str, reason: str) -> None:
    """Nobody knows whether the task was done; what is known is told, and the files are still there to be looked at."""
    end = ended(episode, world.task(script), "touch made")
    assert (end.reward, end.terminated, end.truncated) == (0.0, False, True)
    assert (end.info["masked"], end.info["failure_kind"], end.info["success"]) == (True, "VerifierError", False)
    assert reason in end.stderr
    assert "exit_code" in end.info["verifier"]
    assert [change.path for change in episode.diff()] == ["/app/made"]
    assert episode.step(plan("ls")).event is Event.NOT_RESET


def test_a_verifier_that_hangs_is_ended_with_all_that_it_started(episode: Episode, world: World) -> None:
    verifier = world.verifier(f"echo 1 {REWARD} sleep 1000 & sleep 1000", timeout=1.0)
    end = ended(episode, world.task(verifier=verifier))
    assert (end.info["failure_kind"], end.info["verifier"]["timed_out"]) == ("VerifierError", True)
    assert "1 s" in end.stderr
    assert ended(episode, world.task(f"pgrep sleep; echo $? {REWARD}")).reward == 1.0


def test_truncation_is_judged_too(world: World) -> None:
    """An agent that ran out of steps may have done it."""
    episode = Episode(LocalSandbox, Options(reward="success", max_steps=1))
    try:
        episode.start(world.task(f"test -e done; echo $((1 - $?)) {REWARD}"))
        end = episode.step(plan("touch done"))
        assert (end.reward, end.truncated, end.info["success"]) == (1.0, True, True)
    finally:
        episode.close()


def test_steps_before_the_end_are_not_judged(episode: Episode, world: World) -> None:
    """The agent cannot ask the verifier, and a step costs no more than it does."""
    episode.start(world.task(f"echo 1 {REWARD}"))
    step = episode.step(plan("true"))
    assert (step.reward, step.ended, "verifier" in step.info) == (0.0, False, False)


def test_the_verifier_leaves_no_trace(episode: Episode, world: World) -> None:
    """The digest and the changes are the agent's alone."""
    quiet, loud = (
        ended(episode, world.task(s), "echo x > y")
        for s in (f"echo 1 {REWARD}", f"touch /app/z; rm y; echo 1 {REWARD}")
    )
    assert quiet.info["state_digest"] == loud.info["state_digest"]
    assert [change.path for change in loud.info["diff"]] == ["/app/y"]


def test_the_solution_solves_it(episode: Episode, world: World) -> None:
    """It is shown to the oracle alone, with its variables."""
    task = world.task(
        f"grep -qx seven done; echo $((1 - $?)) {REWARD}", solution=world.solution("echo $WORD > done", WORD="seven")
    )
    episode.start(task)
    assert episode.step(plan("ls /solution /tests")).exit_code == 2
    episode.step(episode.show_solution().model_dump_json())
    assert episode.step(submit()).reward == 1.0


def staged(world: World, least: float | None = None) -> Task:
    """Return a task of two stages: the second is given a file and a set-up script."""
    done = f"grep -q $STAGE done; echo $(( $? == 0 )) {REWARD}"
    workdir = world.folder("given", note_txt="given\n", setup_sh="echo ready > set-up; pwd >> set-up\n")
    stages = (
        Stage("one", "write one", world.verifier(done, env={"STAGE": "one"}), least_reward=least),
        Stage("two", "write two", world.verifier(done, env={"STAGE": "two"}), workdir=workdir),
    )
    return world.task(stages=stages)


def test_stages_follow_one_another(episode: Episode, world: World) -> None:
    """The next begins in a new shell, with its own instruction, on the files of the last."""
    first = episode.start(staged(world))
    assert first.instruction == "write one"
    episode.step(plan("echo one > done; x=1; cd /"))
    between = episode.step(submit())
    assert (between.ended, between.reward, between.instruction, between.cwd) == (False, 0.0, "write two", "/app")
    assert between.info["respawned"]
    assert between.info["stage"] == {"name": "one", "number": 1, "of": 2, "reward": 1.0, "rewards": (1.0,)}
    seen = episode.step(plan("echo $x; cat note.txt set-up done; echo two > done"))
    assert seen.stdout == "\ngiven\nready\n/app\none\n"
    end = episode.step(submit())
    assert (end.terminated, end.reward, end.info["success"]) == (True, 1.0, True)
    assert end.info["stage"]["rewards"] == (1.0, 1.0)


def test_a_stage_below_its_threshold_is_the_last(episode: Episode, world: World) -> None:
    end = ended(episode, staged(world, 0.5), "echo nothing > done")
    assert (end.terminated, end.reward, end.info["success"]) == (True, 0.0, False)
    assert end.info["stage"]["number"] == 1


def test_a_failed_stage_without_threshold_is_half_of_the_reward(episode: Episode, world: World) -> None:
    episode.start(staged(world))
    assert not episode.step(submit()).ended
    episode.step(plan("echo two > done"))
    end = episode.step(submit())
    assert (end.reward, end.info["success"]) == (0.5, False)


def test_staying_in_a_stage_until_the_end_pays_for_that_stage_alone(world: World) -> None:
    """Else it would pay to leave the harder ones out."""
    episode = Episode(LocalSandbox, Options(reward="success", max_steps=2))
    try:
        end = ended(episode, staged(world), "echo one > done")
        assert (end.reward, end.terminated, end.truncated, end.info["success"]) == (0.5, False, True, False)
    finally:
        episode.close()


def test_goes_back_to_a_stage(episode: Episode, world: World) -> None:
    """A kept moment knows its stage, and the verdicts so far."""
    episode.start(staged(world))
    episode.step(plan("echo one > done"))
    kept = episode.save()
    episode.step(submit())
    episode.step(submit())
    back = episode.restore(kept)
    assert back.instruction == "write one"
    assert episode.step(submit()).info["stage"]["rewards"] == (1.0,)


def test_a_setup_that_fails_is_the_machinerys_fault(episode: Episode, world: World) -> None:
    task = staged(world)
    Path(task.stages[1].workdir, "setup.sh").write_text("echo no; exit 4\n")
    end = ended(episode, task)
    assert (end.info["masked"], end.truncated) == (True, True)
    assert "setup.sh of stage 'two' failed (exit status 4)" in end.stderr


def test_a_task_that_cannot_be_built_says_so(episode: Episode, world: World) -> None:
    task = world.task(f"echo 1 {REWARD}")
    Path(
        task.image.dockerfile if task.image else "",
    ).write_text("FROM debian:12\nCOPY missing /\n")
    with pytest.raises(TaskError, match="missing"):
        episode.start(task)
    assert episode.step(plan("true")).event is Event.NOT_RESET
