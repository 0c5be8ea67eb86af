"""A toy environment of another distribution, with all that ``rolf eval`` asks for, troubles on demand, and policies.

An episode: guess the number that ``reset`` drew, five times; the observation says how far off the last guess was. The
module is what an entry point names (``installed`` makes one), and the registration of the environment.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np

from rolf.environments import TaskEntry, Verdict
from rolf.evaluation.episode import Ending, Measured, Run
from rolf.evaluation.evaluable import SplitEntry
from rolf.evaluation.policy import PolicyEntry, Start
from rolf.variant import Labels, Split, Variant, policy_seed

ENV_ID = "toy_contest:Toy-v0"
NUMBERS, STEPS = 10, 5
SUMMARY = "guess a number"
HEADINGS = "set", "problems", "causes"
EXAMPLE = 'gymnasium.make("toy_contest:Toy-v0")'
HIDDEN = ("truth",)
BLOCK = 4


class Toy(gym.Env[int, int]):
    """See above.

    Args:
        trouble: Where and how it fails: ``reset: RuntimeError``, ``step: OSError``, ``step: KeyError``, ``step: full``,
            ``step: death``, ``told`` (``failure_kind``), ``nan`` (as a reward), ``pid`` (told, which is volatile).
        once: File that is made at the first trouble, after which there is none.
        offset: Makes another problem of it.
    """

    metadata = {"render_modes": [], "volatile": ("info.pid",)}  # noqa: RUF012 - as Gymnasium declares it
    observation_space = gym.spaces.Discrete(2 * NUMBERS, start=-NUMBERS)
    action_space = gym.spaces.Discrete(NUMBERS)

    def __init__(self, trouble: str = "", once: str = "", offset: int = 0) -> None:
        self._trouble, self._once = trouble, once
        self._offset = offset

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self._fail("reset")
        self.truth = int(self.np_random.integers(NUMBERS))
        self.guesses: list[int] = []
        return 0, {"truth": self.truth}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.guesses.append(int(action))
        if len(self.guesses) == 2:
            self._fail("step")
        over = len(self.guesses) == STEPS
        reward = 1.0 - abs(self.truth - int(action)) / NUMBERS
        info: dict[str, Any] = {"truth": self.truth, "success": int(action) == self.truth}
        if self._trouble == "pid":
            info["pid"] = os.getpid()
        if self._trouble == "told" and over and self._troubled():
            info["failure_kind"] = "MachineGone"
        if self._trouble == "nan":
            reward = float("nan")
        return self.truth - int(action), reward, False, over, info

    def state_digest(self) -> str:
        return hashlib.sha256(repr((self._offset, self.truth, self.guesses)).encode()).hexdigest()

    def _troubled(self) -> bool:
        if not self._once:
            return True
        try:
            Path(self._once).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _fail(self, where: str) -> None:
        at, _, kind = self._trouble.partition(": ")
        if at != where or not self._troubled():
            return
        if kind == "death":
            os._exit(7)
        if kind == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/some/file")
        raise {"RuntimeError": RuntimeError, "OSError": OSError, "KeyError": KeyError}[kind]("the toy broke")


class Parrot(Toy):
    """Takes words."""

    action_space = gym.spaces.Text(8)  # type: ignore[assignment]  # it is never stepped


gym.register("Toy-v0", entry_point="toy_contest:Toy")
gym.register("Parrot-v0", entry_point="toy_contest:Parrot")


def problems(count: int, **kwargs: Any) -> tuple[Variant, ...]:
    return tuple(Variant(ENV_ID, {**kwargs, "offset": number}, number, name=f"toy-{number}") for number in range(count))


def split(name: str) -> Split:
    if name != "toy-v0/small":
        raise LookupError(f"no split {name!r}")
    variants = problems(6)
    labels = tuple(Labels(f"toy-{number % 2}", "luck", number) for number in range(6))
    return Split(name, variants, labels, 3, {"max_steps": STEPS}, "toys")


def splits() -> Sequence[SplitEntry]:
    return [SplitEntry("toy-v0/small", 6, 3, "a few numbers")]


def policies() -> Mapping[str, PolicyEntry]:
    return {
        "chance": PolicyEntry("chance", "toy_contest:Chance", "guesses"),
        "crowd": PolicyEntry("crowd", "toy_contest:Crowd", "guesses, many at once"),
        "truth": PolicyEntry("truth", "toy_contest:Truth", "is told", privileged=True, deterministic=True),
    }


def measure(variant: Variant, ending: Ending) -> Measured:
    fault = ending.info.get("failure_kind", "")
    right = bool(ending.info["success"])
    return Measured(right, sum(ending.rewards) / STEPS, {"guesses": float(len(ending.rewards))}, fault)


def reseeded(variant: Variant, seed: int) -> Variant:
    return Variant(variant.env_id, variant.kwargs, seed, variant.wrappers, variant.name)


def plays(player: object) -> bool:
    return hasattr(player, "act_all")


def play(player: Any, variants: Sequence[Variant], seeds: Sequence[int]) -> Sequence[Run]:
    worlds = [gym.make("Toy-v0", **variant.kwargs).unwrapped for variant in variants]
    for world, seed in zip(worlds, seeds, strict=True):
        world.reset(seed=seed)
    player.begin_all([policy_seed(seed) for seed in seeds])
    told: list[Any] = [None] * len(worlds)
    actions: list[list[int]] = [[] for _ in worlds]
    rewards: list[list[float]] = [[] for _ in worlds]
    for _ in range(STEPS):
        chosen = player.act_all()
        for row, world in enumerate(worlds):
            told[row] = world.step(int(chosen[row]))
            actions[row].append(int(chosen[row]))
            rewards[row].append(told[row][1])
    return [
        Run(actions[row], Ending(rewards[row], told[row][4], False, True), world.state_digest(), 0.01)
        for row, world in enumerate(worlds)
    ]


def attributed(player: Any, variants: Sequence[Variant], seeds: Sequence[int]) -> Iterator[Mapping[str, float]]:
    for seed in seeds:
        yield {"luck": (seed % 100) / 100}


def tasks() -> Sequence[TaskEntry]:
    return [TaskEntry("small", (), "a few numbers")]


def validate(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    yield from ()


def recognises(name: str) -> bool:
    return name == "small"


def checkup() -> Sequence[Any]:
    return ()


class Chance:
    """Guesses by its own seed."""

    name = "by chance"

    def begin(self, start: Start) -> None:
        assert "truth" not in start.info
        self._chance = Random(start.seed)

    def act(self, observation: int, info: Mapping[str, Any]) -> int:
        assert "truth" not in info
        return self._chance.randrange(NUMBERS)


class Crowd:
    """Guesses for many rows, as `Chance` does for one."""

    def __init__(self, rounds: int = 0, fail: str = "") -> None:
        self._rounds, self._fail = rounds, fail

    def begin_all(self, seeds: Sequence[int]) -> None:
        if self._fail == "policy":
            raise RuntimeError("the crowd is lost")
        self._chances = [Random(seed) for seed in seeds]

    def act_all(self) -> np.ndarray[Any, Any]:
        hashlib.pbkdf2_hmac("sha256", b"takes", b"time", self._rounds or 1)
        return np.array([chance.randrange(NUMBERS) for chance in self._chances])


class Truth:
    """Says what it is told."""

    def begin(self, start: Start) -> None:
        self._truth = start.info["truth"]

    def act(self, observation: int, info: Mapping[str, Any]) -> int:
        assert info["truth"] == self._truth
        return int(self._truth)


class Wrong:
    """Raises, or answers what is no action, in one episode."""

    def __init__(self, how: str, index: int = 4) -> None:
        self._how, self._index = how, index

    def begin(self, start: Start) -> None:
        self._here = start.variant.kwargs["offset"] == self._index and start.attempt == 1
        if self._here and self._how == "begin":
            raise ValueError("cannot begin")

    def act(self, observation: int, info: Mapping[str, Any]) -> Any:
        if self._here and self._how == "raise":
            return {}["no such key"]
        return {"float": 1.5, "outside": NUMBERS, "none": None}.get(self._how, 0) if self._here else 0


A_NUMBER = 5


def broken() -> Any:
    """Make no policy."""
    raise RuntimeError("no weights were found")


def installed(folder: Path) -> Path:
    """Write what makes this module an installed environment, and return what belongs on the path."""
    info = folder / "toy_contest-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-contest\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("toy_contest\n")
    (info / "entry_points.txt").write_text("[rolf.environments]\nToy-v0 = toy_contest\n")
    return folder
