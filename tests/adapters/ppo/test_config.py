"""A configuration that is wrong says so before anything is trained: where, what, and what is allowed."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from small_learner import small_config

from rolf_adapters.ppo.config import KINDS, checked, read, schema
from rolf_adapters.ppo.reading import ConfigError, parsed, value

EXAMPLES = Path(__file__).parents[3] / "examples" / "training"
TEXT = """\
experiment:
  kind: small_learner
  seed: 7
environment:
training:
  iterations: 6
  learning_rate: 1e-3
stages:
  gates:
    - {measure: rollout/return, when: below, value: 1, then: stop}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(TEXT)
    return path


def wrong(path: Path, *overrides: str) -> str:
    """Return what is wrong, with the folder left out."""
    with pytest.raises(ConfigError) as caught:
        read(path, overrides)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_reads_what_is_written_and_defaults_for_the_rest(file: Path) -> None:
    """1e-3 is a number, though YAML 1.1 takes it for a text; a group without keys is one with its defaults."""
    config = read(file)
    assert config.training.learning_rate == 0.001
    assert config.training.evaluate_every == 10
    assert config.environment.model_dump() == {"id": "CartPole-v1", "kwargs": {}}
    assert config.stages.gates[0].when == "below"


def test_is_frozen(file: Path) -> None:
    """What a checkpoint says it was trained with must be what it was trained with."""
    with pytest.raises(ValueError, match="frozen"):
        read(file).training.iterations = 7


def test_written_out_it_reads_the_same(file: Path, tmp_path: Path) -> None:
    """The folder of a training holds its configuration whole, to be given to `rolf train` again."""
    config = read(file)
    (tmp_path / "again.yaml").write_text(config.text())
    again = read(tmp_path / "again.yaml")
    assert again.plain() == config.plain()
    assert again.digest == config.digest


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "learning_rate: 1e-3",
            "lerning_rate: 1e-3",
            "mine.yaml:7: training.lerning_rate: there is no such key; did you mean 'learning_rate'? known here: ",
        ),
        ("training:", "trainig:", "mine.yaml:5: trainig: there is no such key; did you mean 'training'?"),
        ("  seed: 7", "  sead: 7", "mine.yaml:3: experiment.sead: there is no such key; did you mean 'seed'?"),
        (
            "then: stop}",
            "then: stop, until: 3}",
            "mine.yaml:10: stages.gates.0.until: there is no such key; known here: measure,",
        ),
        (
            "when: below",
            "when: under",
            "mine.yaml:10: stages.gates.0.when is 'under'; it should be 'above', 'below', 'falls' or 'stalls'",
        ),
        ("1e-3", "fast", "mine.yaml:7: training.learning_rate is 'fast'; it should be a valid number"),
        ("1e-3", "'1e-3'", "mine.yaml:7: training.learning_rate is '1e-3'; it should be a valid number"),
        ("1e-3", "2", "mine.yaml:7: training.learning_rate is 2; it should be less than or equal to 1"),
        ("1e-3", ".nan", "mine.yaml:7: training.learning_rate is nan; it should be a finite number"),
        ("iterations: 6", "iterations: 6.5", "mine.yaml:6: training.iterations is 6.5; it should be a valid integer"),
        (
            "iterations: 6",
            "iterations: true",
            "mine.yaml:6: training.iterations is True; it should be a valid integer",
        ),
        ("  iterations: 6\n", "", "mine.yaml:5: training.iterations is missing; known here: iterations,"),
        (
            "kind: small_learner",
            "kind: vectro",
            "mine.yaml:2: experiment.kind is 'vectro', and there is no module 'vectro'; did you mean 'vector'?",
        ),
        ("kind: small_learner", "kind: 3", "mine.yaml:2: experiment.kind is 3; expected vector or language"),
        ("kind: small_learner", "kind: json", "mine.yaml:2: experiment.kind 'json': its module has no class Settings"),
        ("  seed: 7", "  seed: 7\n  seed: 8", "mine.yaml:4: experiment.seed is given twice"),
        ("  seed: 7", "  seed: [7", "mine.yaml: is not YAML: while parsing a flow sequence"),
        ("environment:", "environment: &a {kwargs: *a}", "mine.yaml:4: an anchor that holds itself"),
        ("environment:", "environment: {? [1] : 2}", "mine.yaml:4: a key is a text"),
        (
            "environment:",
            "environment: {kwargs: {a: !!set {b}}}",
            "mine.yaml: only texts, numbers, truths, lists and groups",
        ),
    ],
)
def test_what_is_wrong_is_told_with_line_key_value_and_what_is_allowed(
    file: Path, before: str, after: str, said: str
) -> None:
    """An unknown key that is passed over in silence costs a night of training with the default."""
    assert before in TEXT
    file.write_text(TEXT.replace(before, after))
    assert said in wrong(file)


