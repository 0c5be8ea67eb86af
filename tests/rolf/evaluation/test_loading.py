"""Which policy is meant, and what to say of one that cannot be had."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toy_contest
from toy_contest import ENV_ID

from rolf.evaluation.errors import PolicyError
from rolf.evaluation.loading import Spec, check_policy, describe, find_policy, load, plays_blocks

Run = Callable[..., Any]


def own(target: str, **args: Any) -> Any:
    spec = find_policy(f"toy_contest:{target}", [ENV_ID], args)
    player = load(spec)
    check_policy(player, spec, [ENV_ID])
    return player


def test_a_class_a_function_or_the_policy_itself(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever makes it, and however deep it lies."""
    ready = toy_contest.Chance()
    monkeypatch.setattr(toy_contest, "ready", ready, raising=False)
    monkeypatch.setattr(toy_contest, "make", lambda: ready, raising=False)
    monkeypatch.setattr(toy_contest.Toy, "Inner", toy_contest.Truth, raising=False)
    assert isinstance(own("Chance"), toy_contest.Chance)
    assert own("ready") is ready
    assert own("make") is ready
    assert isinstance(own("Toy.Inner"), toy_contest.Truth)
    assert own("Wrong", how="none")._how == "none"


def test_a_shipped_policy_goes_by_its_name(toys: Path) -> None:
    spec = find_policy("truth", [ENV_ID], {})
    assert (spec.text, spec.target, spec.name) == ("truth", "toy_contest:Truth", "truth")
    described = describe(load(spec), spec)
    assert (described.privileged, described.deterministic) == (True, True)
    assert described.description == "is told"


def test_one_that_plays_blocks_is_known(toys: Path) -> None:
    assert plays_blocks(own("Crowd"), ENV_ID)
    assert not plays_blocks(own("Chance"), ENV_ID)
    assert not plays_blocks(own("Crowd"), "gymnasium:CartPole-v1"), "that one plays nothing in blocks"
    with pytest.raises(PolicyError, match="has no begin"):
        check_policy(own("Crowd"), Spec("c", "toy_contest:Crowd"), [ENV_ID, "gymnasium:CartPole-v1"])


@pytest.mark.parametrize(
    ("text", "args", "told"),
    [
        ("chanse", {}, r"no policy is named 'chanse'; did you mean 'chance'\?; .* brings chance, crowd, truth"),
        ("no_such_module:Agent", {}, "there is no module 'no_such_module' to import from /"),
        ("toy_contest.deeper:Agent", {}, "'toy_contest.deeper'"),
        ("toy_contest:Chanse", {}, "'toy_contest' has no 'Chanse'; did you mean 'Chance'"),
        ("toy_contest:Chance.nothing", {}, "has no 'nothing'"),
        (":Agent", {}, "is not written as module:object"),
        ("toy_contest:", {}, "is not written as module:object"),
        ("toy_contest:A_NUMBER", {}, r"is 5, which has no begin\(start\) and act\(observation, info\)"),
        ("toy_contest:broken", {}, "could not be made: RuntimeError: no weights were found\n.*in broken"),
        ("toy_contest:Wrong", {}, "missing a required argument: 'how'; it takes how, index=4"),
        ("toy_contest:Chance", {"x": 1}, "unexpected keyword argument 'x'; it takes nothing"),
        ("toy_contest:A_NUMBER", {"x": 1}, "is an object and takes no --policy-arg"),
    ],
)
def test_says_what_is_wrong(toys: Path, text: str, args: dict[str, Any], told: str) -> None:
    def used() -> None:
        spec = find_policy(text, [ENV_ID], args)
        check_policy(load(spec), spec, [ENV_ID])

    with pytest.raises(PolicyError, match=f"(?s){told}"):
        used()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "import no_such_thing",
            "its module could not be imported: ModuleNotFoundError: No module named 'no_such_thing'",
        ),
        ("def f(:", "its module could not be imported: SyntaxError"),
        ("raise SystemError('not today')", "its module could not be imported: SystemError: not today"),
    ],
)
def test_says_what_is_wrong_with_a_module(toys: Path, source: str, told: str) -> None:
    """A missing module of the module's is not the missing module."""
    name = f"agent_{abs(hash(source))}"
    (toys / f"{name}.py").write_text(source)
    with pytest.raises(PolicyError, match=told):
        load(find_policy(f"{name}:Agent", [ENV_ID], {}))
    assert name not in sys.modules


