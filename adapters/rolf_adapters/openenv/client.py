"""EpisodeClient: speaks to a server of this package over ``/ws``."""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from rolf_adapters.openenv.errors import told
from rolf_adapters.openenv.messages import Told, ToolCall, Whereabouts
from rolf_adapters.openenv.session import DEADLINE


class EpisodeClient(EnvClient):  # type: ignore[misc]  # openenv is untyped where it is not installed
    """One session: ``async with EpisodeClient(base_url="http://127.0.0.1:8000") as env: await env.reset(seed=7)``.

    Without asyncio: ``with EpisodeClient(base_url=…).sync() as env: env.reset(seed=7)``. ``reset`` takes what
    `Session.reset` takes; ``step`` takes a `ToolCall`. Both raise `NotResetError`, `DeadlineError` and `FaultError` as
    the session did.

    Args:
        base_url: Of the server.
        message_timeout_s: How long to wait for an answer [s]; longer than the server's deadline, or the session is lost
            where the server would have said what has happened.
        settings: For OpenEnv's ``EnvClient``.
    """

    def __init__(
        self, base_url: str | None = None, *, message_timeout_s: float = 2 * DEADLINE, **settings: Any
    ) -> None:
        super().__init__(base_url, message_timeout_s=message_timeout_s, **settings)

    async def _reset_async(self, **kwargs: Any) -> StepResult:
        try:
            return await super()._reset_async(**kwargs)
        except RuntimeError as error:
            raise told(error) from error

    async def _step_async(self, action: ToolCall, **kwargs: Any) -> StepResult:
        try:
            return await super()._step_async(action, **kwargs)
        except RuntimeError as error:
            raise told(error) from error

    def _step_payload(self, action: ToolCall) -> dict[str, Any]:
        payload: dict[str, Any] = action.model_dump()
        return payload

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        reward, done = payload.get("reward"), bool(payload.get("done", False))
        seen = Told(**{**payload["observation"], "reward": reward, "done": done})
        return StepResult(observation=seen, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> Whereabouts:
        return Whereabouts(**payload)
