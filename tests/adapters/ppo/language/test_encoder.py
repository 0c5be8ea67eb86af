"""A model that knows what words are in a terminal: it begins as the model alone, and looks only at what was before."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from early_ends import end_early
from file_tasks import tiny, words
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from rolf_adapters.ppo.language.batches import sample, scored
from rolf_adapters.ppo.language.encoder import TerminalEncoder
from rolf_adapters.ppo.language.generation import Asked, answered, valued
from rolf_adapters.ppo.language.learner import LanguageLearner, build
from rolf_adapters.ppo.language.marks import Mark, Reader
from rolf_adapters.ppo.language.policy import LanguagePolicy, padded
from rolf_adapters.ppo.language.relations import Marked, looked_at, marked
from rolf_adapters.ppo.language.settings import Environment, Policy, Reward, Rollout, Settings, Speech, Training
from rolf_adapters.ppo.language.turns import Episode, Said, Turn
from rolf_adapters.ppo.language.word_features import IDENTITY, PLACES, SIZE, features

PS = """\
USER         PID %CPU COMMAND
root           1  0.0 init
games       8123  4.2 bash
mira        8124  0.0 sleep 60
"""
TEXTS = (PS, f"{PS}\nwho owns pid 8123? games", "ls -l\n-rw-r--r-- 1 mira mira 36 Nov 30 20:21 a.txt\n", "pid 7")


def llama(vocabulary: int) -> Any:
    """Return a small model of the make of SmolLM2."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=3,
        num_key_value_heads=1,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    return LlamaForCausalLM(config)


def made(kind: str = "qwen") -> Any:
    if kind == "qwen":
        return tiny(seed=3)[0]
    if kind == "llama":
        return llama(len(words()))
    config = GPT2Config(vocab_size=len(words()), n_positions=256, n_embd=32, n_layer=2, n_head=2)
    torch.manual_seed(0)
    return GPT2LMHeadModel(config)


def policy(kind: str = "qwen", *, layers: int | None = None, learned: bool = True, **more: Any) -> LanguagePolicy:
    """Return a policy with an encoder, as if it had learned something unless told otherwise."""
    model = made(kind)
    found = LanguagePolicy(model, layers=layers, encoder=TerminalEncoder(model, words(), **more), temperature=0.7)
    if learned:
        torch.manual_seed(1)
        with torch.no_grad():
            for parameter in (*found.encoder.parameters(), *found.critic.parameters()):
                parameter.add_(0.2 * torch.randn_like(parameter))
    return found


def rows() -> list[list[int]]:
    return [words()(text)["input_ids"] for text in TEXTS]


def read(found: LanguagePolicy, ids: Tensor, **more: Any) -> Tensor:
    with torch.inference_mode():
        hidden: Tensor = found.read(ids, **more).hidden
    return hidden


# ---- it begins as the model alone, and is more than that


@pytest.mark.parametrize("kind", ["qwen", "llama", "gpt2"])
def test_it_begins_with_the_model_s_own_logits(kind: str) -> None:
    """To the bit: who turns it on loses nothing."""
    ids = padded(rows())
    alone, with_it = LanguagePolicy(made(kind)), policy(kind, learned=False)
    assert torch.equal(read(with_it, ids), read(alone, ids))
    assert not torch.allclose(read(policy(kind), ids), read(alone, ids), atol=0.1)


def test_all_of_it_can_learn() -> None:
    """What begins at 0 gets a gradient at once, and what lies behind it as soon as that is not 0."""
    found = policy(learned=False)
    ids = torch.tensor([rows()[1]])

    def lengths() -> dict[str, float]:
        found.zero_grad()
        logits = found.logits(found.read(ids).hidden)
        torch.nn.functional.cross_entropy(logits[0, :-1], ids[0, 1:]).backward()
        assert found.encoder is not None
        return {name: float(each.grad.abs().sum()) for name, each in found.encoder.named_parameters()}

    first = lengths()
    assert {name for name, length in first.items() if length > 0} == {
        "marks.weight",
        "sizes.weight",
        "along.gate.weight",
        "between.gate.weight",
    }
    with torch.no_grad():
        for part in (found.encoder.along, found.encoder.between):
            part.gate.weight.normal_(std=0.1)
    assert all(length > 0 for length in lengths().values())


# ---- what is looked at


def told_of(tokens: Sequence[str]) -> Marked:
    """Return what tokens are."""
    reader = Reader()
    return marked([[reader.read(token) for token in tokens]])


