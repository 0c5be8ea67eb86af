"""Trying: see that the environments of a training can be made, before anything is played."""

from __future__ import annotations

from contextlib import suppress

from rolf_adapters.ppo.language.pool import FAULTS
from rolf_adapters.ppo.language.problems import Problems


def try_out(problems: Problems) -> None:
    """Make one environment to learn in and one to be tested in, and close them again.

    Args:
        problems: Of the training.

    Raises:
        gymnasium.error.Error, LookupError, TypeError, ValueError: an environment refuses what it is made with.
    """
    for problem in (*problems.draw(1, "tried", seed=0), *problems.held_out(1)):
        with suppress(*FAULTS):  # a machine that fails is told where it is played on, and may be back by then
            problem.variant.make(disable_env_checker=True).close()
