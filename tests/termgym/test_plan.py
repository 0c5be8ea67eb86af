"""The text of an action: what is accepted, what is refused and how, and the schema that says so."""

from __future__ import annotations

import json
import math
import re
import time
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termgym.checks import Check, FileExists, PortOpen
from termgym.errors import PlanError
from termgym.plan import (
    COMMAND_LIMIT,
    PLAN_LIMIT,
    ActionPlan,
    Exchange,
    Keys,
    Submit,
    keys,
    parse_action,
    plan,
    plan_schema,
    submit,
)
from termgym.reasons import shorten


def test_reads_a_plan_with_its_defaults() -> None:
    assert parse_action('{"command": "ls"}') == ActionPlan(command="ls", timeout=60.0, expected_exit_code=0)


def test_reads_the_plan_of_the_design() -> None:
    """The shape agents are trained on: a relative path and a pattern in the validation steps."""
    text = """{"command": "python train.py --epochs 10", "timeout": 300, "expected_exit_code": 0, "validation_steps": [
        {"type": "file_exists", "path": "./logs/train.log"},
        {"type": "text_in_file", "path": "./logs/train.log", "pattern": "Final accuracy: 0.9"}]}"""
    action = parse_action(text)
    assert isinstance(action, ActionPlan)
    assert action.timeout == 300.0
    assert [check.type for check in action.validation_steps] == ["file_exists", "text_in_file"]


def test_reads_keys_and_submission() -> None:
    assert parse_action('{"keys": "C-c", "timeout": 5}') == Keys(keys="C-c", timeout=5.0)
    assert parse_action('{"submit": true}') == Submit()


def test_null_means_any_exit_code() -> None:
    action = parse_action('{"command": "ls", "expected_exit_code": null}')
    assert isinstance(action, ActionPlan)
    assert action.expected_exit_code is None


def test_the_last_of_two_equal_keys_counts() -> None:
    """Documented; nothing else in the text can tell which was meant."""
    action = parse_action('{"command": "first", "command": "last"}')
    assert isinstance(action, ActionPlan)
    assert action.command == "last"


def test_keeps_nul_and_every_other_character_of_a_command() -> None:
    """The command is the agent's, verbatim; the session decides what a NUL does."""
    command = "printf 'a\0b' # \U0001f600 \x7f \t ä"
    action = parse_action(plan(command))
    assert isinstance(action, ActionPlan)
    assert action.command == command


