"""`rolf eval`: every episode is played, measured and written down, whoever plays it and whatever fails."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toy_contest
from evaluations import contents, rows, write_split
from toy_contest import BLOCK, NUMBERS, STEPS, problems

from rolf.evaluation.recording import read
from rolf.evaluation.rows import from_json, results_digest, summary
from rolf.replay import replay
from rolf.splitting import as_json
from rolf.variant import Variant

Run = Callable[..., Any]


def submission(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "submission.json").read_text())
    return found


def episodes(folder: Path) -> list[Any]:
    return [from_json(json.loads(line)) for line in (folder / "results.jsonl").read_text().splitlines()]


def test_writes_a_submission(shell: Run, toys: Path) -> None:
    """All that a board needs, and every number of it follows from the trajectories."""
    done = shell("eval", "--split", "toy-v0/small", "--policy", "chance", "--out", "sub")
    assert done.returncode == 0, done.stderr
    assert "chance on toy-v0/small, 3 attempts a variant" in done.stdout
    assert "faults   0 of 18 episodes" in done.stdout
    told, found = submission(toys / "sub"), episodes(toys / "sub")
    assert {path.name for path in (toys / "sub").iterdir()} == {
        "lock.json", "results.jsonl", "submission.json", "trajectories",
    }  # fmt: skip
    assert [(row.index, row.attempt) for row in found] == [(i, a) for i in range(6) for a in range(3)]
    assert told["summary"] == summary(found)
    assert told["results_sha256"] == results_digest(found)
    assert told["lock_sha256"] == hashlib.sha256((toys / "sub" / "lock.json").read_bytes()).hexdigest()
    assert told["policy"] == {
        "name": "chance", "spec": "chance", "args": {}, "description": "guesses", "authors": "", "url": "",
        "privileged": False, "deterministic": False,
    }  # fmt: skip
    for row in found:
        recorded = read(toys / "sub" / "trajectories" / row.trajectory)
        assert row.seed == recorded.seed == problems(6)[row.index].attempt_seed(row.attempt)
        assert row.steps == len(recorded.actions) == STEPS
        assert row.episode_return == math.fsum(recorded.ending.rewards)
        assert row.score == sum(recorded.ending.rewards) / STEPS
        assert row.success == recorded.ending.info["success"]
        assert row.trajectory_digest == recorded.digest
        assert row.state_digest == recorded.state_digest != ""
    assert len({row.seed for row in found}) == 18
    assert len({row.state_digest for row in found}) == 18
    assert replay(toys / "sub" / "trajectories" / found[7].trajectory).equal


def test_says_what_it_was_played_with(rolf: Run, toys: Path) -> None:
    rolf("eval", "--split", "toy-v0/small", "--policy", "toy_contest:Chance", "--out", "sub")
    lock = json.loads((toys / "sub" / "lock.json").read_text())
    assert lock["format"] == "rolf-lock/1"
    assert {"python", "rolf", "gymnasium", "numpy"} <= set(lock["packages"])
    assert lock["packages"]["toy-contest"] == "1.0"
    assert lock["env_ids"] == ["toy_contest:Toy-v0"]
    assert lock["limits"] == {"max_steps": STEPS}
    assert lock["attempts"] == 3
    assert lock["split_digest"] == submission(toys / "sub")["split_digest"]
    source = Path(__import__("toy_contest").__file__)
    assert lock["policy_sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()


def test_the_number_of_processes_changes_nothing(rolf: Run, toys: Path) -> None:
    """The same files, byte for byte, times apart."""
    for policy in ("chance", "crowd"):
        for jobs in (1, 3):
            out = f"{policy}-{jobs}"
            done = rolf("eval", "--split", "toy-v0/small", "--policy", policy, "--out", out, "--jobs", str(jobs))
            assert done.returncode == 0, done.stderr
        assert contents(toys / f"{policy}-1") == contents(toys / f"{policy}-3")


def test_a_block_and_single_episodes_come_to_the_same(rolf: Run, toys: Path) -> None:
    """An environment may play many at once; what a row says does not depend on it, but for how it is written."""
    for policy in ("chance", "crowd"):
        rolf("eval", "--split", "toy-v0/small", "--policy", policy, "--out", policy)
    one, many = rows(toys / "chance"), rows(toys / "crowd")
    for row in (*one, *many):
        del row["trajectory"], row["trajectory_digest"]
    assert one == many
    assert sorted(path.name for path in (toys / "crowd" / "trajectories").iterdir()) == [
        f"block-0000{number}.jsonl.gz" for number in range(math.ceil(18 / BLOCK))
    ]
    assert rows(toys / "crowd")[BLOCK + 1]["trajectory"] == "block-00001.jsonl.gz#2"
    assert replay(toys / "crowd" / "trajectories" / "block-00001.jsonl.gz#2").equal


@pytest.mark.parametrize(
    ("policy", "attempts", "told"),
    [
        ("chance", "1", "not for a board: 1 attempt a variant, and the split wants 3; for that, leave --attempts out"),
        ("chance", "4", "not for a board: 4 attempts a variant, and the split wants 3"),
        ("truth", "2", "not for a board: 2 attempts a variant, and the split wants 3"),
        ("chance", "3", ""),
        ("truth", "1", "not for a board: 1 attempt a variant, and the split wants 3"),
    ],
)
def test_says_at_once_what_no_board_will_take(rolf: Run, toys: Path, policy: str, attempts: str, told: str) -> None:
    """`truth` is deterministic, and yet meets another number at each attempt."""
    done = rolf("eval", "--split", "toy-v0/small[:1]", "--policy", policy, "--attempts", attempts, "--out", "sub")
    assert done.returncode == 0
    assert told in done.stderr
    assert bool(told) is ("not for a board" in done.stderr)


@pytest.mark.parametrize(("policy", "taken"), [("truth", True), ("chance", False)])
def test_one_attempt_is_enough_where_nothing_can_go_otherwise(rolf: Run, toys: Path, policy: str, taken: bool) -> None:
    """The same world and a policy that draws nothing: further attempts would be copies."""
    split = replace(toy_contest.split("toy-v0/small").first(1), name="pinned", pinned=True)
    (toys / "pinned.json").write_text(json.dumps(as_json(split)))
    done = rolf("eval", "--split", "pinned.json", "--policy", policy, "--attempts", "1", "--out", "sub")
    assert done.returncode == 0
    assert ("not for a board" not in done.stderr) is taken


def test_a_reference_is_told_the_truth_and_a_contestant_is_not(rolf: Run, toys: Path) -> None:
    """`Chance` and `Truth` look for themselves; the trajectory holds it all, for measures are made from it."""
    assert rolf("eval", "--split", "toy-v0/small", "--policy", "truth", "--out", "sub").returncode == 0
    assert submission(toys / "sub")["policy"]["privileged"] is True
    assert submission(toys / "sub")["summary"]["success"] == 1.0
    done = rolf("eval", "--split", "toy-v0/small", "--policy", "toy_contest:Truth", "--out", "own")
    assert done.returncode == 1
    assert "KeyError: 'truth'" in done.stderr


def test_a_part_of_a_split_and_other_attempts(rolf: Run, toys: Path) -> None:
    done = rolf("eval", "--split", "toy-v0/small[:2]", "--policy", "chance", "--attempts", "1", "--json")
    told = json.loads(done.stdout)
    assert told["split"] == "toy-v0/small[:2]"
    assert told["summary"]["episodes"] == 2
    assert told["valid"] is True
    assert told["folder"] == "submissions/toy-v0-small-2---chance"
    assert (toys / told["folder"] / "results.jsonl").exists()


def test_what_people_say_of_a_policy(rolf: Run, toys: Path) -> None:
    rolf(
        "eval", "--split", "toy-v0/small[:1]", "--policy", "toy_contest:Chance", "--out", "sub", "--name", "Zufall ß",
        "--description", "rät", "--author", "A", "--author", "B", "--url", "https://example.org",
    )  # fmt: skip
    policy = submission(toys / "sub")["policy"]
    assert (policy["name"], policy["description"]) == ("Zufall ß", "rät")
    assert (policy["authors"], policy["url"]) == ("A, B", "https://example.org")


def test_a_strangers_environment_is_measured_by_its_return(rolf: Run, toys: Path) -> None:
    """CartPole tells no success: the score is the return."""
    variants = tuple(Variant("gymnasium:CartPole-v1", {}, seed, name=f"pole-{seed}") for seed in range(2))
    (toys / "agent.py").write_text(
        "class Agent:\n"
        "    def begin(self, start): pass\n"
        "    def act(self, observation, info): return int(observation[2] > 0)\n"
    )
    path = write_split(toys / "poles.json", variants)
    done = rolf("eval", "--split", path, "--policy", "agent:Agent", "--out", "sub")
    assert done.returncode == 0, done.stderr
    for row in rows(toys / "sub"):
        assert row["score"] == row["episode_return"] == row["steps"] > 20
        assert row["success"] is False


def test_attribution_is_asked_for_failures_alone(rolf: Run, toys: Path) -> None:
    done = rolf("eval", "--split", "toy-v0/small", "--policy", "crowd", "--out", "sub", "--attribute")
    assert done.returncode == 0, done.stderr
    found = rows(toys / "sub")
    assert {row["success"] for row in found} == {True, False}
    for row in found:
        assert row["attribution"] == ({} if row["success"] else {"luck": (row["seed"] % 100) / 100})


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("trouble", "reason", "steps"),
    [
        ("reset: RuntimeError", "RuntimeError: the toy broke", 0),
        ("step: OSError", "OSError: the toy broke", 1),
        ("told", "MachineGone", STEPS),
    ],
)
def test_a_fault_of_the_machine_counts_apart_and_is_played_again(
    rolf: Run, toys: Path, trouble: str, reason: str, steps: int, jobs: str
) -> None:
    """It says nothing of the policy: no score, and another try with the same command."""
    variants = (*problems(2), Variant("toy_contest:Toy-v0", {"trouble": trouble, "once": "gone"}, 9, name="frail"))
    path = write_split(toys / "frail.json", variants)
    command = ["eval", "--split", path, "--policy", "toy_contest:Chance", "--out", "sub", "--jobs", jobs]
    done = rolf(*command)
    assert done.returncode == 1
    assert f"the machine failed in 1 of them: {reason}" in done.stderr
    assert "more than 2 % are lost, so the result is not valid" in done.stderr
    (fault,) = (row for row in rows(toys / "sub") if row["fault"])
    assert (fault["variant"], fault["success"], fault["score"]) == ("frail", None, None)
    assert fault["fault"] == reason
    assert fault["steps"] == steps
    assert bool(fault["trajectory"]) == bool(fault["trajectory_digest"]) == bool(steps)
    assert submission(toys / "sub")["summary"]["faults"] == 1
    assert submission(toys / "sub")["summary"]["episodes"] == 6
    counted = [row["score"] for row in rows(toys / "sub") if not row["fault"]]
    assert submission(toys / "sub")["summary"]["score"] == math.fsum(counted) / 5
    done = rolf(*command)
    assert done.returncode == 0, done.stderr
    assert "5 of 6 episodes are there already" in done.stderr
    assert not any(row["fault"] for row in rows(toys / "sub"))


def test_a_process_that_dies_takes_one_episode_with_it(rolf: Run, toys: Path) -> None:
    variants = (
        Variant("toy_contest:Toy-v0", {"trouble": "step: death", "once": "gone"}, 9, name="deadly"),
        *problems(3),
    )
    path = write_split(toys / "deadly.json", variants)
    command = ["eval", "--split", path, "--policy", "toy_contest:Chance", "--out", "sub", "--jobs", "2"]
    assert rolf(*command).returncode == 1
    (fault,) = (row for row in rows(toys / "sub") if row["fault"])
    assert fault["fault"] == "the process that played it ended with 7"
    assert len(rows(toys / "sub")) == 8
    files = {path.name for path in (toys / "sub" / "trajectories").iterdir()}
    assert files == {row["trajectory"] for row in rows(toys / "sub") if not row["fault"]}, "its half episode is gone"
    assert rolf(*command).returncode == 0


def test_a_few_faults_do_not_spoil_a_result(rolf: Run, toys: Path) -> None:
    """Two in a hundred may be lost."""
    frail = [Variant("toy_contest:Toy-v0", {"trouble": "reset: OSError"}, seed, name="frail") for seed in (1, 2)]
    for count, code in ((98, 0), (97, 1)):
        path = write_split(toys / f"of-{count}.json", (*problems(count), *frail), attempts=1)
        done = rolf("eval", "--split", path, "--policy", "toy_contest:Chance", "--out", f"sub-{count}")
        assert done.returncode == code, done.stderr
        assert ("not valid" in done.stderr) == bool(code)


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("begin", "at its start: ValueError: cannot begin"),
        ("raise", "step 0: KeyError: 'no such key'"),
        ("float", "step 0: it answered 1.5 (float); expected a whole number from 0 to 9"),
        ("outside", f"step 0: it answered {NUMBERS} (int); expected a whole number from 0 to 9"),
        ("none", "step 0: it answered None (NoneType)"),
    ],
)
def test_an_error_of_the_policys_stops_and_says_where(rolf: Run, toys: Path, how: str, said: str, jobs: str) -> None:
    """It is no fault of the machine; nothing is written of the episode, and what was played before is kept."""
    command = ["eval", "--split", "toy-v0/small", "--policy", "toy_contest:Wrong", "--out", "sub", "--jobs", jobs]
    done = rolf(*command, "--policy-arg", f"how={how}")
    assert done.returncode == 1
    assert f"the policy failed in toy-v0/small, variant 4 (toy-4), attempt 1, {said}" in done.stderr
    assert ("toy_contest.py" in done.stderr) == (how in ("begin", "raise")), "where in its code"
    kept = rows(toys / "sub", "results.partial.jsonl")
    assert (4, 1) not in {(row["index"], row["attempt"]) for row in kept}
    assert len(kept) >= 12
    assert not (toys / "sub" / "results.jsonl").exists()


@pytest.mark.parametrize(
    ("env_id", "answer", "told"),
    [
        ("gymnasium:CartPole-v1", "numpy.array([1])", "from 0 to 1; give action.item(), what the array holds"),
        ("gymnasium:Pendulum-v1", "numpy.zeros(2)", "it answered array([0., 0.]) (ndarray); expected one of Box("),
        ("toy_contest:Parrot-v0", "{'say': 1}", "(dict); expected a text, at most 8 characters long; json.dumps makes"),
        ("toy_contest:Parrot-v0", "'too long, really'", "(str); expected one of Text("),
    ],
)
def test_an_action_of_another_kind_is_answered_with_the_remedy(
    rolf: Run, toys: Path, env_id: str, answer: str, told: str
) -> None:
    """What people hand in by mistake: what a batched model predicts, or a tool call that is not written out."""
    name = f"agent_{abs(hash(answer))}"
    (toys / f"{name}.py").write_text(
        "import numpy\nclass Agent:\n    def begin(self, start): pass\n"
        f"    def act(self, observation, info): return {answer}\n"
    )
    path = write_split(toys / "one.json", (Variant(env_id, name="one"),))
    done = rolf("eval", "--split", path, "--policy", f"{name}:Agent", "--out", "sub")
    assert done.returncode == 1
    assert told in done.stderr


def test_a_policy_that_fails_in_a_block_is_no_fault_either(rolf: Run) -> None:
    """A RuntimeError may come from the machine; this one came through the policy, whose lines are told alone."""
    command = ["eval", "--split", "toy-v0/small", "--policy", "toy_contest:Crowd", "--out", "sub"]
    done = rolf(*command, "--policy-arg", "fail=policy")
    assert done.returncode == 1
    assert "the policy failed in toy-v0/small, variants 0 to 1 together: RuntimeError: the crowd is lost" in done.stderr
    assert "in begin_all" in done.stderr
    assert "player.begin_all" not in done.stderr, "a line of the environment's"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("5", "step 2: it answered 5 (int): actions have shape (); give one for each of 4 rows: shape (4,)"),
        ("[0, 900, 0, 0]", "step 2: it answered [0, 900, 0, 0] (list): action 900 of row 1 is out of range"),
        ("{}['here']", "step 2: KeyError: 'here'"),
    ],
)
def test_a_policy_for_many_lines_is_told_its_step_and_its_own_line(
    rolf: Run, toys: Path, answer: str, said: str
) -> None:
    """It is the policy that is wrong, and no line of the environment's helps its author."""
    name = f"crew_{len(answer)}"
    (toys / f"{name}.py").write_text(
        "class Crew:\n    name, truthful = 'crew', False\n"
        "    def begin(self, lineup, rows=None): self.n, self.step = lineup.n, -1\n"
        "    def act(self, observations, masks, infos):\n        self.step += 1\n"
        f"        return [0] * self.n if self.step < 2 else {answer}\n"
    )
    done = rolf("eval", "--split", "line-v1/iid[:2]", "--attempts", "2", "--policy", f"{name}:Crew", "--out", "sub")
    assert done.returncode == 1
    assert f"Error: the policy failed in line-v1/iid[:2], variants 0 to 1 together, {said}" in done.stderr
    assert (f"{name}.py" in done.stderr) is ("KeyError" in said), "where in its code"
    assert "contest.py" not in done.stderr


