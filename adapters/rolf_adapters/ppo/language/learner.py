"""LanguageLearner: a causal language model that becomes better at what it is asked to do, by doing it."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from rolf.statistics import interval, mean
from rolf_adapters.ppo import parallel, seeds
from rolf_adapters.ppo.agreement import diverged_together
from rolf_adapters.ppo.control import learning_rate
from rolf_adapters.ppo.language import dropped, keeping, measures, report, staleness
from rolf_adapters.ppo.language.asynchronous import AsyncCollector
from rolf_adapters.ppo.language.batches import Sample, sample
from rolf_adapters.ppo.language.collector import Collected, Collector, Plays
from rolf_adapters.ppo.language.demonstrations import demonstrated, demonstrator
from rolf_adapters.ppo.language.loading import loaded
from rolf_adapters.ppo.language.pool import Pool
from rolf_adapters.ppo.language.problems import Problem, Problems
from rolf_adapters.ppo.language.reference import Reference, apart
from rolf_adapters.ppo.language.settings import Settings, Training, WarmStart
from rolf_adapters.ppo.language.speaking import policy_of, speaker_of
from rolf_adapters.ppo.language.trying import try_out
from rolf_adapters.ppo.language.update import imitated, updated
from rolf_adapters.ppo.learner import Learner, State

if TYPE_CHECKING:
    from rolf_adapters.ppo.language.actors import Actors


def build(settings: Settings, *, seed: int) -> Learner:
    """Return the learner that a configuration describes.

    Args:
        settings: What it learns in, and how.
        seed: All random numbers follow from it.

    Raises:
        ValueError: the model, its tokenizer, its chat template or the policy of a warm start cannot be used; says why.
        LookupError: there is no such split.
    """
    return LanguageLearner(settings, *loaded(settings.policy.model, seed), seed=seed)


class LanguageLearner:
    """A model in training; see ``rolf_adapters.ppo.learner.Learner``.

    Where the settings ask for a warm start, that is the first iteration, and all of it.

    Args:
        settings: What it learns in, and how.
        model: A causal language model of Hugging Face's, in 32-bit floats; it is changed.
        tokenizer: Its tokenizer, a fast one with a chat template. Its padding may be any token.
        seed: All random numbers follow from it.

    Raises:
        ValueError: the model, its tokenizer, its chat template or the policy of a warm start cannot be used; says why.
        LookupError: there is no such split.
    """

    def __init__(self, settings: Settings, model: Any, tokenizer: Any, *, seed: int = 0) -> None:
        self.settings = settings
        self._seed = seed
        rollout = settings.rollout
        self.policy = policy_of(settings, model, tokenizer, seed)
        self.policy.check_window(rollout.window)
        self.problems = Problems(settings.environment)
        try_out(self.problems)
        warm = settings.training.warm_start
        self._demonstrator: Any = None if warm is None else demonstrator(warm.policy, self.problems.env_id)
        # Apart, for what is tested on may be made otherwise, and making one takes longer than playing it.
        self._pool, self._tests = (Pool(rollout.environments, rollout.threads) for _ in range(2))
        speaker = speaker_of(settings, self.policy, tokenizer)
        self._template = speaker.template
        self._collector: Plays = Collector(speaker, self._pool)
        self._tester = Collector(speaker, self._tests)
        kl = settings.training.kl
        self._reference = Reference(self.policy, kl) if kl.weight else None
        self._optimiser = self._fresh_optimiser()
        self._version = 0
        self._actors = self._make_actors()
        if self._actors is not None:
            self._collector = self._actors.collector(self.policy)
        self._ahead: AsyncCollector | None = None
        if rollout.staleness:
            # A tokenizer of its own: one that is used in two threads at once may refuse.
            speaker = speaker_of(settings, self.policy, copy.deepcopy(tokenizer))
            elsewhere = None if self._actors is None else self._actors.collector
            last = settings.training.iterations
            self._ahead = AsyncCollector(speaker, self._share, iterations=last, elsewhere=elsewhere)

    def _make_actors(self) -> Actors | None:
        if not self.settings.rollout.actors:
            return None
        from rolf_adapters.ppo.language.actors import Actors  # loads Ray

        return Actors(self.policy, self.settings, self._template.digest, seed=self._seed)

    # ---- learning

    def measures(self) -> frozenset[str]:
        """See `rolf_adapters.ppo.learner.Measures.measures`."""
        return frozenset(measures.measures(self.settings))

    def iterate(self, iteration: int) -> Mapping[str, float]:
        """See `Learner.iterate`."""
        warm = self.settings.training.warm_start
        if warm is not None and iteration == 0:
            return self._warm_up(warm)
        began = time.perf_counter()
        with diverged_together():
            collected = self.collect(iteration)
        dropped.check(collected, self.settings.rollout)
        collecting = time.perf_counter() - began
        samples, training, told = self._prepared(collected)
        self._set_rates(iteration - (warm is not None))
        figures = updated(self.policy, self._optimiser, samples, training, seed=self._seed, iteration=iteration)
        self._version += 1
        return {
            **report.of_episodes(collected, self._template.end),
            **report.of_update(figures, samples),
            **told,
            "policy/learning_rate": self._optimiser.param_groups[0]["lr"],
            "time/collect": collecting,
            "time/environment": collected.environment,
            "time/generation": collected.generation,
            "time/update": time.perf_counter() - began - collecting,
        }

    def collect(self, iteration: int) -> Collected:
        """Return this process's share of the episodes of an iteration, played as the settings say."""
        if self._ahead is not None:
            return self._ahead.take(iteration, self.policy, self._version)
        problems, draws = self._share(iteration)
        return self._collector.play(problems, draws, version=self._version)

    def _share(self, iteration: int) -> tuple[list[Problem], list[np.random.Generator]]:
        """Return what this process plays in an iteration, and what its answers are drawn with."""
        problems = self.problems.draw(self.settings.rollout.episodes, "rollout", iteration, seed=self._seed)
        mine = range(parallel.rank(), len(problems), parallel.size())
        draws = [seeds.generator(self._seed, "answers", iteration, index) for index in mine]
        return [problems[index] for index in mine], draws

    def samples(self, collected: Collected) -> list[Sample]:
        """Return what is learned from episodes."""
        episodes = staleness.fresh(collected.played, self._version, self.settings.rollout.staleness)
        found = [sample(episode, self.settings.reward) for episode in episodes]
        return [each for each in found if each is not None]

    def _prepared(self, collected: Collected) -> tuple[list[Sample], Training, Mapping[str, float]]:
        """Return what is learned from episodes, how, and what was measured before."""
        samples, training = self.samples(collected), self.settings.training
        told: dict[str, float] = {}
        if self._actors is not None:
            told["rollout/replayed"] = float(parallel.summed(torch.tensor(float(collected.replayed))))
        if self._ahead is not None:
            samples = staleness.weighted(self.policy, samples, training)
            told |= staleness.told(collected.played, samples, self._version, self.settings)
        if self._reference is not None:
            samples = self._reference.beside(samples, training.budget)
            told |= {"policy/reference_kl": apart(samples), "policy/kl_weight": self._reference.weight}
            kl = training.kl.model_copy(update={"weight": self._reference.weight})
            training = training.model_copy(update={"kl": kl})
            self._reference.adapt(told["policy/reference_kl"])
        return samples, training, told

    # ---- evaluation

    def evaluate(self, iteration: int) -> Mapping[str, float]:
        """See `Learner.evaluate`."""
        del iteration  # it is tested on the same episodes each time
        rows = self.play(self.problems.held_out(self.settings.rollout.evaluation))
        known = [row for row in rows if row.success is not None]
        success = np.array([row.success for row in known], np.float64)
        bounds = interval(mean, success[:, None], bounds=(0.0, 1.0))
        return {
            "evaluation/success": float(success.mean()),
            "evaluation/success_low": bounds.low if bounds.low is not None else 0.0,
            "evaluation/success_high": bounds.high if bounds.high is not None else 1.0,
            "evaluation/return": float(np.mean([row.episode_return for row in known])),
            "evaluation/score": float(np.mean([row.score for row in known])),
            "evaluation/lost": float(len(rows) - len(known)),
            **report.by_family((row.family, bool(row.success)) for row in known),
        }

    def successes(self, problems: Sequence[Problem]) -> NDArray[np.float64]:  # (problems, 1)
        """Return how greedy episodes end, as `rolf.statistics.paired_difference` wants them.

        Args:
            problems: What is played, such as ``learner.problems.held_out(200)``.

        Returns:
            1 for success, 0 for failure, NaN where the machine failed or the first prompt was too long.
        """
        rows = self.play(problems)
        return np.array([[np.nan if row.success is None else float(row.success)] for row in rows])

    def play(self, problems: Sequence[Problem]) -> list[report.Row]:
        """Return what becomes of problems under greedy answers, one row each, in the environments of evaluation."""
        return self._greedy(self._tester, problems)

    def _greedy(self, collector: Plays, problems: Sequence[Problem]) -> list[report.Row]:
        mine = range(parallel.rank(), len(problems), parallel.size())
        with diverged_together():
            played = collector.play([problems[index] for index in mine], [None] * len(mine), version=self._version)
        dropped.check(played, self.settings.rollout, few=dropped.FEW)
        return report.everywhere(played.episodes, len(problems))

    # ---- the first iteration

    def _warm_up(self, warm: WarmStart) -> Mapping[str, float]:
        """Learn from demonstrations, each process from its share, until it can do well enough or they were all used."""
        problems = self.problems.draw(warm.episodes, "demonstrations", seed=self._seed)
        share = problems[parallel.rank() :: parallel.size()]
        shown = demonstrated(self._demonstrator, share, self._pool, self._template, self.settings.rollout)
        optimiser = torch.optim.AdamW([each for _, each in self.policy.trained()], warm.learning_rate, weight_decay=0.0)
        told = {"own/warm_demonstrations": float(sum(parallel.gathered(len(shown))))}
        steps = max(1, round(told["own/warm_demonstrations"] / warm.batch))
        for epoch in range(warm.epochs):
            order = seeds.generator(self._seed, "warm", epoch, parallel.rank()).permutation(len(shown))
            losses = [
                imitated(self.policy, optimiser, [shown[index] for index in part], **self._bounds())
                for part in np.array_split(order, steps)
            ]
            told |= {"own/warm_loss": float(np.mean(losses)), "own/warm_epochs": epoch + 1.0}
            if warm.until is not None and (epoch + 1) % warm.check_every == 0:
                tried = self._greedy(self._collector, self.problems.draw(warm.check, "warm check", seed=self._seed))
                told["own/warm_success"] = float(np.mean([row.success for row in tried if row.success is not None]))
                if told["own/warm_success"] >= warm.until:
                    break
        if self._reference is not None:
            self._reference.follow(self.policy)
        if self._ahead is not None or self._actors is not None:
            self._pool.close()  # what is learned from is played in others
        return told

    def _bounds(self) -> dict[str, Any]:
        return {"budget": self.settings.training.budget, "longest": self.settings.training.gradient}

    # ---- keeping

    def state(self) -> State:
        """See `Learner.state`; what is never trained is told by its digest alone."""
        return keeping.state(self.policy, self._optimiser, self._version, self._parts())

    def load(self, state: State) -> None:
        """See `Learner.load`."""
        self._version = keeping.load(state, self.policy, self._optimiser, self._parts())

    def _parts(self) -> list[keeping.Part]:
        words = keeping.Words(self._template.digest)
        return [words, *(each for each in (self._ahead, self._reference) if each is not None)]

    def close(self) -> None:
        """See `Learner.close`."""
        try:
            if self._ahead is not None:
                self._ahead.close()
            if self._actors is not None:
                self._actors.close()
        finally:
            self._pool.close()
            self._tests.close()

    # ---- the optimiser

    def _fresh_optimiser(self) -> torch.optim.Optimizer:
        model = [each for name, each in self.policy.trained() if not name.startswith("critic.")]
        groups = [{"params": model}, {"params": list(self.policy.critic.parameters())}]
        return torch.optim.AdamW(groups, lr=self.settings.training.learning_rate, weight_decay=0.0)

    def _set_rates(self, iteration: int) -> None:
        training = self.settings.training
        for group, base in zip(
            self._optimiser.param_groups, (training.learning_rate, training.critic_rate), strict=True
        ):
            group["lr"] = learning_rate(
                iteration,
                base=base,
                warmup=training.warmup,
                iterations=training.iterations,
                schedule=training.schedule,
            )
