"""The loop: what is trained is the same whatever stops it, and what goes wrong ends well or says why."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_learner import SmallLearner, small_config
from trained_files import files

from rolf_adapters.ppo.checkpoint import CheckpointError, Checkpoints
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.learner import Halted
from rolf_adapters.ppo.metrics import METRICS, TIMES, read
from rolf_adapters.ppo.reading import ConfigError
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import News, Outcome, train

SHARED = Path(__file__).parents[2] / "shared"
EXPLODING: dict[str, Any] = {"training__learning_rate": 0.02, "policy__stretch": 15.0, "training__passes": 30}
"""A critic that diverges until the learning rate is an eighth."""
VECTOR: dict[str, Any] = {
    "experiment__kind": "vector",
    "environment__id": "CartPole-v1",
    "rollout": {"rows": 8, "steps": 32, "statistics": 50, "evaluation_rows": 4},
    "reward__curiosity": 0.02,
}
ORCHESTRATED: dict[str, Any] = {
    "experiment__kind": "vector",
    "environment": {"id": "linegym:LineEnv-v1", "split": "line-v1/fit", "kwargs": {"max_episode_steps": 8}},
    "rollout": {"rows": 4, "steps": 8, "statistics": 8, "evaluation_rows": 2, "sampler": "ucb"},
    "policy": {"width": 8},
    "stages__rollbacks": 10,
    "stages__gates": [{"measure": "policy/kl", "when": "above", "value": 0.02, "then": "roll back"}],
    "training__iterations": 16,
    "training__learning_rate": 0.05,
}
"""Whose decisions are written down, with returns among them until the learning rate is small enough."""
LANGUAGE: dict[str, Any] = {
    "experiment__kind": "language",
    "environment__id": "file_tasks:FileTasks-v0",
    "rollout": {"episodes": 4, "environments": 2, "turns": 2, "tokens": 8, "window": 256, "evaluation": 2,
                "speech": {"system": ""}},
    "reward": {"limit_ends": True, "per_turn": -0.02},
    "policy": {"model": "file_tasks:tiny", "layers": 1},
    "training__iterations": 16,
    "training__learning_rate": 1e-3,
    "training__kl": {"weight": 0.1, "target": 0.01},
    "training__warm_start": {"policy": "termgym.policies.oracle:Oracle", "episodes": 2, "epochs": 1},
}  # fmt: skip
AHEAD = LANGUAGE | {"rollout": {**LANGUAGE["rollout"], "staleness": 1}}
LEARNERS = {"vector": VECTOR, "orchestrated": ORCHESTRATED, "language": LANGUAGE, "ahead": AHEAD}


class Silent:
    """A learner that does not say what it measures.

    Args:
        learner: Does the work.
    """

    def __init__(self, learner: SmallLearner) -> None:
        self.iterate, self.evaluate = learner.iterate, learner.evaluate
        self.state, self.load, self.close = learner.state, learner.load, learner.close


def trained(out: Path, *, resume: bool = False, news: list[News] | None = None, **changes: Any) -> Outcome:
    return train(checked(small_config(**changes)), out, resume=resume, report=(news or []).append)


def gate(measure: str, when: str, value: float, then: str, **more: int) -> dict[str, Any]:
    return {"measure": measure, "when": when, "value": value, "then": then, **more}


def test_learns(tmp_path: Path) -> None:
    """The loop round a learner is a training: CartPole, from 20 steps to hundreds."""
    outcome = trained(tmp_path, training__iterations=60, training__evaluate_every=0, logging__checkpoint_every=60)
    lines = read(tmp_path / METRICS)
    assert lines[0]["rollout/return"] < 40
    assert outcome.values["evaluation/return"] > 300
    assert (outcome.iterations, outcome.ended, outcome.interrupted) == (60, "", False)


def test_writes_each_iteration_and_evaluates_when_it_is_due(tmp_path: Path) -> None:
    """Every third, and at the end."""
    trained(tmp_path, training__iterations=7)
    lines = read(tmp_path / METRICS)
    assert [line["iteration"] for line in lines] == list(range(7))
    assert [line["iteration"] for line in lines if "evaluation/return" in line] == [2, 5, 6]
    assert all("time/iteration" in line for line in read(tmp_path / TIMES))
    assert Checkpoints(tmp_path / "checkpoints").names() == [f"iteration-{at:06d}" for at in (7, 6, 4)]


def test_the_same_configuration_gives_the_same_bytes(tmp_path: Path) -> None:
    """Checkpoints, metrics, configuration: all but the times."""
    for name in ("one", "other"):
        trained(tmp_path / name)
    assert files(tmp_path / "one") == files(tmp_path / "other")


def test_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    """A longer training that was a shorter one before comes to the same state and curve."""
    trained(tmp_path / "whole", training__iterations=9)
    trained(tmp_path / "parts", training__iterations=6)
    outcome = trained(tmp_path / "parts", training__iterations=9, resume=True)
    assert outcome.iterations == 9
    parts, whole = files(tmp_path / "parts"), files(tmp_path / "whole")
    assert parts.keys() == whole.keys()
    # The checkpoint that was written last by the shorter one says that this was the end.
    assert {name for name in parts if parts[name] != whole[name]} == {"checkpoints/iteration-000006/manifest.json"}


def killed(out: Path, kills: int, seed: int, **changes: Any) -> list[str]:
    """See that a training comes to the same bytes with kill -9 at random moments; return the checkpoint after each."""
    usual = {"training__iterations": 40, "training__evaluate_every": 7, "logging__checkpoint_every": 1}
    groups = {name: changes.pop(name) for name in [*changes] if "__" not in name}
    plain = small_config(**(usual | changes)) | groups
    command = [sys.executable, str(SHARED / "killed_training.py"), str(out), str(kills), str(seed), json.dumps(plain)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    assert len(found) == kills
    whole = files(out.with_name(f"{out.name}-whole"))
    assert all(files(each) == whole for each in out.parent.glob(f"{out.name}*"))
    return found


@pytest.mark.slow
def test_three_kills_change_no_bit(tmp_path: Path) -> None:
    """SIGKILL at a random moment, a checkpoint in each iteration, and everything is as in the undisturbed run."""
    found = killed(tmp_path / "run", 3, seed=1)
    assert len(set(found)) > 1, "no kill came in the middle"


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_twenty_kills_change_no_bit(tmp_path: Path) -> None:
    """The same, more often, and with returns to an earlier checkpoint among what is killed."""
    found = killed(tmp_path / "run", 20, seed=2, stages__rollbacks=10, **EXPLODING)
    assert any("rollback" in name for name in found)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_two_kills_change_no_bit_of_what_comes_along(tmp_path: Path, learner: dict[str, Any]) -> None:
    """Rows with their statistics and curiosity; an orchestrator's decisions; a language model in real terminals; one
    that is played ahead."""
    assert killed(tmp_path / "run", 2, seed=3, **learner)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_twenty_kills_change_no_bit_of_what_comes_along(tmp_path: Path, learner: dict[str, Any]) -> None:
    """The same, more often."""
    # Longer, an untrained model comes to a command with `&`: what that says is there before the prompt, or not yet.
    found = killed(tmp_path / "run", 20, seed=3, **learner)
    assert len(set(found)) > 1, "no kill came in the middle"


def test_a_torn_checkpoint_is_passed_over_with_a_word_and_the_bits_stay(tmp_path: Path) -> None:
    """The one before it is used, the lines after it are written again."""
    trained(tmp_path / "whole")
    trained(tmp_path / "torn")
    tensors = tmp_path / "torn" / "checkpoints" / "iteration-000006" / "state.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:100])
    news: list[News] = [News(0, 0)]
    trained(tmp_path / "torn", resume=True, news=news)
    assert any("passed over" in each.message and "iteration-000006" in each.message for each in news)
    assert files(tmp_path / "torn") == files(tmp_path / "whole")


def test_an_existing_training_is_not_written_over(tmp_path: Path) -> None:
    """Days of work hang on one option."""
    trained(tmp_path)
    before = files(tmp_path)
    with pytest.raises(TrainingError, match="holds a training already; --resume goes on"):
        trained(tmp_path)
    assert files(tmp_path) == before


def test_resume_begins_where_there_is_nothing_and_does_nothing_where_all_is_done(tmp_path: Path) -> None:
    """One command for a machine that may be taken away at any time."""
    assert trained(tmp_path, resume=True).iterations == 6
    before = files(tmp_path)
    assert trained(tmp_path, resume=True).iterations == 6
    assert files(tmp_path) == before


def test_another_configuration_is_refused_and_what_differs_is_told(tmp_path: Path) -> None:
    """It would be a training that nobody can repeat."""
    trained(tmp_path)
    with pytest.raises(CheckpointError, match="begun with another configuration") as caught:
        trained(tmp_path, resume=True, policy__width=17, reward__discount=0.9)
    assert "\n  policy.width: 16 there, 17 now" in str(caught.value)
    assert "\n  reward.discount: 0.99 there, 0.9 now" in str(caught.value)


def test_a_key_that_has_come_since_at_its_default_is_no_other_configuration(tmp_path: Path) -> None:
    """Else no training could go on after an upgrade; at another value than its default it is one."""
    trained(tmp_path, training__iterations=2)
    checkpoints = Checkpoints(tmp_path / "checkpoints")
    found = checkpoints.newest()[0]
    older = {name: dict(group) for name, group in found.config.items()}
    del older["policy"]["stretch"]
    checkpoints.save(replace(found, config=older, course="of an older version"))
    with pytest.raises(CheckpointError, match=r"another configuration[^!]*policy\.stretch"):
        trained(tmp_path, training__iterations=3, resume=True, policy__stretch=2.0)
    assert trained(tmp_path, training__iterations=3, resume=True).iterations == 3


def test_another_learner_is_refused(tmp_path: Path) -> None:
    """A state of another shape: here a checkpoint that was copied from elsewhere and made to look right."""
    trained(tmp_path / "wide", policy__width=20)
    trained(tmp_path / "mine")
    ours, theirs = (Checkpoints(tmp_path / name / "checkpoints") for name in ("mine", "wide"))
    ours.save(replace(ours.newest()[0], state=theirs.newest()[0].state))
    with pytest.raises(CheckpointError, match="not of this learner: the state's actor is not of width 16"):
        trained(tmp_path / "mine", resume=True)


def test_two_do_not_train_in_one_folder(tmp_path: Path) -> None:
    """They would cut off each other's lines."""

    def second(news: News) -> None:
        if news.values:
            with pytest.raises(TrainingError, match="another process trains in"):
                trained(tmp_path, resume=True)
            told.append(news)

    told: list[News] = []
    train(checked(small_config(training__iterations=1)), tmp_path, report=second)
    assert len(told) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_after_the_iteration_with_a_checkpoint(tmp_path: Path, number: signal.Signals) -> None:
    """One that was not due; and it goes on to the same end."""

    def interrupt(news: News) -> None:
        if news.done == 4:
            os.kill(os.getpid(), number)

    outcome = train(checked(small_config()), tmp_path / "broken", report=interrupt)
    assert (outcome.interrupted, outcome.iterations) == (True, 5)
    checkpoints = Checkpoints(tmp_path / "broken" / "checkpoints")
    assert checkpoints.newest()[0].iteration == 5
    trained(tmp_path / "broken", resume=True)
    trained(tmp_path / "whole")
    broken, whole = files(tmp_path / "broken"), files(tmp_path / "whole")
    assert set(broken) - set(whole) == {name for name in broken if "iteration-000005" in name}
    assert all(broken[name] == whole[name] for name in set(broken) & set(whole))