@pytest.mark.filterwarnings("ignore:.*The reward is a NaN value")
@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("step: KeyError", "toy_contest:Toy-v0 raised an error in one, variant 0 (bad), attempt 0: KeyError"),
        ("step: full", "the disk is full: [Errno 28] No space left on device: '/some/file'"),
        ("nan", "toy_contest:Toy-v0 told the return = nan of bad, attempt 0; expected a finite number"),
    ],
)
def test_what_another_try_would_not_mend_stops(rolf: Run, toys: Path, trouble: str, said: str) -> None:
    """A bug of the environment, a full disk: no score, and no fault that could be tried away."""
    path = write_split(toys / "one.json", (Variant("toy_contest:Toy-v0", {"trouble": trouble}, 9, name="bad"),))
    done = rolf("eval", "--split", path, "--policy", "toy_contest:Chance", "--out", "sub")
    assert done.returncode == 1
    assert said in done.stderr
    assert rows(toys / "sub", "results.partial.jsonl") == []


def test_what_may_differ_is_in_no_digest(rolf: Run, shell: Run, toys: Path) -> None:
    """The toy tells its process's number, and says that this is volatile."""
    path = write_split(toys / "s.json", (Variant("toy_contest:Toy-v0", {"trouble": "pid"}, name="pid"),))
    for out, run in (("one", rolf), ("two", shell)):
        assert run("eval", "--split", path, "--policy", "toy_contest:Chance", "--out", out).returncode == 0
    assert rows(toys / "one") == rows(toys / "two")
    told = [gzip.decompress((toys / out / "trajectories" / "00000-0.jsonl.gz").read_bytes()) for out in ("one", "two")]
    assert told[0] != told[1]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--name", "x" * 101, "expected at most 100 printable characters"),
        ("--name", "a\x1b[31mb", "name is 'a\\x1b[31mb'; expected at most 100 printable characters"),
        ("--description", "x" * 2_001, "expected at most 2000 printable characters"),
        ("--author", "a\nb", "authors is 'a\\nb'"),
        ("--url", "x\x00", "url is 'x\\x00'"),
    ],
)
def test_what_a_board_would_not_take_is_refused_at_once(
    rolf: Run, toys: Path, option: str, value: str, told: str
) -> None:
    """Not after hours of episodes."""
    done = rolf("eval", "--split", "toy-v0/small", "--policy", "chance", "--out", "sub", option, value)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (toys / "sub").exists()


