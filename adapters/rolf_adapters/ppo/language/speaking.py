"""Speaking: the policy that a configuration describes, and how it speaks; the same in every process that has one."""

from __future__ import annotations

from typing import Any

from rolf_adapters.ppo.language.collector import Speaker
from rolf_adapters.ppo.language.encoder import TerminalEncoder
from rolf_adapters.ppo.language.grammar import Grammar
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.settings import Settings
from rolf_adapters.ppo.language.template import Template


def policy_of(settings: Settings, model: Any, tokenizer: Any, seed: int) -> LanguagePolicy:
    """Return the policy at its beginning.

    Args:
        settings: Of the training.
        model: A causal language model of Hugging Face's, in 32-bit floats; it becomes a part of the policy.
        tokenizer: Its tokenizer.
        seed: For the first weights of what is added to the model.

    Raises:
        ValueError: the model cannot be used; says why.
    """
    chosen = settings.policy
    reads = chosen.encoder == "terminal"
    return LanguagePolicy(
        model,
        seed=seed,
        width=chosen.critic_width,
        layers=chosen.layers,
        temperature=settings.rollout.temperature,
        encoder=TerminalEncoder(model, tokenizer, layer=chosen.encoder_layer, seed=seed) if reads else None,
    )


def speaker_of(settings: Settings, policy: LanguagePolicy, tokenizer: Any) -> Speaker:
    """Return who answers.

    Args:
        settings: Of the training.
        policy: Who it is.
        tokenizer: Its tokenizer; one that is used in two threads at once may refuse.

    Raises:
        ValueError: the tokenizer or its chat template cannot be used; says why.
    """
    rollout = settings.rollout
    template = Template(tokenizer, system=rollout.speech.system != "")
    words = Grammar(tokenizer, policy.vocabulary, template.end) if rollout.speech.grammar else None
    return Speaker(policy, template, words, rollout, settings.reward)
