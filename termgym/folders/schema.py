"""Schema: what a Harbor ``task.toml`` may say, version 1.0 to 1.4.

Field for field what harbor 0.26.0 reads (its models/task/config.py). Unknown keys are kept, for newer writers add keys,
and told. Values are taken as leniently as Harbor takes them: ``"600"`` is a number.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([GMK])\s*", re.IGNORECASE)
_MEBIBYTES = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}
_NO_NAME = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Table(BaseModel):
    """What all tables share: unknown keys are kept in ``model_extra``."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())


class Author(Table):
    """Who wrote it."""

    name: str
    email: str | None = None


class Package(Table):
    """``[task]``: how a registry calls it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$")]
    version: Annotated[str, Field(min_length=1)] | None = None
    description: str = ""
    authors: list[Author] = []
    keywords: list[str] = []


class Phase(Table):
    """What the agent's and the verifier's tables share."""

    network_mode: Literal["no-network", "public", "allowlist"] | None = None
    allowed_hosts: list[str] | None = None
    user: str | int | None = None


class Agent(Phase):
    """``[agent]``."""

    timeout_sec: Seconds | None = None


class Healthcheck(Table):
    """``[environment.healthcheck]``."""

    command: str
    interval_sec: float = 5.0
    timeout_sec: float = 30.0
    start_period_sec: float = 0.0
    start_interval_sec: float = 5.0
    retries: int = 3


class Environment(Table):
    """``[environment]``: the container that the agent works in."""

    network_mode: Literal["no-network", "public", "allowlist"] | None = None
    allowed_hosts: list[str] | None = None
    allow_internet: bool | None = None
    """Older name of ``network_mode``."""
    build_timeout_sec: Seconds = 600.0
    docker_image: str | None = None
    os: Literal["linux", "windows"] = "linux"
    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    memory_mb: Annotated[int, Field(gt=0)] | None = None
    """[MiB]"""
    storage_mb: Annotated[int, Field(gt=0)] | None = None
    """[MiB]"""
    memory: str | float | None = None
    """Older form of ``memory_mb``: ``2G``, ``512M``. A bare number has no unit; Harbor passes over it."""
    storage: str | float | None = None
    """Older form of ``storage_mb``."""
    gpus: Annotated[int, Field(ge=0)] | None = None
    gpu_types: list[str] | None = None
    tpu: dict[str, Any] | None = None
    mcp_servers: list[dict[str, Any]] = []
    env: dict[str, str] = {}
    skills_dir: str | None = None
    healthcheck: Healthcheck | None = None
    workdir: Annotated[str, Field(pattern=r"^/")] | None = None

    @field_validator("os", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("memory", "storage")
    @classmethod
    def _size(cls, value: str | float | None) -> str | None:
        if not isinstance(value, str):
            return None
        mebibytes(value)
        return value

    @model_validator(mode="after")
    def _agree(self) -> Environment:
        for old, new in (("memory", "memory_mb"), ("storage", "storage_mb")):
            said, also = getattr(self, old), getattr(self, new)
            if said is not None and also is not None and mebibytes(said) != also:
                raise ValueError(f"{old}={said!r} and {new}={also!r} differ; keep {new}")
        return self


class Collect(Table):
    """``[[verifier.collect]]``: a command after the agent, before the verifier."""

    command: str
    service: str = "main"
    timeout_sec: float = 60.0
    user: str | int | None = None


class VerifierTable(Phase):
    """``[verifier]``."""

    timeout_sec: Seconds = 600.0
    env: dict[str, str] = {}
    environment_mode: Literal["shared", "separate"] | None = None
    environment: Environment | None = None
    collect: list[Collect] = []

    @model_validator(mode="after")
    def _agree(self) -> VerifierTable:
        if self.environment_mode == "shared" and self.environment is not None:
            raise ValueError("environment_mode='shared' does not go with [verifier.environment]; leave out one of them")
        return self


class SolutionTable(Table):
    """``[solution]``."""

    env: dict[str, str] = {}


class Step(Table):
    """``[[steps]]``: one step of a task that comes in several."""

    name: str
    agent: Agent = Agent()
    verifier: VerifierTable = VerifierTable()
    min_reward: float | dict[str, float] | None = None
    healthcheck: Healthcheck | None = None
    artifacts: list[str | dict[str, Any]] = []

    @field_validator("name")
    @classmethod
    def _one_directory(cls, value: str) -> str:
        if not value.strip() or value in (".", "..") or value.endswith((".", " ")) or _NO_NAME.search(value):
            raise ValueError("a step's name is the name of its directory below steps/, such as '01-build'")
        return value


class Document(Table):
    """A whole ``task.toml``."""

    schema_version: str = "1.4"
    task: Package | None = None
    metadata: dict[str, Any] = {}
    verifier: VerifierTable = VerifierTable()
    agent: Agent = Agent()
    environment: Environment = Environment()
    solution: SolutionTable = SolutionTable()
    source: str | None = None
    multi_step_reward_strategy: Literal["mean", "final"] | None = None
    steps: list[Step] | None = None
    artifacts: list[str | dict[str, Any]] = []

    @field_validator("schema_version")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in VERSIONS:
            raise ValueError(f"allowed are {', '.join(VERSIONS)}")
        return value

    @field_validator("steps")
    @classmethod
    def _unique(cls, steps: list[Step] | None) -> list[Step] | None:
        seen: set[str] = set()
        for step in steps or ():
            key = unicodedata.normalize("NFC", step.name).casefold()
            if key in seen:
                raise ValueError(f"step {step.name!r} is there twice, perhaps in another case; give it another name")
            seen.add(key)
        return steps


def mebibytes(text: str) -> int:
    """Return a size such as ``2G`` or ``512M`` [MiB].

    Raises:
        ValueError: it is no size.
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError("allowed is a number with G, M or K, such as '2G' or '512M'")
    return int(float(found[1]) * _MEBIBYTES[found[2].upper()])


def memory(table: Environment) -> int | None:
    """Return how much memory an environment asks for [MiB]; None: it does not say."""
    return mebibytes(table.memory) if isinstance(table.memory, str) else table.memory_mb


def storage(table: Environment) -> int | None:
    """Return how much it asks to be able to write [MiB]; None: it does not say."""
    return mebibytes(table.storage) if isinstance(table.storage, str) else table.storage_mb
