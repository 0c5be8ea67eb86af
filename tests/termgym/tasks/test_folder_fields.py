from __future__ import annotations

import pytest

from termgym.checks import FileExists
from termgym.errors import TaskError
from termgym.image import Recipe
from termgym.plan import ActionPlan
from termgym.tasks import FileSpec, Task
from termgym.tasks.verifier import Solution, Stage, Verifier

VERIFIER = Verifier("/t")
SOLUTION = Solution("/s")
STAGE = Stage("one", "Do it.", VERIFIER)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"image": "debian"}, "image='debian' is of type str; give a Recipe, or None"),
        ({"stages": ("one",)}, r"stages\[0\]='one' is of type str; give a Stage"),
        ({"stage_reward": "sum"}, "stage_reward='sum' is unknown; allowed are 'mean' and 'final'"),
        ({"image": Recipe(reference="debian:12"), "setup": "true"}, "setup='true' stands beside image"),
        ({"image": Recipe(reference="x"), "files": (FileSpec("/home/agent/a"),)}, "files=.* stands beside image"),
        ({"verifier": VERIFIER, "goal": (FileExists(path="/a"),)}, "goal=.* stands beside verifier"),
        ({"verifier": VERIFIER, "stages": (STAGE,)}, "stages=.* stands beside verifier"),
        ({"solution": SOLUTION, "oracle": (ActionPlan(command="true"),)}, "oracle=.* stands beside solution"),
        ({"agent_timeout": -1}, "agent_timeout=-1 is not allowed; give a number from 0"),
    ],
)
def test_refuses_what_does_not_go_together(fields: dict[str, object], said: str) -> None:
    with pytest.raises(TaskError, match=said):
        Task(id="x", instruction="", **fields)  # type: ignore[arg-type]  # wrong on purpose


def test_takes_a_task_with_image_verifier_and_solution() -> None:
    task = Task(id="x", instruction="", image=Recipe(reference="x"), verifier=VERIFIER, solution=SOLUTION)
    assert task.image == Recipe(reference="x")
    assert hash(task) == hash(Task(**{name: getattr(task, name) for name in Task.__slots__}))
