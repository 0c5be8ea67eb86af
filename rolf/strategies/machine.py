"""EnvStateMachine: everything that may be done with an environment, in any order, and what must hold meanwhile."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Never, Self, cast

import gymnasium
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from rolf.checks.subject import EnvLike, Subject
from rolf.difference import difference
from rolf.strategies.actions import actions as any_actions
from rolf.strategies.seeds import seeds as any_seeds
from rolf.strategies.shadow import Call, Shadow, ask, parting
from rolf.strategies.verdicts import Keys, Told, judge, told_by_reset, told_by_step

Actions = Callable[[gymnasium.Space[Any], Any], st.SearchStrategy[Any]]
"""(action space, mask of what is possible now or None) -> strategy"""

MOST_MOMENTS = 3
"""Moments of an episode that are kept at once; each may hold a machine's files."""
SHOWN_CALLS = 5
"""Latest calls that a message names."""


class _Moment(NamedTuple):
    """What is known of a kept moment."""

    saved: Any
    """What ``save`` returned."""
    calls: list[Call]
    """What had been asked."""
    told: Told
    """What had been told last."""
    digest: Any


class _Maker(NamedTuple):
    """A function in a box: as an attribute of a class it would become a method."""

    env: Callable[[], Any]


class _Chooser(NamedTuple):
    """See `_Maker`."""

    actions: Actions


def _always(strategy: st.SearchStrategy[Any]) -> Actions:
    return lambda _space, _mask: strategy


