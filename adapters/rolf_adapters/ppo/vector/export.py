"""Export: the actor as an ONNX model, with a file beside it that says how to use it (extra ``export``).

The model takes what `rolf_adapters.ppo.vector.features` makes of observations, not normalised: normalisation is a part
of it. It returns logits, very small ones where an action is not possible, and the value; ``groups`` in the file beside
it says which actions are one decision (`rolf_adapters.ppo.vector.choice.likeliest`). How well it agrees with the
network, and how long an answer takes, is measured and written down (`Checked`).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rolf_adapters.ppo.vector.network import Network, Seen

# Else its official builds keep a number of this machine in the home and send events to their maker (its Privacy.md).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
try:
    import onnx  # noqa: F401 - torch writes with it
    import onnxruntime
    import onnxscript  # noqa: F401 - torch translates with it
except ImportError as error:
    raise ImportError(
        f"the export needs onnx, onnxscript and onnxruntime ({error}): pip install 'rolf[export]'"
    ) from error

FORMAT = "rolf-vector-policy-1"
QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Checked:
    """How well an exported model does."""

    apart: float
    """Largest difference of a possible action's logit, or a value, from the network's."""
    same: float
    """Share of rows in which both choose the same action."""
    seconds: dict[str, float]
    """Quantiles of the time of one answer about one row [s], on this machine, in one thread."""


class _Exported(nn.Module):  # type: ignore[misc] # see heads.py
    """The network, with its inputs one by one and masked logits."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.names = inputs_of(network)

    def forward(self, *given: Tensor) -> tuple[Tensor, Tensor]:
        named = dict(zip(self.names, given, strict=True))
        features = named["features"]
        allowed = named["allowed"]
        words, when = named.get("words", features[:, :0]), named.get("time", 0 * features[:, 0])
        logits, values = self.network(Seen(features, words, when, named["previous"], allowed))
        return torch.where(allowed, logits, torch.full_like(logits, -1e9)), values


def inputs_of(network: Network) -> tuple[str, ...]:
    """Return the names of the inputs, in order: those of `Seen` that the network looks at."""
    words = ("words",) if network.size.words else ()
    when = ("time",) if network.body.context.period else ()
    return "features", *words, *when, "previous", "allowed"


def written(
    network: Network, path: Path, *, action_names: Sequence[str] = (), more: Mapping[str, Any] | None = None
) -> Checked:
    """Write a network as ``path`` (ONNX) and what is to be known of it as ``path`` with the suffix ``.json``.

    Args:
        network: What was learned.
        path: Ends in ``.onnx``; what is there is replaced.
        action_names: What each action does, in words.
        more: What else is to be told, as plain data.

    Raises:
        ValueError: there are names for another number of actions, or the path does not end in ``.onnx``.
    """
    actions = sum(network.size.parts)
    if action_names and len(action_names) != actions:
        raise ValueError(f"{len(action_names)} names are given for {actions} actions; give one each, or none")
    if path.suffix != ".onnx":
        raise ValueError(f"{str(path)!r} does not end in .onnx")
    network = network.eval()
    given = _drawn(network, 2, 0)
    names = inputs_of(network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's exporter about itself and about packages that are not needed
        torch.onnx.export(
            _Exported(network),
            tuple(torch.from_numpy(given[name]) for name in names),
            str(path),
            input_names=list(names),
            output_names=["logits", "values"],
            dynamic_axes={name: {0: "rows"} for name in (*names, "logits", "values")},
            dynamo=False,
        )
    checked = compared(network, path)
    schema = schema_of(network)
    told = {
        "format": FORMAT,
        "schema": schema,
        "schema_sha256": hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest(),
        "normalisation": {"mean": network.mean.tolist(), "scale": network.scale.tolist(), "in_model": True},
        "groups": None if network.groups is None else network.groups.tolist(),
        "action_names": list(action_names),
        "model_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "checked": asdict(checked),
        **(more or {}),
    }
    path.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n")
    return checked


def schema_of(network: Network) -> dict[str, Any]:
    """Return the model's inputs and outputs as plain data."""
    size, given = network.size, _drawn(network, 1, 0)
    inputs = {name: [str(array.dtype), ["rows", *array.shape[1:]]] for name, array in given.items()}
    actions = sum(size.parts)
    outputs = {"logits": ["float32", ["rows", actions]], "values": ["float32", ["rows"]]}
    return {"inputs": inputs, "outputs": outputs, "parts": list(size.parts), "observation": size.observation}


def session(path: Path) -> Any:
    """Return a session of ONNX Runtime that answers in one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def compared(network: Network, path: Path, *, rows: int = 64, answers: int = 200) -> Checked:
    """Return how well a model agrees with its network on drawn inputs, and how long an answer takes.

    Args:
        network: What was exported.
        path: The model.
        rows: Rows that are compared.
        answers: Answers that are timed.
    """
    runs, given = session(path), _drawn(network, rows, 1)
    logits, values = runs.run(None, given)
    with torch.inference_mode():
        wanted, worth = _Exported(network)(*(torch.from_numpy(given[name]) for name in inputs_of(network)))
    apart = np.abs(np.where(given["allowed"], logits - wanted.numpy(), 0)).max()
    same = (logits.argmax(axis=1) == wanted.numpy().argmax(axis=1)).mean()
    one = _drawn(network, 1, 2)
    times = []
    for _ in range(answers):
        began = time.perf_counter()
        runs.run(None, one)
        times.append(time.perf_counter() - began)
    quantiles = np.quantile(times[answers // 10 :], QUANTILES).tolist()
    return Checked(
        float(max(apart, np.abs(values - worth.numpy()).max())),
        float(same),
        {f"p{round(100 * share)}": value for share, value in zip(QUANTILES, quantiles, strict=True)},
    )


def _drawn(network: Network, rows: int, seed: int) -> dict[str, NDArray[Any]]:
    """Return drawn inputs; the first action of each part is possible."""
    size, drawing = network.size, np.random.default_rng(seed)
    allowed = drawing.random((rows, sum(size.parts))) < 0.5
    allowed[:, np.cumsum([0, *size.parts[:-1]])] = True
    mean, scale = network.mean.numpy(), network.scale.numpy()
    every: dict[str, NDArray[Any]] = {
        "features": (mean + drawing.standard_normal((rows, size.features)) / scale).astype(np.float32),
        "words": (drawing.random((rows, size.words)) < 0.2).astype(np.float32),
        "time": drawing.integers(0, 100, rows).astype(np.float32),
        "previous": np.stack([drawing.integers(0, part + 1, rows) for part in size.parts], axis=1),
        "allowed": allowed,
    }
    return {name: every[name] for name in inputs_of(network)}
