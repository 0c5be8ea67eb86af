"""Credit against numbers worked out by hand and against a slow reference that is written from the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rolf_adapters.ppo.credit import over_time, over_tokens, over_turns

NAN = float("nan")
FACTORS = {"discount": 0.5, "trace": 0.5}


def column(*values: float) -> NDArray[Any]:
    return np.array(values)[:, None]


# ---- over time, by hand


def test_three_steps_by_hand() -> None:
    """Surprises 1 + .5*2 - 1 = 1, 0 + .5*4 - 2 = 0, 2 + .5*6 - 4 = 1; advantages add a quarter of the next one."""
    no = column(0, 0, 0)
    found = over_time(column(1, 0, 2), column(1, 2, 4), [6], no, no, column(NAN, NAN, NAN), **FACTORS)
    assert found.advantages[:, 0].tolist() == [1 + 0.25 * 0.25, 0.25, 1]
    assert found.returns[:, 0].tolist() == [2.0625, 2.25, 5]


def test_nothing_is_worth_anything_after_a_termination() -> None:
    """The step that ends for good has no value after it, and the next episode is none of its merit."""
    ends, no = column(0, 1, 0), column(0, 0, 0)
    found = over_time(column(1, 1, 1), column(2, 2, 2), [4], ends, no, column(NAN, 9, NAN), **FACTORS)
    # 1 + .5*2 - 2 = 0; 1 - 2 = -1; 1 + .5*4 - 2 = 1.
    assert found.advantages[:, 0].tolist() == [-0.25, -1, 1]


def test_a_truncated_episode_is_worth_its_final_observation() -> None:
    """The next row of values is the next episode's first: what was cut off has its own value."""
    cut, no = column(0, 1, 0), column(0, 0, 0)
    found = over_time(column(1, 1, 1), column(2, 2, 2), [4], no, cut, column(NAN, 10, NAN), **FACTORS)
    # 1 + .5*10 - 2 = 4, of which a quarter reaches the step before; nothing of the third step's 1.
    assert found.advantages[:, 0].tolist() == [1, 4, 1]


def test_an_end_at_the_last_step_does_not_read_what_comes_after() -> None:
    no = column(0)
    cut = over_time(column(1), column(2), [NAN], no, column(1), column(10), **FACTORS)
    over = over_time(column(1), column(2), [NAN], column(1), no, column(NAN), **FACTORS)
    assert (cut.advantages[0, 0], over.advantages[0, 0]) == (4, -1)


def test_an_episode_that_terminates_as_it_is_cut_off_has_terminated() -> None:
    """Gymnasium may say both of one step."""
    found = over_time(column(1), column(2), [NAN], column(1), column(1), column(NAN), **FACTORS)
    assert found.advantages[0, 0] == -1


@pytest.mark.parametrize("junk", [NAN, np.inf])
def test_dead_slots_are_nothing_and_stop_nobody(junk: float) -> None:
    """A row that waits to be reset: two steps, a gap of two slots full of anything, and a new episode after it."""
    alive = column(1, 1, 0, 0, 1)
    ends = column(0, 1, 0, 0, 0)
    found = over_time(
        column(1, 1, junk, junk, 1),
        column(2, 2, junk, junk, 2),
        [4],
        ends,
        column(0, 0, 1, 1, 0),
        column(*[junk] * 5),
        alive,
        **FACTORS,
    )
    assert found.advantages[:, 0].tolist() == [-0.25, -1, 0, 0, 1]
    assert found.returns[:, 0].tolist() == [1.75, 1, 0, 0, 3]


def test_what_goes_wrong_in_one_episode_stays_there() -> None:
    """A reward that is no number, or without end, in the second episode does not reach the first one."""
    for wrong in (NAN, np.inf):
        found = over_time(column(1, wrong), column(2, 2), [4], column(1, 0), column(0, 0), column(NAN, NAN), **FACTORS)
        assert found.advantages[0, 0] == -1
        assert not np.isfinite(found.advantages[1, 0])


