"""A policy for the terminal that looks at what is never the same again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rolf.evaluation.policy import Start

COMMANDS = (
    "date +%s.%N; ls -la --full-time $(mktemp); head -c 9 /dev/urandom | base64",
    "echo always the same",
)


class Looker:
    """Looks, and says that all is done."""

    name = "looker"
    deterministic = True

    def begin(self, start: Start) -> None:
        self._left = [json.dumps({"command": command, "timeout": 10}) for command in COMMANDS]

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return self._left.pop(0) if self._left else json.dumps({"submit": True})