def test_a_process_looks_at_its_user_and_a_question_at_the_process() -> None:
    """Worked out by hand: along the row at other kinds, between sections at its own kind, never ahead."""
    cut = re.findall(r"\s*\S+", f"{PS}/home/agent$ kill 8123")
    tokens = [token.strip() for token in cut]
    rows_, sections = (each[0] for each in looked_at(told_of(cut), len(tokens)))
    at = {token: place for place, token in enumerate(tokens)}

    def seen(table: Tensor, token: str) -> list[str]:
        return [tokens[place] for place in torch.nonzero(table[at[token]])[:, 0].tolist()]

    assert seen(rows_, "games") == []
    assert seen(rows_, "8124") == ["mira"]
    assert seen(rows_, "4.2") == ["games", "8123"]
    asked = len(tokens) - 1
    assert [tokens[place] for place in torch.nonzero(sections[asked])[:, 0].tolist()] == ["1", "8123", "8124"]
    assert seen(sections, "8124") == [], "it is in the same section as the others"
    assert seen(rows_, "COMMAND") == seen(sections, "COMMAND") == []


def test_a_word_is_looked_at_by_its_last_token() -> None:
    """That alone knows all of it; and a word does not look at itself."""
    tokens = ["pid", " ", "81", "2", " ", "root", "\n\n", "pid 8", "1", "2"]
    along, between = (each[0] for each in looked_at(told_of(tokens), len(tokens)))
    assert torch.nonzero(along).tolist() == [[5, 3]]
    assert torch.nonzero(between).tolist() == [[7, 3], [8, 3], [9, 3]]


def test_the_same_word_agrees_most() -> None:
    """In all places; a near number in all but one, another spelling by chance."""

    def agree(mark: Mark, one: str, other: str) -> float:
        return float(features(mark, one)[-IDENTITY:] @ features(mark, other)[-IDENTITY:])

    assert agree(Mark.PID, "8123", "8123") == pytest.approx(PLACES)
    assert agree(Mark.PID, "8123", "8124") == pytest.approx(PLACES - 1)
    assert agree(Mark.PID, "8123", "18123") == pytest.approx(PLACES - 1)
    assert agree(Mark.PID, "8123", "812") == pytest.approx(2), "nothing stands in the two highest places of both"
    assert agree(Mark.USER, "games", "games") == pytest.approx(PLACES)
    assert abs(agree(Mark.USER, "games", "root")) < PLACES / 2


def test_sizes_of_numbers_are_near_where_numbers_are() -> None:
    """4.2K is nearer to 5K than to 4.2M; numbers beyond all bounds are still numbers."""

    def apart(one: str, other: str) -> float:
        first, second = features(Mark.NUMBER, one)[:SIZE], features(Mark.NUMBER, other)[:SIZE]
        return float(np.abs(first - second).sum())

    assert apart("4.2K", "5K") < apart("4.2K", "4.2M")
    assert np.isfinite(features(Mark.NUMBER, "9" * 200)).all()
    assert features(Mark.NUMBER, "-3")[0] == -1
    assert not features(Mark.NONE, "anything").any()
    decades = math.log10(1 + 4300.8) / 24
    assert features(Mark.NUMBER, "4.2K")[2] == pytest.approx(math.sin(2 * math.pi * decades))
    assert features(Mark.NUMBER, "4.2K")[4] == pytest.approx(math.sin(4 * math.pi * decades)), "twice as often"
    assert features(Mark.NUMBER, "4.2K")[1] == pytest.approx(2 / 8)


# ---- what comes later changes nothing


@pytest.mark.parametrize("kind", ["qwen", "llama"])
def test_a_later_token_changes_nothing_before_it(kind: str) -> None:
    """Wherever in a text; digits are changed and words cut."""
    found, ids = policy(kind), torch.tensor([rows()[1]])
    whole = read(found, ids)
    for place in range(1, ids.shape[1], 4):
        other = ids.clone()
        other[0, place:] = torch.arange(ids.shape[1] - place) % 90 + 5
        assert (read(found, other)[0, :place] - whole[0, :place]).abs().max() < 1e-5


