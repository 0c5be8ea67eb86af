"""RecordCast: record a terminal environment as an asciicast, the format of asciinema."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from rolf import cast


class RecordCast(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Write what a terminal environment shows to an asciicast v2 file (``asciinema play FILE``).

    The observation must hold ``stdout``, ``stderr`` and ``cwd``. Each episode begins with a marker. Format:
    https://docs.asciinema.org/manual/asciicast/v2/

    Example:
        >>> import gymnasium as gym, tempfile, pathlib
        >>> class Echo(gym.Env):
        ...     action_space = gym.spaces.Text(80)
        ...     observation_space = gym.spaces.Dict({k: gym.spaces.Text(80) for k in ("stdout", "stderr", "cwd")})
        ...     def reset(self, *, seed=None, options=None):
        ...         return {"stdout": "", "stderr": "", "cwd": "/"}, {}
        ...     def step(self, action):
        ...         return {"stdout": action + "\\n", "stderr": "", "cwd": "/"}, 0.0, False, False, {}
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = pathlib.Path(folder.name, "echo.cast")
        >>> with RecordCast(Echo(), file, clock=iter(range(9)).__next__) as env:
        ...     _ = env.reset(), env.step("hello")
        >>> print(file.read_text().rstrip())
        {"version": 2, "width": 80, "height": 24}
        [1, "m", "episode 1"]
        [1, "o", "\\u001b[2J\\u001b[H/$ "]
        [2, "o", "hello\\r\\n"]
        [3, "o", "hello\\r\\n/$ "]
        >>> folder.cleanup()

    Args:
        env: The environment.
        path: The file; its directory is made.
        clock: Tells the time [s].

    Raises:
        TypeError: the environment is no terminal.
        FileExistsError: the file is there.

    Change log:
        * v0.1.0 - Added
    """

    def __init__(
        self, env: gym.Env[Any, Any], path: str | Path, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        RecordConstructorArgs.__init__(self, path=path)
        gym.Wrapper.__init__(self, env)
        space = env.observation_space
        if not (isinstance(space, gym.spaces.Dict) and {"stdout", "stderr", "cwd"} <= set(space.keys())):
            raise TypeError(f"{env} observes {space}; RecordCast wants a Dict with 'stdout', 'stderr' and 'cwd'")
        self._clock = clock
        self._episodes = 0
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        self._file = target.open("x", encoding="utf-8")
        self._began = clock()
        self._write(cast.HEADER)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and begin the episode on a clear screen."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._episodes += 1
        for event in cast.begun(self._clock() - self._began, self._episodes, observation):
            self._write(event)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, with the command at its beginning and the output at its end."""
        self._write(cast.entered(self._clock() - self._began, action))
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._write(cast.answered(self._clock() - self._began, observation))
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Close the file and the environment; may be called again."""
        self._file.close()
        self.env.close()

    def _write(self, line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
