"""A real language model in real environments."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from rolf.evaluation.policy import Start
from rolf.variant import Variant
from rolf_adapters.decoding import Decoder
from rolf_adapters.language_model import CUT, LanguageModel, answers, shortened
from termgym.tools import TOOLS

TASK = Variant("termgym:TermEnv-v1", {"task": "git-dirty-pull/untracked@1"})
LINE = Variant("linegym:LineEnv-v1", {"horizon": 3})


def styled(style: str) -> Variant:
    wrapper = {
        "name": "RotateInterface",
        "entry_point": "rolf_wrappers.rotate_interface:RotateInterface",
        "kwargs": {"styles": [style]},
    }
    return Variant(TASK.env_id, TASK.kwargs, wrappers=(wrapper,))


def played(policy: LanguageModel, variant: Variant) -> tuple[list[Any], list[dict[str, Any]]]:
    """Play an episode; return its actions and infos."""
    env = variant.make()
    try:
        observation, info = env.reset(seed=1)
        policy.begin(Start(variant, 0, 1, observation, info, env))
        actions, infos = [], []
        while True:
            actions.append(policy.act(observation, info))
            observation, _, terminated, truncated, info = env.step(actions[-1])
            infos.append(info)
            if terminated or truncated:
                return actions, infos
    finally:
        env.close()


def test_it_types_plans_and_submits(model: Decoder) -> None:
    """No step is wasted on an answer that is none, and the episode ends."""
    actions, infos = played(LanguageModel(model, turns=2, tokens=32), TASK)
    assert len(actions) <= 3
    assert json.loads(actions[-1]) == {"submit": True}
    assert all("command" in json.loads(action) for action in actions[:-1])
    assert "MALFORMED" not in {info["event"] for info in infos}


@pytest.mark.nightly
def test_the_same_episode_goes_the_same_way(model: Decoder) -> None:
    """Greedy, and nothing is carried over from an episode before."""
    policy = LanguageModel(model, turns=2, tokens=32)
    first, _ = played(policy, TASK)
    played(policy, Variant(TASK.env_id, {"task": "key-modes/linked-key@2"}))
    assert played(policy, TASK)[0] == first


@pytest.mark.nightly
@pytest.mark.parametrize("style", ["json-plan", "hermes"])
def test_it_answers_in_the_style_that_it_is_given(model: Decoder, style: str) -> None:
    """The wrapper's system message and its messages are what it reads; what it writes goes to the wrapper as it is."""
    actions, infos = played(LanguageModel(model, turns=2, tokens=48), styled(style))
    malformed = [info["interface"]["malformed"] for info in infos]
    assert malformed[-1] == "", "the submission at the end is written by the style itself"
    assert all(isinstance(action, str) for action in actions)
    if style == "json-plan":
        assert malformed == [""] * len(infos), "the grammar holds here too"


@pytest.mark.nightly
def test_it_works_a_production_line(model: Decoder) -> None:
    """Any environment with tools will do; one without a submission runs to its end."""
    actions, _ = played(LanguageModel(model, turns=2, tokens=48), LINE)
    assert len(actions) == 3


def test_an_environment_without_tools_is_refused(model: Decoder) -> None:
    """What would it write?"""
    with pytest.raises(TypeError, match="has no tools"):
        played(LanguageModel(model), Variant("gymnasium:CartPole-v1"))


def test_a_model_without_a_chat_template_is_refused(model: Decoder) -> None:
    """Guessing how a model was taught to read messages gives answers that say nothing of it."""
    bare = copy.copy(model)
    bare.tokenizer = copy.copy(model.tokenizer)
    bare.tokenizer.chat_template = None
    with pytest.raises(ValueError, match="no chat_template"):
        LanguageModel(bare)


@pytest.mark.nightly
def test_long_conversations_lose_their_oldest_turns(model: Decoder) -> None:
    """A prompt longer than the window would be cut off by nobody, and be slow and wrong."""
    policy = LanguageModel(model, turns=6, tokens=24, window=700, message=400)
    env = TASK.make()
    observation, info = env.reset(seed=1)
    policy.begin(Start(TASK, 0, 1, observation, info, env))
    for number in range(6):
        policy.act({**observation, "stdout": f"{number} " * 200, "step": [number]}, info)
        assert len(policy._prompt()) <= 700
    env.close()
    assert [turn["role"] for turn in policy._talk[:2]] == ["system", "user"]
    assert "git" in policy._talk[1]["content"], "the instruction stays"


def test_answers_are_what_the_style_reads() -> None:
    """The grammar's language is a part of the style's."""
    command, keys, done = answers(TOOLS)["anyOf"]
    assert command["required"] == ["command"]
    assert keys["required"] == ["keys"]
    assert done["properties"] == {"submit": {"const": True}}


def test_of_a_long_message_beginning_and_end_are_shown() -> None:
    """Errors stand at the end, and what was run at the beginning."""
    text = shortened("a" * 50 + "b" * 5_000 + "c" * 50, 100)
    assert len(text) <= 100
    assert text.startswith("aaaa")
    assert text.endswith("cccc")
    assert CUT in text
    assert shortened("short", 100) == "short"