REFUSED = {
    "": "no JSON",
    "ls -la": "no JSON",
    "[]": "no JSON object, got []",
    '"ls"': "no JSON object, got 'ls'",
    "null": "no JSON object, got None",
    '{"command": "ls"} trailing': "no JSON",
    '{"command": "a\nb"}': "control character",
    "{}": 'command: missing; a plan is a JSON object like {"command": "ls", "timeout": 10}',
    '{"timeout": 5}': "command: missing",
    '{"command": 5}': "command: should be a valid string, got 5",
    '{"command": null}': "command: should be a valid string, got None",
    '{"command": "ls", "timout": 5}': "timout: unknown key",
    '{"command": "ls", "timeout": 0}': "timeout: should be greater than 0, got 0",
    '{"command": "ls", "timeout": -1}': "timeout: should be greater than 0, got -1",
    '{"command": "ls", "timeout": 3601}': "timeout: should be less than or equal to 3600",
    '{"command": "ls", "timeout": NaN}': "timeout: should be a finite number, got nan",
    '{"command": "ls", "timeout": Infinity}': "timeout: should be a finite number, got inf",
    '{"command": "ls", "timeout": 1e999}': "timeout: should be a finite number, got inf",
    '{"command": "ls", "timeout": "60"}': "timeout: should be a valid number, got '60'",
    '{"command": "ls", "timeout": true}': "timeout: should be a valid number, got True",
    '{"command": "ls", "timeout": null}': "timeout: should be a valid number, got None",
    '{"command": "ls", "idle_timeout": 0}': "idle_timeout: should be greater than 0",
    '{"command": "ls", "expected_exit_code": "0"}': "expected_exit_code: should be a valid integer, got '0'",
    '{"command": "ls", "expected_exit_code": true}': "expected_exit_code: should be a valid integer, got True",
    '{"command": "ls", "expected_exit_code": 256}': "expected_exit_code: should be less than or equal to 255",
    '{"command": "ls", "validation_steps": {}}': "validation_steps: should be a valid array",
    '{"command": "ls", "validation_steps": [{"path": "x"}]}': "validation_steps[0]: the key 'type' is missing",
    '{"command": "ls", "validation_steps": [{"type": "file_there"}]}': "'file_there' is unknown; allowed are",
    '{"command": "ls", "validation_steps": [{"type": "file_exists"}]}': "path: missing",
    '{"command": "ls", "validation_steps": [{"type": "file_exists", "path": ""}]}': "at least 1 character",
    '{"command": "ls", "validation_steps": [{"type": "file_exists", "path": "a\\u0000"}]}': "should match pattern",
    '{"command": "ls", "validation_steps": [{"type": "output", "pattern": "(a"}]}': "not a regular expression: miss",
    '{"command": "ls", "validation_steps": [{"type": "output", "pattern": "{x}(?P<{"}]}': "not a regular expression",
    '{"command": "ls", "validation_steps": [{"type": "port_open", "port": 0}]}': "greater than or equal to 1",
    '{"command": "ls", "validation_steps": [{"type": "file_mode", "path": "x", "mode": "rw"}]}': "match pattern",
    '{"command": "ls", "dialogue": [{"expect": "x"}]}': "dialogue[0].send: missing",
    '{"command": "ls", "dialogue": [{"expect": "*", "send": "y"}]}': "not a regular expression",
    '{"command": "ls", "keys": "q"}': "keys: unknown key",
    '{"keys": ""}': "keys: string should have at least 1 character",
    '{"keys": "q", "expected_exit_code": 0}': "expected_exit_code: unknown key",
    '{"submit": false}': "submit: should be True, got False",
    '{"submit": "true"}': "submit: should be True, got 'true'",
    '{"command": "\\ud800"}': "no JSON",
    '{"command": "\ud800"}': "half of a surrogate pair",
}


@pytest.mark.parametrize("text", REFUSED)
def test_says_what_is_wrong_with_a_text(text: str) -> None:
    """The message becomes the observation: it must be enough to do better next time."""
    with pytest.raises(PlanError, match=re.escape(REFUSED[text])) as caught:
        parse_action(text)
    assert len(str(caught.value)) <= 600
    assert "pydantic" not in str(caught.value)


@pytest.mark.parametrize("pattern", [r"\p{L}", "(?V1)a", "(?<=a+)b", "(?|a|b)", "(" * 2000, "a{1,99999999999}"])
def test_refuses_patterns_that_only_one_engine_knows(pattern: str) -> None:
    """A dialogue is matched by `re`, a check by `regex`; a pattern must mean the same to both."""
    with pytest.raises(PlanError, match="not a regular expression"):
        plan("x", dialogue=[(pattern, "y")])


@pytest.mark.parametrize("pattern", ["[[a]", "(?i)x", "(?:a|b)++c", "{", "a{2}", "^$", "(?P<n>a)(?P=n)", "é\\s"])
def test_takes_every_ordinary_pattern(pattern: str) -> None:
    action = parse_action(plan("x", dialogue=[(pattern, "y")]))
    assert isinstance(action, ActionPlan)
    assert [each.expect for each in action.dialogue] == [pattern]


def test_refuses_what_is_no_text() -> None:
    with pytest.raises(PlanError, match=r"an action is a str .* got \{'command': 'ls'\}"):
        parse_action({"command": "ls"})  # type: ignore[arg-type]  # what untyped callers do