class EnvStateMachine(RuleBasedStateMachine):
    """Does to an environment what may be done, in any order: reset, step, save, restore, close, make again.

    ``EnvStateMachine.of(env)`` returns the machine of an environment; its ``TestCase`` is what pytest and unittest
    collect. While it runs, a second, fresh environment plays the same seeds and actions, and these must hold:

    * an observation lies in the observation space; a reward is finite, and the sum of ``info["reward_terms"]`` where
      those are told; ``terminated`` and ``truncated`` are truth values; ``info`` is a dict that keeps its keys;
    * the second environment is told the same, whatever was done before the seed, saved or restored, and has the same
      ``state_digest()`` where there is one;
    * a restored moment has the digest that it was kept with;
    * a step after the end raises ``gymnasium.error.ResetNeeded``, warns, or says again that the episode is over;
    * an environment can be closed, twice, and made again.

    ``save``, ``restore`` and ``state_digest`` are looked for in the environment and its wrappers. What happens is shown
    as a program that can be run as it is::

        state = CartPole_v1()
        state.begin(seed=0)
        state.step(action=1)
        state.teardown()

    Example::

        TestCartPole = EnvStateMachine.of("CartPole-v1").TestCase
        TestCartPole.settings = hypothesis.settings(max_examples=50, deadline=None)
    """

    make: ClassVar[_Maker]
    """Makes the environment."""
    choose: ClassVar[_Chooser]
    seed_strategy: ClassVar[st.SearchStrategy[int]]
    most_repeats: ClassVar[int]
    volatile: ClassVar[tuple[str, ...]]
    optional_info: ClassVar[frozenset[str]]

    @classmethod
    def of(
        cls,
        env: EnvLike,
        *,
        actions: st.SearchStrategy[Any] | Actions | None = None,
        seeds: st.SearchStrategy[int] | None = None,
        repeats: int = 20,
        volatile: Sequence[str] = (),
        optional_info: Sequence[str] = (),
    ) -> type[Self]:
        """Return the machine of an environment.

        Args:
            env: An id, an id with arguments, a `rolf.variant.Variant`, or a function that makes it.
            actions: A strategy, or a function (action space, mask) -> strategy, such as `rolf.strategies.actions`
                (which it is if None) or `rolf.strategies.line_actions`. The mask is ``info["action_mask"]``, or None.
            seeds: Of episodes; None: `rolf.strategies.seeds`.
            repeats: How often one action may be taken in a row, so that episodes come to their ends.
            volatile: Fields that may differ between two runs, beside those of ``metadata["volatile"]``:
                ``"info.wall_time"``.
            optional_info: Keys of ``info`` that come and go.

        Raises:
            TypeError: the environment is given in none of these forms.
            gymnasium.error.Error, ModuleNotFoundError: its id is not known here.
            ValueError: ``repeats`` is below 1.
        """
        if repeats < 1:
            raise ValueError(f"repeats={repeats!r} takes no step; give a whole number from 1")
        subject = Subject.of(env)
        choose = any_actions if actions is None else actions
        if isinstance(choose, st.SearchStrategy):
            choose = _always(choose)
        settled = {
            "make": _Maker(subject.make),
            "choose": _Chooser(choose),
            "seed_strategy": any_seeds() if seeds is None else seeds,
            "most_repeats": repeats,
            "volatile": tuple(volatile),
            "optional_info": frozenset(optional_info),
            "__doc__": f"What may be done with {subject.name}.",
            "__module__": cls.__module__,
        }
        return cast("type[Self]", type(_class_name(subject.name), (cls,), settled))

    def __init__(self) -> None:
        super().__init__()
        self._env = self.make.env()
        self._shadow = Shadow(self.make.env)
        self._calls: list[Call] = []
        self._last: Told | None = None
        self._moments: list[_Moment] = []
        self._keys = Keys(self.optional_info)
        self._spent = False

    # ---- where it stands; preconditions

    def _running(self) -> bool:
        return self._last is not None and not self._last.over

    def _ended(self) -> bool:
        return self._last is not None and self._last.over and not self._spent

    def _can_go_on(self) -> bool:
        """Whether a reset without a seed means something: the next episode of the latest seed."""
        return self._last is not None and not self._spent

    def _can_save(self) -> bool:
        return self._running() and len(self._moments) < MOST_MOMENTS and self._offers("save", "restore")

    def _can_restore(self) -> bool:
        return bool(self._moments) and not self._spent

    def _offers(self, *names: str) -> bool:
        return all(self._env.has_wrapper_attr(name) for name in names)

    def next_actions(self) -> st.SearchStrategy[Any]:
        """Return what may be done next."""
        told = self._last
        mask = None
        if told is not None and isinstance(told.info, dict):
            mask = told.info.get("action_mask")
            if mask is None and isinstance(told.observation, dict):
                mask = told.observation.get("action_mask")
        return self.choose.actions(self._env.action_space, mask)

    # ---- rules

    @initialize(seed=st.runner().flatmap(lambda machine: machine.seed_strategy))
    def begin(self, seed: int) -> None:
        """Begin the first episode."""
        self.reset(seed)

    @rule(seed=st.runner().flatmap(lambda machine: machine.seed_strategy))
    def reset(self, seed: int) -> None:
        """Begin an episode with a seed: from here on nothing that was before matters."""
        self._calls, self._moments, self._spent = [], [], False
        self._asked(Call("reset", seed))

    @precondition(_can_go_on)
    @rule()
    def reset_without_seed(self) -> None:
        """Begin the next episode of the same seed."""
        self._moments = []
        self._asked(Call("reset", None))

    @precondition(_running)
    @rule(action=st.runner().flatmap(lambda machine: machine.next_actions()))
    def step(self, action: Any) -> None:
        """Take a step."""
        self._asked(Call("step", action))

    @precondition(_running)
    @rule(
        action=st.runner().flatmap(lambda machine: machine.next_actions()),
        times=st.runner().flatmap(lambda machine: st.integers(1, machine.most_repeats)),
    )
    def repeat(self, action: Any, times: int) -> None:
        """Take the same step several times, or until the episode ends."""
        for _ in range(times):
            if self._running():
                self._asked(Call("step", action))

    @precondition(_ended)
    @rule(action=st.runner().flatmap(lambda machine: machine.next_actions()))
    def step_after_end(self, action: Any) -> None:
        """Take a step that nobody should."""
        self._spent, self._moments = True, []
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                told = told_by_step(self._env.step(action))
        except gymnasium.error.ResetNeeded:
            return
        self._demand(judge(self._env, told))
        if not told.over and not said:
            self._fail("a step after the end went on as if nothing had ended; raise ResetNeeded, warn, or say so again")

    @precondition(_can_save)
    @rule()
    def save(self) -> None:
        """Keep this moment."""
        assert self._last is not None
        digest = self._digest()
        saved = self._env.get_wrapper_attr("save")()
        self._moments.append(_Moment(saved, list(self._calls), self._last, digest))

    @precondition(_can_restore)
    @rule(moment=st.runner().flatmap(lambda machine: st.integers(0, len(machine._moments) - 1)))
    def restore(self, moment: int) -> None:
        """Go back to a kept moment of this episode."""
        kept = self._moments[moment]
        returned = self._env.get_wrapper_attr("restore")(kept.saved)
        self._calls, self._last = list(kept.calls), kept.told
        if isinstance(returned, tuple):  # an environment may show what is seen there
            seen = told_by_reset(returned)
            self._demand(judge(self._env, seen))
            mask = {"action_mask": seen.info["action_mask"]} if "action_mask" in seen.info else {}
            self._last = kept.told._replace(info={**kept.told.info, **mask})
        found = difference("state_digest()", kept.digest, self._digest())
        if found is not None:
            self._fail(f"{found.field} was {found.left} when moment {moment} was kept, restored it is {found.right}")

    @rule()
    def close_and_make_again(self) -> None:
        """Close it, twice as a careful caller does, and make another."""
        self._env.close()
        self._env.close()
        self._env = self.make.env()
        self._calls, self._moments, self._last, self._spent = [], [], None, True

    def teardown(self) -> None:
        """Close both environments."""
        self._env.close()
        self._shadow.close()

    # ---- what must hold

    def _asked(self, call: Call) -> None:
        """Ask both environments, and look at what they told."""
        self._calls.append(call)
        self._last = told = ask(self._env, call)
        self._demand(judge(self._env, told))
        self._demand(self._keys.judge(call.name, told))
        other = self._shadow.play(self._calls)
        volatile = (*self._env.metadata.get("volatile", ()), *self.volatile)
        parted = parting(told, other, volatile)
        if parted is None and self._running():
            found = difference("state_digest()", self._digest(), _digest_of(self._shadow.env))
            parted = None if found is None else f"{found.field} is {found.left} here and {found.right} there"
        if parted is not None:
            self._fail(f"{parted}, in a fresh environment with the same seed and actions")

    def _digest(self) -> Any:
        return _digest_of(self._env)

    def _demand(self, fault: str | None) -> None:
        if fault is not None:
            self._fail(fault)

    def _fail(self, fault: str) -> Never:
        left_out = len(self._calls) - SHOWN_CALLS
        calls = [str(call) for call in self._calls[max(0, left_out) :]]
        if left_out > 0:
            calls.insert(0, f"… {left_out} more …")
        raise AssertionError(f"{fault}\n  after {', '.join(calls)}")


def _digest_of(env: gymnasium.Env[Any, Any]) -> Any:
    return env.get_wrapper_attr("state_digest")() if env.has_wrapper_attr("state_digest") else None


def _class_name(name: str) -> str:
    """Return what the machine of an environment is called in the program that is shown: ``CartPole_v1``."""
    told = re.sub(r"\W+", "_", re.split("[:.]", name)[-1]).strip("_") or "Machine"
    return told if told[0].isalpha() else f"Machine_{told}"
