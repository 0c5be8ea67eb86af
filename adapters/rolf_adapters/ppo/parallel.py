"""Parallel: several processes that learn as one, started by torchrun; in one alone there is nothing to add up.

A learner divides each loss by the number of samples of *all* processes (`summed`), and adds the gradients up before the
step (`add_gradients`): then two processes with half the samples each take the step that one would have taken. Sums of
floats in another order differ in their last bits, so a run is repeated exactly with the same number of processes only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
import torch.distributed as distributed
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Moments:
    """What is known of a sample."""

    count: int
    mean: float
    variance: float
    """Of the population: divided by ``count``."""


@dataclass(slots=True)
class _Waits:
    """How long this process has waited for others."""

    seconds: float = 0.0


_WAITS = _Waits()


def rank() -> int:
    """Return which process this is, from 0."""
    return int(distributed.get_rank()) if distributed.is_initialized() else 0


def size() -> int:
    """Return how many processes learn together."""
    return int(distributed.get_world_size()) if distributed.is_initialized() else 1


def launched() -> int:
    """Return how many processes torchrun has started; 0: this one was started by something else."""
    text = os.environ.get("WORLD_SIZE", "0") if "TORCHELASTIC_RUN_ID" in os.environ else "0"
    return int(text)


@contextmanager
def started(threads: int = 1, backend: str = "gloo") -> Iterator[None]:
    """Take part, within the context, in the work of the processes that torchrun has started.

    Args:
        threads: Of PyTorch, in this process.
        backend: How processes talk to each other.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    joined = launched() > 1 and not distributed.is_initialized()
    if joined:
        distributed.init_process_group(backend)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if joined:
            distributed.destroy_process_group()


def waited() -> float:
    """Return how long this process has spent so far on what all processes add up or gather, the waiting included [s].

    Only differences mean something. Alone, a process waits for nobody.
    """
    return _WAITS.seconds


def leave(code: int = 0) -> NoReturn:
    """End this process, at once where it is one of several: call it when all is written.

    An exit in the ordinary way is an abort ("terminate called without an active exception") one time in five where a
    process has sent by gloo and gone backward through a network (seen with PyTorch 2.13), and torchrun then takes a
    training that is done for one that has failed.

    Args:
        code: Exit code of the process.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if launched() > 1:
        os._exit(code)
    raise SystemExit(code)


def summed(tensor: Tensor) -> Tensor:
    """Return the sum over all processes of a tensor of the same shape in each; the same bits on all of them."""
    total = tensor.detach().clone()
    if size() > 1:
        _add_up(total)
    return total


def add_gradients(parameters: Iterable[Tensor]) -> None:
    """Make each parameter's ``grad`` the sum over all processes.

    A process without a gradient counts as zero; where none has one, there is none afterwards either.

    Args:
        parameters: The same, in the same order, in each process.
    """
    if size() == 1:
        return
    listed = list(parameters)
    present = [parameter.grad is not None for parameter in listed]
    pieces = [
        (torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).reshape(-1) for parameter in listed
    ]
    # One message instead of one for each parameter, and who has a gradient travels with it.
    flat = torch.cat([torch.tensor(present, dtype=pieces[0].dtype), *pieces])
    _add_up(flat)
    at = len(listed)
    for number, parameter in enumerate(listed):
        if flat[number] > 0:
            parameter.grad = flat[at : at + parameter.numel()].view_as(parameter).clone()
        at += parameter.numel()


def moments(values: Tensor, mask: Tensor | None = None) -> Moments:
    """Return count, mean and variance of the values of all processes.

    Args:
        values: Any shape, in each process another if need be.
        mask: Of the same shape; what counts. None: all.

    Returns:
        Zeros where nothing counts.
    """
    chosen = (values if mask is None else values[mask]).detach().double().reshape(-1)
    first = summed(torch.stack((torch.tensor(float(chosen.numel()), dtype=torch.float64), chosen.sum())))
    count = int(first[0])
    if count == 0:
        return Moments(0, 0.0, 0.0)
    mean = first[1] / count
    # In a second pass over the values: a sum of squares would lose the small variance of a large mean.
    spread = summed(((chosen - mean) ** 2).sum())
    return Moments(count, float(mean), float(spread) / count)


def gathered(value: Any) -> list[Any]:
    """Return what each process gave, by rank, on all of them.

    Args:
        value: Plain JSON.
    """
    if size() == 1:
        return [json.loads(json.dumps(value))]
    raw = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
    lengths = torch.zeros(size(), dtype=torch.int64)
    lengths[rank()] = len(raw)
    lengths = summed(lengths)
    rows = torch.zeros((size(), int(lengths.max())), dtype=torch.uint8)
    rows[rank(), : len(raw)] = raw
    rows = summed(rows)
    return [json.loads(bytes(row[: int(length)].tolist())) for row, length in zip(rows, lengths, strict=True)]


def _add_up(tensor: Tensor) -> None:
    """Make a tensor the sum over all processes; what all of them do together comes down to this."""
    began = time.monotonic()
    distributed.all_reduce(tensor)
    _WAITS.seconds += time.monotonic() - began
