"""check_step_before_reset, check_step_after_end: what is called out of order is answered, not stumbled over."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from rolf.checks.acting import Actions
from rolf.checks.errors import NotApplicable, Place
from rolf.checks.player import STEP, Player
from rolf.checks.reproduction import UNPACKED, Call, Reproduction, actions_code
from rolf.checks.stray import stray
from rolf.checks.subject import EnvLike
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

ACCIDENTS = (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError)
"""What code raises that did not think of it; whoever did raises ``gymnasium.error.ResetNeeded``, or the like."""
ADVICE = "raise gymnasium.error.ResetNeeded, or return an observation"


def check_step_before_reset(
    env: EnvLike, *, actions: Actions = None, seeds: Sequence[int] = SEEDS, steps: int = STEPS
) -> None:
    """Check that a step before the first reset raises an error that says so, or returns a valid answer.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act in the episode that follows; the step before it is a sample.
        seeds: What to begin it with; the first is used.
        steps: Most steps of it.

    Raises:
        CheckFailed: the environment stumbles: `ACCIDENTS`, or an answer out of its spaces.
        NotApplicable: it is a vector environment.
    """
    trial = Trial.of("check_step_before_reset", env, actions, seeds, steps, ())
    with generators_restored(), trial.player() as player:
        trial.single(player)
        player.env.action_space.seed(trial.seeds[0])
        _out_of_order(trial, player, "before the first reset")
        player.play(trial.seeds[0])


def check_step_after_end(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
) -> None:
    """Check that a step after the end raises an error that says so, or returns a valid answer, and does no harm.

    The next episode is the same with that step as without it.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with.
        steps: Most steps of an episode.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.

    Raises:
        CheckFailed: the environment stumbles, or the next episode is another.
        NotApplicable: no episode ends within so many steps; or it is a vector environment.
    """
    trial = Trial.of("check_step_after_end", env, actions, seeds, steps, volatile)
    with generators_restored():
        ended = [_past_the_end(trial, seed) for seed in trial.seeds]
    if not any(ended):
        raise NotApplicable(f"no episode ends within {trial.steps} steps; raise steps, or make episodes shorter")


def _past_the_end(trial: Trial, seed: int) -> bool:
    """Take a step too many and play on; return False if the episode does not end."""
    with trial.player() as player, trial.player() as orderly:
        trial.single(player)
        taken = player.play(seed)
        if not player.over:
            return False
        _out_of_order(trial, player, "after the end of the episode", taken[-1])
        orderly.replay(seed, taken)
        begin = len(orderly.tape)
        following = orderly.play(seed)
        again = len(player.tape)
        player.replay(seed, following)
        problem = "a step after the end changes the next episode, though that begins with a seed"
        trial.compare(problem, orderly, player, ("without that step", "with it"), (begin, again))
        return True


def _out_of_order(trial: Trial, player: Player, when: str, action: object = None) -> None:
    """Take a step that nobody should, and look at what comes of it."""
    env, code = player.env, trial.subject.code
    place = player.place if player.calls else None
    action = env.action_space.sample() if action is None else action
    listed = actions_code(env.action_space, [action])
    done = Call("out of order", f"try:\n    env.step({listed}[0])\nexcept Exception:\n    pass")
    shown = Reproduction.of_one(code, player, f"for action in {listed}:", f"    {UNPACKED}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning is a way to say so
            returned = env.step(action)
    except ACCIDENTS as error:
        problem = f"a step {when} raised {type(error).__name__}: {str(error)[:300]}; {ADVICE}"
        raise trial.failed(problem, place, None, shown) from error
    except Exception:  # noqa: BLE001 - whatever says so on purpose
        player.calls.append(done)
        return
    player.calls.append(done)
    if not isinstance(returned, tuple) or len(returned) != len(STEP):
        raise trial.failed(f"a step {when} returned {returned!r:.100}; {ADVICE}", place, None, shown)
    found = stray("observation", env.observation_space, returned[0])
    if found is not None:
        values = {"allowed": found.allowed, "got": found.got}
        at = (place or Place(0, -1))._replace(field=found.field)
        ends = ("from rolf.checks.stray import stray", "assert stray('', env.observation_space, observation) is None")
        raise trial.failed(
            f"a step {when} returned an observation that is not in observation_space; {ADVICE}",
            at if player.calls else None,
            values,
            shown._replace(lines=(*shown.lines, *ends)),
        )
