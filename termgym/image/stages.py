"""Stages: which of them a target needs, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from termgym.errors import ImageError
from termgym.image.dockerfile import Dockerfile, Stage, Step


def find_target(dockerfile: Dockerfile, target: str) -> Stage:
    """Return the stage to stop at: the one of that name or number, or the last.

    Raises:
        ImageError: there is none of that name.
    """
    stage = dockerfile.stage(target) if target else dockerfile.stages[-1]
    if stage is None:
        known = ", ".join(stage.name or str(stage.index) for stage in dockerfile.stages)
        raise ImageError(f"{dockerfile.file}: no stage {target!r}; it has {known}")
    return stage


def in_order(dockerfile: Dockerfile, target: Stage, variables: Mapping[str, str]) -> list[Stage]:
    """Return the stages that a target needs and it itself, each after those it needs.

    Raises:
        ImageError: a stage needs itself, by way of others or not.
    """
    order: list[Stage] = []
    pending: list[Stage] = []

    def visit(stage: Stage, step: Step) -> None:
        if stage in pending:
            circle = [each.name or str(each.index) for each in (*pending[pending.index(stage) :], stage)]
            raise step.fault(f"the stages need each other: {' → '.join(circle)}", "let one of them do without")
        if stage in order:
            return
        pending.append(stage)
        for needed, by in _needed(dockerfile, stage, variables):
            visit(needed, by)
        pending.pop()
        order.append(stage)

    visit(target, target.start)
    return order


def _needed(dockerfile: Dockerfile, stage: Stage, variables: Mapping[str, str]) -> Iterator[tuple[Stage, Step]]:
    """Yield what a stage stands on and copies from, with the step that says so."""
    base = dockerfile.stage(stage.start.expand(stage.start.args[0], variables), stage.index)
    if base is not None and base.name:  # FROM takes names only, COPY numbers too
        yield base, stage.start
    for step in stage.steps:
        for reference in references(step):
            named = dockerfile.stage(step.expand(reference, variables))
            if named is not None:
                yield named, step


def references(step: Step) -> list[str]:
    """Return what a step names by ``--from=`` or ``--mount=from=``."""
    if step.name == "COPY":
        return [name] if (name := step.flag("from")) else []
    found = []
    for flag, value in step.flags:
        if flag == "mount":
            pairs = (option.partition("=") for option in value.split(","))
            found += [name for key, _, name in pairs if key == "from"]
    return found
