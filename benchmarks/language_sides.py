"""The two sides of ``language_training.py``, each of which counts what it learns from: our PPO and TRL's GRPO."""

from __future__ import annotations

import random
from argparse import Namespace
from copy import deepcopy
from time import perf_counter, process_time
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from language_terminal import ENV, Shell, Terminal, below
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from rolf_adapters.ppo.language.batches import Sample
from rolf_adapters.ppo.language.collector import Collected
from rolf_adapters.ppo.language.learner import LanguageLearner
from rolf_adapters.ppo.language.settings import Settings

GENERATIONS = 8
"""Episodes of each task, with TRL."""
WINDOW = 512
"""Longest context [tokens]."""
RATE = 1e-5
"""Learning rate of both."""
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ 'user' if message['role'] == 'tool' else message['role'] }}\n"
    "{{ message['content'] }}{% for call in message['tool_calls'] or [] %}{{ call | tojson }}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML as ``rolf_adapters.ppo.language.tiny`` has it, with what TRL asks of a template that knows tools."""
ANSWER = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": '{"command": ',
            "close_pattern": r"\}<\|im_end\|>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": {"name": "run", "arguments": {"command": "{content}"}}},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}
"""How TRL reads a call: the same answer as the interface's ``json-plan``."""
HERE: dict[str, Any] = {
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "report_to": "none",
    "save_strategy": "no",
    "logging_strategy": "no",
    "disable_tqdm": True,
}
"""What is TRL's default and would cost it time here, or write to the disk."""


class Work(NamedTuple):
    """What an iteration did, and what that took."""

    trained: float
    """Tokens with a loss."""
    passed: float
    """Tokens that went forward and backward, without padding."""
    answers: float
    own: float
    """Processor time of this process [s]; the next three add up to it."""
    generation: float
    """Of collecting, without the environment [s]."""
    environment: float
    """Of the environment, as far as it is in this process [s]."""
    update: float
    """Of the rest [s]."""
    terminals: float
    """Processor time of the processes below [s]."""
    clock: float
    """Time that passed [s]."""


class Meter:
    """Reads the clocks between the parts of an iteration, which begins now."""

    def __init__(self) -> None:
        self._below, self._environment, self._collected = below(), Terminal.spent, 0.0
        self._clock, self._own = perf_counter(), process_time()

    def collected(self) -> None:
        """Say that collecting is done."""
        self._collected = process_time()

    def read(self, trained: float, passed: float, answers: float) -> Work:
        """Return what the iteration came to, now that it is done."""
        now, clock, environment = process_time(), perf_counter(), Terminal.spent - self._environment
        parts = (self._collected - self._own - environment, environment, now - self._collected)
        return Work(trained, passed, answers, now - self._own, *parts, below() - self._below, clock - self._clock)


class Ours(LanguageLearner):
    """The learner of rolf's PPO."""

    def iteration(self, number: int) -> Work:
        self._meter = Meter()
        told = self.iterate(number)
        trained, passed = (sum(len(part) for part in column) for column in self._tokens)
        return self._meter.read(trained, passed, told["rollout/steps"])

    def samples(self, collected: Collected) -> list[Sample]:
        self._meter.collected()
        found = super().samples(collected)
        self._tokens = [each.places for each in found], [each.ids for each in found]
        return found


class Theirs(GRPOTrainer):
    """TRL's trainer."""

    def iteration(self, number: int) -> Work:
        self.answers, self.trained, self.passed = 0, 0, 0
        self.train_dataset = _prompts(number, self.args.generation_batch_size // GENERATIONS)
        self.train()
        return self.work

    def compute_loss(self, model: Any, inputs: Any, *more: Any, **named: Any) -> Any:
        if not self.passed:
            self.meter.collected()
        said = inputs["completion_mask"] * inputs["tool_mask"]
        self.trained += int(said.sum())
        self.passed += int(inputs["prompt_mask"].sum() + inputs["completion_mask"].sum())
        # An answer begins where the mask rises.
        self.answers += int((said.diff(dim=1, prepend=torch.zeros_like(said[:, :1])) == 1).sum())
        return super().compute_loss(model, inputs, *more, **named)


class _Watch(TrainerCallback):
    """Reads the clocks round a step: what `train` does before and after it is no iteration's."""

    def __init__(self, trainer: Theirs) -> None:
        self._trainer = trainer

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._trainer.meter = Meter()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        each = self._trainer
        each.work = each.meter.read(each.trained, each.passed, each.answers)


def settings(given: Namespace, *, grammar: bool, warm: dict[str, Any] | None = None) -> Settings:
    """Return the settings of our side."""
    # Updates that were ended early, or steps that were shortened, would make one side look quicker.
    steps = {"epochs": 1, "minibatches": 1, "most_kl": 1e9, "warmup": 0, "iterations": 100, "learning_rate": RATE}
    together = dict.fromkeys(("episodes", "environments", "rows"), given.episodes)
    bounds = {"turns": given.turns, "tokens": given.tokens, "window": WINDOW}
    return Settings.model_validate(
        {
            "environment": {"id": ENV, "kwargs": {"files": given.turns}},
            "rollout": {**together, **bounds, "speech": {"system": "", "grammar": grammar}},
            "reward": {"limit_ends": True},
            "policy": {"model": given.model, "layers": given.layers},
            "training": {**steps, "warm_start": warm},
        }
    )


def ours(given: Namespace, model: Any, words: Any, *, grammar: bool) -> Ours:
    return Ours(settings(given, grammar=grammar), deepcopy(model), words, seed=0)


def theirs(given: Namespace, model: Any, words: Any, folder: str) -> Theirs:
    words = deepcopy(words)
    words.chat_template, words.response_template = TEMPLATE, ANSWER
    config = GRPOConfig(
        folder,
        per_device_train_batch_size=given.episodes,
        num_generations=GENERATIONS,
        max_completion_length=WINDOW,
        generation_kwargs={"max_new_tokens": given.tokens},
        max_tool_calling_iterations=given.turns - 1,
        temperature=1.0,
        num_iterations=1,
        beta=0.0,  # no reference model
        learning_rate=RATE,
        lr_scheduler_type="constant",
        max_steps=1,
        **HERE,
    )
    places = {"processing_class": words, "environment_factory": lambda: Shell(given.turns)}
    trainer = Theirs(deepcopy(model), None, config, _prompts(0, 1), **places)
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(_Watch(trainer))
    return trainer


def _prompts(number: int, count: int) -> Dataset:
    """Return the tasks of an iteration, by what `reset` is seeded with; it is the terminal that says what to do."""
    draw = random.Random(number)
    said = [{"role": "user", "content": ""}]
    return Dataset.from_list([{"prompt": said, "seed": draw.randrange(2**31)} for _ in range(count)])
