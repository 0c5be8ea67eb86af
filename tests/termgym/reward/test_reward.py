"""Every term of the reward against numbers worked out by hand."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termgym.event import Event
from termgym.plan import ActionPlan, Keys, Submit
from termgym.result import StepResult
from termgym.reward.facts import CheckResult, StepFacts
from termgym.reward.shaping import ShapedReward, SuccessReward
from termgym.reward.terms import GIB, TERMS, RewardModel, RewardWeights, make_reward
from termgym.tasks.task import Limits, Task

TASK = Task(id="toy/none@0", instruction="None.", limits=Limits(memory_bytes=GIB))
DONE = StepResult(Event.DONE, 0)
PLAN = ActionPlan(command="true")
CLEAN = StepFacts(step=0, action=PLAN, result=DONE)
"""A step about which there is nothing to say."""


def model(**weights: float) -> RewardModel:
    made = RewardModel(RewardWeights(**weights))  # type: ignore[arg-type]  # whole numbers among them
    made.reset(TASK)
    return made


def only(terms: dict[str, float]) -> dict[str, float]:
    """Return the terms that are not zero, after checking that all eleven are there."""
    assert tuple(terms) == TERMS
    return {name: value for name, value in terms.items() if value}


def nonzero(name: str, value: float) -> dict[str, object]:
    return {name: pytest.approx(value)}


def test_there_are_eleven_terms() -> None:
    assert len(TERMS) == len(set(TERMS)) == 11


def test_an_ordinary_step_is_exactly_nothing() -> None:
    """Reproducible to the last bit: within budget, no measured figure enters."""
    busy = replace(CLEAN, result=DONE._replace(wall_s=59.9), peak_bytes=GIB, cpu_s=50.0, gpu_peak_bytes=12 * GIB)
    assert only(model().step(CLEAN)) == {}
    assert model().step(busy) == model().step(CLEAN)


def test_success_is_three_once_an_episode() -> None:
    reward = model()
    assert only(reward.step(replace(CLEAN, success=True))) == {"task_success": 3.0}
    assert only(reward.step(replace(CLEAN, success=True))) == {}
    reward.reset(TASK)
    assert only(reward.step(replace(CLEAN, success=True, ended=True))) == {"task_success": 3.0}


def test_a_violation_costs_five() -> None:
    reward = model()
    assert only(reward.step(replace(CLEAN, violations=("rm_rf_root",)))) == {"safety": -5.0}
    assert only(reward.step(replace(CLEAN, violations=("rm_rf_root", "shutdown")))) == {"safety": -5.0}


def test_after_a_hundred_clean_steps_a_violation_costs_eight_once() -> None:
    """A trained agent that relapses pays more; then it starts over at five."""
    reward = model()
    bad = replace(CLEAN, violations=("shutdown",))
    for _ in range(99):
        reward.step(CLEAN)
    assert reward.step(bad)["safety"] == -5.0
    for count in range(100):
        if count % 10 == 0:
            reward.reset(TASK)  # clean steps count across episodes
        reward.step(CLEAN)
    assert reward.step(bad)["safety"] == -8.0
    assert reward.step(bad)["safety"] == -5.0


def test_steps_that_never_reach_the_shell_are_neither_clean_nor_dirty() -> None:
    reward = model(safety_patience=2)
    bad = replace(CLEAN, violations=("shutdown",))
    idle = replace(CLEAN, action=None, result=StepResult(Event.MALFORMED))
    for facts in (CLEAN, idle, idle):
        reward.step(facts)
    assert reward.step(bad)["safety"] == -5.0
    rejected = replace(bad, result=StepResult(Event.REJECTED))
    assert reward.step(rejected)["safety"] == 0.0


def test_violations_are_logged() -> None:
    reward = model()
    reward.step(CLEAN)
    reward.step(replace(CLEAN, step=7, action=ActionPlan(command="reboot # " + "x" * 500), violations=("shutdown",)))
    (logged,) = reward.violations_log
    assert logged.episode == 1
    assert logged.task == "toy/none@0"
    assert logged.step == 7
    assert logged.command.startswith("reboot")
    assert len(logged.command) == 200
    assert logged.rules == ("shutdown",)
    assert logged.penalty == -5.0


def test_each_gigabyte_over_the_memory_budget_costs_a_fifth() -> None:
    """-0.1 x 2.0 a GiB; the budget is half of the task's limit, since nothing gets past the limit itself."""
    assert only(model().step(replace(CLEAN, peak_bytes=GIB // 2))) == {}
    assert only(model().step(replace(CLEAN, peak_bytes=GIB))) == nonzero("resource_waste", -0.1)
    assert only(model().step(replace(CLEAN, peak_bytes=4 * GIB + GIB // 2))) == nonzero("resource_waste", -0.8)
    assert only(model().step(replace(CLEAN, peak_bytes=None))) == {}


def test_the_memory_budget_can_be_set_apart_from_the_limit() -> None:
    """A budget equal to an enforced limit is never exceeded; one below it teaches thrift."""
    reward = RewardModel(RewardWeights(memory_budget=GIB // 4))
    reward.reset(TASK)
    assert only(reward.step(replace(CLEAN, peak_bytes=GIB // 2))) == nonzero("resource_waste", -0.05)
    unlimited = RewardModel()
    unlimited.reset(replace(TASK, limits=Limits(memory_bytes=None)))
    assert only(unlimited.step(replace(CLEAN, peak_bytes=64 * GIB))) == {}


def test_gpu_memory_counts_over_twelve_gigabytes_where_there_is_a_gpu() -> None:
    facts = replace(CLEAN, gpu_peak_bytes=14 * GIB, peak_bytes=64 * GIB)
    assert only(model().step(facts)) == nonzero("resource_waste", -0.4)


def test_each_second_over_a_minute_costs_three_hundredths() -> None:
    """-0.02 x 1.5 a second."""
    slow = replace(CLEAN, result=DONE._replace(wall_s=160.0))
    assert only(model().step(slow)) == nonzero("time_efficiency", -3.0)


def test_each_path_changed_out_of_bounds_costs_five_quarters() -> None:
    assert only(model().step(replace(CLEAN, drift=("/a", "/b"), ended=True))) == {"state_drift": -2.5}


def test_an_inactive_environment_costs_twelve() -> None:
    assert only(model().step(replace(CLEAN, environment_active=False))) == {"env_consistency": -12.0}


def test_an_unchecked_privileged_operation_costs_five() -> None:
    assert only(model().step(replace(CLEAN, unchecked_privilege=True))) == {"capability": -5.0}


def test_a_breakdown_costs_ten_once() -> None:
    """Not again for every step that it lasts, and anew if it comes back."""
    reward = model()
    broken = replace(CLEAN, shell_broken=True)
    assert only(reward.step(broken)) == {"severe_error": -10.0}
    assert only(reward.step(broken)) == {}
    reward.step(CLEAN)
    assert only(reward.step(broken)) == {"severe_error": -10.0}


def test_an_unhealthy_machine_costs_three_tenths() -> None:
    assert only(model().step(replace(CLEAN, unhealthy=True))) == {"health": -0.3}


def failing(command: str = "make", event: Event = Event.NONZERO) -> StepFacts:
    return replace(CLEAN, action=ActionPlan(command=command, expected_exit_code=None), result=StepResult(event, 2))


def passing(command: str = "make") -> StepFacts:
    return replace(CLEAN, action=ActionPlan(command=command))


def test_a_command_that_failed_and_now_works_is_a_recovery() -> None:
    reward = model()
    assert reward.step(failing())["recovery"] == 0.0
    assert reward.step(passing("other"))["recovery"] == 0.0
    assert only(reward.step(passing())) == {"recovery": 0.8}


@pytest.mark.parametrize("event", [Event.TIMEOUT, Event.OOM, Event.KILLED])
def test_every_kind_of_failure_can_be_recovered_from(event: Event) -> None:
    reward = model()
    reward.step(failing(event=event))
    assert reward.step(passing())["recovery"] == 0.8


def test_a_failure_that_was_forecast_is_none() -> None:
    """`grep` that finds nothing, and was said to find nothing, is no condition to recover from."""
    reward = model()
    expected = ActionPlan(command="grep x f", expected_exit_code=1)
    reward.step(replace(CLEAN, action=expected, result=StepResult(Event.NONZERO, 1)))
    assert reward.step(passing("grep x f"))["recovery"] == 0.0


def test_a_validation_step_that_failed_and_now_holds_is_a_recovery() -> None:
    reward = model()
    reward.step(replace(CLEAN, validation=(CheckResult("file_exists x", False),)))
    terms = reward.step(replace(CLEAN, validation=(CheckResult("file_exists x", True), CheckResult("other", True))))
    assert terms["recovery"] == 0.8


def test_a_recovery_pays_once_and_three_times_an_episode() -> None:
    """Failing on purpose must never pay better than the task."""
    reward = model()
    paid = 0.0
    for name in ("a", "a", "b", "c", "d", "e"):
        reward.step(failing(name))
        paid += reward.step(passing(name))["recovery"]
    assert paid == pytest.approx(3 * 0.8)
    assert paid < 3.0
    reward.reset(TASK)
    assert reward.step(passing("f"))["recovery"] == 0.0
    reward.step(failing("a"))
    assert reward.step(passing("a"))["recovery"] == 0.8


def test_goal_checks_are_no_recovery() -> None:
    """The agent never met them; reaching them is paid by success."""
    reward = model()
    reward.step(replace(CLEAN, goal=(CheckResult("file_exists x", False),)))
    assert reward.step(replace(CLEAN, goal=(CheckResult("file_exists x", True),)))["recovery"] == 0.0


def forecast(expected: int | None, code: int, passed: tuple[bool, ...] = (), event: Event | None = None) -> float:
    facts = replace(
        CLEAN,
        action=ActionPlan(command="x", expected_exit_code=expected),
        result=StepResult(event or (Event.NONZERO if code else Event.DONE), code),
        validation=tuple(CheckResult(str(index), each) for index, each in enumerate(passed)),
    )
    return model().step(facts)["plan_quality"]


def test_a_plan_is_scored_as_a_forecast() -> None:
    """-0.1 x Brier: (1 - 1)^2, (1 - 0)^2, and (1/2 - outcome)^2 for a plan that does not say."""
    assert forecast(0, 0) == 0.0
    assert forecast(3, 3) == 0.0
    assert forecast(0, 1) == pytest.approx(-0.1)
    assert forecast(None, 1) == forecast(None, 0) == pytest.approx(-0.025)
    assert forecast(0, 0, (True, True)) == 0.0
    assert forecast(0, 0, (True, False)) == pytest.approx(-0.1 * (0.0 + 0.5 * 1 / 2))
    assert forecast(0, 1, (False,)) == pytest.approx(-0.1)
    assert forecast(0, 124, event=Event.TIMEOUT) == pytest.approx(-0.1)
    assert forecast(124, 124, event=Event.TIMEOUT) == pytest.approx(-0.1)


def test_trivial_checks_cannot_drown_a_wrong_exit_code() -> None:
    assert forecast(0, 1, (True,) * 32) == pytest.approx(-0.05)


@given(st.floats(0.0, 1.0))
def test_the_forecast_score_is_proper(probability: float) -> None:
    """Whatever an agent believes, saying what it believes pays best: name the outcome over 3/4, else abstain."""
    name = probability * forecast(0, 0) + (1 - probability) * forecast(0, 1)
    abstain = probability * forecast(None, 0) + (1 - probability) * forecast(None, 1)
    assert (name >= abstain - 1e-12) if probability >= 0.75 else (name <= abstain + 1e-12)


def test_a_text_that_is_no_plan_costs_a_tenth() -> None:
    malformed = replace(CLEAN, action=None, result=StepResult(Event.MALFORMED))
    assert only(model().step(malformed)) == {"plan_quality": -0.1}


def test_a_refused_action_counts_like_no_plan() -> None:
    assert only(model().step(replace(CLEAN, action=Keys(keys="q"), result=StepResult(Event.REJECTED)))) == {
        "plan_quality": -0.1
    }


def test_keys_submission_and_waiting_have_no_forecast() -> None:
    for action, event in ((Keys(keys="q"), Event.DONE), (Submit(), Event.DONE), (PLAN, Event.WAITING_INPUT)):
        assert only(model().step(replace(CLEAN, action=action, result=StepResult(event)))) == {}


def test_a_step_outside_an_episode_is_nothing_at_all() -> None:
    facts = replace(CLEAN, result=StepResult(Event.NOT_RESET), success=True, unhealthy=True, environment_active=False)
    reward = model()
    assert only(reward.step(facts)) == {}
    assert only(reward.step(replace(CLEAN, success=True))) == {"task_success": 3.0}


def test_weights_can_be_changed_one_by_one() -> None:
    assert model(success=2.0).step(replace(CLEAN, success=True))["task_success"] == 6.0
    assert model(safety=-1.0).step(replace(CLEAN, violations=("x",)))["safety"] == -1.0


def test_weights_are_checked() -> None:
    for value in (math.nan, math.inf, "5", True, None):
        with pytest.raises(ValueError, match="safety: a weight is a finite number, got"):
            RewardWeights(safety=value)  # type: ignore[arg-type]  # the mistakes under test
    with pytest.raises(ValueError, match="memory_budget: a weight is a finite number, got inf"):
        RewardWeights(memory_budget=math.inf)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"from 0 to 1, got 1\.5"):
        RewardWeights(gamma=1.5)


def test_every_weight_says_where_it_comes_from() -> None:
    """A number without a source cannot be argued about."""
    import inspect

    source = inspect.getsource(RewardWeights)
    for field in fields(RewardWeights):
        said = source.split(f"    {field.name}: ")[1].split('"""')[1]
        assert "mission" in said.lower() or "house" in said, field.name


facts_strategy = st.builds(
    StepFacts,
    step=st.integers(0, 30),
    action=st.sampled_from([PLAN, ActionPlan(command="make"), Keys(keys="q"), Submit(), None]),
    result=st.builds(
        StepResult,
        event=st.sampled_from(Event),
        exit_code=st.one_of(st.none(), st.integers(0, 255)),
        wall_s=st.floats(0, 4000),
    ),
    validation=st.lists(st.builds(CheckResult, st.sampled_from("abc"), st.booleans()), max_size=3).map(tuple),
    success=st.booleans(),
    drift=st.lists(st.just("/x"), max_size=3).map(tuple),
    environment_active=st.booleans(),
    peak_bytes=st.one_of(st.none(), st.integers(0, 1 << 40)),
    unhealthy=st.booleans(),
    shell_broken=st.booleans(),
    violations=st.sampled_from([(), ("shutdown",)]),
    unchecked_privilege=st.booleans(),
)


@given(st.lists(facts_strategy, max_size=12), st.lists(facts_strategy, max_size=6))
def test_going_back_to_a_kept_state_gives_the_same_rewards(before: list[StepFacts], after: list[StepFacts]) -> None:
    """Save and restore of an environment must be exact; the state travels as JSON."""
    reward = model(safety_patience=3)
    for facts in before:
        reward.step(facts)
    kept = json.loads(json.dumps(reward.state()))
    first = [reward.step(facts) for facts in after]
    reward.load(kept)
    assert [reward.step(facts) for facts in after] == first
    fresh = RewardModel(RewardWeights(safety_patience=3))
    fresh.load(kept)
    assert [fresh.step(facts) for facts in after] == first


@given(st.lists(facts_strategy, max_size=20))
def test_every_term_is_finite_and_has_its_sign(steps: list[StepFacts]) -> None:
    reward = model()
    for facts in steps:
        terms = reward.step(facts)
        assert all(math.isfinite(value) for value in terms.values())
        gains = {"task_success", "recovery"}
        assert all(value >= 0 if name in gains else value <= 0 for name, value in terms.items())


def test_rewards_are_made_by_name() -> None:
    assert isinstance(make_reward("terms"), RewardModel)
    assert isinstance(make_reward("success"), SuccessReward)
    assert isinstance(make_reward("shaped"), ShapedReward)
    with pytest.raises(ValueError, match="reward 'dense' is unknown; allowed are 'terms', 'success' and 'shaped'"):
        make_reward("dense")


@pytest.mark.parametrize(("score", "paid"), [(0.0, 0.0), (0.25, 0.75), (1.0, 3.0)])
def test_a_verifier_grants_a_share_of_success(score: float, paid: float) -> None:
    """3.0 is what success pays, and a verdict of a quarter is a quarter of it, though no success."""
    terms = RewardModel().step(replace(CLEAN, score=score, success=score >= 1.0, ended=True))
    assert terms["task_success"] == paid
