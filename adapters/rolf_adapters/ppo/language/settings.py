"""Settings of a language model's training: what it learns in, how it acts, and how it learns from that."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from rolf_adapters.ppo import groups
from rolf_adapters.ppo.segments import CLIPS

Range: TypeAlias = Annotated[float, Field(gt=0, lt=1)]


class Environment(groups.Group):
    """Where it learns, and where it is tested.

    Either an ``id``, whose episodes differ by what ``reset`` is seeded with, or the name of a ``split``.
    """

    id: str | None = None
    """Gymnasium id of an environment with tools, with the module that registers it: ``termgym:TermEnv-v1``."""
    kwargs: dict[str, Any] = Field(default_factory=dict)
    """What it is made with in training; plain data."""
    evaluation: dict[str, Any] = Field(default_factory=dict)
    """What it is made with instead in evaluation, beside the rest of ``kwargs``: other tasks."""
    wrappers: tuple[dict[str, Any], ...] = ()
    """Wrappers round it, inside first: ``name``, ``entry_point``, ``kwargs`` of each."""
    split: str | None = None
    """What it learns on: ``term-v1/train``."""
    evaluation_split: str | None = None
    """What it is tested on: ``term-v1/validation[:50]``; none: the split that it learns on."""
    held_out: bool = False
    """Whether it may learn on a split that is not there to be trained on: one that is held out, or validates."""

    @model_validator(mode="after")
    def _one_source(self) -> Environment:
        if (self.id is None) == (self.split is None):
            raise ValueError(f"id={self.id!r} and split={self.split!r}: give one of the two")
        if self.split is not None and (self.kwargs or self.evaluation or self.wrappers):
            raise ValueError("kwargs, evaluation and wrappers go with an id; the variants of a split have their own")
        if self.id is not None and self.evaluation_split is not None:
            raise ValueError(
                "evaluation_split goes with a split; beside an id say in evaluation what is made otherwise"
            )
        return self


class Speech(groups.Group):
    """How messages are put to the model, and how it answers."""

    style: str = "json-plan"
    """How calls are written (``rolf.interface``); not looked at under ``RotateInterface``, which brings its own."""
    prompt: str = "few-shot"
    """How the system's message is worded."""
    layout: str = "transcript"
    """How observations are laid out."""
    names: str = "own"
    """What tools and parameters are called."""
    subset: str = "needed"
    """How many of the tools are offered."""
    system: str | None = None
    """The system's message instead of the interface's own; "": none. A model that is trained from nothing has no use
    for a page of instructions that never changes."""
    message: int = Field(default=1200, ge=40)
    """Longest message; of longer ones beginning and end are shown [characters]."""
    grammar: bool = True
    """Whether a grammar keeps answers to calls; it can in the style ``json-plan``, others are free in any case."""


class Rollout(groups.Group):
    """How episodes are collected."""

    episodes: int = Field(default=128, ge=1)
    """Of one iteration, in all processes together. Updates from fewer than 100 or so are more noise than signal."""
    environments: int = Field(default=32, ge=1)
    """Environments that a process has open, and steps together."""
    threads: int = Field(default=1, ge=1)
    """Environments that it waits for at once; more than one only where they may be stepped in other threads than they
    were made in, as terminals may. Has no effect on what is learned."""
    rows: int = Field(default=64, ge=1)
    """Contexts that are answered together."""
    turns: int = Field(default=8, ge=1)
    """Answers after which an episode is cut off."""
    tokens: int = Field(default=96, ge=1)
    """Longest answer; longer ones are cut."""
    window: int = Field(default=2048, ge=16)
    """Longest context with its answer; an episode that outgrows it is cut off [tokens]. At most what the model was
    made to read."""
    temperature: float = Field(default=1.0, gt=0, le=10)
    """Logits are divided by it, where answers are drawn and where they are learned from."""
    staleness: int = Field(default=0, ge=0, le=100)
    """How many updates older the policy that plays an iteration's episodes is than the one that learns from them. From
    1 on they are played in a thread of their own, while others are learned from."""
    actors: int = Field(default=0, ge=0, le=1024)
    """Actors of Ray's among which the episodes of each of the processes are shared, each with a copy of the policy and
    ``environments`` of its own; 0: the processes play them themselves (see docs/how-to/scale-out.md)."""
    faults: float = Field(default=0.2, ge=0, lt=1)
    """Share of the episodes of an iteration, of all processes together, that may be lost to failing machines before the
    training stops. Of an evaluation's it is the same share, or three if that is more."""
    evaluation: int = Field(default=100, ge=1)
    """Episodes of an evaluation; of a split no more than it has."""
    speech: Speech = Field(default_factory=Speech)
    """How messages are put to the model, and how it answers."""

    @model_validator(mode="after")
    def _room_for_a_prompt(self) -> Rollout:
        if self.tokens >= self.window:
            raise ValueError(
                f"tokens={self.tokens} leaves no room for a prompt in window={self.window}, for an answer counts; make "
                "the window larger, or answers shorter"
            )
        return self