@pytest.mark.parametrize(
    ("said", "wrong_lines"),
    [
        ("{a: .inf}", ["mine.yaml:4: environment.kwargs.a is inf; it should be a finite number"]),
        ("{a: [1, {b: -.inf}]}", ["mine.yaml:4: environment.kwargs.a.1.b is -inf; it should be a finite number"]),
        (
            "{a: .nan, b: 1e999}",
            ["mine.yaml:4: environment.kwargs.a is nan;", "mine.yaml:4: environment.kwargs.b is inf;"],
        ),
        ("{1: 2}", ["mine.yaml:4: environment.kwargs has the key 1; a key is a text; put it in quotes: '1'"]),
        ("{a: {true: 2}}", ["mine.yaml:4: environment.kwargs.a has the key True; a key is a text"]),
    ],
)
def test_what_json_cannot_say_is_refused_in_what_an_environment_is_made_with(
    file: Path, said: str, wrong_lines: list[str]
) -> None:
    """It would be made with infinity, and the folder, the digest and the actors would all be told null."""
    file.write_text(TEXT.replace("environment:\n", f"environment: {{kwargs: {said}}}\n"))
    for line, start in zip(wrong(file).splitlines(), wrong_lines, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("kind", "environment", "named"),
    [
        ("language", {"kwargs": {"a": math.inf}}, "kwargs.a is inf"),
        ("language", {"evaluation": {"a": math.nan}}, "evaluation.a is nan"),
        ("language", {"wrappers": [{"name": "W", "kwargs": {"a": -math.inf}}]}, "wrappers.0.kwargs.a is -inf"),
        ("language", {"wrappers": ({"name": "W", "kwargs": {2: 0}},)}, "wrappers.0.kwargs has the key 2"),
        ("vector", {"kwargs": {"a": math.inf}}, "kwargs.a is inf"),
        ("vector", {"kwargs": {"a": {None: 1}}}, "kwargs.a has the key None"),
    ],
)
def test_so_it_is_in_every_kind_and_from_a_program(kind: str, environment: dict[str, Any], named: str) -> None:
    """Whoever calls `checked` with plain data has no file to be told the line of."""
    plain = {
        "experiment": {"kind": kind},
        "environment": {"id": "mine:Mine-v0", **environment},
        "training": {"iterations": 1},
    }
    if kind == "language":
        plain["policy"] = {"model": "nowhere"}
    with pytest.raises(ConfigError, match=f"^configuration: environment.{re.escape(named)}"):
        checked(plain)


def test_an_override_may_be_what_json_cannot_say(file: Path) -> None:
    """Then it is the option that is named."""
    said = wrong(file, "environment.kwargs.a=.inf")
    assert said.startswith("--set environment.kwargs.a: environment.kwargs.a is inf; it should be a finite number")


