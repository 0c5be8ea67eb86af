"""A sound environment, and copies of it with one fault each: what the checks must catch, and must not."""

from __future__ import annotations

import copy
import ctypes
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import register
from gymnasium.vector import AutoresetMode, SyncVectorEnv

CLONE_NEWNS = 0x20000  # linux/sched.h
MS_REC, MS_PRIVATE = 0x4000, 0x40000  # linux/mount.h
LENGTH = 12
"""Steps of an episode."""
ACTIONS = (2, 2)
"""How somebody would like them to be played."""
LONG_LIFE = "import time; time.sleep(300)"
"""A process that is forgotten."""


class Sound(gym.Env[Any, Any]):
    """A walk on three rings. Every episode's generator follows from the seed and the episode's number."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, stride: float = 0.1) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = spaces.Discrete(3)
        self.stride = stride
        self.entropy: int | None = None
        self.number = 0
        self.tick = 0
        self.hidden = 0
        self.place: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeded(seed)
        self.noise = np.random.default_rng([self.entropy or 0, self.number])
        self.place = self.noise.random(3, dtype=np.float32)
        self.tick = self.hidden = 0
        return self.seen(), {"tick": 0}

    def seeded(self, seed: int | None) -> None:
        if seed is not None:
            self.entropy, self.number = seed, 0
        elif self.entropy is None:
            self.entropy = int(self.np_random.integers(2**31))
        else:
            self.number += 1

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        if self.place is None or self.tick >= LENGTH:
            raise gym.error.ResetNeeded("no episode runs; call reset() before step()")
        self.tick += 1
        self.hidden += int(action)
        drawn = self.drawn()
        moved = (self.place + np.float32(self.stride) * np.float32(action - 1) + np.float32(0.05 * drawn)) % 1.0
        self.place = np.clip(moved, 0.0, 1.0, dtype=np.float32)
        terms = {"move": 0.25 * int(action), "noise": float(drawn)}
        info = {"tick": self.tick, "reward_terms": terms}
        return self.seen(), sum(terms.values()), False, self.tick >= LENGTH, info

    def drawn(self) -> float:
        return float(self.noise.random())

    def seen(self) -> Any:
        return self.place.copy()

    def save(self) -> dict[str, Any]:
        return copy.deepcopy({name: getattr(self, name) for name in ("noise", "place", "tick", "hidden")})

    def restore(self, saved: dict[str, Any]) -> None:
        for name, value in copy.deepcopy(saved).items():
            setattr(self, name, value)

    def state_digest(self) -> str:
        return f"{self.place.tobytes().hex()}/{self.tick}/{self.hidden}"


class Rows(SyncVectorEnv):
    """Sound in rows."""

    kind: ClassVar[type[gym.Env[Any, Any]]] = Sound

    def __init__(self, num_envs: int, autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP) -> None:
        super().__init__([self.kind] * num_envs, autoreset_mode=autoreset_mode)


FAULTS: dict[str, tuple[str, ...]] = {}
"""Id -> the checks that fail, and no others."""


def fault(*checks: str, **settings: Any) -> Callable[[type[Sound]], type[Sound]]:
    """Register a faulty environment."""

    def registered(kind: type[Sound]) -> type[Sound]:
        env_id = f"{kind.__name__}-v0"
        register(id=env_id, entry_point=kind, **settings)
        FAULTS[f"broken_environments:{env_id}"] = checks
        return kind

    return registered


# ---- what is returned


@fault("returns")
class EndIsANumber(Sound):
    """Says 0 instead of False."""

    def step(self, action: Any) -> Any:
        observation, reward, _, truncated, info = super().step(action)
        return observation, reward, 0, truncated, info


@fault("returns")
class RewardIsNoNumber(Sound):
    """Divides 0 by 0 in the fifth step."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, float("nan") if self.tick == 5 else reward, terminated, truncated, info


@fault("spaces")
class OutOfBounds(Sound):
    """Leaves its space in the seventh step."""

    def seen(self) -> Any:
        return self.place + np.float32(self.tick == 7)


