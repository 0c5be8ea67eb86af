"""write_folder: an environment as the folder that OpenEnv's own commands take (``openenv validate``, ``build``)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rolf import __version__
from rolf_adapters.openenv.session import DEADLINE

MANIFEST = """\
spec_version: 1
name: {name}
version: {version}
type: space
runtime: fastapi
app: server.app:app
port: 8000
validation:
  reward:
    range: [{low}, {high}]
    oracle_tolerance: 0.0
    floor_margin: 0.1
  resources:
    cpu: 1.0
    memory_mb: 2048
    disk_mb: 4096
    episode_timeout_s: {seconds}
  capabilities:
    verifier:
      kind: reward_channel
  types:
    tags: [tools]
"""
PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "openenv-{dashed}"
version = "{version}"
description = "{env_id} as an OpenEnv environment"
requires-python = ">=3.11"
dependencies = ["rolf[openenv]", "openenv>=0.10"]

[project.scripts]
server = "{name}.server.app:main"

[tool.setuptools]
packages = ["{name}", "{name}.server"]
package-dir = {{ "{name}" = ".", "{name}.server" = "server" }}
"""
APPLICATION = '''\
"""{env_id}, served to OpenEnv's clients."""

import argparse
import json

from rolf_adapters.openenv import app as application
from rolf_adapters.openenv import serve

ARGUMENTS = json.loads({arguments!r})
app = application({env_id!r}, ARGUMENTS, sessions={sessions}, deadline={deadline})


def main() -> None:
    """Serve it; in a container the address must be one that is reached from outside: --host 0.0.0.0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    serve(app, host=given.host, port=given.port, ready=print)


if __name__ == "__main__":
    main()
'''
DOCKERFILE = """\
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap git procps && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY . /app
RUN pip install --no-cache-dir "rolf[openenv]"
EXPOSE 8000
CMD ["python", "-m", "server.app", "--host", "0.0.0.0"]
"""
CLIENT = '''\
"""What speaks to it."""

from rolf_adapters.openenv import EpisodeClient, Told, ToolCall

__all__ = ["EpisodeClient", "Told", "ToolCall"]
'''
README = """\
# {name}

`{env_id}` behind OpenEnv's interface. Actions are calls of its tools: `{{"tool": "...", "arguments": {{...}}}}`.

Written by `rolf_adapters.openenv.write_folder`. Start it with `python -m server.app`.
"""
NAME = re.compile(r"[a-z][a-z0-9_]*")


def write_folder(
    folder: Path,
    env_id: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    rewards: tuple[float, float],
    sessions: int = 32,
    deadline: float = DEADLINE,
) -> None:
    """Write an environment into a folder that is not there yet; its name is the environment's.

    Args:
        folder: Where; its last part may have lower-case letters, digits and ``_``.
        env_id: Gymnasium id with its module.
        arguments: For ``gymnasium.make``; plain data.
        rewards: The least and the greatest that an episode can pay, which the manifest declares.
        sessions: How many sessions there may be at a time.
        deadline: How long a reset or a step may take [s].

    Raises:
        FileExistsError: there is something already.
        ValueError: the name will not do, or the rewards are in the wrong order.
        TypeError: the arguments are no plain data.
    """
    name = folder.name
    if not NAME.fullmatch(name):
        raise ValueError(f"the folder is called {name!r}; give lower-case letters, digits and _")
    if not rewards[0] < rewards[1]:
        raise ValueError(f"rewards={rewards}; give the least and the greatest")
    files = _files(_told(name, env_id, arguments or {}, sessions, deadline, rewards))
    folder.mkdir(parents=True)
    (folder / "server").mkdir()
    for path, text in files.items():
        (folder / path).write_text(text)


def _told(
    name: str,
    env_id: str,
    arguments: Mapping[str, Any],
    sessions: int,
    deadline: float,
    rewards: tuple[float, float],
) -> dict[str, Any]:
    """Return what the files are filled in with."""
    return {
        "name": name,
        "dashed": name.replace("_", "-"),
        "version": __version__,
        "env_id": env_id,
        "arguments": json.dumps(dict(arguments)),
        "sessions": sessions,
        "deadline": deadline,
        "low": rewards[0],
        "high": rewards[1],
        "seconds": 60 * deadline,
    }


def _files(told: Mapping[str, Any]) -> dict[str, str]:
    """Return the files by their paths in the folder."""
    return {
        "openenv.yaml": MANIFEST.format(**told),
        "pyproject.toml": PROJECT.format(**told),
        "README.md": README.format(**told),
        "__init__.py": CLIENT,
        "client.py": CLIENT,
        "server/__init__.py": f'"""The server of {told["name"]}."""\n',
        "server/app.py": APPLICATION.format(**told),
        "server/Dockerfile": DOCKERFILE,
    }