def test_a_split_may_mix_environments(rolf: Run, toys: Path) -> None:
    """Those that play blocks do, the others one by one; rows come in the split's order."""
    pole = Variant("gymnasium:CartPole-v1", {}, 5, name="pole")
    (toys / "both_agent.py").write_text(
        "from toy_contest import Crowd\n"
        "class Agent(Crowd):\n"
        "    def begin(self, start): pass\n"
        "    def act(self, observation, info): return 0\n"
    )
    toy = problems(3)
    path = write_split(toys / "mixed.json", (toy[0], pole, *toy[1:]))
    for jobs in ("1", "2"):
        done = rolf("eval", "--split", path, "--policy", "both_agent:Agent", "--out", f"sub{jobs}", "--jobs", jobs)
        assert done.returncode == 0, done.stderr
    assert [row["trajectory"] for row in rows(toys / "sub1")] == [
        "block-00000.jsonl.gz#1", "block-00000.jsonl.gz#2", "00001-0.jsonl.gz", "00001-1.jsonl.gz",
        "block-00001.jsonl.gz#1", "block-00001.jsonl.gz#2", "block-00001.jsonl.gz#3", "block-00001.jsonl.gz#4",
    ]  # fmt: skip
    assert contents(toys / "sub1") == contents(toys / "sub2")


