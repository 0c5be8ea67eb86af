"""Plans are what TermEnv takes, and what is none is refused; recorded, they can be done again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import gymnasium
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rolf.replay import Report, replay
from rolf.strategies import plans, seeds
from rolf.strategies.plans import malformed_plans
from rolf_wrappers import RecordTrajectory
from termgym.checks import Check
from termgym.errors import PlanError
from termgym.plan import ActionPlan, Keys, Submit, parse_action

LIMITS = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def test_every_plan_is_read_as_it_was_written() -> None:
    kinds: Counter[type] = Counter()
    fields: Counter[str] = Counter()
    checks: set[str] = set()

    @settings(LIMITS, max_examples=400)
    @given(plans())
    def look(text: str) -> None:
        action, given_fields = parse_action(text), json.loads(text)
        kinds[type(action)] += 1
        fields.update(given_fields.keys())
        told = json.loads(action.model_dump_json())
        for name in given_fields:
            if name != "validation_steps":
                assert told[name] == given_fields[name]
        for asked, read in zip(given_fields.get("validation_steps", []), told.get("validation_steps", []), strict=True):
            checks.add(asked["type"])
            assert asked.items() <= read.items()

    look()
    assert kinds.keys() == {ActionPlan, Keys, Submit}
    assert fields.keys() == {*ActionPlan.model_fields, *Keys.model_fields, *Submit.model_fields}
    assert checks == {each.model_fields["type"].default for each in Check.__origin__.__args__}  # type: ignore[attr-defined]


@settings(LIMITS, max_examples=300)
@given(malformed_plans(st.fixed_dictionaries({"command": st.just("ls")}, optional={"timeout": st.just(5.0)})))
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        parse_action(text)


def test_mixed_plans_are_mixed() -> None:
    """Every text is read or refused with a reason, and both happen all the time."""
    outcomes: Counter[str] = Counter()

    @settings(LIMITS, max_examples=300)
    @given(plans(valid=False))
    def look(text: str) -> None:
        try:
            parse_action(text)
        except PlanError:
            outcomes["refused"] += 1
        else:
            outcomes["read"] += 1

    look()
    assert min(outcomes["read"], outcomes["refused"]) > 30, outcomes


@settings(LIMITS, max_examples=30)
@given(plans(st.just("ls"), timeouts=st.just(5.0), keys=False, submit=False))
def test_a_plan_can_be_pinned(text: str) -> None:
    fields = json.loads(text)
    assert fields["command"] == "ls"
    assert {fields.get("timeout", 5.0), fields.get("idle_timeout") or 5.0} == {5.0}


def replayed(path: Path, seed: int, texts: list[str]) -> Report:
    """Record what these texts do, and do it again."""
    env = RecordTrajectory(gymnasium.make("termgym:TermEnv-v1", disable_env_checker=True), path, overwrite=True)
    try:
        env.reset(seed=seed)
        for text in texts:
            _, _, terminated, truncated, _ = env.step(text)
            if terminated or truncated:
                break
    finally:
        env.close()
    return replay(path)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(LIMITS, max_examples=4)
@given(seed=seeds(), texts=st.lists(plans(valid=False), min_size=5, max_size=12))
def test_recorded_plans_come_out_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, texts: list[str]
) -> None:
    """Whatever harmless thing an agent does, its trajectory file can be done again."""
    report = replayed(tmp_path_factory.mktemp("plans") / "t.jsonl", seed, texts)
    assert report.equal, report


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@settings(LIMITS, max_examples=200)
@given(seed=seeds(), texts=st.lists(plans(valid=False), min_size=5, max_size=20))
def test_many_recorded_plans_come_out_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, texts: list[str]
) -> None:
    report = replayed(tmp_path_factory.mktemp("plans") / "t.jsonl", seed, texts)
    assert report.equal, report


def test_without_hypothesis_the_package_says_what_to_install(tmp_path: Path) -> None:
    """It comes with the extra `test` and is no requirement."""
    (tmp_path / "hypothesis.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'hypothesis'\", name='hypothesis')"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import rolf.strategies"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("pip install 'rolf[test]'")
