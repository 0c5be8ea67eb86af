"""Exporting: the policy of a training, from its folder to an ONNX model that is known to agree with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from rolf_adapters.ppo.vector.export import Checked, written
from rolf_adapters.ppo.vector.latest import latest
from rolf_adapters.ppo.vector.making import made, spaces_in
from rolf_adapters.ppo.vector.player import restored

APART = 1e-3
"""Largest difference of a logit or value from the network's; 32-bit floats that are added up in another order differ by
some hundred-thousandths."""
SAME = 0.95
"""Least share of drawn rows in which both choose the same; where two actions are equally likely rounding decides."""


class NoParity(RuntimeError):
    """A model that does not answer as the network that it was made of."""


def exported(run: str | Path, path: Path) -> Checked:
    """Write the policy of a training's latest checkpoint as ``path``, and as ``path`` with the suffix ``.json`` what is
    to be known of it: see `rolf_adapters.ppo.vector.export.written`. What is there is replaced once the model is known
    to agree with the network.

    Args:
        run: The folder that ``rolf train`` wrote.
        path: Ends in ``.onnx``.

    Returns:
        How well it agrees with the network, and how long an answer takes.

    Raises:
        ValueError: there is no checkpoint of a network, or the path does not end in ``.onnx``.
        NoParity: the model does not agree with the network; nothing was written.
    """
    if path.suffix != ".onnx":
        raise ValueError(f"{str(path)!r} does not end in .onnx")
    torch.set_num_threads(1)
    settings, found = latest(run)
    world = settings.environment
    envs = made(world.id, 1, world.kwargs)
    try:
        spaces = spaces_in(envs.single_observation_space, envs.single_action_space, world.id)
        names = _action_names(envs, sum(spaces.parts)) if spaces.discrete else []
    finally:
        envs.close()
    more = {"environment": world.id, "first_action": spaces.first, "iteration": found.iteration, "config": found.config}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".partial-{path.name}")
    try:
        checked = written(restored(settings, found.state, spaces), partial, action_names=names, more=more)
        if not (checked.apart <= APART and checked.same >= SAME):
            raise NoParity(
                f"the model is apart from the network by {checked.apart:.2g} (at most {APART:.2g} is allowed) and "
                f"chooses the same in {checked.same:.1%} of drawn rows (at least {SAME:.0%}); it was not written. "
                "Other versions of onnx or onnxruntime may translate better: pip install -U onnx onnxruntime"
            )
        partial.with_suffix(".json").replace(path.with_suffix(".json"))
        partial.replace(path)
    finally:
        for each in (partial, partial.with_suffix(".json")):
            each.unlink(missing_ok=True)
    return checked


def _action_names(envs: Any, count: int) -> list[str]:
    """Return what each action does, where the environment can say it as a call of a tool."""
    if not hasattr(envs, "call_of"):
        return []
    calls = [envs.call_of(action) for action in range(count)]
    return [f"{call.tool} {json.dumps(dict(call.arguments))}" if call.arguments else call.tool for call in calls]