def test_attribution_that_nobody_can_give_is_refused_at_once(rolf: Run, toys: Path) -> None:
    pole = write_split(toys / "pole.json", (Variant("gymnasium:CartPole-v1"),))
    for split, policy, told in (
        (pole, "toy_contest:Truth", "gymnasium:CartPole-v1 cannot tell what failures come from"),
        ("toy-v0/small", "chance", "asks a policy that it plays in blocks only; leave --attribute out"),
    ):
        done = rolf("eval", "--split", split, "--policy", policy, "--out", "sub", "--attribute")
        assert done.returncode == 1
        assert told in done.stderr
    assert not (toys / "sub").exists()


@pytest.mark.parametrize(
    ("env_id", "told"),
    [
        ("no_such_package:Thing-v0", "the environment 'no_such_package:Thing-v0' is not known here: No module named"),
        ("gymnasium:NoSuchThing-v0", "the environment 'gymnasium:NoSuchThing-v0' is not known here"),
        ("CartPole", "the environment 'CartPole' is not known here"),
    ],
)
def test_an_environment_that_is_not_here_is_told_at_once(rolf: Run, toys: Path, env_id: str, told: str) -> None:
    path = write_split(toys / "s.json", (Variant("gymnasium:CartPole-v1"), Variant(env_id)))
    done = rolf("eval", "--split", path, "--policy", "toy_contest:Truth", "--out", "sub")
    assert done.returncode == 1
    assert told in done.stderr
    assert not (toys / "sub").exists()