def test_the_second_interrupt_ends_it_at_once(tmp_path: Path) -> None:
    """For who does not want to wait; the last checkpoint is there."""

    def interrupt(news: News) -> None:
        if news.done == 3:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(checked(small_config()), tmp_path, report=interrupt)
    assert Checkpoints(tmp_path / "checkpoints").newest()[0].iteration == 2


def test_a_diverged_loss_goes_back_and_on_with_a_smaller_rate(tmp_path: Path) -> None:
    """A critic whose features are ten times too long explodes at this rate, and learns at an eighth of it."""
    news: list[News] = [News(0, 0)]
    outcome = trained(tmp_path, news=news, **EXPLODING)
    assert outcome.iterations == 6
    said = [each.message for each in news if "diverged" in each.message]
    assert 1 <= len(said) <= 3
    lines = read(tmp_path / METRICS)
    events = [line["event"] for line in lines if "event" in line]
    assert len(events) == len(said)
    assert all(event.endswith("diverged: a gradient is no finite number") for event in events)
    assert lines[-1]["rollbacks"] == len(said)
    assert Checkpoints(tmp_path / "checkpoints").newest()[0].name == f"iteration-000006-rollback-{len(said)}"


def test_what_diverges_for_good_ends_with_an_error(tmp_path: Path) -> None:
    """After so many returns as were allowed, and with what to do."""
    exploding = {"training__learning_rate": 1.0, "policy__stretch": 100.0, "training__passes": 60}
    with pytest.raises(TrainingError, match=r"diverged: .*has gone back 2 times.*smaller training\.learning_rate"):
        trained(tmp_path, stages__rollbacks=2, **exploding)
    with pytest.raises(TrainingError, match=r"may not go back \(stages\.rollbacks\)"):
        trained(tmp_path / "at once", stages__rollbacks=0, **exploding)


