"""TerminalTools: a real terminal for ``GRPOTrainer``."""

from __future__ import annotations

from typing import Any

from rolf_adapters.trl.rollout import Rollout

ENV_ID = "termgym:TermEnv-v1"


class TerminalTools:
    """A bash of a real Linux system, whose three tools are methods.

    ``GRPOTrainer(environment_factory=TerminalTools, train_dataset=Dataset.from_list(rows(…)))``; with arguments,
    ``functools.partial(TerminalTools, task="rename-organise", reward="shaped")``. TRL makes as many as it needs at a
    time and uses them again and again; each has a shell of its own from its first ``reset`` on.

    Args:
        told: Layout of what the model is told: ``json``, ``tags``, ``transcript``.
        arguments: For ``TermEnv-v1``, where a row does not say: ``task``, ``reward``, ``max_steps``, …

    Raises:
        LookupError: there is no such layout.
    """

    def __init__(self, *, told: str = "tags", **arguments: Any) -> None:
        self._rollout = Rollout(ENV_ID, arguments, told=told)

    def reset(self, **row: Any) -> str | None:
        """Begin the episode of a row of the data set; see `Rollout.reset`."""
        return self._rollout.reset(row)

    def get_reward(self) -> float:
        """Return what the episode is worth; NaN where the machine failed; see `Rollout.reward`."""
        return self._rollout.reward()

    def run(self, command: str, timeout: float = 60.0) -> str:
        """Run a command in the shell, which may have several lines, and return what it prints and its exit status.

        Args:
            command: What bash is to run, verbatim.
            timeout: Time the command may take in seconds; then it is stopped.

        Returns:
            What it printed, its exit status, how the step ended, and where the shell stands.
        """
        return self._rollout.call("run", {"command": command, "timeout": timeout})

    def keys(self, keys: str) -> str:
        """Type at the program that waits for input (event WAITING_INPUT).

        Args:
            keys: Text to type, or the name of one key: q, C-c, Enter, Esc.

        Returns:
            What the program printed, and how the step ended.
        """
        return self._rollout.call("keys", {"keys": keys})

    def submit(self) -> str:
        """Say that all is done; nothing can be changed afterwards.

        Returns:
            What is left to be told.
        """
        return self._rollout.call("submit", {})

    def __del__(self) -> None:
        """Give the machine back; TRL has no word for the end."""
        if "_rollout" in self.__dict__:
            self._rollout.close()