def test_too_many_episodes_are_refused_at_once(rolf: Run, toys: Path) -> None:
    """A slip with the attempts at a large split must not fill the memory."""
    done = rolf("eval", "--split", "line-v1/train", "--policy", "no-op", "--attempts", "1000", "--out", "sub")
    assert done.returncode == 2
    assert "1000 attempts at 7,000 variants are 7,000,000 episodes; at most 200,000" in done.stderr


@pytest.mark.parametrize(("jobs", "made"), [("1", 1), ("2", 3)])
def test_a_policy_is_made_once_a_process(shell: Run, toys: Path, jobs: str, made: int) -> None:
    """Large models take minutes, and memory for one. The first process asks it what it is, even if others play."""
    (toys / "large_agent.py").write_text(
        "from toy_contest import Chance\n"
        "class Agent(Chance):\n"
        "    def __init__(self):\n"
        "        open('made', 'a').write('x')\n"
    )
    command = ("eval", "--split", "toy-v0/small", "--policy", "large_agent:Agent", "--out", "sub", "--jobs", jobs)
    assert shell(*command).returncode == 0
    assert len((toys / "made").read_text()) == made


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_a_policy_prints_is_no_result(shell: Run, toys: Path, jobs: str) -> None:
    """`--json` is for machines, whatever a policy says meanwhile."""
    (toys / "loud_agent.py").write_text(
        "from toy_contest import Chance\n"
        "print('loading')\n"
        "class Agent(Chance):\n"
        "    def begin(self, start):\n"
        "        print('begins')\n"
        "        super().begin(start)\n"
    )
    done = shell(
        "eval", "--split", "toy-v0/small", "--policy", "loud_agent:Agent", "--out", "sub", "--json", "--jobs", jobs
    )
    assert json.loads(done.stdout)["summary"]["episodes"] == 18
    assert done.stderr.count("begins") == 18
    assert "loading" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_policy_that_ends_the_program_is_an_error(shell: Run, toys: Path, jobs: str) -> None:
    """`sys.exit` in somebody's code must not pass for a success, nor for a fault of the machine."""
    (toys / "quitting_agent.py").write_text(
        "import sys\nfrom toy_contest import Chance\nclass Agent(Chance):\n    def begin(self, start): sys.exit(0)\n"
    )
    done = shell("eval", "--split", "toy-v0/small", "--policy", "quitting_agent:Agent", "--out", "sub", "--jobs", jobs)
    assert done.returncode == 1
    assert "at its start: SystemExit: 0" in done.stderr