def test_takes_a_long_command_and_refuses_one_over_the_limit() -> None:
    action = parse_action(plan("x" * COMMAND_LIMIT))
    assert isinstance(action, ActionPlan)
    assert len(action.command) == COMMAND_LIMIT
    with pytest.raises(PlanError, match="command: string should have at most 4194304 characters"):
        plan("x" * (COMMAND_LIMIT + 1))
    with pytest.raises(PlanError, match="at most 8388608"):
        parse_action(" " * (PLAN_LIMIT + 1))


def test_hostile_texts_are_refused_quickly() -> None:
    """Half a million wrong keys, or brackets without end, must not cost a step more than a moment."""
    wrong_keys = "{" + ",".join(f'"a{n}":1' for n in range(500_000)) + "}"
    for text in (wrong_keys, "[" * PLAN_LIMIT, '{"a":' * (PLAN_LIMIT // 5), '"' + "y" * (PLAN_LIMIT - 2) + '"'):
        began = time.process_time()
        with pytest.raises(PlanError):
            parse_action(text)
        assert time.process_time() - began < 5


def test_parsing_a_short_plan_takes_microseconds() -> None:
    """Ten on a quiet machine; the best of many rounds, with room for a busy one."""
    text = '{"command": "ls -la", "timeout": 10}'
    rounds = []
    for _ in range(200):
        began = time.process_time()
        for _ in range(10):
            parse_action(text)
        rounds.append((time.process_time() - began) / 10)
    assert min(rounds) < 10e-6


def test_builds_what_it_reads() -> None:
    text = plan(
        "ls",
        timeout=5,
        expected_exit_code=None,
        validation_steps=[FileExists(path="a"), {"type": "port_open", "port": 80}],
        dialogue=[("Name: ", "x\n"), Exchange(expect="Sure", send="y\n"), {"expect": "z", "send": ""}],
        idle_timeout=2,
    )
    assert parse_action(text) == ActionPlan(
        command="ls",
        timeout=5.0,
        expected_exit_code=None,
        validation_steps=(FileExists(path="a"), PortOpen(port=80)),
        dialogue=(
            Exchange(expect="Name: ", send="x\n"),
            Exchange(expect="Sure", send="y\n"),
            Exchange(expect="z", send=""),
        ),
        idle_timeout=2.0,
    )
    assert parse_action(keys("q", timeout=3)) == Keys(keys="q", timeout=3.0)
    assert parse_action(submit()) == Submit()


def test_a_short_plan_is_a_short_text() -> None:
    """What has its default is left out: trajectories are full of plans."""
    assert plan("ls") == '{"command": "ls"}'
    assert keys("q") == '{"keys": "q"}'


def test_building_refuses_what_reading_would() -> None:
    with pytest.raises(PlanError, match="timeout"):
        plan("ls", timeout=math.nan)
    with pytest.raises(PlanError, match="surrogate"):
        plan("\ud800")
    with pytest.raises(PlanError, match=r"validation_steps\[0\]"):
        plan("ls", validation_steps=[{"type": "nothing"}])
    with pytest.raises(TypeError, match="JSON values and checks"):
        plan("ls", validation_steps=[object()])  # type: ignore[list-item]  # the mistake under test


def test_plans_are_values() -> None:
    """Equal content is equal and hashable, and nothing can be changed behind a task's back."""
    one, other = ActionPlan(command="ls"), ActionPlan(command="ls")
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(ValueError, match="frozen"):
        one.command = "rm"


def test_models_coerce_nothing() -> None:
    with pytest.raises(ValueError, match="valid number"):
        ActionPlan(command="ls", timeout="5")  # type: ignore[arg-type]  # the mistake under test
    assert ActionPlan(command="ls", validation_steps=[FileExists(path="x")]).validation_steps == (FileExists(path="x"),)  # type: ignore[arg-type]  # a list is welcome


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(plan_schema())
    assert plan_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_uses_only_what_decoders_understand() -> None:
    """`discriminator` is OpenAPI's own, `oneOf` and `format` are refused by several tool-call interfaces."""
    text = json.dumps(plan_schema())
    assert not re.search(r'"(discriminator|oneOf|format|if|not)":', text)


def test_every_field_of_the_schema_is_described() -> None:
    """The descriptions are all that a model sees of the documentation."""
    for name, definition in plan_schema()["$defs"].items():
        assert definition["description"], name
        assert definition["additionalProperties"] is False
        for field, node in definition["properties"].items():
            assert "const" in node or node["description"], f"{name}.{field}"


def test_a_callers_change_does_not_reach_the_schema() -> None:
    plan_schema()["$defs"].clear()
    assert plan_schema()["$defs"]


def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(plan_schema())


def accepted(text: str) -> bool:
    try:
        parse_action(text)
    except PlanError:
        return False
    return True


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 4000),
    st.floats(0.1, 4000).filter(lambda number: not number.is_integer()),
    st.sampled_from(
        ["ls", "", "a/b", "~", "0755", "any", "dir", "stdout", "x" * 64, "0" * 64, "HOME", "1x", "a\0b", "80", "true"]
    ),
)
KINDS = [kind.model_fields["type"].default for kind in get_args(get_args(Check)[0])]
checks: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([*KINDS, "nothing"]),
        **dict.fromkeys(
            ["path", "pattern", "negate", "kind", "mode", "sha256", "target", "port", "name", "stream"], scalars
        ),
        **dict.fromkeys(["command", "exit_code", "cwd", "timeout"], scalars),
    },
)


