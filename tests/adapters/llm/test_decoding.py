"""The likeliest answer, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence

import pytest
import torch

from rolf_adapters.decoding import Decoder

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string", "maxLength": 40}},
    "required": ["command"],
    "additionalProperties": False,
}


def prompt(model: Decoder, *said: str) -> Sequence[int]:
    talk = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]
    ids: Sequence[int] = model.tokenizer.apply_chat_template(talk, add_generation_prompt=True, return_dict=False)
    return ids


def test_the_answer_is_that_of_transformers(model: Decoder) -> None:
    """An own loop, held against the library's: the same tokens, one by one."""
    ids = prompt(model, "What is the capital of France?")
    peer = model._model.generate(torch.tensor([list(ids)]), max_new_tokens=12, do_sample=False)[0, len(ids) :]
    assert model.answer(ids, 12) == model.tokenizer.decode(peer, skip_special_tokens=True)


@pytest.mark.nightly
def test_what_was_read_before_changes_no_answer(model: Decoder) -> None:
    """Kept keys and values stand for tokens that are really the same, from the beginning on."""
    ids = prompt(model, "List three colours.", "Red, green, blue.", "And which is the second of them?")
    model.forget()
    fresh = model.answer(ids, 24)
    model.answer(prompt(model, "List three colours.", "Red, green, blue.", "Say something else."), 24)
    assert model.answer(ids, 24) == fresh
    assert model.answer(ids, 24) == fresh, "a prompt that was read to its last token"


def test_a_grammar_holds_the_answer(model: Decoder) -> None:
    """Without it the model talks; with it the answer is a plan, whatever it would rather say."""
    ids = prompt(model, "Tell me a story about a cat.")
    with pytest.raises(json.JSONDecodeError):
        json.loads(model.answer(ids, 12))
    held = json.loads(model.answer(ids, 40, SCHEMA))
    assert list(held) == ["command"]
    assert 0 < len(held["command"]) <= 40


def test_an_answer_is_cut_off_at_its_length(model: Decoder) -> None:
    """A model that does not end must not hold up an episode."""
    ids = prompt(model, "Count to one thousand.")
    assert len(model.tokenizer(model.answer(ids, 8))["input_ids"]) <= 8


def test_a_schema_that_is_none_is_refused(model: Decoder) -> None:
    """An answer to no grammar at all would look like a plan now and then."""
    with pytest.raises(ValueError, match="no grammar can be made of the schema"):
        model.answer(prompt(model, "Hello"), 8, {"type": "nothing"})


def test_a_tokenizer_without_an_end_is_refused(model: Decoder) -> None:
    """No answer would end."""
    endless = copy.copy(model.tokenizer)
    endless.eos_token = None
    with pytest.raises(ValueError, match=r"set tokenizer\.eos_token"):
        Decoder(model._model, endless)
