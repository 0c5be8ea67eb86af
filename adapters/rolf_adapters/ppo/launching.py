"""Launching: torchrun starts as many processes as learn together, and this one stays in charge of how they end.

torchrun ends with 1 and a traceback when it hears a signal, and kills what then takes longer than 30 s. So it hears
none: it has a session of its own, and what is asked of this process is passed on to those that train, past it. And of
a process that has ended with an error it reports over a page, though that one has told why: `main` runs it without.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

PR_SET_PDEATHSIG = 1  # linux/prctl.h
PAUSE = 0.2
"""Between two looks at what goes on [s]."""
PATIENCE = (2.5, 10.0)
"""How long processes have for an end at once, before they are told again, and before they are killed [s]."""
INTERRUPTED = 130
"""Exit code of a training that was stopped from outside, and can go on."""


@dataclass(slots=True)
class Asked:
    """Hears ^C and SIGTERM within the context."""

    stop: bool = False
    """Whether it is to end after the iteration that is under way."""
    at_once: bool = False
    """Whether it is to end without waiting for that: the second ^C."""
    _former: Any = None

    def __enter__(self) -> Self:
        self._former = {each: signal.signal(each, self._heard) for each in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        self.at_once = self.at_once or (self.stop and number == signal.SIGINT)
        self.stop = True


def launch(module: str, arguments: Sequence[str], *, processes: int, threads: int, folder: Path) -> int:
    """Train in several processes; return the exit code.

    Args:
        module: What each of them runs.
        arguments: For it.
        processes: How many.
        threads: Of each.
        folder: Of the training.

    Returns:
        0: the training is over; 130: it was stopped from outside, and can go on; all else: it has gone wrong, and this
        is the code of the process that says why.
    """
    # Folders for its logs, in which it would write nothing, would stay; and it would warn that it sets the threads.
    options = ["--standalone", "--nproc-per-node", str(processes), "--log-dir", os.devnull]
    command = [sys.executable, "-m", __name__, *options, "-m", module, *arguments]
    environment = {"OMP_NUM_THREADS": str(threads), **os.environ}
    with Asked() as asked:
        torchrun = subprocess.Popen(
            command, env=environment, start_new_session=True, preexec_fn=_ends_with(os.getpid())
        )
        told: set[int] = set()
        while True:
            try:
                code = torchrun.wait(PAUSE)
                break
            except subprocess.TimeoutExpired:
                if asked.at_once:
                    _end(torchrun)
                    return INTERRUPTED
                if asked.stop:
                    told |= _tell(_listening(torchrun.pid, signal.SIGTERM) - told, signal.SIGTERM)
    return INTERRUPTED if code == 0 and asked.stop and _goes_on(folder) else code


def _ends_with(parent: int) -> Any:
    """Return what has the kernel tell a process to stop when its parent dies, which may be killed."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        if libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0 or os.getppid() != parent:
            os._exit(1)

    return prepare


def _listening(parent: int, number: int) -> set[int]:
    """Return the children of a process that have a handler of their own for a signal: others it would kill."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            said = status.read_bytes().decode(errors="replace")  # a name may be anything
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
        told = dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)
        if int(told["PPid"]) == parent and int(told["SigCgt"], 16) >> (number - 1) & 1:
            found.add(int(status.parent.name))
    return found


def _tell(processes: set[int], number: int) -> set[int]:
    """Send a signal to processes; return them."""
    for each in processes:
        try:
            os.kill(each, number)
        except ProcessLookupError:  # it has ended meanwhile
            continue
    return processes


def _end(torchrun: subprocess.Popen[bytes]) -> None:
    """End all at once: first torchrun, which would say much about it, then those that train."""
    # Python has a handler for ^C from its start.
    left = _listening(torchrun.pid, signal.SIGINT)
    torchrun.kill()
    torchrun.wait()
    began = time.monotonic()
    for patience in PATIENCE:
        _tell(left, signal.SIGINT)
        while left and time.monotonic() - began < patience:
            time.sleep(PAUSE)
            left = {each for each in left if _lives(each)}
    _tell(left, signal.SIGKILL)


def _lives(process: int) -> bool:
    try:
        _, _, after_name = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not after_name.startswith(b" Z")


def _goes_on(folder: Path) -> bool:
    """Return whether the training that lies in a folder has something left to do."""
    checkpoints = folder / "checkpoints"
    manifest = json.loads((checkpoints / (checkpoints / "LATEST").read_text().strip() / "manifest.json").read_bytes())
    over = manifest["iteration"] >= manifest["config"]["training"]["iterations"]
    return not (over or manifest["progress"]["ended"])


def main(arguments: Sequence[str]) -> int:
    """Be torchrun; return the exit code of the first process that has failed, 1 where a signal has ended it.

    Args:
        arguments: Of torchrun.
    """
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    logging.disable(logging.ERROR)
    try:
        run.main(list(arguments))
    except ChildFailedError as error:
        for rank, failure in sorted(error.failures.items()):
            if failure.exitcode < 0:  # it could not say anything
                wrong = f"process {rank} of the training was ended by {failure.signal_name()}"
                print(f"Error: {wrong}; --resume goes on from the last checkpoint", file=sys.stderr)
        return max(int(error.failures[min(error.failures)].exitcode), 1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
