"""An exported network as a policy that ``rolf eval`` plays: by ONNX Runtime, shown what the training showed.

``rolf eval --split line-v1/iid --policy rolf_adapters.ppo.vector.onnx_player:player --policy-arg model=policy.onnx``
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch

from rolf_adapters.ppo import config
from rolf_adapters.ppo.vector.export import FORMAT, session
from rolf_adapters.ppo.vector.making import Spaces
from rolf_adapters.ppo.vector.network import Seen
from rolf_adapters.ppo.vector.player import Answer, Player
from rolf_adapters.ppo.vector.settings import Settings


def player(model: str, name: str = "ppo-onnx") -> Player:
    """Return the player of a model that ``rolf train --export`` wrote.

    Args:
        model: The ``.onnx`` file; that with the suffix ``.json`` lies beside it.
        name: What the board calls it.

    Raises:
        ValueError: the file beside it is missing, says nothing of a training, or is of another model.
    """
    about = _about(Path(model))
    settings = config.checked(about["config"])
    assert isinstance(settings, Settings)  # nothing else is exported
    runs, schema = session(Path(model)), about["schema"]
    groups = None if about["groups"] is None else torch.tensor(about["groups"])

    def answer(seen: Seen) -> tuple[torch.Tensor, torch.Tensor | None]:
        logits, _ = runs.run(None, {each: getattr(seen, each).numpy() for each in schema["inputs"]})
        return torch.from_numpy(logits), groups

    def made(spaces: Spaces) -> Answer:
        if (spaces.observation, [*spaces.parts]) != (schema["observation"], schema["parts"]):
            raise ValueError(
                f"{model!r} is for observations of {schema['observation']} numbers and actions of {schema['parts']} "
                f"kinds; this environment has {spaces.observation} and {[*spaces.parts]}"
            )
        return answer

    return Player(settings, made, name)


def _about(model: Path) -> dict[str, Any]:
    beside = model.with_suffix(".json")
    try:
        found: dict[str, Any] = json.loads(beside.read_bytes())
        digest = hashlib.sha256(model.read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(
            f"{str(error.filename)!r}: {error.strerror}; `rolf train --export` writes both files"
        ) from error
    if found.get("format") != FORMAT or "config" not in found:
        raise ValueError(f"{str(beside)!r} is not what `rolf train --export` writes, a {FORMAT} with a configuration")
    if found["model_sha256"] != digest:
        raise ValueError(f"{str(beside)!r} tells of another model than {str(model)!r}; export both anew")
    return found
