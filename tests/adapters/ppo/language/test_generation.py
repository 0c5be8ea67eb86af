"""What is drawn is what will be learned from: in a batch and alone, with a grammar and without."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from early_ends import end_early
from file_tasks import tiny, words

from rolf_adapters.ppo.language.batches import sample, scored
from rolf_adapters.ppo.language.generation import Asked, answered, valued
from rolf_adapters.ppo.language.grammar import Grammar, masks
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.settings import Reward
from rolf_adapters.ppo.language.turns import Episode, Said, Turn, unpacked

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string", "minLength": 1, "maxLength": 30}},
    "required": ["command"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module", name="policy")
def a_policy() -> LanguagePolicy:
    made = LanguagePolicy(tiny(seed=3)[0], temperature=0.7)
    with torch.no_grad():
        for parameter in made.critic.parameters():
            parameter.normal_(std=0.1)
    return made


@pytest.fixture(scope="module", name="grammar")
def a_grammar(policy: LanguagePolicy) -> Grammar:
    return Grammar(words(), policy.vocabulary, words().eos_token_id)


def contexts() -> list[list[int]]:
    texts = ["create", "create file a.txt with text hello\n/home/agent$ ", "rename file b.md", "delete file h.cfg now"]
    return [words()(text)["input_ids"] for text in texts]


def say(policy: LanguagePolicy, asked: list[Asked], most: int = 12, rows: int = 8) -> list[Said]:
    return answered(policy, asked, end=words().eos_token_id, most=most, rows=rows)


def draws(number: int) -> np.random.Generator:
    return np.random.default_rng(number)


@pytest.mark.parametrize("constrained", [False, True])
def test_log_probabilities_are_those_that_the_update_finds(
    policy: LanguagePolicy, grammar: Grammar, constrained: bool
) -> None:
    """The ratio of an unchanged policy is 1: no shift by a token, no other mask, no other temperature."""
    paths = [grammar.follow(SCHEMA) if constrained else None for _ in contexts()]
    asked = [
        Asked(context, draws(row), path) for row, (context, path) in enumerate(zip(contexts(), paths, strict=True))
    ]
    said = say(policy, asked)
    episodes = [
        Episode((Turn(tuple(context), each, 1.0, True, False, 0),))
        for context, each in zip(contexts(), said, strict=True)
    ]
    samples = [sample(episode, Reward()) for episode in episodes]
    found = [each for each in samples if each is not None]
    again = scored(policy, found)
    assert len(found) == len(said)
    assert len(again.logps) == sum(int(each.chosen.sum()) for each in said)
    old = np.concatenate([each.logps for each in found])
    assert np.abs(again.logps.detach().numpy() - old).max() < 1e-5
    assert np.abs(again.values.detach().numpy() - np.concatenate([each.values for each in found])).max() < 1e-5
    assert (again.allowed is not None) is constrained


def test_an_answer_does_not_depend_on_its_neighbours(policy: LanguagePolicy) -> None:
    """So it does not matter how many environments there are, nor which of them ended early."""
    together = say(policy, [Asked(context, draws(row)) for row, context in enumerate(contexts())])
    for row, context in enumerate(contexts()):
        (alone,) = say(policy, [Asked(context, draws(row))])
        assert alone.ids == together[row].ids
        assert np.abs(alone.logps - together[row].logps).max() < 1e-5
    halves = say(policy, [Asked(context, draws(row)) for row, context in enumerate(contexts())], rows=2)
    assert [each.ids for each in halves] == [each.ids for each in together]


def test_who_has_ended_is_let_go_and_the_others_say_what_they_would(
    policy: LanguagePolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = end_early(policy, monkeypatch)
    many = [context for context in contexts() for _ in range(4)]
    together = say(policy, [Asked(context, draws(row)) for row, context in enumerate(many)], 30, rows=16)
    sizes = [rows for rows, _ in shapes]
    assert sizes[0] == 16
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 8
    assert len(set(sizes)) >= 3, "more than once"
    for row, context in enumerate(many):
        (alone,) = say(policy, [Asked(context, draws(row))], 30)
        assert alone.ids == together[row].ids
        assert np.abs(alone.logps - together[row].logps).max() < 1e-5
        assert np.abs(alone.values - together[row].values).max() < 1e-5


def test_without_draws_the_likeliest_is_said(policy: LanguagePolicy) -> None:
    """The reference is the model library's own greedy search."""
    for context, said in zip(contexts(), say(policy, [Asked(each, None) for each in contexts()]), strict=True):
        ids = torch.tensor([context])
        known = policy.model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=12, pad_token_id=0
        )
        assert list(said.ids) == known[0, len(context) :].tolist()


def test_tokens_are_drawn_as_often_as_they_are_likely(policy: LanguagePolicy) -> None:
    """The draw by cumulated probabilities is the policy's distribution, and not one beside it."""
    context = contexts()[0]
    said = say(policy, [Asked(context, draws(row)) for row in range(4000)], most=1, rows=500)
    counts = np.bincount([each.ids[0] for each in said], minlength=policy.vocabulary) / len(said)
    with torch.inference_mode():
        hidden = policy.read(torch.tensor([context])).hidden[0, -1]
        likely = policy.logits(hidden).softmax(-1).numpy()
    assert np.abs(counts - likely).sum() < 0.35  # what 4 000 draws of 377 tokens are apart by chance: about 0.24
    top = int(likely.argmax())
    assert abs(counts[top] - likely[top]) < 4 * np.sqrt(likely[top] / len(said))


def test_a_grammar_keeps_answers_to_calls(policy: LanguagePolicy, grammar: Grammar) -> None:
    """A model that knows nothing yet writes valid calls, or is cut in the middle of one."""
    said = say(
        policy, [Asked(context, draws(row), grammar.follow(SCHEMA)) for row, context in enumerate(contexts())], 60
    )
    for each in said:
        text = words().decode(each.ids, skip_special_tokens=True)
        assert each.ids[-1] == words().eos_token_id, "thirty characters and the rest fit"
        assert list(json.loads(text)) == ["command"]
        assert not each.chosen[0], "nothing but the beginning of the object could be said"
        assert not each.chosen[-1], "nothing but the end could be said"
        assert each.chosen.any()
        again = masks(grammar.follow(SCHEMA), each.ids)
        assert each.allowed is not None
        assert (again == each.allowed).all(), "whoever goes through the grammar again finds the same masks"
        assert unpacked(again, policy.vocabulary)[np.arange(len(each.ids)), list(each.ids)].all()


def test_an_answer_that_is_too_long_is_cut(policy: LanguagePolicy) -> None:
    """Then its end was not said, and nothing pretends that it was."""
    for each in say(policy, [Asked(context, draws(row)) for row, context in enumerate(contexts())], most=3):
        assert len(each.ids) == 3 or each.ids[-1] == words().eos_token_id


def test_a_value_is_read_before_the_answer(policy: LanguagePolicy) -> None:
    """What the critic says of a context is what it says before the first token of an answer to it."""
    said = say(policy, [Asked(context, None) for context in contexts()], most=2)
    values = valued(policy, contexts(), rows=3)
    assert np.abs(np.array(values) - [each.values[0] for each in said]).max() < 1e-5


def test_a_schema_that_is_none_is_refused(grammar: Grammar) -> None:
    """The error names the schema."""
    with pytest.raises(ValueError, match="no grammar can be made of the schema"):
        grammar.follow({"type": "nonsense"})
