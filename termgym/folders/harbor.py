"""Harbor: a folder with ``task.toml``, ``instruction.md``, ``environment/``, ``tests/``, ``solution/``, as a task.

Follows harbor 0.26.0 (models/task/, trial/, verifier/), but for what the README of the format leaves to the harness:
no variable of the host goes in unasked, agent time-outs are told and not enforced, and the tests run when the agent's
processes are dead.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from termgym.errors import FolderError
from termgym.folders import copies, scripts
from termgym.folders.canary import without_canary
from termgym.folders.environment import limits, recipe, remarks
from termgym.folders.folder import HARBOR, FolderTask
from termgym.folders.generated import generated
from termgym.folders.house import MARK, House, house, own_limits
from termgym.folders.reading import Line, checked, unknown
from termgym.folders.schema import Document, Step, VerifierTable
from termgym.folders.source import Source, read_source
from termgym.folders.toml import line_of, lines, read_toml
from termgym.folders.variables import filled
from termgym.tasks.task import Task
from termgym.tasks.verifier import Solution, Stage, Verifier

SILENT = {"DEBIAN_FRONTEND": "noninteractive"}
"""What Harbor's oracle adds to its variables."""


def read_harbor(folder: Path, host: Mapping[str, str]) -> FolderTask:
    """Return the task of a Harbor folder; see `read_folder`."""
    copies.inside(folder / "task.toml", folder)
    source = read_source(folder / "task.toml")
    data, known = read_toml(source), dict(lines(source.text))
    if "version" in data:  # its name before there were several
        data.setdefault("schema_version", data.pop("version"))
        known.setdefault(("schema_version",), known[("version",)])

    def line(name: Any) -> int | None:
        return line_of(known, name)

    document = checked(Document, data, source, line)
    _refuse(document, folder, source, line)
    notes = list(remarks(document, folder))
    own = house(document.metadata.get(MARK), source, line)
    task = None if own.task is None else generated(folder, own.task, source, notes)
    if task is None:
        task = _task(document, folder, host, own, notes)
    else:
        notes.clear()  # what the folder lacks elsewhere, the task here has
    return FolderTask(
        task=task,
        path=str(folder),
        kind=HARBOR,
        schema=document.schema_version,
        unknown=(*unknown(document, source, line), *unknown(own, source, line, ("metadata", MARK))),
        notes=tuple(notes),
        metadata=_metadata(document),
        source=source.text,
    )


def _task(document: Document, folder: Path, host: Mapping[str, str], own: House, notes: list[str]) -> Task:
    env = filled(document.environment.env, host, "environment.env", notes)
    image, container = recipe(document, folder, env, notes)
    stages = tuple(_stage(document, step, folder, host, own, notes) for step in document.steps or ())
    verifier = solution = None
    if not stages:
        tests = scripts.gathered(folder / "tests", folder)
        verifier = _verifier(document.verifier, None, scripts.tests(tests, folder, "tests"), host, own, notes)
        solution = _solution(document, folder / "solution", folder, host, notes)
    return Task(
        id=own.id or (folder.name if document.task is None else document.task.name),
        instruction=stages[0].instruction if stages else _instruction(folder / "instruction.md", folder),
        allowed=own.allowed,
        limits=limits(document.environment, container) if own.limits is None else own_limits(own.limits),
        max_steps=own.max_steps,
        tags=_tags(document),
        image=image,
        verifier=verifier,
        solution=solution,
        stages=stages,
        stage_reward=document.multi_step_reward_strategy or "mean",
        agent_timeout=document.agent.timeout_sec,
    )


def _stage(
    document: Document, step: Step, folder: Path, host: Mapping[str, str], own: House, notes: list[str]
) -> Stage:
    directory = folder / "steps" / step.name
    if not directory.is_dir():
        raise FolderError(f"{directory}: is missing, though task.toml names the step {step.name!r}; add the directory")
    copies.inside(directory, folder)
    # The tests of all steps first, so that a step's own take their place (harbor 0.26.0, verifier/verifier.py).
    tests = copies.over(scripts.gathered(folder / "tests", folder), scripts.gathered(directory / "tests", folder))
    own_solution = directory / "solution"
    workdir = copies.gather(directory / "workdir", folder)
    notes.extend(_step_remarks(document, step))
    return Stage(
        name=step.name,
        instruction=_instruction(directory / "instruction.md", folder),
        verifier=_verifier(
            step.verifier, document.verifier, scripts.tests(tests, folder, f"steps/{step.name}/tests"), host, own, notes
        ),
        solution=_solution(
            document, own_solution if own_solution.exists() else folder / "solution", folder, host, notes
        ),
        workdir=copies.keep(workdir) if workdir else "",
        least_reward=_least(step),
    )


