"""Jobs: do pieces of work here, or in several processes at once, and lose none of them to a process that dies."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any, Generic, NoReturn, Protocol, TypeVar, cast

PATIENCE = 30.0
"""How long a process may take to close what it has opened [s]."""
PR_SET_PDEATHSIG = 1  # linux/prctl.h

Piece = TypeVar("Piece")
Result = TypeVar("Result")
Piece_contra = TypeVar("Piece_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class Work(Protocol[Piece_contra, Result_co]):
    """What is done with each piece; travels to other processes by pickle."""

    def open(self) -> AbstractContextManager[Callable[[Piece_contra], Result_co]]:
        """Open what it takes to do the pieces one by one, and close it in the end.

        What is opened, and what is done, raises RuntimeError where nothing at all can be done.
        """

    def lost(self, piece: Piece_contra, seconds: float, end: str) -> Result_co:
        """Return what came of a piece whose process has died.

        Args:
            piece: What it was at.
            seconds: How long [s].
            end: How it died: ``ended with -9``.
        """


def done(work: Work[Piece, Result], pieces: Sequence[Piece], jobs: int) -> Generator[tuple[Piece, Result], None, None]:
    """Do all pieces, and yield each with its result as soon as there is one.

    Args:
        work: What to do.
        pieces: What to do it with.
        jobs: Processes. 1: none but this one.

    Raises:
        RuntimeError: nothing can be done.
    """
    if jobs > 1 and len(pieces) > 1:
        yield from _Crew(work, pieces, jobs).done()
        return
    with work.open() as do:
        for piece in pieces:
            yield piece, do(piece)


class _Worker(Generic[Piece, Result]):
    """A process that does one piece after the other, and the one that it is at."""

    def __init__(self, work: Work[Piece, Result]) -> None:
        context = multiprocessing.get_context("spawn")  # threads and sandboxes of this process must not be copied
        self._work = work
        self.pipe, far = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_work, args=(work, os.getpid(), far))
        # ^C reaches the whole group: the process begins deaf to it, until it has a handler. The tracker, which the
        # first process would start, unblocks the signal.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        far.close()
        self.piece: Piece | None = None
        self._began = 0.0

    def begin(self, piece: Piece) -> None:
        """Hand over a piece."""
        self.piece, self._began = piece, time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it has died, and `answer` is going to say so
            self.pipe.send(piece)

    def answer(self) -> Result | RuntimeError:
        """Return what came of the piece, the death of the process included."""
        assert self.piece is not None
        try:
            return cast(Result | RuntimeError, self.pipe.recv())
        except (EOFError, ConnectionResetError):
            self.process.join()
            return self._work.lost(self.piece, time.monotonic() - self._began, f"ended with {self.process.exitcode}")

    def dismiss(self, *, now: bool = False) -> None:
        """Let it close what it has opened, and end it; amid its piece if it shall be now."""
        self.pipe.close()
        if now:
            self.process.terminate()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class _Crew(Generic[Piece, Result]):
    """Workers that share the pieces out among them."""

    def __init__(self, work: Work[Piece, Result], pieces: Sequence[Piece], jobs: int) -> None:
        self._work = work
        self._waiting = deque(pieces)
        self._jobs = min(jobs, len(pieces))
        self._workers: list[_Worker[Piece, Result]] = []

    def done(self) -> Iterator[tuple[Piece, Result]]:
        """Do all pieces."""
        try:
            while self._waiting or self._workers:
                self._hire()
                ready = wait([each for one in self._workers for each in (one.pipe, one.process.sentinel)])
                for worker in [one for one in self._workers if one.pipe in ready or one.process.sentinel in ready]:
                    assert worker.piece is not None
                    piece, answer = worker.piece, worker.answer()
                    if isinstance(answer, RuntimeError):
                        raise answer
                    self._go_on(worker)
                    yield piece, answer
        finally:  # workers are left only where something was raised, or nobody wants more
            for worker in self._workers:
                worker.dismiss(now=True)

    def _hire(self) -> None:
        while self._waiting and len(self._workers) < self._jobs:
            worker = _Worker(self._work)
            self._workers.append(worker)
            worker.begin(self._waiting.popleft())

    def _go_on(self, worker: _Worker[Piece, Result]) -> None:
        """Give a worker its next piece, or let it go if there is none or it has died."""
        if self._waiting and worker.process.is_alive():
            worker.begin(self._waiting.popleft())
            return
        self._workers.remove(worker)
        worker.dismiss()


def _work(work: Work[Any, Any], parent: int, pipe: Connection) -> None:
    """Do what comes through a pipe until its other end is closed."""
    _die_with(parent)
    with contextlib.suppress(KeyboardInterrupt, EOFError, ConnectionError):
        # Handlers and not SIG_IGN, which every program started from here would inherit. What becomes of this process
        # at ^C is for the one that started it to say.
        signal.signal(signal.SIGINT, _heard)
        signal.signal(signal.SIGTERM, _end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        try:
            with work.open() as do:
                while True:
                    pipe.send(do(pipe.recv()))
        except RuntimeError as error:
            pipe.send(RuntimeError(str(error)))
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends anyway


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, which may be killed and then could tell nobody."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:  # it died before it was asked
        os._exit(1)


def _heard(_number: int, _frame: FrameType | None) -> None:
    """Hear a signal and do nothing."""


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
