"""check_step_independence: how long an episode was leaves the next one unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from rolf.checks.acting import Actions
from rolf.checks.subject import EnvLike
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

PROBLEM = (
    "episode 1 depends on how long episode 0 was, so whoever ends it earlier gets another world; derive each episode's "
    "generator from the seed and the episode's number"
)


def check_step_independence(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
) -> None:
    """Check that shortening episode 0 leaves episode 1 unchanged.

    Two policies that are compared on the seeds of a run meet the same problems only if this holds. An environment that
    draws from one generator in ``step`` and in ``reset`` fails.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with.
        steps: Most steps of an episode.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.

    Raises:
        CheckFailed: episode 1 differs.
        NotApplicable: it is a vector environment.
    """
    trial = Trial.of("check_step_independence", env, actions, seeds, steps, volatile)
    with generators_restored():
        for seed in trial.seeds:
            with trial.player() as whole, trial.player() as cut:
                trial.single(whole)
                before = whole.play(seed)
                begin = len(whole.tape)
                after = whole.play(None)
                cut.replay(seed, before[: len(before) // 2])
                shorter = len(cut.tape)
                cut.replay(None, after)
                names = (f"after {len(before)} steps", f"after {shorter - 1} steps")
                trial.compare(PROBLEM, whole, cut, names, (begin, shorter))
