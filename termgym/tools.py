"""Tools: what an agent does in the terminal, as calls; and what it is told, section by section (``rolf.interface``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rolf.interface import Alias, Call, Nothing, Role, Section, Tool
from termgym.event import Event
from termgym.plan import Action, ActionPlan, Keys, Submit, parse_action, submit
from termgym.spaces import NO_EXIT_CODE
from termgym.tasks.task import Task

PURPOSE = (
    "You work in the bash of a real Linux system, and what you do there stays done: directory, variables, jobs and "
    "files. Do what the instruction asks."
)
RUN = Tool(
    "run",
    "Run a command in the shell, which may have several lines, and return what it prints and its exit status.",
    ActionPlan,
    {"command": "ls -l", "timeout": 10},
    body="command",
    language="bash",
    rare=frozenset({"idle_timeout", "expected_exit_code", "validation_steps", "dialogue"}),
    aliases={
        "function": Alias(
            "execute_bash",
            {
                "command": "cmd",
                "timeout": "time_limit",
                "idle_timeout": "idle_limit",
                "expected_exit_code": "expected_status",
                "validation_steps": "checks",
                "dialogue": "answers",
            },
        ),
        "device": Alias(
            "shell_input",
            {
                "command": "line",
                "timeout": "deadline",
                "idle_timeout": "silence",
                "expected_exit_code": "exit_status",
                "validation_steps": "probes",
                "dialogue": "script",
            },
        ),
    },
)
KEYS = Tool(
    "keys",
    "Type at the program that waits for input (event WAITING_INPUT).",
    Keys,
    {"keys": "q"},
    needed=False,
    body="keys",
    aliases={
        "function": Alias("press_keys", {"keys": "text", "timeout": "time_limit"}),
        "device": Alias("keyboard", {"keys": "typed", "timeout": "deadline"}),
    },
)
_ALIASES = {"function": Alias("finish_task"), "device": Alias("hand_in")}
SUBMIT = Tool("submit", "Say that all is done; nothing can be changed afterwards.", Nothing, aliases=_ALIASES)
SUBMIT_AT_WILL = Tool("submit", SUBMIT.description, Nothing, needed=False, aliases=_ALIASES)
"""The same where an episode ends by itself when the goal is reached."""
TOOLS = (RUN, KEYS, SUBMIT)


def tools(check_goal: str, task: Task | None) -> tuple[Tool, ...]:
    """Return the tools of an episode of a task."""
    ends_itself = check_goal == "step" and (task is None or (task.verifier is None and not task.stages))
    return (RUN, KEYS, SUBMIT_AT_WILL) if ends_itself else TOOLS


def action_of(call: Call) -> str:
    """Return the action text of a call."""
    return submit() if call.tool == SUBMIT.name else json.dumps(dict(call.arguments), ensure_ascii=False)


def call_of(action: str | Action) -> Call:
    """Return the call that does what an action does, without the arguments that have their default.

    Raises:
        PlanError: the text is no action.
    """
    if isinstance(action, str):
        action = parse_action(action)
    if isinstance(action, Submit):
        return Call(SUBMIT.name)
    tool = KEYS if isinstance(action, Keys) else RUN
    fields = type(action).model_fields
    kept = {name for name, field in fields.items() if field.is_required() or getattr(action, name) != field.default}
    return Call(tool.name, action.model_dump(mode="json", include=kept))


def told(observation: Mapping[str, Any], info: Mapping[str, Any]) -> tuple[Section, ...]:
    """Return what an agent is told of an observation: an instruction when it begins to hold, and what came of the step.

    What background jobs wrote is left out: when they speak differs from run to run (``termgym.env.VOLATILE``).
    """
    begins = int(observation["step"][0]) == 0
    sections = []
    if (begins or "stage" in info) and observation["instruction"]:
        sections.append(Section("instruction", observation["instruction"], Role.OUTPUT))
    if not begins or observation["stderr"]:
        sections.append(Section("stdout", observation["stdout"], Role.OUTPUT))
        sections.append(Section("stderr", observation["stderr"], Role.OUTPUT))
    if not begins:
        code = int(observation["exit_code"][0])
        sections.append(Section("exit_code", None if code == NO_EXIT_CODE else code))
        sections.append(Section("event", Event(int(observation["event"])).name))
    sections.append(Section("cwd", observation["cwd"], Role.PLACE))
    return tuple(sections)