def test_a_row_that_dies_amid_an_episode_is_an_error() -> None:
    """Whose value would the step before bootstrap from?"""
    zero = np.zeros((3, 2))
    alive = np.ones((3, 2))
    alive[2, 1] = 0
    with pytest.raises(ValueError, match="row 1 is not alive at step 2"):
        over_time(zero, zero, [0, 0], zero, zero, zero, alive, **FACTORS)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"values": np.zeros((2, 2))}, r"values has shape \(2, 2\), where \(3, 2\) belongs"),
        ({"last": np.zeros(3)}, r"last has shape \(3,\), where \(2,\) belongs"),
        ({"rewards": np.zeros(3)}, r"rewards have shape \(3,\); give \(steps, environments\)"),
        ({"rewards": [["a"]]}, "rewards are no array of numbers"),
        ({"discount": 1.1}, "discount=1.1 is no share"),
        ({"trace": NAN}, "trace=nan is no share"),
    ],
)
def test_what_does_not_fit_is_named(wrong: dict[str, Any], said: str) -> None:
    zero = np.zeros((3, 2))
    right = {"rewards": zero, "values": zero, "last": zero[0], "terminated": zero, "truncated": zero, "final": zero}
    with pytest.raises(ValueError, match=said):
        over_time(**{**right, **FACTORS, **wrong})


# ---- over time, against the definition


@st.composite
def rollouts(draw: st.DrawFn) -> dict[str, NDArray[Any]]:
    """Rollouts of rows that end, die and live again, with NaN wherever nothing should be read."""
    steps, rows = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = np.array(draw(st.lists(st.sampled_from("sstcd"), min_size=steps * rows, max_size=steps * rows)))
    kinds = kinds.reshape(steps, rows)
    for step in range(1, steps):
        # Only a row that has ended, or is dead, may be dead.
        broken = (kinds[step] == "d") & (kinds[step - 1] == "s")
        kinds[step, broken] = "s"
    rolled = {name: rng.normal(size=(steps, rows)).round(3) for name in ("rewards", "values", "final")}
    rolled["rewards"][kinds == "d"] = rolled["values"][kinds == "d"] = NAN
    rolled["final"][kinds != "c"] = NAN
    rolled["last"] = np.where(kinds[-1] == "s", rng.normal(size=rows), NAN)
    return {**rolled, "terminated": kinds == "t", "truncated": kinds == "c", "alive": kinds != "d"}


def slowly(rolled: dict[str, NDArray[Any]], discount: float, trace: float) -> NDArray[Any]:
    """The definition: of each step, the sum of all surprises up to its episode's end, each a factor less."""
    steps, rows = rolled["rewards"].shape
    found = np.zeros((steps, rows))
    for row in range(rows):
        for begin in range(steps):
            factor = 1.0
            for step in range(begin, steps):
                if not rolled["alive"][step, row]:
                    break
                over, cut = rolled["terminated"][step, row], rolled["truncated"][step, row]
                if over:
                    after = 0.0
                elif cut:
                    after = rolled["final"][step, row]
                else:
                    after = rolled["last"][row] if step == steps - 1 else rolled["values"][step + 1, row]
                surprise = rolled["rewards"][step, row] + discount * after - rolled["values"][step, row]
                found[begin, row] += factor * surprise
                factor *= discount * trace
                if over or cut:
                    break
    return found


@given(rollouts(), st.floats(0, 1), st.floats(0, 1))
def test_agrees_with_the_definition(rolled: dict[str, NDArray[Any]], discount: float, trace: float) -> None:
    found = over_time(**rolled, discount=discount, trace=trace)
    np.testing.assert_allclose(found.advantages, slowly(rolled, discount, trace), atol=1e-9)
    alive = rolled["alive"]
    np.testing.assert_allclose(found.returns[alive], (found.advantages + rolled["values"])[alive], atol=1e-12)