def test_a_collapse_goes_back_to_the_last_good_checkpoint(tmp_path: Path) -> None:
    """Not to the latest, which was written when it had begun already."""
    gates = [gate("rollout/steps", "above", 400, "roll back", patience=3)]  # a sum that only grows
    with pytest.raises(TrainingError, match=r"rollout/steps is \d+: above 400 3 times in a row; the training has gone"):
        trained(tmp_path, training__iterations=20, stages__gates=gates, logging__checkpoint_every=1)
    lines = read(tmp_path / METRICS)
    first = next(line["iteration"] for line in lines if line.get("rollout/steps", 0) > 400)
    events = [line["event"] for line in lines if "event" in line]
    assert len(events) == 3
    assert all(event.startswith(f"back to iteration {first}:") for event in events)
    assert Checkpoints(tmp_path / "checkpoints").last_good()[0].name == f"iteration-{first:06d}-rollback-3"


def test_a_gate_ends_the_training_early(tmp_path: Path) -> None:
    """What is good enough is not trained on; and it stays ended."""
    gates = [gate("rollout/return", "above", 1, "stop", patience=2)]
    outcome = trained(tmp_path, stages__gates=gates)
    assert (outcome.iterations, outcome.ended) == (2, "rollout/return is 20.75: above 1 2 times in a row")
    assert trained(tmp_path, stages__gates=gates, resume=True).ended == outcome.ended