def _verifier(
    table: VerifierTable,
    general: VerifierTable | None,
    directory: str,
    host: Mapping[str, str],
    own: House,
    notes: list[str],
) -> Verifier:
    env = {**(general.env if general else {}), **table.env}
    user = table.user if table.user is not None or general is None else general.user
    return Verifier(
        directory=directory,
        timeout=table.timeout_sec,
        env=filled(env, host, "verifier.env", notes),
        user="" if user is None else str(user),
        guard=own.guard,
    )


def _solution(
    document: Document, directory: Path, folder: Path, host: Mapping[str, str], notes: list[str]
) -> Solution | None:
    if not directory.exists():
        notes.append("it has no solution/, so that nobody can tell whether it can be solved")
        return None
    place = scripts.solution(scripts.gathered(directory, folder), folder, str(directory.relative_to(folder)))
    env = {**SILENT, **filled(document.solution.env, host, "solution.env", notes)}
    return Solution(directory=place, env=env, timeout=document.agent.timeout_sec or Solution(place).timeout)


def _instruction(path: Path, folder: Path) -> str:
    if path.is_symlink():
        copies.inside(path, folder)
    text = without_canary(read_source(path).text)
    if not text.strip():
        raise FolderError(f"{path}: is empty; say what the agent is to do")
    return text


def _least(step: Step) -> float | None:
    if isinstance(step.min_reward, dict):
        return step.min_reward.get("reward")
    return step.min_reward


def _step_remarks(document: Document, step: Step) -> list[str]:
    at = f"step {step.name!r}"
    told = []
    if isinstance(step.min_reward, dict) and set(step.min_reward) - {"reward"}:
        names = ", ".join(sorted(set(step.min_reward) - {"reward"}))
        told.append(f"{at}: min_reward for {names} is not looked at; only 'reward' decides whether the next step comes")
    if step.agent.user is not None and step.agent.user != document.agent.user:
        told.append(f"{at}: agent.user={step.agent.user!r} is left out: the agent stays who it is through all steps")
    if step.healthcheck is not None:
        told.append(f"{at}: healthcheck is not supported and left out: {step.healthcheck.command!r}")
    if step.agent.timeout_sec is not None:
        told.append(f"{at}: agent.timeout_sec={step.agent.timeout_sec:g} is not enforced")
    return told


def _refuse(document: Document, folder: Path, source: Source, line: Line) -> None:
    """Refuse what would make another task of it if it were left out."""
    if document.environment.os != "linux":
        raise source.fault("environment.os='windows' is not supported; allowed is 'linux'", line(("environment", "os")))
    own = document.verifier.environment
    bundled = own is not None and own.docker_image
    if document.verifier.environment_mode == "separate" or own is not None:
        bundled = bundled or next(
            (name for name in ("Dockerfile", "docker-compose.yaml") if (folder / "tests" / name).exists()), None
        )
    if bundled:
        raise source.fault(
            f"the verifier brings a container of its own ({bundled}), which is not supported; let tests/test.sh bring "
            "what it needs and leave environment_mode and [verifier.environment] out",
            line(("verifier",)),
        )


def _metadata(document: Document) -> dict[str, Any]:
    package = {} if document.task is None else document.task.model_dump(exclude_none=True, exclude_defaults=True)
    return {**document.metadata, **({"task": package} if package else {})}


def _tags(document: Document) -> tuple[str, ...]:
    tags = document.metadata.get("tags")
    said = [*(document.task.keywords if document.task else ()), *(tags if isinstance(tags, list) else ())]
    return tuple(dict.fromkeys(str(each) for each in said))
