"""Staging: what the world puts before the agent from outside, when a stage begins or its solution is to be shown."""

from __future__ import annotations

import os
import shlex

from termgym.errors import SandboxError
from termgym.plan import TIMEOUT_LIMIT, ActionPlan
from termgym.sandbox.protocol import Sandbox
from termgym.tasks.verifier import SOLUTION, Solution, Stage
from termgym.verification.stages import SETUP

_SETUP_TIMEOUT = 600.0  # [s]
_SHOWN = 2000  # [characters] of a failed set-up's output


def begin(sandbox: Sandbox, stage: Stage) -> None:
    """Put a stage's files into the working directory of a running sandbox and run its ``setup.sh``, if there is one.

    Raises:
        SandboxError: it failed; this is nothing that the agent could be blamed for.
    """
    if not stage.workdir:
        return
    sandbox.copy_in(stage.workdir, sandbox.workdir)
    if not os.path.exists(os.path.join(stage.workdir, SETUP)):
        return
    done = sandbox.run(["bash", SETUP], cwd=sandbox.workdir, timeout=_SETUP_TIMEOUT)
    if done.exit_code != 0 or done.timed_out or done.refused:
        reason = done.refused or ("it ran too long" if done.timed_out else f"exit status {done.exit_code}")
        said = (done.stdout + done.stderr).decode("utf-8", "replace")[-_SHOWN:]
        raise SandboxError(f"{SETUP} of stage {stage.name!r} failed ({reason}); its output ends in:\n{said}")


def show(sandbox: Sandbox, solution: Solution) -> ActionPlan:
    """Put a solution where it is expected and return the plan that carries it out."""
    sandbox.copy_in(solution.directory, SOLUTION)
    variables = [f"{name}={value}" for name, value in solution.env.items()]
    command = shlex.join(["env", *variables, *solution.command] if variables else solution.command)
    return ActionPlan(command=command, timeout=min(solution.timeout, TIMEOUT_LIMIT), expected_exit_code=None)
