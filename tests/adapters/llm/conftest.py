"""One real model for all tests: SmolLM2-135M-Instruct."""

from __future__ import annotations

import pytest

from rolf_adapters.decoding import Decoder
from rolf_adapters.smollm2 import decoder


@pytest.fixture(scope="session")
def model() -> Decoder:
    """The weights are unpacked once a machine."""
    return decoder()