@given(rollouts(), st.floats(0, 1))
def test_with_a_trace_of_one_returns_are_what_was_paid(rolled: dict[str, NDArray[Any]], discount: float) -> None:
    """Then the critic has no say but at the borders."""
    found = over_time(**rolled, discount=discount, trace=1.0)
    steps = len(rolled["rewards"])
    for row in range(rolled["rewards"].shape[1]):
        worth = 0.0 if np.isnan(rolled["last"][row]) else float(rolled["last"][row])
        for step in range(steps - 1, -1, -1):
            if not rolled["alive"][step, row]:
                continue
            if rolled["terminated"][step, row]:
                worth = 0.0
            elif rolled["truncated"][step, row]:
                worth = float(rolled["final"][step, row])
            worth = float(rolled["rewards"][step, row]) + discount * worth
            assert found.returns[step, row] == pytest.approx(worth, abs=1e-9)


# ---- over turns


def test_two_turns_by_hand() -> None:
    """Surprises 0 + 4 - 3 = 1 and 5 + 2 - 4 = 3, the second reaching back by .5; and without the 2 if it ended."""
    cut = over_turns([0, 5], [3, 4], 2.0, False, trace=0.5)
    over = over_turns([0, 5], [3, 4], NAN, True, trace=0.5)
    assert (cut.advantages.tolist(), cut.returns.tolist()) == ([2.5, 3], [5.5, 7])
    assert (over.advantages.tolist(), over.returns.tolist()) == ([1.5, 1], [4.5, 5])


def test_an_episode_without_turns_is_an_error() -> None:
    with pytest.raises(ValueError, match="one turn at least"):
        over_turns([], [], 0.0, True)


# ---- over tokens
#
# Two turns. The prompt (2 tokens), an answer of two tokens, what the environment said (2), an answer of three of which
# a grammar forced the second. The values at what was not chosen are never read.

CHOSEN = [0, 0, 1, 1, 0, 0, 1, 0, 1]
TURNS = [0, 0, 0, 0, 1, 1, 1, 1, 1]
VALUES = [NAN, NAN, 3.0, 5.0, NAN, NAN, 4.0, NAN, 6.0]
EPISODE: dict[str, Any] = {
    "rewards": [1.0, 2.0],
    "values": VALUES,
    "chosen": CHOSEN,
    "turns": TURNS,
    "final": 8.0,
    "terminated": False,
}


def test_turn_credit_by_hand() -> None:
    """Turns: 1 + 4 - 3 = 2 and 2 + 8 - 4 = 6; the first gets half of the second: 5. All tokens share it."""
    found = over_tokens(**EPISODE, trace=0.5)
    assert found.advantages.tolist() == [0, 0, 5, 5, 0, 0, 6, 0, 6]
    assert found.returns.tolist() == [0, 0, 8, 8, 0, 0, 10, 0, 10]
    assert found.valued.tolist() == [False, False, True, False, False, False, True, False, False]


def test_token_credit_by_hand() -> None:
    """Tokens in a row: 0 + 5 - 3 = 2, 1 + 4 - 5 = 0, 0 + 6 - 4 = 2, 2 + 8 - 6 = 4, each with half of what follows."""
    found = over_tokens(**EPISODE, credit="token", token_trace=0.5)
    assert found.advantages.tolist() == [0, 0, 3, 2, 0, 0, 4, 0, 4]
    assert found.returns.tolist() == [0, 0, 6, 7, 0, 0, 8, 0, 10]
    assert found.valued.tolist() == [bool(each) for each in CHOSEN]


def test_a_discount_of_turns_holds_between_the_tokens_of_two() -> None:
    """With a half: 0 + 5 - 3 = 2, 1 + .5 * 4 - 5 = -2, 0 + 6 - 4 = 2, 2 + .5 * 8 - 6 = 0; within a turn half of what
    follows reaches back, between turns a quarter."""
    found = over_tokens(**EPISODE, credit="token", discount=0.5, token_trace=0.5)
    assert found.advantages.tolist() == [0, 0, 1.25, -1.5, 0, 0, 2, 0, 0]


