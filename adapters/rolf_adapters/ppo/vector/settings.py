"""Settings: what can be chosen of a training with observations of a fixed size."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from rolf_adapters.ppo import groups
from rolf_adapters.ppo.groups import Group
from rolf_adapters.ppo.vector.layout import Layout


class Environment(Group):
    """What is played."""

    id: str = Field(min_length=1)
    """Of Gymnasium: ``linegym:LineEnv-v1``; ``make_vec`` makes it."""
    kwargs: dict[str, Any] = Field(default_factory=dict)
    """What ``make_vec`` is given besides, for training and evaluation."""
    split: str = ""
    """A split of the environment's benchmark to train on: ``line-v1/fit``. Which of its variants a row plays is chosen
    for each iteration. Empty: what the environment plays by itself."""
    variants: tuple[str, ...] = ()
    """The same as a list of the values of the argument ``variant``, each as ``info["variant_id"]`` tells it; an
    environment that does not tell what it was asked for is refused."""
    score: str = ""
    """``module:object`` that makes a function of a variant and a return that says how good it is, so that variants
    compare: ``linegym.scores:scorer``. It is told beside returns, and learned from by nobody; empty: none."""
    test_split: str = ""
    """A split to evaluate on: ``line-v1/validation``; empty: what is trained on."""
    held_out: bool = False
    """Whether a split may be trained on that is not there to be trained on: one that is held out, or validates."""
    mask: str = "action_mask"
    """Where ``info`` tells which actions are possible; where it tells none, or one of another size, all are."""
    phase: str = "phase"
    """Where ``info`` tells the phase that chooses the segment of a step; where it tells none, all are of one."""

    @model_validator(mode="after")
    def _one_source(self) -> Environment:
        if self.split and self.variants:
            raise ValueError("split and variants are both given; give one of them")
        return self


class Rollout(Group):
    """How much is played before each update."""

    rows: int = Field(default=64, ge=1)
    """Environments that are stepped together, of all processes."""
    steps: int = Field(default=128, ge=1)
    """Steps of each row in an iteration, which begins with a reset: at least the length of an episode if its end shall
    be seen."""
    statistics: int = Field(default=1000, ge=1)
    """Steps of every row that the normalisation is taken from, before the first iteration, acting at random."""
    sampler: Literal["uniform", "ucb", "thompson"] = "uniform"
    """How variants are chosen: evenly, or those in which the policy is least certain (the orchestrator)."""
    twins: int = Field(default=1, ge=1)
    """Rows of PPO that play the same episode, with the same variant and the same seed; what the others earn is held
    against what each does (`rolf_adapters.ppo.twins`). 1: each plays its own."""
    waits: int = Field(default=0, ge=0)
    """Steps after each decision in which the environment's first action is taken, one that waits: what is seen in them
    is taken in, and their rewards are the decision's. Where a row ends, all decide anew."""
    evaluation_rows: int = Field(default=64, ge=1)
    """Episodes of an evaluation."""


class Reward(groups.Reward):
    """How rewards become what is learned."""

    curiosity: float = Field(default=0.0, ge=0)
    """Weight of the intrinsic reward for what is new; 0: none. The mission's is 0.02."""
    normalise: bool = True
    """Divide rewards by the usual size of a return, as found with the statistics."""


class Policy(Group):
    """The network."""

    width: int = Field(default=64, ge=4)
    """Units of a hidden layer."""
    action_width: int = Field(default=16, ge=1)
    """Numbers that the previous action is embedded as."""
    period: float = Field(default=0.0, ge=0)
    """Steps of a day, for the sine and cosine of time; 0: no time."""
    head: Literal["unit", "linear"] = "unit"
    """The actor's last layer: ``unit`` has weights that are not negative (softplus), rows of length 1 and a temperature
    that is learned; ``linear`` is an ordinary one."""
    layout: Layout | Literal["plain", "line", "line-senses"] = "plain"
    """Which numbers belong to the same entity, and which actions; ``line``: those of ``LineEnv``, see
    `rolf_adapters.ppo.vector.line`; ``line-senses``: those, and what ``linegym.senses`` works out from the plant's
    published physics in every tick; ``plain``: one vector."""


