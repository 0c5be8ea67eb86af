"""Sessions that are killed with -9 while a shell is being started leave nothing behind once somebody starts the next.

Run as a script this file is the warden (tests/shared/warden.py).
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from typing import Any

import pytest
from warden import NOTHING, World, children, fork, wait_for_all, warden, watch

SPAN = 0.05
"""How long after a first shell is there a session is killed at most [s]; by then it has started several more."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "sessions",
    [
        pytest.param(30, id="sample"),
        pytest.param(300, id="whole", marks=[pytest.mark.nightly, pytest.mark.timeout(1500)]),
    ],
)
def test_sessions_killed_amid_a_start_leave_nothing_behind(sessions: int) -> None:
    """What bubblewrap was putting together then is bound to no life yet; who comes next ends it."""
    told = warden(__file__, "kills", sessions)
    assert told["killed"] == {"both": sessions // 3, "owner": sessions // 3, "supervisor": sessions // 3}
    assert told["left"] == NOTHING


# ---- the warden


def opened() -> Any:
    """Return a sandbox with a shell in it."""
    from termgym.sandbox import open_sandbox
    from termgym.tasks.task import Task

    sandbox = open_sandbox("local")
    sandbox.start(Task(id="empty", instruction=""))
    return sandbox


def starting(report: int) -> None:
    """Live in a forked child and start one shell after another until killed; tell the supervisor's pid first."""
    from termgym.errors import SandboxLost

    sandbox = opened()
    (supervisor,) = children(os.getpid())
    os.write(report, b"%d\n" % supervisor)
    with contextlib.suppress(SandboxLost):
        while True:
            sandbox.respawn()
    sandbox.close()


def do_kills(count: int) -> dict[str, Any]:
    """Kill sessions while they start shells, then have somebody start the next."""
    import termgym.env  # noqa: F401 # so that the forked sessions need not load it again

    world, draw = World(), random.Random(0)
    killed = dict.fromkeys(("both", "owner", "supervisor"), 0)
    for number in range(count):
        read, write = os.pipe()
        owner = fork(partial(starting, write))
        os.close(write)
        with os.fdopen(read) as told:
            supervisor = int(told.readline())
        time.sleep(draw.uniform(0.0, SPAN))
        victim = sorted(killed)[number % 3]
        if victim != "owner":
            os.kill(supervisor, signal.SIGKILL)
        if victim != "supervisor":
            os.kill(owner, signal.SIGKILL)
        killed[victim] += 1
        ended = os.waitstatus_to_exitcode(os.waitpid(owner, 0)[1])
        assert ended == (0 if victim == "supervisor" else -signal.SIGKILL), f"its owner ended with {ended}"
    subprocess.run([sys.executable, "-P", __file__, "next"], check=True)
    wait_for_all()
    return {"killed": killed, "left": world.left()}


if __name__ == "__main__":
    if sys.argv[1] == "next":
        opened().close()
    else:
        watch({"kills": do_kills})