def valid_check(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return checks that are near valid: the right keys, values often right."""
    fields = {
        "file_exists": {"path": st.just("x")},
        "file_absent": {"path": st.just("x")},
        "text_in_file": {"path": st.just("x"), "pattern": st.just("a+")},
        "file_sha256": {"path": st.just("x"), "sha256": st.sampled_from(["0" * 64, "x"])},
        "file_mode": {"path": st.just("x"), "mode": st.sampled_from(["755", "0755", "8"])},
        "link_target": {"path": st.just("x"), "target": scalars},
        "process_running": {"pattern": st.just("x"), "negate": scalars},
        "port_open": {"port": scalars},
        "variable": {"name": scalars},
        "command": {"command": scalars, "timeout": scalars},
        "output": {"pattern": st.just("x"), "stream": scalars},
    }[kind]
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


near_checks = st.sampled_from(KINDS).flatmap(valid_check)
actions = st.one_of(
    st.fixed_dictionaries(
        {"command": st.one_of(st.just("ls"), scalars)},
        optional={
            "timeout": scalars,
            "idle_timeout": scalars,
            "expected_exit_code": scalars,
            "validation_steps": st.one_of(st.lists(st.one_of(near_checks, checks), max_size=3), scalars),
            "dialogue": st.lists(st.fixed_dictionaries({"expect": scalars}, optional={"send": scalars}), max_size=2),
            "other": scalars,
        },
    ),
    st.fixed_dictionaries({"keys": scalars}, optional={"timeout": scalars, "command": scalars}),
    st.fixed_dictionaries(
        {"submit": scalars.filter(lambda value: value != 1 or value is True)}, optional={"keys": scalars}
    ),
    st.dictionaries(st.sampled_from(["command", "keys", "submit", "x"]), scalars, max_size=3),
    scalars,
)


@settings(max_examples=600, deadline=None)
@given(actions)
def test_the_schema_and_the_parser_agree(action: Any) -> None:
    """A model decoded under the schema writes no malformed plan, and the schema forbids nothing that is allowed."""
    assert validator().is_valid(action) == accepted(json.dumps(action))


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.text(alphabet='{}[]":,command timeout 0e-.\\u', max_size=60), st.binary().map(repr)))
def test_any_text_is_an_action_or_a_plan_error(text: str) -> None:
    """Gymnasium's and other checkers step with random strings. Whatever else is raised fails this test."""
    accepted(text)


@given(st.one_of(st.text(), st.integers(), st.lists(st.text())), st.integers(8, 80))
def test_shortened_values_are_short(value: object, length: int) -> None:
    assert len(shorten(value, length)) <= length + 1
