"""check_spec: what ``env.spec`` says makes the same environment again."""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium
from gymnasium.envs.registration import EnvSpec

from rolf.checks.acting import Actions
from rolf.checks.errors import NotApplicable
from rolf.checks.player import Player
from rolf.checks.reproduction import COMPARES, Reproduction, calls_code, compare_code
from rolf.checks.subject import EnvLike
from rolf.checks.tape import parting
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

ADVICE = "wrappers record their arguments by gymnasium.utils.RecordConstructorArgs"


def check_spec(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
) -> None:
    """Check that ``gymnasium.make(env.spec)`` makes the same environment again, wrappers and arguments included.

    Recorders, vector environments and result files rely on it.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with; the first is used.
        steps: Most steps of an episode.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.

    Raises:
        CheckFailed: it cannot be made, or goes another way.
        NotApplicable: it has no spec, as it was not made by ``gymnasium.make``; or it is a vector environment.
    """
    trial = Trial.of("check_spec", env, actions, seeds, steps, volatile)
    with generators_restored(), trial.player() as player:
        trial.single(player)
        spec = player.env.spec
        if spec is None:
            raise NotApplicable("it has no spec, as it was not made by gymnasium.make; register it")
        taken = player.play(trial.seeds[0])
        again = Player(trial, _made(trial, spec))
        try:
            again.replay(trial.seeds[0], taken)
        finally:
            again.env.close()
        _same(trial, player, again)


def _made(trial: Trial, spec: EnvSpec) -> gymnasium.Env[object, object]:
    code = trial.subject.code
    try:
        return gymnasium.make(spec, disable_env_checker=True)
    except Exception as error:
        lines = (f"env = {code.expression}", "gymnasium.make(env.spec)")
        problem = f"gymnasium.make(env.spec) raised {type(error).__name__}: {str(error)[:300]}; {ADVICE}"
        shown = Reproduction((*code.imports, "import gymnasium"), lines)
        raise trial.failed(problem, None, None, shown) from error


def _same(trial: Trial, player: Player, again: Player) -> None:
    parted = parting(player.tape, again.tape, player.volatile)
    if parted is None:
        return
    code, name = trial.subject.code, parted.name
    calls = calls_code(player.calls[: parted.left.calls], player.env.action_space)
    lines = (
        "def play(env):",
        *(f"    {line}" for line in (*calls, f"return {name}")),
        "",
        f"env = {code.expression}",
        "again = gymnasium.make(env.spec, disable_env_checker=True)",
        *compare_code(name, "play(env), play(again)", player.volatile),
    )
    problem = f"the environment that env.spec makes is another one; {ADVICE}"
    values = {"env": parted.found.left, "gymnasium.make(env.spec)": parted.found.right}
    shown = Reproduction((*code.imports, "import gymnasium", COMPARES), lines)
    raise trial.failed(problem, parted.place, values, shown)
