"""PettingZoo: several agents in one environment, acting together or in turn (extra ``pettingzoo``).

    from rolf_adapters.pettingzoo import aec_env, parallel_env

    line = parallel_env("linegym:LineEnv-v1", variant="serial/rtd/profinet/bearing")

A package whose environment several agents can share has a module ``parallel`` with a function or class
``parallel_env``, as PettingZoo's own environments do: ``linegym.parallel``. Its ``ENV_ID``, where it has one, is
that environment's.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rolf.registration import registered

try:
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils import parallel_to_aec
except ImportError as error:
    raise ImportError(f"rolf_adapters.pettingzoo needs PettingZoo ({error}): pip install 'rolf[pettingzoo]'") from error


def parallel_env(env_id: str, **settings: Any) -> ParallelEnv:
    """Return an environment whose agents act at the same time.

    Args:
        env_id: Of the environment for one agent, with the module before it: ``"linegym:LineEnv-v1"``.
        **settings: For the environment; ``linegym.parallel.LineParallelEnv`` takes ``variant``, ``horizon``,
            ``evaluation`` and ``render_mode``.

    Raises:
        ValueError: the id names no module.
        LookupError: the package has no environment for several agents, or another one.
    """
    package, colon, _ = env_id.partition(":")
    if not colon:
        raise ValueError(f"{env_id!r} names no module; give one before it, as in 'linegym:LineEnv-v1'")
    module = f"{package}.parallel"
    if find_spec(package) is None or find_spec(module) is None:
        raise LookupError(f"{env_id!r} is for one agent alone: there is no module {module!r} with a parallel_env")
    found = import_module(module)
    known = getattr(found, "ENV_ID", None)
    if known is None:
        registered(env_id)
    elif env_id != known:
        raise LookupError(f"{env_id!r} has no agents that act at the same time; {module!r} is for {known!r}")
    made: ParallelEnv = found.parallel_env(**settings)
    return made


def aec_env(env_id: str, **settings: Any) -> AECEnv:
    """Return an environment whose agents act in turn: PettingZoo's view of the same.

    The line moves when all have acted, so each sees in its turn what was there before the first; rewards are paid then.
    What is called in the wrong order is told (``OrderEnforcingWrapper``).

    Args:
        env_id: See `parallel_env`.
        **settings: See there.

    Raises:
        ValueError, LookupError: see there.
    """
    return parallel_to_aec(parallel_env(env_id, **settings))