def test_a_gate_remembers_over_a_break(tmp_path: Path) -> None:
    """Four measurements in a row are four, whatever came between."""
    gates = [gate("rollout/return", "above", 1, "stop", patience=4)]

    def interrupt(news: News) -> None:
        if news.done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    assert train(checked(small_config(stages__gates=gates)), tmp_path, report=interrupt).iterations == 3
    assert trained(tmp_path, stages__gates=gates, resume=True).iterations == 4


def test_a_gate_fails_the_training(tmp_path: Path) -> None:
    """For what a later stage cannot mend."""
    gates = [gate("rollout/return", "below", 1000, "fail", after=2)]
    with pytest.raises(TrainingError, match=r"iteration 2: rollout/return is 21: below 1000: the training has failed"):
        trained(tmp_path, stages__gates=gates)


def test_a_gate_with_a_slip_in_its_name_is_an_error_before_anything_begins(tmp_path: Path) -> None:
    """It would never close. Of one's own learner that is told in a line and leaves no folder, as any other slip."""
    with pytest.raises(ConfigError, match=r"^stages\.gates: nothing measures 'rollout/retrun'; did you mean 'roll"):
        trained(tmp_path / "run", stages__gates=[gate("rollout/retrun", "above", 1, "stop")])
    assert not (tmp_path / "run").exists()


def test_a_gate_on_what_is_measured_later_waits_for_it(tmp_path: Path) -> None:
    """A warm start of many iterations measures other things than what follows; that is no slip."""
    news: list[News] = [News(0, 0)]
    outcome = trained(tmp_path, news=news, stages__gates=[gate("own/later", "above", 1, "stop")])
    assert (outcome.iterations, outcome.ended) == (6, "")
    assert not any(each.message for each in news)