def test_a_package_that_is_missing_is_told_with_where_it_belongs(toys: Path) -> None:
    """Many have it, in another environment than the one that rolf runs in."""
    (toys / "needy_agent.py").write_text("class Agent:\n    def __init__(self):\n        import no_such_thing\n")
    with pytest.raises(PolicyError, match=f"(?s)in __init__.*'no_such_thing' beside rolf, for {sys.executable}"):
        load(find_policy("needy_agent:Agent", [ENV_ID], {}))


def test_a_file_is_not_taken_for_a_module(toys: Path) -> None:
    (toys / "filed_agent.py").write_text("class Agent: pass\n")
    with pytest.raises(PolicyError, match="give the module and not its file: filed_agent:Agent"):
        load(find_policy("filed_agent.py:Agent", [ENV_ID], {}))
    with pytest.raises(PolicyError, match=r"named module:object, and filed_agent\.py lies here"):
        find_policy("filed_agent", [ENV_ID], {})


def test_one_for_many_episodes_that_does_not_say_so_is_told_how(toys: Path) -> None:
    """Else its first step would miss an argument, which says nothing of why."""
    source = (
        "class Crew:\n    def begin(self, lineup, rows=None): ...\n    def act(self, observations, masks, infos): ...\n"
    )
    (toys / "mute_crew.py").write_text(source)
    spec = find_policy("mute_crew:Crew", ["linegym:LineEnv-v1"], {})
    told = r"act takes \(observations, masks, infos\), expected \(observation, info\); .* declares the attributes"
    with pytest.raises(PolicyError, match=told):
        check_policy(load(spec), spec, ["linegym:LineEnv-v1"])


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("name", 5, "declares name = 5; expected text"),
        ("privileged", "yes", "declares privileged = 'yes'; expected True or False"),
    ],
)
def test_what_it_says_of_itself_is_of_the_right_kind(toys: Path, attribute: str, value: Any, told: str) -> None:
    player = own("Chance")
    setattr(player, attribute, value)
    with pytest.raises(PolicyError, match=told):
        describe(player, Spec("toy_contest:Chance", "toy_contest:Chance"))


@pytest.mark.parametrize(
    ("given", "found"),
    [("x=1", 1), ("x=0.5", 0.5), ("x=true", True), ('x="1"', "1"), ("x=a=b", "a=b"), ("x=[1, 2]", [1, 2]), ("x=", "")],
)
def test_arguments_are_json_or_text(given: str, found: Any) -> None:
    import click

    from rolf.commands.evaluate import command

    option = next(each for each in command.params if each.name == "args")
    assert option.callback is not None
    assert option.callback(click.Context(command), option, (given,)) == {"x": found}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--policy-arg", "x"], "'x' is not written as KEY=VALUE"),
        (["--policy-arg", "a b=1"], "'a b=1' is not written as KEY=VALUE"),
        (["--policy-arg", "x=1", "--policy-arg", "x=2"], "'x' is given twice"),
        (["--attempts", "0"], "0 is not in the range 1<=x<=1000"),
        (["--attempts", "99999999"], "is not in the range"),
        (["--jobs", "-1"], "is not in the range"),
        (["--split", "toy-v0/smal"], "no split is named 'toy-v0/smal'; did you mean 'toy-v0/small'?"),
        (["--split", "toy-v0/small[:0]"], "must be [:N] with a whole number N from 1"),
        (["--policy", "chanse"], "no policy is named 'chanse'"),
        (["--policy", "no_such_module:Agent"], "there is no module 'no_such_module'"),
        (["--policy", "toy_contest:Chanse"], "did you mean 'Chance'"),
        (["--policy", "toy_contest:A_NUMBER"], "which has no begin(start)"),
        (["--policy-arg", "luck=1"], "unexpected keyword argument 'luck'; it takes nothing"),
        (["--split", "nowhere.json"], "split file 'nowhere.json': No such file or directory"),
    ],
)
def test_what_was_typed_wrong_exits_with_2(rolf: Run, toys: Path, arguments: list[str], told: str) -> None:
    given = ["eval", "--split", "toy-v0/small", "--policy", "chance", "--out", "out", *arguments]
    done = rolf(*given)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.replace("\n", " ").split())
    assert not (toys / "out").exists()