def test_bilevel_credit_by_hand() -> None:
    """The turns were worth 8 and 10. Last tokens: 8 - 5 = 3, 10 - 6 = 4; first ones: 5 - 3 + 1.5 and 6 - 4 + 2."""
    found = over_tokens(**EPISODE, credit="bilevel", trace=0.5, token_trace=0.5)
    assert found.advantages.tolist() == [0, 0, 3.5, 3, 0, 0, 4, 0, 4]
    assert found.returns.tolist() == [0, 0, 6.5, 8, 0, 0, 8, 0, 10]


def test_a_token_discount_holds_within_turns_only() -> None:
    """With a half: the turns are still worth 8 and 10 as their last tokens are written; before that the surprises are
    .5 * 5 - 3 = -.5 and .5 * 6 - 4 = -1, and a quarter of 3 and 4 reaches back."""
    found = over_tokens(**EPISODE, credit="bilevel", trace=0.5, token_trace=0.5, token_discount=0.5)
    assert found.advantages.tolist() == [0, 0, 0.25, 3, 0, 0, 0, 0, 4]


def test_the_value_is_read_before_the_token() -> None:
    """Three tokens, one reward of 1 at the end, a critic that is right from the second token on: it is the first
    token that made the difference, and it alone has an advantage."""
    found = over_tokens([1.0], [0.5, 1.0, 1.0], [1, 1, 1], [0, 0, 0], 0.0, True, credit="token")
    assert found.advantages.tolist() == [0.5, 0, 0]


def test_a_turn_without_a_choice_belongs_to_the_one_before() -> None:
    """A grammar left nothing to choose in turn 1: what it paid is the merit of turn 0."""
    turns, chosen = [0, 1, 2], [1, 0, 1]
    found = over_tokens([1, 10, 100], [0, NAN, 0], chosen, turns, 0.0, True, trace=1.0)
    assert found.advantages.tolist() == [111, 0, 100]
    token = over_tokens([1, 10, 100], [0, NAN, 0], chosen, turns, 0.0, True, credit="token", token_trace=0.0)
    assert token.advantages.tolist() == [11, 0, 100]


def test_what_is_paid_before_the_first_choice_is_nobodys_merit() -> None:
    found = over_tokens([7, 1], [NAN, 0], [0, 1], [0, 1], 0.0, True)
    assert found.advantages.tolist() == [0, 1]


@st.composite
def written(draw: st.DrawFn) -> dict[str, Any]:
    """Episodes of a few turns, each a mix of tokens chosen and not, and at least one chosen in all."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    turns = np.repeat(np.arange(len(lengths)), lengths)
    chosen = np.array(draw(st.lists(st.booleans(), min_size=len(turns), max_size=len(turns))))
    chosen[draw(st.integers(0, len(turns) - 1))] = True
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return {
        "rewards": rng.normal(size=len(lengths)).round(3),
        "values": rng.normal(size=len(turns)).round(3),
        "chosen": chosen,
        "turns": turns,
        "final": float(rng.normal()),
        "terminated": draw(st.booleans()),
    }


RULES = pytest.mark.parametrize("credit", ["turn", "token", "bilevel"])
TOKEN_FACTORS = {"discount": 0.9, "trace": 0.8, "token_discount": 0.95, "token_trace": 0.7}


@RULES
@settings(max_examples=40)
@given(written())
def test_what_was_not_chosen_takes_no_time(credit: Any, episode: dict[str, Any]) -> None:
    """Prompts and observations neither take time nor are bootstrapped from: without them all is the same."""
    chosen = episode["chosen"]
    alone = {**episode, **{name: episode[name][chosen] for name in ("values", "chosen", "turns")}}
    there = over_tokens(**episode, credit=credit, **TOKEN_FACTORS)
    here = over_tokens(**alone, credit=credit, **TOKEN_FACTORS)
    for one, other in zip(there, here, strict=True):
        assert one[chosen].tolist() == other.tolist()
        assert not one[~chosen].any()


@RULES
@settings(max_examples=40)
@given(written(), st.sampled_from([100.0, NAN, np.inf]))
def test_values_at_masked_slots_have_no_effect(credit: Any, episode: dict[str, Any], junk: float) -> None:
    spoilt = np.where(episode["chosen"], episode["values"], junk)
    one = over_tokens(**episode, credit=credit, **TOKEN_FACTORS)
    other = over_tokens(**{**episode, "values": spoilt}, credit=credit, **TOKEN_FACTORS)
    assert [each.tolist() for each in one] == [each.tolist() for each in other]


@given(written())
def test_turn_credit_is_that_of_turns(episode: dict[str, Any]) -> None:
    """With each turn's first value, and rewards of turns without a choice moved to the turn before."""
    places = episode["turns"][episode["chosen"]]
    values = episode["values"][episode["chosen"]]
    deciding = sorted(set(places.tolist()))
    paid = [0.0] * len(deciding)
    for turn, reward in enumerate(episode["rewards"].tolist()):
        before = [number for number, each in enumerate(deciding) if each <= turn]
        if before:
            paid[before[-1]] += reward
    firsts = [values[places.tolist().index(turn)] for turn in deciding]
    turns = over_turns(paid, firsts, episode["final"], episode["terminated"], discount=0.9, trace=0.8)
    found = over_tokens(**episode, discount=0.9, trace=0.8)
    expected = [turns.advantages[deciding.index(turn)] for turn in places.tolist()]
    np.testing.assert_allclose(found.advantages[episode["chosen"]], expected, atol=1e-12)