@pytest.mark.parametrize("kind", ["qwen", "llama", "gpt2"])
@pytest.mark.parametrize("first", [1, 20])
def test_token_by_token_it_reads_as_all_at_once(kind: str, first: int) -> None:
    """With what was read before kept."""
    found, ids = policy(kind), torch.tensor([rows()[1]])
    whole = read(found, ids)
    cache, parts = None, []
    for part in (ids[:, :first], *ids[:, first:].split(1, 1)):
        with torch.inference_mode():
            told = found.read(part, past_key_values=cache, use_cache=True)
        cache = told.cache
        parts.append(told.hidden)
    assert (torch.cat(parts, 1) - whole).abs().max() < 1e-5


def test_what_fills_rows_up_is_not_looked_at() -> None:
    """On the right in learning, on the left in generation; whatever the filling token is."""
    found = policy()
    short, long = rows()[3], rows()[0]
    alone = read(found, torch.tensor([short]))[0]
    right = padded([long, short])
    assert (read(found, right)[1, : len(short)] - alone).abs().max() < 1e-5
    left = padded([long, short], left=True)
    left[1, : -len(short)] = words()("\npid 7 root")["input_ids"][-1]
    mask = torch.ones_like(left)
    mask[1, : -len(short)] = 0
    told = read(found, left, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0))
    assert (told[1, -len(short) :] - alone).abs().max() < 1e-5


def test_log_probabilities_are_those_that_the_update_finds() -> None:
    """In answers that write down numbers and users too: the ratio of an unchanged policy is 1."""
    found = policy()
    contexts = rows()
    asked = [Asked(context, np.random.default_rng(row)) for row, context in enumerate(contexts)]
    said = answered(found, asked, end=words().eos_token_id, most=24, rows=3)
    episodes = [
        Episode((Turn(tuple(context), each, 1.0, True, False, 0),))
        for context, each in zip(contexts, said, strict=True)
    ]
    samples = [each for each in (sample(episode, Reward()) for episode in episodes) if each is not None]
    again = scored(found, samples)
    assert np.abs(again.logps.detach().numpy() - np.concatenate([each.logps for each in samples])).max() < 1e-5
    assert np.abs(again.values.detach().numpy() - np.concatenate([each.values for each in samples])).max() < 1e-5
    assert any(each.mark for each in map(Reader().read, words().convert_ids_to_tokens(said[0].ids)))
    assert np.abs(np.array(valued(found, contexts, rows=3)) - [each.values[0] for each in said]).max() < 1e-5


def test_rows_are_let_go_of_in_all_that_is_kept() -> None:
    found, ids = policy(), padded(rows())
    with torch.inference_mode():
        memory = found.read(ids, use_cache=True).cache
    before = [memory.marked, memory.along, memory.between]
    assert all(kept is not None and len(kept[0]) == len(ids) for kept in before)
    last = memory.readers[-1]
    memory.narrow(torch.tensor([len(ids) - 1]))
    assert memory.readers == [last]
    assert memory.cache.layers[0].keys.shape[0] == 1
    for kept, left in zip(before, [memory.marked, memory.along, memory.between], strict=True):
        assert all(torch.equal(one[-1:], other) for one, other in zip(kept, left, strict=True))


