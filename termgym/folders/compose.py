"""Compose: what a ``docker-compose.yaml`` with one service says of the one container there is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from termgym.errors import FolderError
from termgym.folders.copies import inside
from termgym.folders.reading import mapping
from termgym.folders.schema import mebibytes
from termgym.folders.source import Source, read_source
from termgym.folders.yaml import read_yaml
from termgym.reasons import shorten

COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")

# What Terminal-Bench's harness sets when it starts a compose file (0.2.18, terminal/docker_compose_manager.py).
_HARNESS = {
    "T_BENCH_TEST_DIR": "/tests",
    "T_BENCH_CONTAINER_LOGS_PATH": "/logs",
    "T_BENCH_CONTAINER_AGENT_LOGS_PATH": "/agent-logs",
    "T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME": "",
    "T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME": "client",
    "T_BENCH_TASK_DOCKER_NAME_PREFIX": "tb",
    "T_BENCH_TASK_LOGS_PATH": "",
    "T_BENCH_TASK_AGENT_LOGS_PATH": "",
    "TEST_DIR": "/tests",  # Harbor's
    "CONTEXT_DIR": "",
    "MAIN_IMAGE_NAME": "",
    "CPUS": "",
    "MEMORY": "",
}
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)(?::?-([^}]*))?(?::?\?[^}]*)?\}|\$([A-Za-z_]\w*)")
_MEANT = frozenset(
    {"build", "image", "environment", "working_dir", "user", "volumes", "deploy", "mem_limit", "cpus", "command"}
    | {"container_name", "entrypoint"}
)
_HARMLESS = frozenset(
    {"expose", "ports", "hostname", "init", "tty", "stdin_open", "restart", "stop_grace_period", "stop_signal"}
    | {"platform", "labels", "pull_policy", "logging", "profiles"}
)
"""Keys without a use here; no note, for they change nothing that a task can see."""


@dataclass(frozen=True, slots=True)
class Container:
    """What is taken from a compose file; empty: it says nothing."""

    context: str = ""
    """Build context, relative to the compose file."""
    dockerfile: str = ""
    """Relative to the context."""
    target: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    image: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    user: str | None = None
    memory_bytes: int | None = None
    cpu_cores: float | None = None


def read_compose(path: Path, folder: Path, *, main: str, notes: list[str]) -> Container:
    """Return what a compose file says of its one container.

    Args:
        path: The file.
        folder: The task folder.
        main: How the harness calls the container that the agent works in.
        notes: Where it is told what is left out.

    Raises:
        FolderError: it is no compose file, or one with several containers.
    """
    source = read_source(inside(path, folder))
    data, line = read_yaml(source)
    services = mapping(data, source).get("services")
    if not isinstance(services, dict) or not services:
        raise source.fault("has no services; write one, with its build or image", line(("services",)))
    if len(services) > 1:
        names = ", ".join(map(str, services))
        raise source.fault(
            f"has {len(services)} services ({names}); one is supported: put what {main!r} needs into its Dockerfile",
            line(("services",)),
        )
    name, service = next(iter(services.items()))
    at = line(("services", str(name)))
    if not isinstance(service, dict):
        raise source.fault(f"service {name!r} is {shorten(service)}; write its build or image below it", at)
    notes.extend(_left_out(str(name), service, source, at))
    return _container(_interpolated(service), source, at, notes)


def _container(service: Mapping[str, Any], source: Source, line: int | None, notes: list[str]) -> Container:
    build = service.get("build") or {}
    if isinstance(build, str):
        build = {"context": build}
    if not isinstance(build, dict):
        raise source.fault(f"build={shorten(build)} is neither a directory nor a mapping", line)
    limits = _reached(service, "deploy", "resources", "limits")
    return Container(
        context=_text(build.get("context")) or ("." if build else ""),
        dockerfile=_text(build.get("dockerfile")),
        target=_text(build.get("target")),
        arguments=_variables(build.get("args"), source, line, []),
        image=_text(service.get("image")),
        env=_variables(service.get("environment"), source, line, notes),
        cwd=_text(service.get("working_dir")),
        user=_text(service.get("user")) or None,
        memory_bytes=_memory(limits.get("memory") or service.get("mem_limit"), source, line),
        cpu_cores=_cores(limits.get("cpus") or service.get("cpus"), source, line),
    )


def _left_out(name: str, service: Mapping[str, Any], source: Source, line: int | None) -> Iterator[str]:
    for key in service:
        if key not in _MEANT | _HARMLESS:
            yield f"{source.path.name}: {name}.{key} is not supported and left out: {shorten(service[key])}"
    for volume in service.get("volumes") or ():
        yield from _volume(name, volume, source, line)
    if "entrypoint" in service:
        yield f"{source.path.name}: {name}.entrypoint is not run: the agent's shell is what starts"


def _volume(name: str, volume: Any, source: Source, line: int | None) -> Iterator[str]:
    text = str(volume.get("source", "")) if isinstance(volume, dict) else str(volume)
    origin = text.partition(":")[0] if not text.startswith("${") else text
    if origin.startswith(("${T_BENCH_", "${HARBOR_")):
        return
    if origin.startswith(("./", "../")) or origin == ".":
        wrong = f"{name}.volumes={shorten(volume)} mounts the folder's files; COPY them in the Dockerfile instead"
        raise source.fault(wrong, line)
    yield f"{source.path.name}: {name}.volumes: {shorten(volume)} is not mounted"


def _interpolated(value: Any) -> Any:
    """Return a value with ``$NAME`` and ``${NAME:-default}`` filled as the harness would; the host gives nothing."""
    if isinstance(value, dict):
        return {key: _interpolated(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_interpolated(each) for each in value]
    return _VARIABLE.sub(_filled, value) if isinstance(value, str) else value


def _filled(found: re.Match[str]) -> str:
    if found[0] == "$$":
        return "$"
    return _HARNESS.get(found[1] or found[3], found[2] or "")


def _variables(given: Any, source: Source, line: int | None, notes: list[str]) -> dict[str, str]:
    """Return variables that stand in a list or in a mapping; one without a value is the host's."""
    if given is None:
        return {}
    if isinstance(given, list) and all(isinstance(each, str) for each in given):
        pairs = [(each.partition("=")[0], each.partition("=")[2] if "=" in each else None) for each in given]
    elif isinstance(given, dict):
        pairs = [(str(key), None if each is None else _text(each)) for key, each in given.items()]
    else:
        raise source.fault(f"{shorten(given)} are no variables; write NAME=value lines or a mapping", line)
    notes.extend(f"{source.path.name}: {key} would be the host's and is not set" for key, each in pairs if each is None)
    return {key: each for key, each in pairs if each is not None}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reached(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        value = value.get(name) or {}
        if not isinstance(value, dict):
            return {}
    return value


def _memory(value: Any, source: Source, line: int | None) -> int | None:
    if not value:
        return None
    text = str(value).strip().rstrip("bB").removesuffix("i")
    try:
        return int(text) if text.isdigit() else mebibytes(text) << 20
    except ValueError:
        raise source.fault(f"memory={value!r} is no size; write one such as 2G", line) from None


def _cores(value: Any, source: Source, line: int | None) -> float | None:
    if not value:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise source.fault(f"cpus={value!r} is no number; write one such as 1.5", line) from None


def no_service(folder: Path) -> FolderError:
    """Return the error of a folder that says nothing of its container."""
    return FolderError(f"{folder}: has neither a Dockerfile nor a {COMPOSE[0]}; write one")
