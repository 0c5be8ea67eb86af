"""A wrapper under which a process is killed, or a machine fails, so many times in all processes together."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import gymnasium as gym


class Doomed(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Something happens before the second step that is taken in it.

    Args:
        env: What it is put round.
        folder: An empty one, for a mark for each time that it has happened.
        times: How often it happens.
        kill: Whether the process is killed with -9; otherwise the machine fails.
    """

    def __init__(self, env: gym.Env[Any, Any], folder: str, times: int = 1, kill: bool = True) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, folder=folder, times=times, kill=kill)
        super().__init__(env)
        self._folder, self._times, self._kill = Path(folder), times, kill
        self._steps = 0

    def step(self, action: Any) -> Any:
        self._steps += 1
        if self._steps == 2 and self._happens():
            if self._kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError("the machine is gone")
        return super().step(action)

    def _happens(self) -> bool:
        for number in range(self._times):
            try:
                (self._folder / str(number)).touch(exist_ok=False)
            except FileExistsError:
                continue
            return True
        return False
