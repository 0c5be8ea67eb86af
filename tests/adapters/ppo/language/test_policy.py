"""Which models can be trained, and which of their weights."""

from __future__ import annotations

import pytest
import torch
from file_tasks import tiny, words
from transformers import CohereConfig, CohereForCausalLM, GPT2Config, GPT2LMHeadModel

from rolf_adapters.ppo.language.policy import LanguagePolicy, padded


def trained(policy: LanguagePolicy) -> set[str]:
    return {name for name, _ in policy.trained()}


def test_all_of_a_model_is_trained_unless_told_otherwise() -> None:
    """The critic too."""
    policy = LanguagePolicy(tiny(seed=0)[0])
    assert trained(policy) == {name for name, _ in policy.named_parameters()}


def test_only_upper_layers_are_trained_if_told_so() -> None:
    """The norm behind them belongs to them; what lies below keeps its values, embeddings too."""
    policy = LanguagePolicy(tiny(seed=0)[0], layers=1)
    model = {name for name in trained(policy) if not name.startswith("critic.")}
    assert all(name.startswith(("model.model.layers.3.", "model.model.norm.")) for name in model)
    assert "model.model.norm.weight" in model
    assert len(model) > 5


def test_models_of_other_makes_are_read_alike() -> None:
    """GPT-2 calls its parts otherwise."""
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=64, n_embd=32, n_layer=2, n_head=2))
    policy = LanguagePolicy(model, layers=1)
    ids = torch.tensor([[1, 2, 3]])
    with torch.inference_mode():
        known = model(input_ids=ids).logits
        assert torch.allclose(policy.logits(policy.read(ids).hidden), known, atol=1e-6)
    assert any("h.1." in name for name in trained(policy))
    assert not any("h.0." in name for name in trained(policy))


def test_a_model_that_scales_its_logits_is_refused() -> None:
    """Its log-probabilities would be others than those that it answers with."""
    config = CohereConfig(
        vocab_size=60, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, logit_scale=4.0
    )
    with pytest.raises(ValueError, match="scales or bounds them"):
        LanguagePolicy(CohereForCausalLM(config))


def test_half_precision_is_refused() -> None:
    """What was drawn and what is learned from would be different distributions."""
    with pytest.raises(ValueError, match=r"torch\.bfloat16; load it with dtype=torch\.float32"):
        LanguagePolicy(tiny(seed=0)[0].bfloat16())


def test_a_number_of_layers_that_there_is_not_is_refused() -> None:
    """The error says how many there are."""
    with pytest.raises(ValueError, match="has 4 layers; give a number from 1"):
        LanguagePolicy(tiny(seed=0)[0], layers=5)


def test_what_fills_short_rows_is_never_looked_at() -> None:
    """The padding may be any token, that which ends answers too."""
    assert words().pad_token_id == words().eos_token_id
    policy = LanguagePolicy(tiny(seed=0)[0])
    rows = padded([[5, 6, 7, 8, 9], [5, 6]])
    other = rows.clone()
    other[1, 2:] = words().eos_token_id
    with torch.inference_mode():
        one, two = policy.read(rows).hidden, policy.read(other).hidden
    assert torch.equal(one[1, :2], two[1, :2])
    assert padded([[1], [2, 3]], left=True).tolist() == [[0, 1], [2, 3]]