@fault("spaces", "vector_equals_single")
class WrongType(Sound):
    """Returns 64 bits where 32 are promised; Gymnasium's vector environments make 32 of them."""

    def seen(self) -> Any:
        return self.place.astype(np.float64)


@fault("spaces")
class GrowingSpace(Sound):
    """Has another action from the third step on."""

    def step(self, action: Any) -> Any:
        if self.tick == 2:
            self.action_space = spaces.Discrete(4)
        return super().step(action)


class Lossy(spaces.Discrete):
    """Forgets which action it was when it writes it down."""

    def to_jsonable(self, sample_n: Any) -> list[int]:
        return [0 for _ in sample_n]


@fault("spaces")
class ActionsDoNotComeBack(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = Lossy(3)


# ---- determinism


@fault("determinism", "vector_equals_single")
class GlobalNumPy(Sound):
    """Draws from NumPy's global generator, which the rows of a vector environment share."""

    def drawn(self) -> float:
        return float(np.random.random())


@fault("determinism", "vector_equals_single")
class GlobalPython(Sound):
    """Draws from Python's global generator, after seeding it: others draw from it in between."""

    def reset(self, **settings: Any) -> Any:
        random.seed(settings.get("seed"))
        return super().reset(**settings)

    def drawn(self) -> float:
        return random.random()


@fault("determinism")
class SeedsTheGlobal(Sound):
    """Draws nothing from the global generator, but takes its users' numbers away."""

    def reset(self, **settings: Any) -> Any:
        np.random.seed(settings.get("seed"))
        return super().reset(**settings)


@fault("determinism", "seeding", "step_independence", "step_after_end", "no_aliasing", "restore")
class Entropy(Sound):
    """Draws from the machine's entropy: nothing that compares two runs can pass."""

    def drawn(self) -> float:
        return int.from_bytes(os.urandom(4)) / 2**32


FAULTS["broken_environments:Entropy-v0"] += ("vector_equals_single", "spec", "close")


@fault()
class HashOrder(Sound):
    """Takes what comes first in a set of strings; see PYTHONHASHSEED."""

    def drawn(self) -> float:
        return {"north": 0.0, "east": 0.1, "south": 0.2, "west": 0.3, "up": 0.4, "down": 0.5}[
            next(iter({"north", "east", "south", "west", "up", "down"}))
        ]


# ---- seeds


@fault("seeding")
class IgnoresSeed(Sound):
    """Counts its episodes itself, and takes no seed."""

    def seeded(self, seed: int | None) -> None:
        self.entropy, self.number = 0, self.number + 1


@fault("seeding")
class ZeroIsNoSeed(Sound):
    """`if seed:` instead of `if seed is not None:`."""

    def seeded(self, seed: int | None) -> None:
        if seed:
            self.entropy, self.number = seed, 0
        else:
            self.entropy, self.number = self.entropy or 0, self.number + 1


@fault("seeding")
class OneWorld(Sound):
    """Begins anew with a seed, but always with the same."""

    def seeded(self, seed: int | None) -> None:
        super().seeded(None if seed is None else 7)


@fault("step_independence")
class LengthMatters(Sound):
    """Draws from one generator in reset and in step, as most do."""

    def reset(self, **settings: Any) -> Any:
        _, info = super().reset(**settings)
        if settings.get("seed") is not None:
            self.all = np.random.default_rng(settings["seed"])
        self.place = self.all.random(3, dtype=np.float32)
        return self.seen(), info

    def drawn(self) -> float:
        return float(self.all.random())

    def save(self) -> dict[str, Any]:
        return {**super().save(), "all": copy.deepcopy(self.all)}


# ---- calls out of order


@fault("step_before_reset", order_enforce=False)
class StumblesBeforeReset(Sound):
    def step(self, action: Any) -> Any:
        if self.place is None:
            return self.place + 1
        return super().step(action)


@fault("step_before_reset", order_enforce=False)
class StrayBeforeReset(Sound):
    """Returns what is not in its space."""

    def step(self, action: Any) -> Any:
        if self.place is None:
            return None, 0.0, False, False, {}
        return super().step(action)


@fault("step_after_end")
class StumblesAfterEnd(Sound):
    def step(self, action: Any) -> Any:
        return [super().step, super().step][self.tick // LENGTH * 2](action)


@fault("step_after_end")
class HarmedAfterEnd(Sound):
    """Remembers a step too many beyond the next reset."""

    harmed = False

    def step(self, action: Any) -> Any:
        self.harmed |= self.tick >= LENGTH
        return super().step(action)

    def seen(self) -> Any:
        return self.place * np.float32(0.5 if self.harmed else 1.0)


# ---- whose data it is


@fault("no_aliasing")
class OneBuffer(Sound):
    """Writes every observation into the same array."""

    def seen(self) -> Any:
        self.buffer: Any = getattr(self, "buffer", np.zeros(3, np.float32))
        self.buffer[:] = self.place
        return self.buffer


@fault("no_aliasing")
class StateItself(Sound):
    """Returns its state, which it does not write into; its callers may."""

    def seen(self) -> Any:
        return self.place


# ---- rewards, moments, rows, specs


@fault("reward_terms")
class TermsDoNotSum(Sound):
    """Pays for the last step and does not say so."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward + truncated, terminated, truncated, info


@fault("restore")
class ForgetsTick(Sound):
    def save(self) -> dict[str, Any]:
        return {name: value for name, value in super().save().items() if name != "tick"}


@fault("restore")
class ForgetsGenerator(Sound):
    """Keeps the generator itself, which goes on."""

    def save(self) -> dict[str, Any]:
        return {**super().save(), "noise": None}

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore({name: value for name, value in saved.items() if name != "noise"})


@fault("restore")
class RestoresOnce(Sound):
    """Gives its copy away: the first episode after it changes what the second goes back to."""

    def restore(self, saved: dict[str, Any]) -> None:
        for name, value in saved.items():
            setattr(self, name, value)


@fault("restore")
class ForgetsWhatOnlyTheDigestTells(Sound):
    def save(self) -> dict[str, Any]:
        return {name: value for name, value in super().save().items() if name != "hidden"}


class CrossTalk(Rows):
    """Pays each row what its neighbour has earned."""

    def step(self, actions: Any) -> Any:
        observation, rewards, *rest = super().step(actions)
        return observation, np.roll(rewards, 1), *rest


class Silent(Rows):
    """Does not say when rows begin again."""

    def __init__(self, num_envs: int) -> None:
        super().__init__(num_envs)
        self.metadata = {}


class Repeater(Sound):
    """Plays the same episode again."""

    def seeded(self, seed: int | None) -> None:
        self.entropy = self.entropy if seed is None else seed


class Repeating(Rows):
    """Begins rows again where they began."""

    kind = Repeater


@fault("vector_equals_single", vector_entry_point=CrossTalk)
class NeighboursArePaid(Sound):
    """See ``CrossTalk``."""


@fault("vector_equals_single", vector_entry_point=Repeating)
class RowsRepeat(Sound):
    """See ``Repeating``."""


@fault("vector_equals_single", vector_entry_point=Silent)
class ModeUnknown(Sound):
    """See ``Silent``."""


# ---- the end


@fault("close")
class ClosesOnce(Sound):
    def close(self) -> None:
        if getattr(self, "closed", False):
            raise RuntimeError("closed already")
        self.closed = True


@fault("close")
class ClosesOthers(Sound):
    """Has one connection for all, which the first to be closed takes with it."""

    open = True

    def __init__(self) -> None:
        super().__init__()
        type(self).open = True

    def close(self) -> None:
        type(self).open = False

    def drawn(self) -> float:
        return super().drawn() if self.open else 0.0


# ---- what is left

_ended = threading.Event()
_forgotten: list[int] = []


def release() -> None:
    """End what leaky environments have left in this process."""
    _ended.set()
    _ended.clear()
    while _forgotten:
        os.kill(_forgotten.pop(), 9)


@fault("no_leaks")
class LeavesThreads(Sound):
    """Starts a thread that waits for ever, and that Python waits for."""

    def __init__(self) -> None:
        super().__init__()
        threading.Thread(target=_ended.wait, name="forgotten").start()


@fault("no_leaks")
class LeavesFiles(Sound):
    """Opens a file at each reset, and closes the last of them."""

    kept: ClassVar[list[int]] = []

    def reset(self, **settings: Any) -> Any:
        self.kept.append(os.open(os.devnull, os.O_RDONLY))
        return super().reset(**settings)


@fault("no_leaks")
class LeavesTemporaryFiles(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="forgotten-")


@fault("no_leaks")
class LeavesProcesses(Sound):
    def __init__(self) -> None:
        super().__init__()
        _forgotten.append(os.posix_spawn(sys.executable, [sys.executable, "-c", LONG_LIFE], os.environ))


@fault("no_leaks")
class LeavesDaemons(Sound):
    """Starts a process in the background by way of another that ends."""

    def __init__(self) -> None:
        super().__init__()
        command = ["setsid", "sh", "-c", "sleep 300 </dev/null >/dev/null 2>&1 & echo $!"]
        _forgotten.append(int(subprocess.check_output(command)))


@fault("no_leaks")
class NeedsClose(Sound):
    """Ends its thread in close, and nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.over = over = threading.Event()
        threading.Thread(target=lambda: over.wait() or _ended.wait(0), name="needs close", daemon=True).start()

    def close(self) -> None:
        self.over.set()


@fault("no_leaks")
class NeedsCloseAndTime(Sound):
    """Ends its thread a while after close, each a little later than the one before, and never without it."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        self.over = over = threading.Event()
        later = 0.12 * type(self).made
        type(self).made += 1
        threading.Thread(target=lambda: over.wait() and time.sleep(later), name="needs time", daemon=True).start()

    def close(self) -> None:
        self.over.set()


class LeavesMounts(Sound):
    """Mounts something over /media, in a mount namespace that goes with the process."""

    unshared = False

    def __init__(self) -> None:
        super().__init__()
        libc = ctypes.CDLL(None, use_errno=True)
        if not self.unshared:
            type(self).unshared = True
            assert libc.unshare(CLONE_NEWNS) == 0, os.strerror(ctypes.get_errno())
            assert libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0, os.strerror(ctypes.get_errno())
        assert libc.mount(b"tmpfs", b"/media", b"tmpfs", 0, None) == 0, os.strerror(ctypes.get_errno())


register(id="LeavesMounts-v0", entry_point=LeavesMounts)
LEAKS = tuple(env_id for env_id, checks in FAULTS.items() if checks == ("no_leaks",))
register(id="Sound-v0", entry_point=Sound, vector_entry_point=Rows)
SOUND = "broken_environments:Sound-v0"


# ---- wrappers


class Forgetful(gym.Wrapper[Any, Any, Any, Any]):
    """Does not record its arguments."""

    def __init__(self, env: gym.Env[Any, Any], factor: float) -> None:
        super().__init__(env)
        self.factor = factor


class Untrue(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Records another argument than it was given."""

    def __init__(self, env: gym.Env[Any, Any], factor: float) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, factor=1.0)
        gym.Wrapper.__init__(self, env)
        self.factor = factor

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        terms = {name: value * self.factor for name, value in info["reward_terms"].items()}
        return observation, reward * self.factor, terminated, truncated, {**info, "reward_terms": terms}


def forgetful() -> gym.Env[Any, Any]:
    return Forgetful(gym.make("Sound-v0", disable_env_checker=True), 2.0)


def untrue() -> gym.Env[Any, Any]:
    return Untrue(gym.make("Sound-v0", disable_env_checker=True), 2.0)
