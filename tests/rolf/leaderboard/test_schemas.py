"""The shipped schemas: those of the classes, and what really evaluated submissions hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forgery import load, read_rows
from jsonschema import Draft202012Validator, ValidationError

from rolf.leaderboard.schemas import DIALECT, schemas, shipped


def test_the_shipped_schemas_are_those_of_the_classes() -> None:
    """`python -m rolf.leaderboard.schemas` writes them anew."""
    for name, schema in schemas().items():
        assert shipped(name) == json.loads(json.dumps(schema)), name


@pytest.mark.parametrize("name", ["submission.json", "lock.json", "results-row.json", "board.json", "verified.json"])
def test_a_schema_is_one_and_allows_no_unknown_keys(name: str) -> None:
    schema = shipped(name)
    assert schema["$schema"] == DIALECT
    Draft202012Validator.check_schema(schema)
    if name != "board.json":
        assert schema["additionalProperties"] is False


@pytest.mark.parametrize("kind", ["steps", "blocks"])
def test_an_evaluation_holds_what_the_schemas_say(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    for name in ("submission.json", "lock.json"):
        Draft202012Validator(shipped(name)).validate(load(folder / name))
        with pytest.raises(ValidationError, match="unexpected"):
            Draft202012Validator(shipped(name)).validate(load(folder / name) | {"unexpected": 1})
    row = Draft202012Validator(shipped("results-row.json"))
    for each in read_rows(folder):
        row.validate(each)
