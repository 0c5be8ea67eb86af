"""An agent that uses up what it was given: memory, files, disk. That is its own doing, and the next start works."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from termgym.sandbox import open_sandbox
from termgym.sandbox.protocol import Sandbox
from termgym.tasks.task import Limits, Task

FULL = {
    "with empty files": "import os\nfor n in range(10**6): os.close(os.open(f'/tmp/{n}', os.O_CREAT | os.O_WRONLY))",
    "with bytes": "import os\nfor n in range(64): open(f'/tmp/{n}', 'wb').write(bytes(4 << 20))",
}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox("local")
    yield opened
    opened.close()


@pytest.mark.parametrize("how", FULL)
def test_a_shell_starts_however_full_the_memory_is(sandbox: Sandbox, how: str) -> None:
    """Files lie in memory and count as the agent's. Under verified limits of 96 MiB for both."""
    limits = Limits(memory_bytes=96 << 20, disk_bytes=128 << 20, processes=32)
    task = Task(id="hunger", instruction="", limits=limits)
    session = sandbox.start(task)
    assert sandbox.capabilities()["limits"]["memory"] in ("cgroup-v1", "cgroup-v2", "rlimit")  # type: ignore[index]
    session.step(f'python3 -c "{FULL[how]}"'.encode(), timeout=60)
    for turn in range(3):  # the last pages are taken by ever smaller programs
        if session.alive:
            fill = f"n=0; while : > /dev/shm/{turn}.$n; do n=$((n+1)); done 2>/dev/null; exit"
            session.step(fill.encode(), timeout=30)
        session = sandbox.respawn()
    assert session.step(b"find /tmp -type f -delete; echo tidy", timeout=60).stdout == b"tidy\n"
    assert sandbox.start(task).step(b"ls /tmp; echo ok", timeout=20).stdout == b"ok\n"
    hog = sandbox.start(task).step(b"python3 -c 'x = b\"x\" * (200 << 20); print(len(x))'", timeout=20)
    assert b"209715200" not in hog.stdout, "the raised limit outlived the episode"
