"""`rolf check`: the same from a shell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rolf.cli import main


def check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


def test_what_passes_exits_with_0() -> None:
    done = check("CartPole-v1", "--only", "seeding", "--only", "restore", "--steps", "20", "--seed", "3")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "ok      seeding",
        "-       restore               neither it nor what it wraps has save() and restore(saved)",
        "CartPole-v1: 1 passed, 1 not applicable",
    ]


def test_what_fails_exits_with_1_and_shows_how_to_see_it_again() -> None:
    done = check("broken_environments:OneBuffer-v0", "--only", "no_aliasing")
    assert done.exit_code == 1
    assert "episode 0, reset: observation[0]" in done.stdout
    assert "to see it again:" in done.stdout
    assert done.stdout.splitlines()[-1] == "broken_environments:OneBuffer-v0: 1 failed"


def test_json_tells_one_object_a_check() -> None:
    done = check("broken_environments:OneBuffer-v0", "--only", "no_aliasing", "--only", "seeding", "--json")
    assert done.exit_code == 1
    passed, failed = map(json.loads, done.stdout.splitlines())
    assert (passed["check"], passed["state"], passed["reason"]) == ("seeding", "passed", "")
    assert failed["place"] == {"episode": 0, "step": -1, "field": "observation[0]"}
    assert failed["reproduction"].startswith("import copy\n")
    assert done.stderr == "broken_environments:OneBuffer-v0: 1 passed, 1 failed\n"


def test_arguments_and_actions_are_handed_on() -> None:
    kwargs = json.dumps({"stride": 0.2})
    asked = ("broken_environments:Sound-v0", "--kwargs", kwargs, "--vector-kwargs", "{}", "--processes", "0")
    done = check(*asked, "--actions", "broken_environments:ACTIONS", "--only", "vector_equals_single")
    assert done.exit_code == 1, "a vector form with another stride is another environment"
    assert "action in [2, 2]" in done.stdout or "action in [2]" in done.stdout
    assert check(*asked, "--only", "determinism", "--skip", "restore").exit_code == 0


def test_the_page_shows_what_is_printed() -> None:
    """A reader compares."""
    page = (Path(__file__).parents[3] / "docs/how-to/test-your-environment.md").read_text()
    shown = re.search(r"```text\n\$ rolf check (.*?)\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    assert check(*shown[1].split()).stdout == shown[2]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["CartPoll-v1"], "Did you mean: `CartPole`"),
        (["no_such_module:Env-v0"], "No module named 'no_such_module'"),
        (["CartPole-v1", "--only", "seedling"], "did you mean 'seeding'"),
        (["CartPole-v1", "--kwargs", "{"], "is no JSON"),
        (["CartPole-v1", "--kwargs", "[]"], "is no JSON object"),
        (["CartPole-v1", "--kwargs", '{"poles": 2}', "--only", "seeding"], "unexpected keyword argument 'poles'"),
        (["CartPole-v1", "--actions", "broken_environments:NOTHING"], "give MODULE:NAME"),
        (["CartPole-v1", "--steps", "0"], "0 is not in the range"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], told: str) -> None:
    done = check(*arguments)
    assert done.exit_code == 2
    assert told in done.stderr
