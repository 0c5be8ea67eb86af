"""Tiny: a model of a million weights and a tokenizer of its own, for tests and for trying things out in minutes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from rolf_adapters.ppo import seeds

try:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
except ImportError as error:
    raise ImportError(f"language models need transformers ({error}): pip install 'rolf[ppo]'") from error

BEGIN, END = "<|im_start|>", "<|im_end|>"
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer(texts: Iterable[str], *, vocabulary: int = 384) -> Any:
    """Return a byte-level BPE tokenizer that was trained on texts, with the ChatML template; its padding is its end.

    Args:
        texts: Of the kind that it will read and write.
        vocabulary: Tokens, the 256 bytes among them.
    """
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([*texts, "system", "user", "assistant"], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, bos_token=BEGIN, eos_token=END, pad_token=END)
    fast.chat_template = CHATML
    return fast


def model(words: Any, *, seed: int = 0, width: int = 128, layers: int = 4, window: int = 512) -> Any:
    """Return a model of Qwen3's architecture with random weights: 0.84 million with the defaults.

    Args:
        words: Its tokenizer.
        seed: Of its weights.
        width: Of its hidden states; a multiple of 32.
        layers: How many.
        window: Longest context [tokens].
    """
    config = Qwen3Config(
        vocab_size=len(words),
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=width // 32,
        num_key_value_heads=max(1, width // 64),
        head_dim=32,
        max_position_embeddings=window,
        tie_word_embeddings=True,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.number(seed, "tiny"))
        return Qwen3ForCausalLM(config)
