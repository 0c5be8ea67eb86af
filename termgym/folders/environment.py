"""Environment: the container that a Harbor folder asks for, as a recipe, limits and notes on what is not had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from termgym.errors import FolderError
from termgym.folders.compose import COMPOSE, Container, read_compose
from termgym.folders.copies import IN_PLACE, gather_context, inside, keep, size
from termgym.folders.schema import Document, Environment, Phase, memory, storage
from termgym.image import Recipe
from termgym.tasks.task import Limits

MEMORY = 2 << 30
"""Memory of a task that names none [bytes]: what Harbor gave before tasks could say it."""
DISK = 4 << 30
"""What a task that names no storage may write [bytes]."""
PROCESSES = 1024
"""Processes and threads of a task folder; its image may build with many."""


def recipe(document: Document, folder: Path, env: Mapping[str, str], notes: list[str]) -> tuple[Recipe, Container]:
    """Return what the image of a Harbor folder is built from, and what its compose file says beside.

    Raises:
        FolderError: there is neither a Dockerfile nor an image, or there are several containers.
    """
    table = document.environment
    directory = folder / "environment"
    if directory.is_symlink() or directory.exists():
        inside(directory, folder)
    container = Container()
    for name in COMPOSE:
        if (directory / name).exists():
            container = read_compose(directory / name, folder, main="main", notes=notes)
            break
    found = _built(table, directory, folder, container, notes)
    user = document.agent.user if document.agent.user is not None else container.user
    return (
        replace(
            found,
            timeout=table.build_timeout_sec,
            env={**container.env, **env},
            cwd=table.workdir or container.cwd,
            user="" if user is None else str(user),
        ),
        container,
    )


def _built(table: Environment, directory: Path, folder: Path, container: Container, notes: list[str]) -> Recipe:
    dockerfile = directory / (container.dockerfile or "Dockerfile")
    context = (directory / container.context) if container.context else directory
    if container.context or container.dockerfile:
        dockerfile = context / (container.dockerfile or "Dockerfile")
    if dockerfile.exists() or dockerfile.is_symlink():
        if table.docker_image:
            notes.append(
                f"[environment] docker_image={table.docker_image!r}: the Dockerfile beside it is built instead"
            )
        return build_recipe(context, dockerfile, folder, container, notes)
    reference = table.docker_image or container.image
    if not reference:
        raise FolderError(
            f"{folder}: has no environment/Dockerfile, and task.toml no docker_image under [environment]; write one"
        )
    return Recipe(reference=reference)


def build_recipe(context: Path, dockerfile: Path, folder: Path, container: Container, notes: list[str]) -> Recipe:
    """Return the recipe of a Dockerfile in a folder, with its context kept by content."""
    inside(context, folder)
    real = inside(dockerfile, folder)
    pieces = gather_context(context)
    place = str(context.resolve())
    if size(pieces) <= IN_PLACE:
        place = keep(pieces)
    else:
        notes.append(f"{context.name}/ holds {size(pieces) >> 20} MiB and is used where it lies; do not edit it")
    if not real.is_relative_to(context.resolve()):
        raise FolderError(f"{dockerfile}: lies outside its build context {context}; put it below")
    written = str(Path(place) / real.relative_to(context.resolve()))
    return Recipe(context=place, dockerfile=written, arguments=container.arguments, target=container.target)


def limits(table: Environment, container: Container) -> Limits:
    """Return the limits that an environment asks for; where it is silent, those of the house."""
    asked, disk = memory(table), storage(table)
    room = DISK if disk is None else disk << 20
    return Limits(
        memory_bytes=(container.memory_bytes or MEMORY) if asked is None else asked << 20,
        processes=PROCESSES,
        cpu_cores=container.cpu_cores if table.cpus is None else table.cpus,
        file_bytes=room,
        disk_bytes=room,
    )


def remarks(document: Document, folder: Path) -> Iterator[str]:
    """Yield what a Harbor folder asks for and does not get, or gets otherwise."""
    table = document.environment
    yield from _network("environment", table, table.allow_internet)
    for name, phase in (("agent", document.agent), ("verifier", document.verifier)):
        if phase.network_mode != table.network_mode:
            yield from _network(name, phase, None)
    absent: dict[str, Any] = {
        "[environment] healthcheck": table.healthcheck and table.healthcheck.command,
        "[environment] mcp_servers": [each.get("name") for each in table.mcp_servers],
        "[environment] skills_dir": table.skills_dir,
        "[environment] gpus": table.gpus,
        "[environment] tpu": table.tpu,
        "[[verifier.collect]]": [each.command for each in document.verifier.collect],
        "artifacts": document.artifacts,
        "trajectory.json": (folder / "trajectory.json").exists(),
    }
    for name, value in absent.items():
        if value:
            yield f"{name} is not supported and left out: {value!r}" if value is not True else f"{name} is left out"
    if document.verifier.environment_mode == "separate" or document.verifier.environment is not None:
        yield "[verifier] asks for a container of its own; it runs over the agent's files, when the agent is gone"


def _network(name: str, table: Environment | Phase, allow_internet: bool | None) -> Iterator[str]:
    mode = table.network_mode
    if mode is None and allow_internet is not None:
        mode = "public" if allow_internet else "no-network"
    if mode == "public":
        yield f"[{name}] asks for the network; an episode has none unless network=True"
    elif mode == "allowlist":
        yield f"[{name}] asks for the network to {table.allowed_hosts}; lists of hosts are not supported: there is none"
    elif mode == "no-network":
        yield f"[{name}] wants no network: leave network=False"
