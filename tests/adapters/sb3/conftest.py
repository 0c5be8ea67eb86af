"""One thread of torch for all tests of Stable-Baselines3."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """More threads are slower as soon as anything else runs, and add up in another order."""
    torch.set_num_threads(1)
