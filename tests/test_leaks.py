"""Nothing is left behind: not by a thousand resets, not by sessions that are killed with -9.

Run as a script this file is the warden (tests/shared/warden.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from warden import NOTHING, World, children, descendants, fork, wait_for_all, warden, watch

SPARE = 40
"""What the spare shell that a supervisor keeps ready may hold of anything, or not yet, at the moment of counting.
A leak would be at least one a reset: several times as much."""
MOMENTS = ("made", "resetting", "ready", "stepping")
"""When a session is killed."""
MESS = (
    "(setsid sleep 1000 &) ; nohup sleep 1000 >/dev/null 2>&1 & trap '' TERM; "
    "mkdir -p ~/mess/deep; dd if=/dev/zero of=/tmp/big bs=1M count=2 2>/dev/null; "
    "mkfifo ~/fifo; chmod 000 ~/mess/deep; touch /dev/shm/rolf-mess"
)
"""What an agent leaves lying about."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "resets",
    [
        pytest.param(150, id="sample"),
        pytest.param(1000, id="whole", marks=[pytest.mark.nightly, pytest.mark.timeout(1500)]),
    ],
)
def test_resets_leave_nothing_behind(resets: int) -> None:
    """A training run resets millions of times: one descriptor or file each, and it dies after a day."""
    told = warden(__file__, "resets", resets)
    assert told["resets"] == resets
    grown = {what: count - told["before"][what] for what, count in told["after"].items()}
    assert max(grown.values()) <= SPARE, grown
    assert told["left"] == NOTHING


@pytest.mark.slow
@pytest.mark.parametrize(
    "sessions",
    [
        pytest.param(24, id="sample"),
        pytest.param(200, id="whole", marks=[pytest.mark.nightly, pytest.mark.timeout(1500)]),
    ],
)
def test_killed_sessions_leave_nothing_behind(sessions: int) -> None:
    """Nobody cleans up after `kill -9`, so the kernel must: at every moment of a session's life."""
    told = warden(__file__, "kills", sessions)
    assert sum(told["killed"].values()) == sessions
    assert set(told["killed"]) == set(MOMENTS)
    assert told["left"] == NOTHING


@pytest.mark.slow
def test_resets_and_verdicts_on_an_image_leave_nothing_behind() -> None:
    """Each start mounts a root and each verdict a second one, for an agent that is root and makes a mess of it."""
    told = warden(__file__, "image-resets", 200)
    grown = {what: count - told["before"][what] for what, count in told["after"].items()}
    assert max(grown.values()) <= SPARE, grown
    assert told["left"] == NOTHING


@pytest.mark.slow
def test_killed_verifications_leave_nothing_behind() -> None:
    """Neither the owner nor its supervisor can clean up after `kill -9`, while a verifier and its daemons run."""
    told = warden(__file__, "image-kills", 12)
    assert told["killed"] == {"owner": 6, "supervisor": 6}
    assert told["left"] == NOTHING


# ---- the warden


def test_what_ends_while_it_is_looked_at_has_no_children() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert children(ended.pid) == []


def held(supervisor: int) -> dict[str, int]:
    """Return what this process and its supervisor hold now."""
    below = descendants(supervisor)
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "supervisor's descriptors": len(os.listdir(f"/proc/{supervisor}/fd")),
        "supervisor's mounts": len(Path(f"/proc/{supervisor}/mountinfo").read_text().splitlines()),
        "processes": len(below),
    }


def do_resets(count: int, what: str = "reset") -> dict[str, Any]:
    world = World()
    done = subprocess.run(
        [sys.executable, "-P", __file__, what, str(count)], stdout=subprocess.PIPE, text=True, check=True
    )
    wait_for_all()
    return {**json.loads(done.stdout), "left": world.left()}


def reset(count: int) -> dict[str, Any]:
    """Be an ordinary program that resets many times and ends."""
    import gymnasium

    import termgym

    env = gymnasium.make("termgym:TermEnv-v1", task="git-dirty-pull")
    for _ in range(3):  # caches fill
        env.reset(seed=0)
        env.step(termgym.plan(MESS))
    env.reset(seed=0)
    (supervisor,) = children(os.getpid())
    before = held(supervisor)
    for _ in range(count):
        env.step(termgym.plan(MESS))
        env.reset(seed=0)
    after = held(supervisor)
    env.close()
    return {"resets": count, "before": before, "after": after}


def session(report: int) -> None:
    """Live in a forked child until killed, telling each moment."""
    import gymnasium

    import termgym

    env = gymnasium.make("termgym:TermEnv-v1")
    os.write(report, b"made\n")
    os.write(report, b"resetting\n")
    env.reset(seed=0)
    env.step(termgym.plan(MESS))
    os.write(report, b"ready\n")
    os.write(report, b"stepping\n")
    env.step(termgym.plan("trap '' TERM INT HUP; while :; do sleep 1; done", timeout=600))


