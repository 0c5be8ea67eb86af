"""check_determinism: the same seed and actions give the same, here and in fresh processes."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rolf.checks.acting import Actions
from rolf.checks.elsewhere import Episode, played, reproduction
from rolf.checks.errors import Place
from rolf.checks.player import Player
from rolf.checks.reproduction import COMPARES, Reproduction, calls_code, compare_code
from rolf.checks.subject import EnvLike
from rolf.checks.tape import parting
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

EPISODES = 2
"""Episodes of each seed: the second begins without one."""
DISTURBED = ("random.seed(disturbance)", "numpy.random.seed(disturbance)")
PLAIN = "two fresh environments with the same seed and actions differ"
GLOBAL = (
    "what happens depends on the global generators of `random` or `numpy.random`, which others draw from and seed; "
    "draw from self.np_random"
)
TOUCHED = "the environment draws from or seeds the global generator of {}, and so changes what its users draw from it"
HASHED = (
    "a fresh process with another PYTHONHASHSEED gives another episode: something depends on the order of a set, on "
    "hash(), or on what the process did before; sort, or use hashlib"
)
MORE_HASH_SEEDS = tuple(str(seed) for seed in range(2000, 2008))
"""Tried by whoever wants to see it again where one of two hash seeds is not known."""


def check_determinism(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
    processes: int = 2,
) -> None:
    """Check that the same seed and actions give the same observations, rewards, ends and infos.

    Two episodes of each seed are played in a fresh environment; again in another, while the global generators of
    ``random`` and ``numpy.random`` are disturbed; and again in fresh processes, each with another ``PYTHONHASHSEED``.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin with.
        steps: Most steps of an episode.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.
        processes: Fresh processes; 0: none.

    Raises:
        CheckFailed: they differ.
    """
    trial = Trial.of("check_determinism", env, actions, seeds, steps, volatile)
    with generators_restored(), trial.player() as first:
        watch = _Watch(first)
        first.around = watch.around
        script = [(seed if number == 0 else None) for seed in trial.seeds for number in range(EPISODES)]
        plays = [(seed, first.play(seed)) for seed in script]
        _here(trial, first, plays)
        if processes:
            _there(trial, first, plays, int(processes))
        watch.judge(trial)


def _here(trial: Trial, first: Player, plays: Sequence[Episode]) -> None:
    """Play again in a fresh environment with disturbed generators; find out whether they are to blame."""
    stir = _Stir()
    with trial.player(around=stir.around, pinned=False) as second:
        for episode in plays:
            second.replay(*episode)
        parted = parting(first.tape, second.tape, first.volatile)
    if parted is None:
        return
    with trial.player() as third:
        for episode in plays:
            third.replay(*episode)
        trial.compare(PLAIN, first, third, ("first run", "second run"))
    calls = calls_code(first.calls[: parted.left.calls], first.env.action_space, before=DISTURBED)
    lines = (
        "def play(disturbance):",
        *(f"    {line}" for line in (f"env = {trial.subject.code.expression}", *calls, f"return {parted.name}")),
        "",
        *compare_code(parted.name, "play(1), play(2)", first.volatile),
    )
    shown = Reproduction((*trial.subject.code.imports, "import random", "import numpy", COMPARES), lines)
    values = {"undisturbed": parted.found.left, "disturbed": parted.found.right}
    raise trial.failed(GLOBAL, parted.place, values, shown)


def _there(trial: Trial, first: Player, plays: Sequence[Episode], processes: int) -> None:
    """Play again in fresh processes."""
    told = played(trial, plays, processes)
    ours = (os.environ.get("PYTHONHASHSEED"), first.tape)
    # Two whose hash seeds are known first: what they disagree on shows again whenever it is tried.
    pairs = [(told[0], each) for each in told[1:]] + [(ours, each) for each in told]
    for one, other in pairs:
        parted = parting(one[1], other[1], first.volatile)
        if parted is not None:
            seeds = [seed for seed, _ in (one, other) if seed is not None]
            tried = seeds if len(seeds) == 2 else [*seeds, *MORE_HASH_SEEDS]
            shown = reproduction(first, parted.left.calls, parted.name, tried)
            values = {_process(one): parted.found.left, _process(other): parted.found.right}
            raise trial.failed(HASHED, parted.place, values, shown)


def _process(one: tuple[str | None, Any]) -> str:
    return "this process" if one[0] is None else f"with PYTHONHASHSEED={one[0]}"


class _Stir:
    """Disturbs the global generators, differently before each call."""

    def __init__(self) -> None:
        self._count = 0

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        self._count += 1
        random.seed(self._count)
        np.random.seed(self._count)
        yield


class _Watch:
    """Notices the first call that changes a global generator."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._touched: tuple[str, Place, int] | None = None

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        if self._touched is not None:
            yield
            return
        before = _states()
        yield
        for name, state in _states().items():
            if state != before[name]:
                self._touched = name, self._player.place, len(self._player.calls)
                return

    def judge(self, trial: Trial) -> None:
        """Refuse an environment that has changed one."""
        if self._touched is None:
            return
        name, place, count = self._touched
        state = "random.getstate()" if name == "random" else "numpy.random.get_state(legacy=False)"
        calls = calls_code(self._player.calls[: count - 1], self._player.env.action_space)
        last = calls_code(self._player.calls[count - 1 : count], self._player.env.action_space)
        lines = (
            f"env = {trial.subject.code.expression}",
            *calls,
            f"before = str({state})",
            *last,
            f"assert str({state}) == before, 'the state of {name} has changed'",
        )
        shown = Reproduction((*trial.subject.code.imports, f"import {name.partition('.')[0]}"), lines)
        raise trial.failed(TOUCHED.format(name), place, None, shown)


def _states() -> dict[str, Any]:
    state: Any = np.random.get_state()
    return {"random": random.getstate(), "numpy.random": (state[1].tobytes(), *state[2:])}