def test_of_a_learner_that_does_not_say_what_it_measures_it_is_told_what_has_not_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once of each gate, when it might have come: nobody can know whether it will. A group that is none never does."""
    monkeypatch.setattr("small_learner.build", lambda settings, seed: Silent(SmallLearner(settings, seed)))
    news: list[News] = [News(0, 0)]
    gates = [gate(name, "above", 1e9, "stop") for name in ("rollout/retrun", "rollout/steps", "evaluation/retrun")]
    assert trained(tmp_path / "run", news=news, stages__gates=gates).iterations == 6
    said = [(each.message.partition(";")[0], number) for number, each in enumerate(news) if each.message]
    told = "stages.gates: nothing measures {!r} so far, and its gate stays open".format
    assert [line for line, _ in said] == [told("rollout/retrun"), told("evaluation/retrun")]
    with pytest.raises(ConfigError, match=r"'rolout/return' has none of the groups .*; did you mean 'rollout/return'?"):
        trained(tmp_path / "other", stages__gates=[gate("rolout/return", "above", 1, "stop")])


def test_what_the_learner_cannot_be_made_of_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    """A slip in an environment's name."""
    with pytest.raises(ConfigError, match="the learner cannot be made: Environment `Cartpole` doesn't exist"):
        trained(tmp_path, environment__id="Cartpole-v1")


def test_somebody_elses_file_is_not_written_over(tmp_path: Path) -> None:
    """Whoever trains beside his own config.yaml keeps it as he wrote it."""
    (tmp_path / "config.yaml").write_text("mine")
    with pytest.raises(TrainingError, match=r"holds a config\.yaml and no training"):
        trained(tmp_path, resume=True)
    assert (tmp_path / "config.yaml").read_text() == "mine"


def test_more_processes_than_were_started_are_an_error(tmp_path: Path) -> None:
    """What is learned depends on their number."""
    with pytest.raises(ConfigError, match=r"cluster\.processes is 2, and 1 was started"):
        trained(tmp_path, cluster__processes=2)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Before anything is trained."""
    (tmp_path / "file").touch()
    with pytest.raises(TrainingError, match="Not a directory; give a folder that can be written to"):
        trained(tmp_path / "file" / "run")


def test_a_full_disk_is_an_error_that_leaves_what_was_there(tmp_path: Path) -> None:
    """Here by a limit on the size of files, as a real disk of that size would do."""
    code = (
        "import resource, signal, sys\nfrom pathlib import Path\nfrom small_learner import small_config\n"
        "from rolf_adapters.ppo.config import checked\nfrom rolf_adapters.ppo.train import train, TrainingError\n"
        "out, config = Path(sys.argv[1]), small_config(policy__width=400)\n"
        "train(checked(config), out)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "config['training']['iterations'] = 9\n"
        "try:\n    train(checked(config), out, resume=True)\nexcept TrainingError as error:\n    print(error)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(SHARED)}
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, env=environment)
    assert "cannot be written: File too large; when it can, --resume goes on" in done.stdout, done.stderr
    assert Checkpoints(tmp_path / "checkpoints").newest()[0].iteration == 6


def test_a_learner_that_cannot_go_on_leaves_its_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines that fail are no fault of what was learned: it is told in a line, and goes on when they work again."""
    short = {"training__iterations": 4, "logging__checkpoint_every": 2}
    trained(tmp_path / "whole", **short)
    iterate = SmallLearner.iterate

    def halted(self: SmallLearner, iteration: int) -> Mapping[str, float]:
        if iteration == 3:
            raise Halted("3 of 4 episodes were lost because machines failed")
        return iterate(self, iteration)

    monkeypatch.setattr(SmallLearner, "iterate", halted)
    with pytest.raises(TrainingError, match=r"iteration 3: 3 of 4 episodes were lost .*; --resume goes on"):
        trained(tmp_path / "run", **short)
    monkeypatch.undo()
    trained(tmp_path / "run", resume=True, **short)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_what_cannot_begin_leaves_no_folder_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the learner cannot be made"):
        trained(tmp_path / "run", environment__id="NoSuch-v0")
    assert not (tmp_path / "run").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigError, match="the learner cannot be made"):
        trained(tmp_path / "mine", environment__id="NoSuch-v0")
    assert (tmp_path / "mine").exists(), "it was there before"
