"""check_vector_equals_single: every row of a vector environment goes as a single one does."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from rolf.checks.acting import Actions
from rolf.checks.errors import NotApplicable
from rolf.checks.player import Player
from rolf.checks.reproduction import COMPARES, Reproduction, actions_code, calls_code, compare_code
from rolf.checks.rows import alone, batched, row_begun, row_ended_and_began, row_values
from rolf.checks.subject import EnvLike
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored
from rolf.checks.vectors import Vector, modes, vector
from rolf.difference import difference

ROWS = 3


def check_vector_equals_single(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
    rows: int = ROWS,
    mode: str | None = None,
    vector_kwargs: Mapping[str, Any] | None = None,
) -> None:
    """Check that every row of a vector environment goes, value by value, as a single one with its seed and actions.

    Rows get seeds and actions of their own, so a row that depends on its neighbours shows. What has ended is begun
    again as ``metadata["autoreset_mode"]`` says.

    Args:
        env: The single environment; see `rolf.checks`.
        actions: How to act, in each row.
        seeds: Of the first row; the next ones have the numbers after it.
        steps: Steps to take.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.
        rows: How many rows.
        mode: ``native``, the environment's own vector form; ``sync`` or ``async``, Gymnasium's; None: its own if it has
            one whose rows can be seeded apart, else ``sync``.
        vector_kwargs: What ``make_vec`` takes for rows like the single environment; None: what the environment says in
            ``env.unwrapped.vector_kwargs``, or the single one's own arguments.

    Raises:
        CheckFailed: a row differs.
        NotApplicable: rows cannot be seeded apart, or it is a vector environment already.
    """
    trial = Trial.of("check_vector_equals_single", env, actions, seeds, steps, volatile)
    tried = modes(trial.subject, mode)
    with generators_restored(), contextlib.ExitStack() as stack:
        singles = [stack.enter_context(trial.player())]
        trial.single(singles[0])
        singles += [stack.enter_context(trial.player()) for _ in range(rows - 1)]
        refused: NotApplicable | None = None
        for way in tried:
            made = vector(trial.subject, singles[0].env, rows, way, vector_kwargs)  # type: ignore[arg-type]  # single
            with contextlib.closing(made.env):
                likeness = _Likeness(trial, singles, made)
                try:
                    likeness.begin(trial.seeds[0])
                except NotApplicable as error:
                    refused = error
                else:
                    likeness.compare()
                    return
        assert refused is not None
        raise refused


class _Likeness:
    """A vector environment and as many single ones, in lockstep."""

    def __init__(self, trial: Trial, singles: Sequence[Player], made: Vector) -> None:
        self._trial, self._singles = trial, singles
        self._env, self._code = made
        self._mode = made.env.metadata.get("autoreset_mode")
        self._calls: list[str] = []
        self._fresh = [False] * len(singles)
        """Rows that the next step resets."""
        if not isinstance(self._mode, AutoresetMode):
            problem = "metadata['autoreset_mode'] must say what happens to a row that has ended: an AutoresetMode"
            raise trial.failed(problem, None, {"it says": repr(self._mode)})

    def begin(self, seed: int) -> None:
        """Reset all.

        Raises:
            NotApplicable: rows cannot be seeded apart.
        """
        seeds = [seed + row for row in range(len(self._singles))]
        self._calls.append(f"returned = env.reset(seed={seeds})")
        try:
            returned = self._env.reset(seed=seeds)  # type: ignore[arg-type]  # Gymnasium's own take them
        except (TypeError, ValueError, gymnasium.error.Error) as error:
            raise NotApplicable(f"rows of {self._env} cannot be seeded apart: {error}") from error
        for row, player in enumerate(self._singles):
            player.reset(seeds[row])
            self._same(row, row_values(self._env, row, returned), player.tape[-1].values)

    def compare(self) -> None:
        """Step all."""
        for number, seed in enumerate(self._trial.seeds):
            if number:
                self._fresh = [False] * len(self._singles)
                self.begin(seed)
            for _ in range(self._trial.steps):
                self._step()

    def _step(self) -> None:
        chosen = [player.choose() for player in self._singles]
        listed = actions_code(self._env.single_action_space, chosen).replace("env.action_", "env.single_action_")
        self._calls.append(f"returned = env.step(batched(env, {listed}))")
        try:
            returned = self._env.step(batched(self._env, chosen))
        except Exception as error:
            lines = (f"env = {self._code.expression}", *self._calls)
            imports = (*self._code.imports, "import numpy", "from rolf.checks.rows import batched")
            problem = f"step of {self._env} raised {type(error).__name__}: {str(error)[:300]}"
            at = self._singles[0].place
            raise self._trial.failed(problem, at, None, Reproduction(imports, lines)) from error
        for row, player in enumerate(self._singles):
            self._row(row, player, chosen[row], returned)
        if self._mode is AutoresetMode.DISABLED:
            self._begin_ended()

    def _row(self, row: int, player: Player, action: Any, returned: Sequence[Any]) -> None:
        """Do in a single environment what a row did, and compare."""
        if self._fresh[row]:  # NEXT_STEP: the action is ignored, nothing is paid
            self._fresh[row] = False
            begun = player.reset().values
            idle = {"reward": 0.0, "terminated": False, "truncated": False}
            self._same(row, row_values(self._env, row, returned), {**begun, **idle})
            return
        values = player.step(action).values
        self._same(row, row_values(self._env, row, returned), values)
        if player.over and self._mode is AutoresetMode.NEXT_STEP:
            self._fresh[row] = True
        elif row_ended_and_began(returned[-1], row):
            self._same(row, row_begun(self._env, row, returned), player.reset().values, begun=True)

    def _begin_ended(self) -> None:
        """DISABLED: begin the rows that have ended."""
        ended = np.array([player.over for player in self._singles])
        if not ended.any():
            return
        self._calls.append(f"returned = env.reset(options={{'reset_mask': numpy.array({ended.tolist()})}})")
        returned = self._env.reset(options={"reset_mask": ended})
        for row in np.flatnonzero(ended).tolist():
            self._same(row, row_values(self._env, row, returned), self._singles[row].reset().values)

    def _same(self, row: int, ours: dict[str, Any], single: dict[str, Any], *, begun: bool = False) -> None:
        player = self._singles[row]
        for name, value in ours.items():
            found = difference(name, value, alone(name, single[name]), player.volatile)
            if found is not None:
                problem = f"row {row} of {self._env} differs from a single environment with its seed and actions"
                values = {f"row {row}": found.left, "alone": found.right}
                told = f"alone({name!r}, {name})" if name in player.tape[-1].values else repr(single[name])
                shown = self._reproduction(row, name, "row_begun" if begun else "row_values", told)
                raise self._trial.failed(problem, player.place._replace(field=found.field), values, shown)

    def _reproduction(self, row: int, name: str, reader: str, told: str) -> Reproduction:
        player, code = self._singles[row], self._trial.subject.code
        ours = [f"env = {self._code.expression}", *self._calls, f"return {reader}(env, {row}, returned)[{name!r}]"]
        theirs = [f"env = {code.expression}", *calls_code(player.calls, player.env.action_space), f"return {told}"]
        lines = (
            "def in_a_row():",
            *(f"    {line}" for line in ours),
            "",
            "def in_a_single_one():",
            *(f"    {line}" for line in theirs),
            "",
            *compare_code(name, "in_a_row(), in_a_single_one()", player.volatile),
        )
        mine = f"from rolf.checks.rows import alone, batched, {reader}"
        return Reproduction((*code.imports, *self._code.imports, "import numpy", COMPARES, mine), lines)
