"""Random generators by name: what one draws depends on nothing that others have drawn, nor on what was before.

A generator that lives on from iteration to iteration would have to be saved; one that is made anew from the run's seed,
what it is for and the iteration's number need not, and two parts of the trainer cannot disturb each other's numbers.
"""

from __future__ import annotations

import hashlib
from numbers import Integral

import numpy as np
import torch


def number(seed: int, *names: str | int) -> int:
    """Return 63 bits that a run's seed and names determine.

    Args:
        seed: The run's.
        names: What the number is for: ``number(7, "rollout", iteration, rank)``.
    """
    plain = (int(name) if isinstance(name, Integral) else name for name in (seed, *names))  # NumPy's integers too
    text = "\x1f".join(map(repr, plain)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return a NumPy generator of its own."""
    return np.random.Generator(np.random.Philox(number(seed, *names)))


def torch_generator(seed: int, *names: str | int) -> torch.Generator:
    """Return a generator of PyTorch's of its own, on the processor."""
    made = torch.Generator()
    made.manual_seed(number(seed, *names))
    return made
