"""VectorLearner: PPO on many rows at once; see `rolf_adapters.ppo.learner.Learner`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from rolf_adapters.ppo import control, parallel, seeds
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.vector import measures
from rolf_adapters.ppo.vector.collector import Collected, Collector, Episode, Telling
from rolf_adapters.ppo.vector.decisions import Decisions
from rolf_adapters.ppo.vector.distillation import Distilling
from rolf_adapters.ppo.vector.experience import Experience, share_of
from rolf_adapters.ppo.vector.families import scorer
from rolf_adapters.ppo.vector.keeping import check, loaded, named, state_of
from rolf_adapters.ppo.vector.layout import Layout
from rolf_adapters.ppo.vector.line import layout as line_layout
from rolf_adapters.ppo.vector.making import made, spaces_in, variants_of
from rolf_adapters.ppo.vector.network import Network, Size
from rolf_adapters.ppo.vector.senses import senses
from rolf_adapters.ppo.vector.settings import Policy, Settings
from rolf_adapters.ppo.vector.telling import of_episodes, of_evaluation, of_outcome
from rolf_adapters.ppo.vector.update import Learning, Outcome

if TYPE_CHECKING:
    from rolf_adapters.ppo.vector.replay import Replaying

LONGEST = 100_000
"""Steps after which an evaluation no longer waits for the end of episodes."""


class VectorLearner:
    """An actor-critic that learns from many rows at once.

    Args:
        settings: What is played, and how it learns.
        seed: All random numbers follow from it.

    Raises:
        TypeError: observations or actions are of a kind that it cannot use.
        ValueError: rows cannot be shared out among the processes, variants are not known, or there is no such teacher,
            score or senses.
        LookupError: there is no such split.
    """

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        world = settings.environment
        self._envs = made(world.id, share_of(settings), world.kwargs)
        with ExitStack() as undone:  # where it cannot be used, nobody else closes it
            undone.callback(self._envs.close)
            self.spaces = spaces_in(self._envs.single_observation_space, self._envs.single_action_space, world.id)
            self.layout = layout_of(settings.policy)
            if self.layout is not None and self.layout.senses:
                senses(self.layout)  # only to see that there are such; each collection makes its own
            self.network = network_for(self.spaces.observation, self.spaces.parts, settings.policy, seed)
            self.optimiser = torch.optim.Adam(self.network.parameters(), lr=settings.training.learning_rate, eps=1e-5)
            self.experience = Experience(settings, self.network, self.layout, self._collecting(self._envs), seed)
            self._tests: Collector | None = None
            self._replaying: Replaying | None = None
            self._decisions: Decisions | None = None
            self._score = scorer("environment.score", world.score)
            self._test_groups = self._tested()
            distillation, known = settings.training.distillation, self.experience.choosing.known
            self._distilling = Distilling(distillation, known, seed) if distillation.every else None
            undone.pop_all()

    def measures(self) -> frozenset[str]:
        """See `rolf_adapters.ppo.learner.Measures.measures`."""
        choosing = self.experience.choosing
        return frozenset((*measures.measures(self.settings), *choosing.told(choosing.known)))

    def keep_in(self, folder: Path, states: int) -> None:
        """See `rolf_adapters.ppo.learner.KeepsFiles.keep_in`."""
        settings = self.settings
        if self.experience.choosing.decides:
            self._decisions = Decisions(folder, writes=parallel.rank() == 0)
        if not settings.training.replay.share:
            return
        from rolf_adapters.ppo.vector.replay import Replaying  # LMDB is only there where it is asked for

        self._replaying = Replaying(settings, self._envs, self.network, folder, states, self.seed)

    def _tested(self) -> Mapping[str, str]:
        """Return the variants that are evaluated on, each with the group of those like it."""
        world = self.settings.environment
        if not world.test_split:
            return self.experience.choosing.groups
        return variants_of(world.id, world.test_split, "environment.test_split")

    def _collecting(self, envs: Any) -> Collector:
        world, spaces = self.settings.environment, self.spaces
        telling = Telling(world.mask, world.phase)
        return Collector(
            envs, spaces.parts, spaces.discrete, self.layout, telling, spaces.first, self.settings.rollout.waits
        )

    # ---- an iteration

    def iterate(self, iteration: int) -> Mapping[str, float]:
        """See `rolf_adapters.ppo.learner.Learner.iterate`."""
        began, experience = time.perf_counter(), self.experience
        if not experience.reward_scale:
            experience.take_statistics()
        imitation = self.settings.training.imitation
        imitates = iteration < imitation.iterations
        if iteration == imitation.iterations and imitation.sharpen != 1:
            self.network.sharpen(imitation.sharpen)
        chosen = experience.chosen(iteration, imitates)
        if self._decisions is not None:
            self._decisions.add(iteration, experience.choosing.decided())
        replaying = None if imitates else self._replayed()
        watcher = None if replaying is None else replaying.watcher(iteration)
        kept = experience.collected(iteration, chosen, imitates, watcher)
        collected, played = time.perf_counter(), kept.seconds
        outcome = self._learned(kept, iteration, imitates)
        if replaying is not None:
            replaying.store(kept, iteration)
        episodes = [each for part in parallel.gathered([tuple(each) for each in kept.episodes]) for each in part]
        experience.choosing.learn(iteration, episodes)
        steps = self.settings.rollout.rows * self.settings.rollout.steps
        distilled = {} if imitates else self._distilled(kept, iteration, episodes)
        return {
            **of_episodes(episodes, steps, experience.choosing.groups, self._score),
            **experience.told,
            **distilled,
            **of_outcome(outcome, imitates),
            **({} if replaying is None else replaying.told()),
            **experience.choosing.told(chosen),
            "policy/learning_rate": self._rate(iteration, imitates),
            "time/collect": collected - began,
            "time/environment": played,
            "time/update": time.perf_counter() - collected,
        }

    def _distilled(self, kept: Collected, iteration: int, episodes: Sequence[Sequence[Any]]) -> dict[str, float]:
        """Imitate the best of the hardest variants, where that is due; return what is to be logged of it."""
        training = self.settings.training
        if self._distilling is None:
            return {}
        self._distilling.learn(episodes)
        if not self._distilling.due(iteration + 1 - training.imitation.iterations):
            return {}
        learning = Learning(self.network, self.optimiser, training)
        steps = self.settings.rollout.steps
        return self._distilling.distil(learning, self.experience.collector, kept, steps, iteration)

    def _replayed(self) -> Replaying | None:
        """Return what is learned from again, if anything is."""
        if self.settings.training.replay.share and self._replaying is None:
            raise RuntimeError("training.replay stores episodes, and there is no folder for them; call keep_in before")
        return self._replaying

    def _learned(self, kept: Collected, iteration: int, imitates: bool) -> Outcome:
        training = self.settings.training
        samples = self.experience.samples(kept, iteration, imitates, None if imitates else self._replaying)
        learning = Learning(self.network, self.optimiser, training)
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate(iteration, imitates)
        drawing = seeds.generator(self.seed, "minibatches", iteration, parallel.rank())
        if imitates:
            return learning.imitate(samples, drawing, training.imitation.epochs)
        first = training.imitation.iterations
        return learning.improve(samples, drawing, critic_only=iteration < first + training.critic_first)

    def _rate(self, iteration: int, imitates: bool) -> float:
        training = self.settings.training
        if imitates:
            imitation = training.imitation
            return control.learning_rate(
                iteration,
                base=imitation.learning_rate,
                warmup=0,
                iterations=imitation.iterations,
                schedule=imitation.schedule,
            )
        first = training.imitation.iterations
        return control.learning_rate(
            iteration - first,
            base=training.learning_rate,
            warmup=training.warmup,
            iterations=max(training.iterations - first, 1),
            schedule=training.schedule,
        )

    # ---- evaluation

    def evaluate(self, iteration: int) -> Mapping[str, float]:
        """See `rolf_adapters.ppo.learner.Learner.evaluate`; each process plays all of it, and the same."""
        del iteration  # evaluations are of the same episodes, so that they compare
        world, rows = self.settings.environment, self.settings.rollout.evaluation_rows
        if self._tests is None:
            self._tests = self._collecting(made(world.id, rows, world.kwargs))
        groups = self._test_groups
        known = tuple(groups)
        chosen = [seeds.number(self.seed, "evaluation", row) for row in range(rows)]
        played = self._played(self._tests, [known[row % len(known)] for row in range(rows)] if known else [], chosen)
        return of_evaluation(played, groups, self._score)

    def play(self, variants: Sequence[str], row_seeds: Iterable[int], kwargs: Mapping[str, Any]) -> list[float]:
        """Return the return of an episode of each variant, played greedily and all at once.

        Args:
            variants: What ``reset`` is given of each episode.
            row_seeds: Of each episode.
            kwargs: For the environment, besides those that were trained with: ``{"evaluation": True}``.
        """
        world = self.settings.environment
        tests = self._collecting(made(world.id, len(variants), {**world.kwargs, **kwargs}))
        try:
            return [each.total for each in self._played(tests, variants, [*row_seeds])]
        finally:
            tests.envs.close()

    def _played(self, tests: Collector, variants: Sequence[str], chosen: Sequence[int]) -> list[Episode]:
        """Play an episode in every row, greedily; return them by row."""
        options = {"variants": [*variants]} if variants else None
        kept = tests.collect(self.network, LONGEST, chosen, options=options, once=True)
        first = {each.row: each for each in reversed(kept.episodes)}
        return [first[row] for row in sorted(first)]

    # ---- state

    def state(self) -> State:
        """See `rolf_adapters.ppo.learner.Learner.state`."""
        experience = self.experience
        values = {"reward_scale": experience.reward_scale, "choosing": experience.choosing.state()}
        state = state_of(self.network, self.optimiser, values)
        if experience.curiosity is not None:
            curious = experience.curiosity.state()
            state.tensors.update({f"curiosity/{name}": each for name, each in curious.tensors.items()})
            state.values["curiosity"] = curious.values
        if self._distilling is not None:
            state.values["distillation"] = self._distilling.state()
        replaying = self._replayed()
        if replaying is not None:
            # Each process has its own, and all of them the same state.
            state.values["replay"] = parallel.gathered(replaying.state())
        if self._decisions is not None:
            state.values["decisions"] = self._decisions.sync()
        return state

    def load(self, state: State) -> None:
        """See `rolf_adapters.ppo.learner.Learner.load`."""
        self._load(state, partly=False)
        if self._decisions is not None:
            self._decisions.load(int(state.values.get("decisions", 0)))

    def go_back(self, state: State) -> str:
        """See `rolf_adapters.ppo.learner.GoesBack.go_back`."""
        gone = sum(parallel.gathered(self._load(state, partly=True)))  # each process has its own
        if self._decisions is not None:
            self._decisions.lines = parallel.gathered(self._decisions.stay())[0]
        if not gone:
            return ""
        return (
            f"{gone} episodes that were stored then have been dropped since; it goes on with what is left of them; a "
            "larger training.replay.capacity keeps more"
        )

    def _load(self, state: State, *, partly: bool) -> int:
        """Become what a state says; return how many stored episodes of it are gone, which is 0 unless ``partly``."""
        experience = self.experience
        if (experience.curiosity is not None) != ("curiosity" in state.values):
            raise ValueError("the state is of a learner with curiosity and this is one without, or the other way round")
        check(state, self.network)
        replaying = self._replayed()
        if (replaying is not None) != ("replay" in state.values):
            raise ValueError("the state is of a learner that replays and this is one that does not, or the other way")
        if (self._distilling is not None) != ("distillation" in state.values):
            raise ValueError("the state is of a learner that distils and this is one that does not, or the other way")
        gone = 0
        if replaying is not None:
            gone = replaying.load(state.values["replay"][parallel.rank()], partly=partly)
        values = loaded(state, self.network, self.optimiser)
        if experience.curiosity is not None:
            experience.curiosity.load(State(named(state, "curiosity"), values["curiosity"]))
        if self._distilling is not None:
            self._distilling.load(values["distillation"])
        experience.reward_scale = float(values["reward_scale"])
        experience.choosing.load(values["choosing"])
        return gone

    def close(self) -> None:
        """See `rolf_adapters.ppo.learner.Learner.close`."""
        self._envs.close()
        if self._decisions is not None:
            self._decisions.close()
        if self._replaying is not None:
            self._replaying.close()
        if self._tests is not None:
            self._tests.envs.close()


def build(settings: Settings, *, seed: int) -> VectorLearner:
    """Return the learner that settings and a seed make."""
    return VectorLearner(settings, seed)


def layout_of(policy: Policy) -> Layout | None:
    """Return the layout that a policy is made by; None: plain."""
    if isinstance(policy.layout, Layout):
        return policy.layout
    if policy.layout == "line-senses":
        return line_layout(gains=(), senses=True)
    return line_layout() if policy.layout == "line" else None


def network_for(observation: int, parts: tuple[int, ...], policy: Policy, seed: int) -> Network:
    """Return a new network, whose weights a seed determines; torch's own generator is left as it was."""
    layout = layout_of(policy)
    features = observation + (layout.trace_size if layout is not None else 0)
    size = Size(observation, features, len(layout.vocabulary) if layout is not None else 0, parts)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.number(seed, "weights"))
        return Network(size, policy, layout)