class Reward(groups.Reward):
    """How rewards become what is learned."""

    discount: float = Field(default=1.0, ge=0, le=1)
    """Gamma: what a reward is worth one turn later."""
    credit: Literal["turn", "token", "bilevel"] = "turn"
    """What counts as one decision (``rolf_adapters.ppo.credit``)."""
    token_discount: float = Field(default=1.0, ge=0, le=1)
    """What a reward is worth one token later, by the credit ``token`` or ``bilevel``."""
    token_trace: float | None = Field(default=None, ge=0, le=1)
    """Lambda over tokens, by the credit ``token`` or ``bilevel``; none given: by ``token`` it is ``trace``, and by
    ``bilevel``, where ``trace`` is over turns, it is 1."""
    limit_ends: bool = False
    """Whether a step limit is a part of the task, so that nothing is to be expected beyond it. Otherwise an episode
    that was cut off is worth what the critic expects of its last observation."""
    per_turn: float = 0.0
    """Added to the reward of each turn; a small negative number makes haste."""
    malformed: float = 0.0
    """Added to the reward of an answer that is no call."""

    @property
    def over_tokens(self) -> float:
        """Lambda over tokens."""
        if self.token_trace is not None:
            return self.token_trace
        return self.trace if self.credit == "token" else 1.0

    @model_validator(mode="after")
    def _nothing_without_effect(self) -> Reward:
        if self.credit == "turn" and (self.token_discount != 1.0 or self.token_trace is not None):
            raise ValueError(
                f"token_discount={self.token_discount} and token_trace={self.token_trace} have no effect with "
                "credit: turn, where a turn is one decision; leave them out, or give credit: token or bilevel"
            )
        # The default is no wish of anybody's: a configuration that was written out has it.
        usual = type(self).model_fields["trace"].default
        if self.credit == "token" and self.token_trace is not None and self.trace not in (usual, self.token_trace):
            raise ValueError(
                f"trace={self.trace} has no effect beside token_trace={self.token_trace} with credit: token, where "
                "every step is a token; leave one of them out, or give credit: bilevel"
            )
        return self


class Policy(groups.Group):
    """The model."""

    model: str = Field(min_length=1)
    """A folder that ``save_pretrained`` wrote, or ``module:function``: what returns a model and its tokenizer."""
    layers: int | None = Field(default=None, ge=1)
    """How many of the upper layers learn; none given: all, and the embeddings too."""
    encoder: Literal["none", "terminal"] = "none"
    """What reads beside the model, and always learns: ``terminal`` knows users, process ids, paths and numbers
    (``rolf_adapters.ppo.language.encoder``)."""
    encoder_layer: int | None = Field(default=None, ge=0)
    """In front of which layer of the model it lets words look at each other, from 0; none given: the middle one."""
    critic_width: int = Field(default=64, ge=2)
    """Of the critic's hidden layer."""

    @model_validator(mode="after")
    def _layer_of_an_encoder(self) -> Policy:
        if self.encoder_layer is not None and self.encoder == "none":
            raise ValueError(
                f"encoder_layer={self.encoder_layer} goes with an encoder; give encoder: terminal, or leave it out"
            )
        return self


