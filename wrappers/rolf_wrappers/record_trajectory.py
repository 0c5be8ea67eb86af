"""RecordTrajectory: write what happens to a file that ``rolf replay`` can do again."""

from __future__ import annotations

import dataclasses
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from rolf.output import BUDGET, OutputFile, OutputSink
from rolf.replay import final_state
from rolf.trajectory import FORMAT, RECORDERS, TrajectoryWriter, jsonable, package_versions


class RecordTrajectory(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Write every reset and step to a file, one JSON object a line, flushed as it happens.

    What an episode left behind is written at its end; where the environment can no longer tell, the reason is. Output
    that the environment's observation holds a part of goes, all of it, into a file beside (``rolf.output``); a step's
    ``output`` says where, and how many bytes are ``missing`` where the budget was used up.
    The file says how to make the environment again, so the environment's arguments must be plain data.

    Example:
        >>> import gymnasium as gym, tempfile
        >>> from rolf.replay import replay
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with RecordTrajectory(gym.make("CartPole-v1"), f"{folder}/pole.jsonl") as env:
        ...         _ = env.reset(seed=7)
        ...         for _ in range(3):
        ...             _ = env.step(1)
        ...     print(replay(f"{folder}/pole.jsonl"))
        equal: 3 steps in 1 episode of gymnasium:CartPole-v1

    Args:
        env: The environment, made by ``gymnasium.make``.
        path: The file.
        overwrite: Whether an existing file may be replaced.
        output_budget: How much the file beside may grow by in an episode [bytes]; while a step lasts, up to as much
            again for each of its streams lies next to it.

    Raises:
        ValueError: the environment cannot be made again from plain data.
        FileExistsError: the file, or the one beside it, is there and ``overwrite`` is False.

    Change log:
        * v0.1.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        path: str | Path,
        *,
        overwrite: bool = False,
        output_budget: int = BUDGET,
    ) -> None:
        RecordConstructorArgs.__init__(self, path=path, overwrite=overwrite, output_budget=output_budget)
        gym.Wrapper.__init__(self, env)
        header = _header(env)
        self._output = OutputFile(path, output_budget, overwrite=overwrite)
        self._writer = TrajectoryWriter(path, overwrite=overwrite)
        self._hand_over(self._output)
        try:
            self._writer.write("header", **header)
        except OSError:
            self._writer.close()
            self._output.close()
            raise
        self._info: dict[str, Any] = {}
        self._begun = False
        self._steps = 0
        self._total = 0.0
        self._open = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and begin the episode's lines."""
        self._finish()
        self._output.begin_episode()
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is None and not self._begun:
            # The first seed was drawn from the machine's entropy; with it written down the episode can be done again.
            # Gymnasium answers -1 where the generator was set by hand: then nothing can be written down.
            drawn = self.env.unwrapped.np_random_seed
            seed = drawn if drawn is not None and drawn >= 0 else None
        self._writer.write("reset", seed=seed, options=options, observation=observation, info=info)
        self._info, self._steps, self._total, self._open, self._begun = info, 0, 0.0, True, True
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and write the line."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._writer.write(
            "step",
            action=self.env.action_space.to_jsonable([action]),
            observation=observation,
            reward=float(reward),
            terminated=bool(terminated),
            truncated=bool(truncated),
            info=info,
            **({"output": told} if (told := self._output.told()) else {}),
        )
        self._info, self._steps, self._total = info, self._steps + 1, self._total + float(reward)
        if terminated or truncated:
            self._finish()
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Write the last line, close the file and the environment; may be called again."""
        with ExitStack() as rest:  # all of it, also where a full disk takes no last line
            rest.callback(self.env.close)
            rest.callback(self._output.close)
            rest.callback(self._hand_over, None)
            rest.callback(self._writer.close)
            self._finish()

    def _hand_over(self, sink: OutputSink | None) -> None:
        """Have an environment that can (``rolf.output``) hand all of the output to a sink."""
        record_output = getattr(self.env.unwrapped, "record_output", None)
        if callable(record_output):
            record_output(sink)

    def _finish(self) -> None:
        """Write what the episode left behind, once."""
        if self._open:
            self._open = False
            try:
                state = final_state(self.env, self._info)
            except (RuntimeError, OSError) as error:  # the environment's machine failed, and its state is gone with it
                state = {"unknown": str(error)}
            self._writer.write("final", steps=self._steps, episode_return=self._total, **state)


def _header(env: gym.Env[Any, Any]) -> dict[str, Any]:
    """Return what is needed to make the environment again."""
    spec = env.spec
    if spec is None:
        raise ValueError(f"{env} has no spec, so its file could not be replayed; make it by gymnasium.make")
    entry = spec.entry_point
    module = entry if isinstance(entry, str) else getattr(entry, "__module__", "")
    settings = {key: value for key, value in spec.kwargs.items() if key != "render_mode"}
    for name, value in settings.items():
        _must_come_back(f"argument {name}", value)
    wrappers = [each for each in spec.additional_wrappers if each.entry_point.rpartition(":")[2] not in RECORDERS]
    for wrapper in wrappers:
        if wrapper.kwargs is None:
            raise ValueError(f"{wrapper.name} does not record its arguments, so the file could not be replayed")
        _must_come_back(f"{wrapper.name}'s arguments", wrapper.kwargs)
    return {
        "format": FORMAT,
        "env_id": f"{module.split('.')[0].split(':')[0]}:{spec.id}",
        "kwargs": settings,
        "max_episode_steps": spec.max_episode_steps,
        "wrappers": [dataclasses.asdict(wrapper) for wrapper in wrappers],
        "volatile": list(env.metadata.get("volatile", ())),
        "packages": package_versions(),
    }


def _must_come_back(name: str, value: Any) -> None:
    """Refuse a value that JSON would not give back: the file could not be replayed."""
    try:
        same = json.loads(json.dumps(value)) == jsonable(value)
    except TypeError:
        same = False
    if not same:
        raise ValueError(f"{name}={value!r} is not plain data, so the file could not be replayed; say it in plain data")
