"""The policies that come with the terminal, in real shells."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from rolf.evaluation.episode import Ending, Measured
from rolf.evaluation.policy import Start
from rolf.variant import Variant
from termgym import catalogue
from termgym.policies import POLICIES
from termgym.policies.places import words

ENV_ID = "termgym:TermEnv-v1"


def played(name: str, variant: Variant, seed: int = 1) -> tuple[list[str], Measured]:
    """Play one episode as an evaluation does; return what was done and what it came to."""
    module, _, made = POLICIES[name].spec.partition(":")
    policy: Any = getattr(import_module(module), made)()
    env = variant.make()
    try:
        observation, info = env.reset(seed=variant.attempt_seed(0))
        policy.begin(Start(variant, 0, seed, observation, info, env))
        actions, rewards, over = [], [], False
        while not over:
            shown = {key: value for key, value in info.items() if key not in catalogue.HIDDEN}
            actions.append(policy.act(observation, info if POLICIES[name].privileged else shown))
            observation, reward, terminated, truncated, info = env.step(actions[-1])
            rewards.append(float(reward))
            over = terminated or truncated
        return actions, catalogue.measure(variant, Ending(rewards, info, terminated, truncated))
    finally:
        env.close()


def sample(split: str) -> Iterator[Variant]:
    """Yield one variant of each family of a split."""
    known = catalogue.split(split)
    seen = set()
    for variant, label in zip(known.variants, known.labels, strict=True):
        if label.family not in seen:
            seen.add(label.family)
            yield variant


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*sample("term-v1/unseen-family")], ids=lambda variant: variant.name)
def test_the_oracle_solves_and_giving_up_does_not(variant: Variant) -> None:
    """The two ends of the scale, where they belong, on symptoms of the hardest split."""
    assert played("oracle", variant)[1].score == 1.0
    assert played("no-op", variant)[1].score == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no-op", "oracle", "random", "rules"])
@pytest.mark.parametrize("style", ["hermes", "python-call", "yaml-front-matter"])
def test_every_policy_writes_in_every_unseen_style(name: str, style: str) -> None:
    """The oracle at 1.0 through each style is the proof that the style can carry a solution."""
    known = catalogue.split("term-v1/unseen-interface")
    variant = next(v for v, label in zip(known.variants, known.labels, strict=True) if label.style == style)
    actions, measured = played(name, variant)
    assert not actions[0].startswith('{"command"'), "a style that is plain JSON would be no other interface"
    assert not measured.fault
    if name == "oracle":
        assert measured.score == 1.0


def test_chance_is_drawn_by_its_seed_alone() -> None:
    """The same attempt is the same episode, in whichever process it is played."""
    variant = Variant(ENV_ID, {"task": "git-dirty-pull/untracked@3", "max_steps": 8})
    first, second, other = (played("random", variant, seed)[0] for seed in (5, 5, 6))
    assert first == second != other


def test_rules_mend_what_an_error_message_says() -> None:
    """git says which file is in the way."""
    actions, measured = played("rules", Variant(ENV_ID, {"task": "git-dirty-pull/untracked@3"}))
    assert measured.success
    assert any(".mine" in action for action in actions)


def test_rules_give_up_where_they_know_nothing() -> None:
    """An episode that goes round in circles would be no baseline."""
    actions, measured = played("rules", Variant(ENV_ID, {"task": "rename-organise/wanted-twice@1"}))
    assert not measured.success
    assert actions[-1] == '{"submit":true}'


def test_a_policy_answers_a_program_that_asks() -> None:
    """A command that waits must not hold up an episode: it is interrupted."""
    actions, measured = played("rules", Variant(ENV_ID, {"task": "interactive-installer/refused-licence@1"}))
    assert any('"keys"' in action for action in actions)
    assert not measured.fault


def test_words_are_paths_and_quoted_commands() -> None:
    """What can be run is what stands between backticks, and what looks like a program here."""
    said = words("`git pull` in ~/code/flint fails; ./check and bin/show a b say so. See /srv/x/README.")
    assert said.paths == ("~/code/flint", "./check", "/srv/x/README")
    assert said.commands == ("git pull", "./check", "bin/show")
