"""Submission: what `rolf eval --out` writes, as a board takes it: nothing coerced, unknown keys are errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from rolf.evaluation.episode import Episode
from rolf.leaderboard import intake
from rolf.leaderboard.problem import Problems

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Maybe = Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]
Count = Annotated[int, Field(ge=0, lt=1 << 53)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=2_000)]
Names = dict[Annotated[str, Field(max_length=200)], Finite]


def _printable(text: str) -> str:
    """Refuse control characters, and those that turn the direction of text; line feeds are welcome.

    Raises:
        ValueError: there is one.
    """
    wrong = next((letter for letter in text if not letter.isprintable() and letter != "\n"), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} cannot be printed; write text without control characters")
    return text


Words = Annotated[Text, AfterValidator(_printable)]
"""Text that does nothing to whoever prints it."""


class _File(BaseModel):
    """What all files share."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Policy(_File):
    """Who played."""

    name: Annotated[Words, Field(max_length=100, pattern="^[^\n]+$")]
    """What tables call it."""
    spec: Words
    """What `rolf eval --policy` was given."""
    args: dict[str, Any]
    """What `--policy-arg` was given."""
    description: Words
    authors: Words
    url: Annotated[Text, Field(pattern=r"^(https?://[^\s<>\"']+)?$")]
    privileged: bool
    """Whether it is told the truth: a reference, without rank."""
    deterministic: bool
    """Whether an attempt at the same world goes the same way, so that one attempt tells all."""


class Summary(_File):
    """What the results come to."""

    episodes: Count
    faults: Count
    success: Finite | None
    """Share of the episodes without fault; null: there are none."""
    score: Finite | None
    """Mean of the episodes without fault; null: there are none."""
    episode_return: Finite | None
    """Mean of the episodes without fault; null: there are none."""


class Submission(_File):
    """`submission.json`."""

    format: Literal["rolf-submission/1"]
    split: Annotated[str, Field(max_length=200)]
    split_digest: Sha256
    attempts: Annotated[int, Field(ge=1, le=1_000)]
    policy: Policy
    summary: Summary
    results_sha256: Sha256
    """Of results.jsonl without `seconds`."""
    lock_sha256: Sha256
    """Of lock.json."""


class Lock(_File):
    """`lock.json`: what the episodes were played with."""

    format: Literal["rolf-lock/1"]
    packages: dict[str, str]
    """Versions, by distribution."""
    machine: dict[str, Any]
    """For information; nothing depends on it."""
    split_digest: Sha256
    limits: dict[str, Any]
    attempts: Annotated[int, Field(ge=1, le=1_000)]
    env_ids: list[str]
    policy_sha256: Maybe
    """Of the file that the policy is written in; empty: there is none."""
    attributed: bool
    """Whether what failures come from was asked for."""


class Row(_File):
    """One line of `results.jsonl`: an episode."""

    index: Count
    """Of the variant in its split, from 0."""
    variant: Text
    """Its name."""
    attempt: Count
    """From 0."""
    seed: Annotated[int, Field(ge=0, lt=1 << 62)]
    """What reset was given."""
    steps: Count
    episode_return: Finite
    success: bool | None
    """null: the machine failed, and nothing is known."""
    score: Finite | None
    """null: the machine failed."""
    fault: Text
    """How the machine failed; empty: it did not."""
    measures: Names
    """The environment's own figures."""
    state_digest: Annotated[str, Field(max_length=200)]
    trajectory: Annotated[str, Field(max_length=200)]
    """File in `trajectories`, with `#N` the number of its line where it holds several episodes; empty: it was lost."""
    trajectory_digest: Maybe
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Time that it took [s]."""
    attribution: Names = Field(default_factory=dict)
    """Family of disturbances -> what it cost of the score."""
    malformed: Count = 0
    """Steps whose answer was no valid call; absent: none."""

    def episode(self) -> Episode:
        """Return it as the evaluation has it."""
        return Episode(**self.model_dump())


Model = TypeVar("Model", bound=BaseModel)


def document(folder: Path, name: str, kind: type[Model], problems: Problems) -> Model | None:
    """Return a file as a model, or None with the reasons among the problems."""
    try:
        content = intake.document(folder, name)
    except (intake.Refused, OSError) as error:
        problems.add(name, str(error), advice="hand in the file that `rolf eval` wrote")
        return None
    return modelled(content, name, None, kind, problems)


def modelled(content: Any, file: str, line: int | None, kind: type[Model], problems: Problems) -> Model | None:
    """Return plain data as a model, or None with every key that is wrong among the problems."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False):
            where = ".".join(map(str, each["loc"])) or "all of it"
            unknown = each["type"] == "extra_forbidden"
            said = f"the key {where!r:.80} is not known" if unknown else f"{where!r:.80}: {each['msg']}"
            missing = each["type"] == "missing"
            problems.add(file, said, line=line, got=None if missing else each["input"], advice="see the schema")
        return None
