"""Credit: which of an agent's decisions a reward is put down to, by generalised advantage estimation.

After each decision the critic's surprise is ``reward + discount * (value after) - (value before)``; the advantage of a
decision is its own surprise plus those that follow, each a factor of ``discount * trace`` less (Schulman and others,
"High-dimensional continuous control using generalized advantage estimation", 2016).

The value after the end is 0 where an episode terminated, and that of the final observation where it was truncated. What
counts as one decision is a matter of choice where a decision is written in many tokens: the whole turn, each token, or
each token within its turn (`over_tokens`). Tokens that the policy did not choose are no decisions: what the environment
says neither takes time nor is a value read there. A turn without a chosen token (a grammar left nothing to choose) is
a part of the turn before it, and what is paid before the first choice is nobody's merit. The page "How credit is
assigned" draws it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers: TypeAlias = NDArray[np.float64]
CreditRule = Literal["turn", "token", "bilevel"]
"""What counts as one decision of an agent that writes.

``turn``: a turn is one decision, and all its tokens share its advantage. ``token``: each chosen token is a decision,
the last one of a turn is paid the turn's reward, and what follows it lies a turn and a token later. ``bilevel``: turns
are judged as by ``turn``, and what a turn was worth in the end (its advantage and its value) is what its last token is
paid; within the turn each token is a decision. With token factors of 1 the first token of a turn then has the turn's
own advantage.
"""


class Credit(NamedTuple):
    """What came of each decision."""

    advantages: Numbers
    """How much better than expected."""
    returns: Numbers
    """What the critic is to learn: advantages + values."""


class TokenCredit(NamedTuple):
    """What came of each token, 0 for those that were not chosen."""

    advantages: Numbers  # (L,)
    returns: Numbers  # (L,)
    valued: NDArray[np.bool_]  # (L,)
    """Where the critic is to learn: at the first chosen token of each turn, or at every chosen token."""


def over_time(
    rewards: ArrayLike,
    values: ArrayLike,
    last: ArrayLike,
    terminated: ArrayLike,
    truncated: ArrayLike,
    final: ArrayLike,
    alive: ArrayLike | None = None,
    *,
    discount: float,
    trace: float,
) -> Credit:
    """Return the credit of T steps in each of N environments.

    Args:
        rewards: What each step paid, shape (T, N).
        values: Value of the observation that each step began with, shape (T, N).
        last: Value of the observation after the last step, shape (N,); read where that step ended nothing.
        terminated: Whether the step ended its episode for good, shape (T, N).
        truncated: Whether the step was the last that the episode was allowed, shape (T, N).
        final: Value of the observation that a truncated episode ended with, shape (T, N). Read only where ``truncated``
            and not ``terminated``; elsewhere it may hold anything, not a number included.
        alive: Whether the slot is a step at all, shape (T, N); False while a row that has ended waits to be reset, and
            throughout an episode that is dropped. None: all are.
        discount: Worth of a reward one step later, 0 to 1.
        trace: How far surprises reach back (lambda), 0 to 1.

    Returns:
        Arrays of shape (T, N), 0 where there was no step.

    Raises:
        ValueError: shapes disagree, a factor is not in 0 to 1, or an episode that has not ended stops being alive.
    """
    paid, before, cut, goes_on = _steps(rewards, values, last, terminated, truncated, final, alive)
    for name, factor in (("discount", discount), ("trace", trace)):
        _share(name, factor)
    following = np.concatenate([before[1:], _numbers("last", last)[None]])[: len(paid)]
    after = np.where(goes_on, following, np.where(cut, _numbers("final", final), 0.0))
    advantages = _accumulated(paid + discount * after - before, np.where(goes_on, discount * trace, 0.0))
    return Credit(advantages, advantages + before)


def over_turns(
    rewards: ArrayLike,
    values: ArrayLike,
    final: float,
    terminated: bool,
    *,
    discount: float = 1.0,
    trace: float = 0.95,
) -> Credit:
    """Return the credit of the K turns of one episode.

    Args:
        rewards: What each turn paid, shape (K,).
        values: Value of what was known as each turn began, shape (K,).
        final: Value of what was known at the end; not read if the episode terminated.
        terminated: Whether the episode ended for good; False: it was cut off.
        discount: Worth of a reward one turn later.
        trace: How far surprises reach back (lambda).

    Raises:
        ValueError: shapes disagree, there is no turn, or a factor is not in 0 to 1.
    """
    paid, before = _numbers("rewards", rewards), _numbers("values", values)
    if paid.ndim != 1 or not len(paid):
        raise ValueError(f"rewards have shape {paid.shape}; give one for each turn of an episode, one turn at least")
    _alike(paid.shape, values=before)
    ends = np.arange(len(paid))[:, None] == len(paid) - 1
    column = over_time(
        paid[:, None],
        before[:, None],
        [0.0],
        ends & terminated,
        ends & (not terminated),
        np.full_like(paid, final)[:, None],
        discount=discount,
        trace=trace,
    )
    return Credit(column.advantages[:, 0], column.returns[:, 0])


def over_tokens(
    rewards: ArrayLike,
    values: ArrayLike,
    chosen: ArrayLike,
    turns: ArrayLike,
    final: float,
    terminated: bool,
    *,
    credit: CreditRule = "turn",
    discount: float = 1.0,
    trace: float = 0.95,
    token_discount: float = 1.0,
    token_trace: float = 1.0,
) -> TokenCredit:
    """Return the credit of the L tokens of one episode of K turns; `CreditRule` says what a decision is.

    Args:
        rewards: What each turn paid, shape (K,).
        values: Value read before each token, shape (L,); not read where the policy did not choose.
        chosen: Which tokens the policy chose, shape (L,); it did not choose what it was told, had to say, or got added.
        turns: Turn that each token lies in, from 0, never falling, shape (L,).
        final: Value at the end; not read if the episode terminated.
        terminated: Whether the episode ended for good; False: it was cut off.
        credit: What counts as a decision.
        discount: Worth of a reward one turn later.
        trace: How far surprises reach back over turns (lambda); for ``turn`` and ``bilevel``.
        token_discount: Worth of a reward one token later; for ``token`` and ``bilevel``.
        token_trace: How far surprises reach back over tokens; for ``token`` and ``bilevel``.

    Raises:
        ValueError: shapes disagree, a turn is out of range or out of order, no token was chosen, the rule is unknown or
            a factor is not in 0 to 1.
    """
    made = _decisions(rewards, values, chosen, turns, credit)
    if credit == "token":
        return made.placed(made.by_token(final, terminated, discount, token_discount, token_trace))
    judged = over_turns(made.earned, made.before[made.firsts], final, terminated, discount=discount, trace=trace)
    if credit == "turn":
        return made.placed(Credit(*(each.repeat(made.lasts - made.firsts + 1) for each in judged)), made.firsts)
    return made.placed(made.within_turns(judged.returns, token_discount, token_trace))


class _Decisions(NamedTuple):
    """What was decided in an episode, token by token and turn by turn: C chosen tokens, in T turns that hold any."""

    mask: NDArray[np.bool_]  # (L,)
    before: Numbers  # (C,)
    """Value read before each chosen token."""
    firsts: NDArray[np.int64]  # (T,)
    lasts: NDArray[np.int64]  # (T,)
    """The first and the last of each turn, counted among the chosen ones."""
    earned: Numbers  # (T,)
    """What was paid until the next such turn."""

    def by_token(
        self, final: float, terminated: bool, turn_discount: float, token_discount: float, trace: float
    ) -> Credit:
        """Return what comes of each chosen token where each is a decision."""
        for name, factor in (("discount", turn_discount), ("token_discount", token_discount), ("token_trace", trace)):
            _share(name, factor)
        spread = np.zeros(len(self.before))
        spread[self.lasts] = self.earned
        later = np.full(len(self.before), token_discount)
        later[self.lasts] *= turn_discount
        after = np.append(self.before[1:], 0.0 if terminated else final)
        advantages = _accumulated(spread + later * after - self.before, later * trace)
        return Credit(advantages, advantages + self.before)

    def within_turns(self, worth: Numbers, discount: float, trace: float) -> Credit:
        """Return what comes of tokens whose turns are worth so much when their last token is written."""
        _share("token_discount", discount)
        _share("token_trace", trace)
        after = discount * np.append(self.before[1:], 0.0)
        after[self.lasts] = worth
        kept = np.full(len(self.before), discount * trace)
        kept[self.lasts] = 0.0
        advantages = _accumulated(after - self.before, kept)
        return Credit(advantages, advantages + self.before)

    def placed(self, found: Credit, valued: NDArray[np.int64] | None = None) -> TokenCredit:
        """Return what came of the chosen tokens at their places among all; ``valued``: those whose value is learnt."""
        shape = self.mask.shape
        placed = TokenCredit(np.zeros(shape), np.zeros(shape), np.zeros(shape, np.bool_))
        placed.advantages[self.mask], placed.returns[self.mask] = found
        placed.valued[np.flatnonzero(self.mask)[slice(None) if valued is None else valued]] = True
        return placed


def _decisions(rewards: ArrayLike, values: ArrayLike, chosen: ArrayLike, turns: ArrayLike, credit: str) -> _Decisions:
    """Return what was decided, if what was given is an episode."""
    paid, mask, places = _numbers("rewards", rewards), np.asarray(chosen, np.bool_), np.asarray(turns)
    _check_tokens(paid, mask, places, credit)
    _alike(mask.shape, values=values)
    places = places[mask]
    changes = np.flatnonzero(np.diff(places)) + 1
    firsts, lasts = np.concatenate([[0], changes]), np.concatenate([changes, [len(places)]]) - 1
    ends = np.append(places[firsts][1:], len(paid))
    earned = [float(paid[begin:end].sum()) for begin, end in zip(places[firsts], ends, strict=True)]
    return _Decisions(mask, _numbers("values", values)[mask], firsts, lasts, np.array(earned))


def _steps(
    rewards: ArrayLike,
    values: ArrayLike,
    last: ArrayLike,
    terminated: ArrayLike,
    truncated: ArrayLike,
    final: ArrayLike,
    alive: ArrayLike | None,
) -> tuple[Numbers, Numbers, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return rewards and values, 0 where there is no step, and where an episode is cut off and where it goes on."""
    paid, before = _numbers("rewards", rewards), _numbers("values", values)
    if paid.ndim != 2:
        raise ValueError(f"rewards have shape {paid.shape}; give (steps, environments)")
    _alike(paid.shape, values=before, terminated=terminated, truncated=truncated, final=final)
    _alike(paid.shape[1:], last=last)
    steps = np.ones(paid.shape, np.bool_) if alive is None else np.asarray(alive, np.bool_)
    _alike(paid.shape, alive=steps)
    over = np.asarray(terminated, np.bool_)
    cut = steps & ~over & np.asarray(truncated, np.bool_)
    goes_on = steps & ~over & ~cut
    _check_alive(goes_on, steps)
    # Chosen, here and where it is used, not multiplied by 0: a slot that is not read may hold anything.
    return np.where(steps, paid, 0.0), np.where(steps, before, 0.0), cut, goes_on