def test_who_has_ended_is_let_go_and_the_others_say_what_they_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read of those that go on stays theirs: marks, words and sections too."""
    found = policy()
    shapes = end_early(found, monkeypatch)
    asked = [context for context in rows() for _ in range(4)]
    end = words().eos_token_id

    def say(first: int, contexts: Sequence[list[int]]) -> list[Said]:
        drawn = [Asked(context, np.random.default_rng(200 + first + row)) for row, context in enumerate(contexts)]
        return answered(found, drawn, end=end, most=24, rows=len(asked))

    together = say(0, asked)
    assert min(count for count, _ in shapes) <= len(asked) // 2
    for row, context in enumerate(asked):
        (alone,) = say(row, [context])
        assert alone.ids == together[row].ids
        assert np.abs(alone.logps - together[row].logps).max() < 1e-5


# ---- what learns, and what is kept


def test_it_learns_with_the_upper_layers_alone() -> None:
    """The layers below and the embeddings keep their values."""
    found = policy(layers=1)
    names = {name for name, _ in found.trained()}
    assert all(name.startswith(("model.model.layers.3.", "model.model.norm.", "critic.", "encoder.")) for name in names)
    assert {f"encoder.{name}" for name, _ in found.encoder.named_parameters()} < names
    before = {name: each.detach().clone() for name, each in found.named_parameters()}
    optimiser = torch.optim.SGD([each for _, each in found.trained()], 0.1)
    ids = torch.tensor([rows()[1]])
    torch.nn.functional.cross_entropy(found.logits(found.read(ids).hidden)[0, :-1], ids[0, 1:]).backward()
    optimiser.step()
    changed = {name for name, each in found.named_parameters() if not torch.equal(each, before[name])}
    assert changed == names - {name for name in names if name.startswith("critic.")}


def test_a_copy_reads_with_its_own_weights() -> None:
    """As the reference of a training does, and whoever plays while another learns."""
    found, ids = policy(), torch.tensor([rows()[1]])
    other = copy.deepcopy(found)
    whole = read(found, ids)
    with torch.no_grad():
        for parameter in found.encoder.parameters():
            parameter.zero_()
    assert torch.equal(read(other, ids), whole)
    assert not torch.allclose(read(found, ids), whole, atol=0.01)


def test_the_model_by_itself_is_as_it_was() -> None:
    """The hook does nothing where nobody reads with the encoder."""
    found, ids = policy(), padded(rows())
    read(found, ids)
    with torch.inference_mode():
        assert torch.equal(found.model.base_model(ids).last_hidden_state, made().base_model(ids).last_hidden_state)


def test_two_encoders_of_one_model_do_not_meet() -> None:
    """Each reads as if the other were not there."""
    found, ids = policy(), torch.tensor([rows()[1]])
    whole = read(found, ids)
    fresh = LanguagePolicy(found.model, encoder=TerminalEncoder(found.model, words()))
    assert torch.equal(read(found, ids), whole)
    assert torch.equal(read(fresh, ids), read(LanguagePolicy(made()), ids))


def test_where_it_stands_can_be_chosen() -> None:
    """In the middle if nothing is said; a layer that there is not is refused."""
    assert policy().encoder.layer == 2
    ids = torch.tensor([rows()[1]])
    assert not torch.allclose(read(policy(layer=0), ids), read(policy(layer=3), ids), atol=0.01)
    with pytest.raises(ValueError, match="layer=4: Qwen3Model has the layers 0 to 3"):
        policy(layer=4)


def test_a_model_whose_layers_cannot_be_found_is_refused() -> None:
    """The error says what was looked for and what there is."""
    model = made("llama")
    model.model.config.num_hidden_layers = 5
    with pytest.raises(ValueError, match=r"the 5 layers of LlamaModel cannot be found.*has layers of 3"):
        TerminalEncoder(model, words())


# ---- in a training


def settings(**chosen: Any) -> Settings:
    return Settings(
        environment=Environment(id="file_tasks:FileTasks-v0", evaluation={"part": "test"}),
        rollout=Rollout(
            episodes=6, environments=3, turns=2, tokens=20, window=256, evaluation=4, speech=Speech(system="")
        ),
        reward=Reward(limit_ends=True, per_turn=-0.02, malformed=-0.1),
        policy=Policy(model="file_tasks:tiny", **chosen),
        training=Training(iterations=4, learning_rate=1e-3, minibatches=2),
    )


def test_a_layer_without_an_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match="goes with an encoder; give encoder: terminal"):
        Policy(model="m", encoder_layer=1)


@pytest.mark.slow
def test_it_learns_in_real_terminals_and_goes_on_from_a_checkpoint() -> None:
    """Before the first step the policy is the one that played; the state holds all of it, and another goes on alike."""
    learner = LanguageLearner(settings(encoder="terminal", layers=2), *tiny(seed=4), seed=4)
    other = build(settings(encoder="terminal", layers=2), seed=4)
    try:
        told = learner.iterate(0)
        assert abs(told["policy/first_kl"]) < 1e-5
        assert told["own/first_gap"] < 1e-4
        state = learner.state()
        kept = {name for name in state.tensors if name.startswith("policy/encoder.")}
        assert kept == {f"policy/encoder.{name}" for name, _ in learner.policy.encoder.named_parameters()}
        assert float(state.tensors["policy/encoder.marks.weight"].abs().sum()) > 0
        assert abs(learner.iterate(1)["policy/first_kl"]) < 1e-5, "what it has learned is no other in the update"
        other.load(state)
        other.iterate(1)
        there, here = learner.state(), other.state()
        assert all(torch.equal(tensor, here.tensors[name]) for name, tensor in there.tensors.items())
        plain = build(settings(layers=2), seed=4)
        with pytest.raises(ValueError, match="the state is of another model"):
            plain.load(there)
        plain.close()
    finally:
        learner.close()
        other.close()