def do_kills(count: int) -> dict[str, Any]:
    import gymnasium  # noqa: F401 # so that the forked sessions need not load it again

    import termgym.env  # noqa: F401

    world = World()
    killed = dict.fromkeys(MOMENTS, 0)
    for number in range(count):
        moment = MOMENTS[number % len(MOMENTS)]
        read, write = os.pipe()
        pid = fork(partial(session, write))
        os.close(write)
        with os.fdopen(read) as told:
            for line in told:
                if line.strip() == moment:
                    os.kill(pid, signal.SIGKILL)
                    killed[moment] += 1
                    break
        os.waitpid(pid, 0)
    wait_for_all()
    return {"killed": killed, "left": world.left()}


def image_world() -> tuple[Any, Any, Any]:
    """Return what opens a sandbox, a task, and its image."""
    sys.path.append(str(Path(__file__).parent / "shared"))
    from toy_images import host_image, imaged_task

    from termgym.sandbox import open_sandbox

    return open_sandbox, imaged_task(), host_image(workdir="/root")


def verification(script: str) -> Any:
    """Return a verification by a script, whose folder is the caller's to remove."""
    from termgym.verification.request import Verification

    tests = tempfile.mkdtemp(prefix="tests-")
    Path(tests, "test.sh").write_text(script)
    return Verification(tests, ("bash", "/tests/test.sh"), 60)


def image_reset(count: int) -> dict[str, Any]:
    """Be an ordinary program that resets many times on an image, with a verdict each tenth time."""
    open_sandbox, task, image = image_world()
    sandbox = open_sandbox("local")
    verdict = verification("(setsid sleep 1000 &); echo 1 > /logs/verifier/reward.txt; rm -rf /etc")

    def mess() -> None:
        sandbox.start(task, image=image).step(f"{MESS}; ln -s /srv /tests; rm -rf /etc".encode(), timeout=20)

    for _ in range(3):  # caches fill
        mess()
        sandbox.verify(verdict)
    sandbox.start(task, image=image)
    (supervisor,) = children(os.getpid())
    before = held(supervisor)
    for number in range(count):
        mess()
        if number % 10 == 0:
            assert sandbox.verify(verdict).files == {"reward.txt": b"1\n"}
    sandbox.start(task, image=image)
    after = held(supervisor)
    sandbox.close()
    shutil.rmtree(verdict.tests)
    return {"resets": count, "before": before, "after": after}


def image_verdict(report: int, folder: str) -> None:
    """Live in a forked child amid a verification, telling when it has begun, until it ends."""
    from termgym.errors import SandboxLost
    from termgym.sandbox.verdicts import requested
    from termgym.verification.request import Verification

    open_sandbox, task, image = image_world()
    sandbox = open_sandbox("local")
    sandbox.start(task, image=image).step(MESS.encode(), timeout=20)
    (supervisor,) = children(os.getpid())
    script = "trap '' TERM INT HUP; (setsid sleep 1000 &); sleep 1000 & echo begun; wait"
    Path(folder, "test.sh").write_text(script)
    asked = requested(Verification(folder, ("bash", "/tests/test.sh"), 600))
    _, (output, _) = sandbox._ask("verify", **asked)
    os.read(output, 6)
    os.write(report, b"%d\n" % supervisor)
    while os.read(output, 100):
        pass
    with contextlib.suppress(SandboxLost):
        sandbox.close()


def do_image_kills(count: int) -> dict[str, Any]:
    image_world()  # loads what the forked sessions need, and makes the image's layer
    world = World()
    killed = dict.fromkeys(("owner", "supervisor"), 0)
    for number in range(count):
        read, write = os.pipe()
        with tempfile.TemporaryDirectory() as folder:
            pid = fork(partial(image_verdict, write, folder))
            os.close(write)
            with os.fdopen(read) as told:
                supervisor = int(told.readline())
                victim = "owner" if number % 2 else "supervisor"
                os.kill(pid if victim == "owner" else supervisor, signal.SIGKILL)
                killed[victim] += 1
            os.waitpid(pid, 0)
    wait_for_all()
    return {"killed": killed, "left": world.left()}


def main() -> None:
    if sys.argv[1] in ("reset", "image-reset"):
        do = reset if sys.argv[1] == "reset" else image_reset
        print(json.dumps(do(int(sys.argv[2]))))
        return
    watch(
        {
            "resets": do_resets,
            "kills": do_kills,
            "image-resets": partial(do_resets, what="image-reset"),
            "image-kills": do_image_kills,
        }
    )


if __name__ == "__main__":
    main()