class WarmStart(groups.Group):
    """Supervised learning from demonstrations, before the first episode of its own: the first iteration."""

    policy: str = "oracle"
    """Who demonstrates: a policy that comes with the environment, or ``module:object``."""
    episodes: int = Field(default=200, ge=1)
    """That it is asked for; those that fail show nothing, and are left out."""
    epochs: int = Field(default=20, ge=1)
    """Most times that they are gone through."""
    batch: int = Field(default=16, ge=1)
    """Episodes of a step of the optimiser."""
    learning_rate: float = Field(default=1e-3, gt=0, le=1)
    """Of these steps alone."""
    until: float | None = Field(default=None, ge=0, le=1)
    """Greedy success at which it ends early; what imitates too well has nothing left to try out."""
    check_every: int = Field(default=5, ge=1)
    """Epochs between two looks at that."""
    check: int = Field(default=64, ge=1)
    """Training episodes that are played for it."""


class KlControl(groups.Group):
    """How near the policy is kept to what it was after the warm start, or when it was loaded where there is none."""

    weight: float = Field(default=0.0, ge=0, le=100)
    """Weight of the divergence from there in the loss; 0: it may go where it likes."""
    target: float | None = Field(default=None, gt=0)
    """Divergence that the weight is adapted to, iteration by iteration [nats a token]; none given: the weight stays."""

    @model_validator(mode="after")
    def _something_to_adapt(self) -> KlControl:
        if self.target is not None and not self.weight > 0:
            raise ValueError(f"target={self.target} needs a weight above 0 to begin with, got weight={self.weight}")
        return self


class Training(groups.Training):
    """How it learns from episodes."""

    RATES: ClassVar[tuple[str, ...]] = ("learning_rate", "critic_rate", "warm_start.learning_rate")
    learning_rate: float = Field(default=1e-5, gt=0, le=1)
    """Of the model, before any schedule."""
    critic_rate: float = Field(default=1e-3, gt=0, le=1)
    """Learning rate of the critic."""
    warmup: int = Field(default=5, ge=0)
    """Iterations over which the learning rates rise: the first steps of a fresh optimiser are all equally long."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the learning rates fall after that."""
    epochs: int = Field(default=2, ge=1)
    """Times that an iteration's episodes are gone through."""
    minibatches: int = Field(default=1, ge=1)
    """Steps of the optimiser in each epoch."""
    budget: int = Field(default=8192, ge=16)
    """Most tokens, padding included, that are computed at once; has no effect on what is learned."""
    clipping: Literal["plain", "segmented"] = "plain"
    """One clip range, or one for each segment of an episode (``rolf_adapters.ppo.segments``)."""
    clip: Range = 0.2
    """The one clip range."""
    clips: tuple[Range, Range, Range, Range] = CLIPS
    """Clip range of each segment: identify, assess, dispatch, execute."""
    normalise: Literal["global", "segment", "none"] = "global"
    """Over what advantages are normalised."""
    entropy: float = Field(default=0.0, ge=0)
    """Weight of the entropy bonus."""
    value: float = Field(default=0.5, gt=0)
    """Weight of the critic's loss."""
    gradient: float = Field(default=1.0, gt=0)
    """Longest gradient; longer ones are shortened."""
    most_kl: float = Field(default=0.02, gt=0)
    """Divergence from the policy that collected the episodes beyond which no further epoch begins [nats a token]."""
    kl: KlControl = Field(default_factory=KlControl)
    """How near the policy is kept to what it began as."""
    stale_weight: float = Field(default=2.0, gt=0)
    """Most that a sample of an older policy may count (``rollout.staleness``): what it cuts off is bias, what it leaves
    is variance."""
    warm_start: WarmStart | None = None
    """Supervised learning before all; none given: the model begins as it is."""

    @model_validator(mode="after")
    def _ranges_that_count(self) -> Training:
        idle, other = ("clips", "segmented") if self.clipping == "plain" else ("clip", "plain")
        if getattr(self, idle) != type(self).model_fields[idle].default:
            raise ValueError(
                f"{idle}={getattr(self, idle)} has no effect with clipping: {self.clipping}; leave it out, or give "
                f"clipping: {other}"
            )
        return self


class Settings(groups.Group):
    """All of a language model's training."""

    environment: Environment
    rollout: Rollout = Field(default_factory=Rollout)
    reward: Reward = Field(default_factory=Reward)
    policy: Policy
    training: Training