def _accumulated(surprises: Numbers, kept: Numbers) -> Numbers:
    """Return ``A[t] = surprises[t] + kept[t] * A[t + 1]``, along the first axis."""
    advantages = np.empty_like(surprises)
    later = np.zeros(surprises.shape[1:])
    for t in range(len(surprises) - 1, -1, -1):
        # Nothing comes back over a border: where kept is 0, what lies behind it may be infinite or no number.
        back = np.multiply(kept[t], later, out=np.zeros_like(surprises[t]), where=kept[t] != 0.0)
        later = surprises[t] + back
        advantages[t] = later
    return advantages


# ---- what is refused


def _numbers(name: str, given: ArrayLike) -> Numbers:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} are no array of numbers ({error})") from None


def _alike(shape: tuple[int, ...], **arrays: Any) -> None:
    for name, array in arrays.items():
        if np.shape(array) != shape:
            raise ValueError(f"{name} has shape {np.shape(array)}, where {shape} belongs")


def _share(name: str, factor: float) -> None:
    if not 0.0 <= factor <= 1.0:
        raise ValueError(f"{name}={factor!r} is no share; give a number from 0 to 1")


def _check_alive(goes_on: NDArray[np.bool_], steps: NDArray[np.bool_]) -> None:
    broken = np.argwhere(goes_on[:-1] & ~steps[1:])
    if len(broken):
        step, row = broken[0].tolist()
        raise ValueError(
            f"row {row} is not alive at step {step + 1}, but its episode did not end before; mark the step before as "
            "terminated or truncated, or drop all of the episode"
        )


def _check_tokens(rewards: Numbers, chosen: NDArray[np.bool_], turns: NDArray[Any], credit: str) -> None:
    if credit not in get_args(CreditRule):
        allowed = ", ".join(map(repr, get_args(CreditRule)))
        raise ValueError(f"credit={credit!r} is not known; allowed are {allowed}")
    if rewards.ndim != 1 or chosen.ndim != 1:
        raise ValueError(
            f"rewards have shape {rewards.shape} and chosen {chosen.shape}; give one episode: (K,) and (L,)"
        )
    _alike(chosen.shape, turns=turns)
    if not chosen.any():
        raise ValueError("no token was chosen, so there is nobody to give credit to; drop the episode")
    if turns.dtype.kind not in "iu" or (np.diff(turns.astype(np.int64)) < 0).any():
        raise ValueError(f"turns {turns.tolist()!r:.80} are not whole numbers that never fall; give each token's turn")
    if turns[0] < 0 or turns[-1] >= len(rewards):
        raise ValueError(f"a token lies in turn {int(turns[-1])}, but {len(rewards)} turns were paid")
