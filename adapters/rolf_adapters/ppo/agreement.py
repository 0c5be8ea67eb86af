"""Agreement: what has gone wrong in one of several processes has gone wrong in all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.learner import Diverged


@contextmanager
def diverged_together() -> Iterator[None]:
    """See that `Diverged` is raised in all processes, if it is raised in one: each of them goes back, or none does.

    What is done within must not wait for other processes: one of them may be gone from there. All of them must come to
    this context. Any other error is a process's own; it ends that process, and torchrun then ends the others.

    Raises:
        Diverged: it was raised within, here or in another process.
    """
    mine: Diverged | None = None
    try:
        yield
    except Diverged as error:
        mine = error
    said = [each for each in parallel.gathered(None if mine is None else str(mine)) if each is not None]
    if said:
        raise Diverged(said[0]) from mine
