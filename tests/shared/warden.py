"""A warden: a script that adopts every orphan below it (PR_SET_CHILD_SUBREAPER) and counts what others leave behind.

A process that escaped by a double fork or `setsid` is still its child, and `wait` knows when the last one is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
GONE_DEADLINE = 20  # [s]; what is killed goes in milliseconds, but a loaded machine may take its time
HERE = str(Path(__file__).parent)
NOTHING: dict[str, list[str]] = {"processes": [], "mounts": [], "groups": [], "files": []}


def warden(script: str, what: str, count: int) -> dict[str, Any]:
    """Run a script as the warden and return what it counted."""
    # -P: not its folder on the path, where those that mirror the packages would pass for them.
    done = subprocess.run(
        [sys.executable, "-P", script, what, str(count)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))},
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def watch(acts: Mapping[str, Callable[[int], dict[str, Any]]]) -> None:
    """Be the warden of what the command line asks for, and print what was counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TMPDIR"] = scratch
        tempfile.tempdir = None
        print(json.dumps(acts[sys.argv[1]](int(sys.argv[2]))))


def fork(live: Callable[[], object]) -> int:
    """Have a child do that and end, with 1 if it raises; return its pid.

    It never goes on to the warden's own end, which removes what is counted.
    """
    pid = os.fork()
    if pid == 0:
        try:
            live()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(1)
    return pid


class World:
    """What can be left behind outside, before and after."""

    def __init__(self) -> None:
        self._scratch = Path(os.environ["TMPDIR"])
        self._mounts = set(self._mounted())
        self._groups = set(self._grouped())
        self._files = set(self._filed())

    def left(self) -> dict[str, list[str]]:
        """Return what is there now and was not before; processes were waited for."""
        return {
            "processes": [str(child) for child in children(os.getpid())],
            "mounts": sorted(set(self._mounted()) - self._mounts),
            "groups": sorted(set(self._grouped()) - self._groups),
            "files": sorted(set(self._filed()) - self._files),
        }

    def _mounted(self) -> Iterator[str]:
        yield from (line.split(" - ")[0].split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())

    def _grouped(self) -> Iterator[str]:
        """Yield control groups whose owner, named in theirs, is gone; live ones belong to others on this machine."""
        for path in control_groups("rolf-"):
            owner = re.match(r"rolf-(\d+)-", path.name)
            if owner and not Path("/proc", owner[1]).exists():
                yield str(path)

    def _filed(self) -> Iterator[str]:
        yield from map(str, self._scratch.iterdir())
        yield from map(str, Path("/dev/shm").glob("rolf*"))  # others on this machine may use it too


def control_groups(prefix: str) -> list[Path]:
    """Return the control groups whose names begin so. Others come and go meanwhile, on which `Path.rglob` fails."""
    return [
        Path(above, name) for above, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith(prefix)
    ]


def traces(pid: int) -> list[Path]:
    """Return the control groups and folders that carry a supervisor's name."""
    return [*control_groups(f"rolf-{pid}-"), *Path("/tmp").glob(f"rolf-{pid}-*")]


def children(pid: int) -> list[int]:
    """Return the children of all threads of a process; none of what has ended meanwhile."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found.extend(map(int, (task / "children").read_text().split()))
    return found


def descendants(pid: int) -> list[int]:
    found = children(pid)
    return [*found, *(further for child in found for further in descendants(child))]


def wait_for_all() -> None:
    """Reap children and adopted orphans until there is none; give up at the deadline, so that the count shows them."""

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(GONE_DEADLINE)
    try:
        while True:
            os.waitpid(-1, 0)
    except (ChildProcessError, TimeoutError):
        return
    finally:
        signal.alarm(0)