@given(written())
def test_the_first_token_of_a_turn_has_the_turns_advantage_under_bilevel_credit(episode: dict[str, Any]) -> None:
    """With token factors of 1 what lies between first and last token cancels out."""
    both = over_tokens(**episode, credit="bilevel", discount=0.9, trace=0.8)
    turn = over_tokens(**episode, credit="turn", discount=0.9, trace=0.8)
    np.testing.assert_allclose(both.advantages[turn.valued], turn.advantages[turn.valued], atol=1e-9)


@given(written())
def test_returns_before_any_discount_are_the_rewards_to_come(episode: dict[str, Any]) -> None:
    """Without discount, with traces of 1, every rule agrees that a return is what is still to be paid."""
    episode = {**episode, "terminated": True}
    for credit in ("turn", "token", "bilevel"):
        found = over_tokens(**episode, credit=credit, trace=1.0)
        for place in np.flatnonzero(found.valued):
            still = episode["rewards"][episode["turns"][place] :].sum()
            assert found.returns[place] == pytest.approx(still, abs=1e-9)


@given(written())
def test_rules_agree_on_what_a_turn_is_worth_with_traces_of_1(episode: dict[str, Any]) -> None:
    """A discount of turns is one, whatever counts as a decision."""
    turn, token, both = (
        over_tokens(**episode, credit=credit, discount=0.5, trace=1.0) for credit in ("turn", "token", "bilevel")
    )
    for other in (token, both):
        np.testing.assert_allclose(other.returns[turn.valued], turn.returns[turn.valued], atol=1e-9)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"credit": "token", "discount": 1.5}, "discount=1.5 is no share"),
        ({"credit": "token", "token_discount": -1.0}, "token_discount=-1.0 is no share"),
        ({"credit": "tokens"}, "credit='tokens' is not known; allowed are 'turn', 'token', 'bilevel'"),
        ({"chosen": [0] * 9}, "no token was chosen"),
        ({"turns": [0] * 8}, r"turns has shape \(8,\)"),
        ({"turns": [0, 0, 0, 0, 1, 1, 1, 1, 2]}, "lies in turn 2, but 2 turns were paid"),
        ({"turns": [1, 0, 0, 0, 1, 1, 1, 1, 1]}, "never fall"),
        ({"values": [0.0]}, r"values has shape \(1,\)"),
        ({"credit": "bilevel", "token_trace": 2.0}, "token_trace=2.0 is no share"),
    ],
)
def test_an_episode_that_cannot_be_is_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        over_tokens(**{**EPISODE, **wrong})
