"""Terminal-Bench 1: a folder with ``task.yaml``, a Dockerfile or a compose file, tests and a solution, as a task.

Follows terminal-bench 0.2.18 (handlers/trial_handler.py, harness/harness.py), but for the verdict: its harness reads
pytest's summary off the terminal, where any program can print one; here pytest itself writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from termgym.errors import FolderError
from termgym.folders.canary import without_canary
from termgym.folders.compose import COMPOSE, Container, no_service, read_compose
from termgym.folders.copies import Piece, gather, inside, keep, over
from termgym.folders.environment import build_recipe, limits
from termgym.folders.folder import TERMINAL_BENCH, FolderTask
from termgym.folders.house import ANYWHERE, STEPS
from termgym.folders.keystrokes import read_commands
from termgym.folders.reading import checked, mapping, unknown
from termgym.folders.schema import Environment, Seconds, Table
from termgym.folders.source import read_source
from termgym.folders.yaml import read_yaml
from termgym.image import Recipe
from termgym.plan import ActionPlan
from termgym.tasks.task import Task
from termgym.tasks.verifier import Solution, Verifier

RUN_TESTS = "run-tests.sh"
SOLUTION_SH = "solution.sh"
SOLUTION_YAML = "solution.yaml"


class TaskFile(Table):
    """``task.yaml``."""

    instruction: Annotated[str, Field(min_length=1)]
    author_name: str = "unknown"
    author_email: str = "unknown"
    difficulty: Literal["easy", "medium", "hard", "unknown"] = "unknown"
    category: str = "software_engineering"
    tags: list[str] = Field(default=[])
    parser_name: str = "pytest"
    max_agent_timeout_sec: Seconds = 360.0
    max_test_timeout_sec: Seconds = 60.0
    run_tests_in_same_shell: bool = False
    disable_asciinema: bool = False
    estimated_duration_sec: float | None = None
    expert_time_estimate_min: float | None = None
    junior_time_estimate_min: float | None = None

    @field_validator("parser_name")
    @classmethod
    def _known(cls, value: str) -> str:
        if value != "pytest":
            raise ValueError("allowed is 'pytest'; the parsers of other benchmarks are not supported")
        return value


def read_terminal_bench(folder: Path, host: Mapping[str, str]) -> FolderTask:  # noqa: ARG001 - it asks nothing of it
    """Return the task of a Terminal-Bench folder; see `read_folder`."""
    source = read_source(inside(folder / "task.yaml", folder))
    data, line = read_yaml(source)
    file = checked(TaskFile, mapping(data, source), source, line)
    instruction = without_canary(file.instruction)
    if not instruction.strip():
        raise source.fault("instruction is empty; say what the agent is to do", line(("instruction",)))
    notes: list[str] = []
    image, container = _image(folder, notes)
    solution, oracle = _solution(folder, file, notes)
    if file.run_tests_in_same_shell:
        notes.append("run_tests_in_same_shell: the tests run when the agent's shell is gone, and see files alone")
    return FolderTask(
        task=Task(
            id=folder.name,
            instruction=instruction,
            allowed=ANYWHERE,
            limits=limits(Environment(), container),
            max_steps=max(STEPS, len(oracle) + 1),
            tags=tuple(dict.fromkeys(file.tags)),
            image=image,
            verifier=_verifier(folder, file),
            solution=solution,
            oracle=oracle,
            agent_timeout=file.max_agent_timeout_sec,
        ),
        path=str(folder),
        kind=TERMINAL_BENCH,
        schema="1",
        unknown=tuple(unknown(file, source, line)),
        notes=tuple(notes),
        metadata=_metadata(data),
        source=source.text,
    )


def _image(folder: Path, notes: list[str]) -> tuple[Recipe, Container]:
    container = Container()
    for name in COMPOSE:
        if (folder / name).exists() or (folder / name).is_symlink():
            container = read_compose(folder / name, folder, main="client", notes=notes)
            break
    else:
        if not (folder / "Dockerfile").exists():
            raise no_service(folder)
        container = Container(context=".")
    fields = {"env": container.env, "cwd": container.cwd, "user": container.user or ""}
    if not container.context:
        return Recipe(reference=container.image, **fields), container  # type: ignore[arg-type]  # as written above
    context = folder / container.context
    built = build_recipe(context, context / (container.dockerfile or "Dockerfile"), folder, container, notes)
    return (
        Recipe(
            context=built.context,
            dockerfile=built.dockerfile,
            arguments=built.arguments,
            target=built.target,
            **fields,  # type: ignore[arg-type]  # as written above
        ),
        container,
    )


def _verifier(folder: Path, file: TaskFile) -> Verifier:
    script = read_source(inside(_there(folder / RUN_TESTS), folder), script=True)
    runner = {RUN_TESTS: Piece("file", 0o755, content=script.text.encode())}
    return Verifier(
        directory=keep(over(gather(folder / "tests", folder), runner)),
        command=("bash", f"/tests/{RUN_TESTS}"),
        timeout=file.max_test_timeout_sec,
        env={"TEST_DIR": "/tests"},
        format="pytest",
    )


def _solution(folder: Path, file: TaskFile, notes: list[str]) -> tuple[Solution | None, tuple[ActionPlan, ...]]:
    """Return the script that solves it, or the plans that do."""
    script, commands = folder / SOLUTION_SH, folder / SOLUTION_YAML
    if script.exists() or script.is_symlink():
        text = read_source(inside(script, folder), script=True).text
        place = keep({SOLUTION_SH: Piece("file", 0o755, content=text.encode())})
        command = ("bash", f"/solution/{SOLUTION_SH}")
        return Solution(directory=place, command=command, timeout=file.max_agent_timeout_sec), ()
    if commands.exists() or commands.is_symlink():
        return None, read_commands(read_source(inside(commands, folder)))
    notes.append(f"it has neither {SOLUTION_SH} nor {SOLUTION_YAML}: nobody can tell whether it can be solved")
    return None, ()


def _there(path: Path) -> Path:
    if not (path.exists() or path.is_symlink()):
        raise FolderError(f"{path}: is missing; it runs the tests")
    return path


def _metadata(data: Mapping[str, Any]) -> dict[str, Any]:
    names = {"instruction", "parser_name", "run_tests_in_same_shell", "disable_asciinema"}
    return {key: value for key, value in data.items() if key not in names}
