"""Registration: what an environment's id stands for, once the module that registers it was imported."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec


def registered(env_id: str) -> EnvSpec:
    """Return what an id stands for: ``termgym:TermEnv-v1``, ``CartPole-v1``.

    Raises:
        gymnasium.error.Error: nothing is registered under it; the message says where its module belongs.
        ModuleNotFoundError: its package is not installed.
    """
    import gymnasium

    module, _, name = env_id.rpartition(":")
    if module:
        _import(module, env_id)
    try:
        return gymnasium.spec(name)
    except gymnasium.error.NameNotFound as error:
        where = f"importing {module!r} registers no {name!r}" if module else f"name its module too: MODULE:{name}"
        raise gymnasium.error.NameNotFound(f"{error} If it is not one of Gymnasium's own, {where}") from error


def _import(module: str, env_id: str) -> None:
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module and not module.startswith(f"{error.name}."):
            raise  # something that the module itself wants
        what = f"{error}, which is to register {env_id!r}; install its package, or correct the name before the colon"
        raise ModuleNotFoundError(what, name=error.name) from error