def test_all_that_is_wrong_is_told_at_once(file: Path) -> None:
    """Nobody wants to start a training five times to learn of five slips."""
    file.write_text(TEXT.replace("seed: 7", "seed: -7").replace("iterations: 6", "iterations: 0"))
    assert [line.split(" is ")[0] for line in wrong(file).splitlines()] == [
        "mine.yaml:3: experiment.seed",
        "mine.yaml:6: training.iterations",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is empty"), (b"- 1\n", "is a list; expected groups"), (b"\xff\xfe\x00", "no text in UTF-8")],
)
def test_files_that_hold_no_configuration(file: Path, content: bytes, said: str) -> None:
    """The commonest are an empty file and one of another program."""
    file.write_bytes(content)
    assert said in wrong(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """What to do is said too."""
    assert wrong(tmp_path / "gone.yaml") == "'gone.yaml': No such file or directory; give a YAML file that can be read"


def test_overrides_take_the_place_of_what_the_file_says(file: Path) -> None:
    """Also where the file has no such group yet."""
    config = read(file, ("training.learning_rate=2e-4", "logging.tensorboard=false", "environment.kwargs={a: [1]}"))
    assert config.training.learning_rate == 0.0002
    assert config.logging.tensorboard is False
    assert config.environment.model_dump()["kwargs"] == {"a": [1]}
    assert read(file).training.learning_rate == 0.001


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("training.learning_rat=1e-3", "--set training.learning_rat: training.learning_rat: there is no such key; did"),
        ("training.learning_rate=quick", "--set training.learning_rate: training.learning_rate is 'quick'; it should"),
        ("trainig.iterations=3", "--set trainig.iterations: trainig: there is no such key; did you mean 'training'?"),
        ("training.iterations", "--set 'training.iterations' is not written as group.key=value"),
        ("training..iterations=3", "is not written as group.key=value"),
        ("experiment.seed.low=3", "experiment.seed is 7 and holds no keys; set it whole"),
        ("training.iterations=[3", "is not written as a value of YAML"),
    ],
)
def test_an_override_that_is_wrong_is_named(file: Path, override: str, said: str) -> None:
    """The file is not to blame."""
    assert said in wrong(file, override)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1e-4", 1e-4), ("1E5", 1e5), ("-2.5e+3", -2500.0), ("3.", 3.0), (".5", 0.5), ("1_000", 1000), ("0x10", 16),
        ("true", True), ("False", False), ("no", "no"), ("on", "on"), ("2026-11-30", "2026-11-30"), ("1.2.3", "1.2.3"),
        ("null", None), ("", None), ("[64, 1e-1]", [64, 0.1]), ("a text", "a text"), ("e5", "e5"), ("1:30", 90),
    ],
)  # fmt: skip
def test_numbers_and_truths_are_those_that_people_mean(text: str, meant: Any) -> None:
    """YAML 1.1 takes 1e-4 for a text and `no` for False."""
    found = value(text)
    assert (type(found), found) == (type(meant), meant)


def test_the_digest_leaves_out_what_does_not_matter() -> None:
    """A training may be made longer and watched otherwise; with another seed it is another one."""
    plain = checked(small_config())
    assert checked(small_config(training__iterations=99, logging__checkpoint_every=5)).digest == plain.digest
    assert checked(small_config(experiment__seed=8)).digest != plain.digest
    assert checked(small_config(policy__width=17)).digest != plain.digest


def test_the_json_schema_takes_what_is_right_and_refuses_what_is_not() -> None:
    """Editors complete and check configurations by it."""
    plain = parsed(TEXT.replace("environment:\n", ""), "text").data
    jsonschema.validate(plain, schema("small_learner"))
    plain["training"]["lerning_rate"] = 1
    with pytest.raises(jsonschema.ValidationError, match="lerning_rate"):
        jsonschema.validate(plain, schema("small_learner"))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_key_that_comes_along_is_explained(kind: str) -> None:
    """`rolf train --schema` is the reference of the configuration."""
    silent = [
        f"{name}.{key}"
        for name, group in schema(kind)["$defs"].items()
        for key, told in group.get("properties", {}).items()
        if not told.get("description") and "$ref" not in told  # a group is explained where it is defined
    ]
    assert silent == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_every_example_is_a_configuration(path: Path) -> None:
    """It is what people begin with."""
    assert read(path).experiment.kind in KINDS


def test_after_a_rollback_all_rates_are_smaller() -> None:
    """A language model has two, and a critic that diverged would diverge again."""
    said = {
        "experiment": {"name": "x", "kind": "language"},
        "environment": {"id": "termgym:TermEnv-v1"},
        "policy": {"model": "nowhere"},
        "training": {"iterations": 1, "learning_rate": 0.25, "critic_rate": 0.5},
    }
    config = checked(said)
    slower = config.slower(0.5).training
    assert (slower.learning_rate, slower.model_dump()["critic_rate"]) == (0.125, 0.25)
    assert config.training.learning_rate == 0.25