class Imitation(Group):
    """A warm start: a teacher says what it would do where the learner goes."""

    teacher: str = ""
    """``module:object`` that makes it, see `rolf_adapters.ppo.vector.teacher`; empty: none."""
    iterations: int = Field(default=0, ge=0)
    """Iterations that imitate, before those of PPO."""
    guided: int = Field(default=0, ge=0)
    """The share of rows that the teacher itself steers falls from 1 to 0 in so many iterations."""
    epochs: int = Field(default=1, ge=1)
    """Passes over what was collected."""
    minibatches: int = Field(default=0, ge=0)
    """Steps of the optimiser in a pass; 0: as many as PPO's."""
    learning_rate: float = Field(default=1e-3, gt=0, le=1)
    """While imitating."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How it falls: a small one at the end evens out what the last episodes have taught."""
    sharpen: float = Field(default=1.0, gt=0)
    """What logits are multiplied by as PPO begins: a policy that imitates is as undecided as its teacher is
    unpredictable, and acts worse than its likeliest actions."""

    @model_validator(mode="after")
    def _somebody_to_imitate(self) -> Imitation:
        if self.iterations and not self.teacher:
            raise ValueError(
                f"iterations={self.iterations!r} are to imitate a teacher, and none is named; give teacher, or "
                "iterations: 0"
            )
        return self


class Replay(Group):
    """Episodes that are learned from again: stored in the causal trajectory buffer, in the training's folder."""

    share: float = Field(default=0.0, ge=0, lt=1)
    """What part of the samples of an update are steps of stored episodes, beside all that were just collected; 0: none,
    and nothing is stored."""
    sampler: Literal["fifo", "uniform", "causal"] = "causal"
    """Which steps: the newest, any, or by their causal priority (docs/how-to/keep-trajectories.md)."""
    rows: int = Field(default=16, ge=1)
    """Rows whose episodes are stored, drawn anew in each iteration, of all processes together."""
    oldest: int = Field(default=8, ge=1)
    """Iterations after which a stored episode is not learned from any more: the policy has gone too far from it."""
    most: float = Field(default=2.0, gt=0)
    """Largest weight of a step by how much likelier it has become since; what it cuts off is bias, what it leaves is
    variance."""
    capacity: int = Field(default=1024, ge=4)
    """What the stored episodes of a process take on the disk at most [MiB]; the oldest are dropped."""


class Distillation(Group):
    """The hardest variants, of the lowest mean score so far, are played several times, and the best is imitated."""

    every: int = Field(default=0, ge=0)
    """Iterations of PPO from one time to the next; 0: never."""
    count: int = Field(default=500, ge=1)
    """How many variants."""
    attempts: int = Field(default=4, ge=1)
    """Episodes of each."""
    margin: float = Field(default=0.0, ge=0)
    """By how much the best must be better than the variant's mean so far to be imitated."""
    epochs: int = Field(default=2, ge=1)
    """Passes over what is imitated."""
    learning_rate: float = Field(default=1e-4, gt=0, le=1)
    """Meanwhile."""
    hold: float = Field(default=1.0, ge=0)
    """Weight of staying near the policy and the critic as they were before, at the steps that were just collected."""
    score: str = ""
    """``module:object`` that makes a function of a variant's name and a return, by which variants compare:
    ``linegym.scores:scorer``; empty: the return itself."""


class Training(groups.Training):
    """How it learns."""

    RATES: ClassVar[tuple[str, ...]] = ("learning_rate", "imitation.learning_rate", "distillation.learning_rate")
    epochs: int = Field(default=4, ge=1)
    """Passes over what was collected."""
    minibatches: int = Field(default=4, ge=1)
    """Steps of the optimiser in a pass."""
    clips: tuple[float, float, float, float] | float = (0.15, 0.08, 0.25, 0.12)
    """Clip range of each segment: identify, assess, dispatch, execute; or one for all: plain PPO."""
    normalise: Literal["segment", "global", "none"] = "global"
    """Over what advantages are normalised."""
    entropy: float = Field(default=0.01, ge=0)
    """Weight of the entropy."""
    value: float = Field(default=0.5, ge=0)
    """Weight of the critic's loss."""
    gradient: float = Field(default=0.5, gt=0)
    """Longest gradient; longer ones are shortened."""
    target_kl: float = Field(default=0.03, gt=0)
    """Divergence beyond 1.5 times this ends the passes of an iteration."""
    warmup: int = Field(default=0, ge=0)
    """Iterations in which the learning rate rises."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the learning rate falls after that."""
    critic_first: int = Field(default=0, ge=0)
    """First iterations of PPO that train the critic alone."""
    imitation: Imitation = Imitation()
    """A warm start."""
    replay: Replay = Replay()
    """What is learned from again."""
    distillation: Distillation = Distillation()
    """The hardest variants."""


class Settings(Group):
    """All of a training with observations of a fixed size, less what every kind of training has."""

    environment: Environment
    rollout: Rollout = Rollout()
    reward: Reward = Reward()
    policy: Policy = Policy()
    training: Training
