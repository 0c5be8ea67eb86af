"""Jobs: validate cases here, or in several processes at once, and lose none of them to a process that dies."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import cast

from rolf.environments import Case, Divisible, Verdict, environments

PATIENCE = 30.0
"""How long a process may take to close what it has opened [s]."""


def judged(
    env_id: str, cases: Sequence[Case], jobs: int, *, build_network: bool = False
) -> Iterator[tuple[Case, Verdict]]:
    """Validate cases, and yield each with its verdict as soon as there is one.

    Args:
        env_id: The environment that they belong to; it is `Divisible`.
        cases: What to validate.
        jobs: Processes. 1: none but this one.
        build_network: See `Divisible.judge`.

    Raises:
        RuntimeError: this machine can validate nothing.
    """
    if jobs > 1 and len(cases) > 1:
        yield from _Crew(env_id, cases, jobs, build_network).judged()
        return
    with _environment(env_id).judge(build_network=build_network) as judge:
        for case in cases:
            yield case, judge(case)


def _environment(env_id: str) -> Divisible:
    environment = environments()[env_id]
    assert isinstance(environment, Divisible)
    return environment


class _Worker:
    """A process that validates one case after the other, and the one that it is at."""

    def __init__(self, env_id: str, build_network: bool) -> None:
        context = multiprocessing.get_context("spawn")  # threads and sandboxes of this process must not be copied
        self.pipe, far = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_work, args=(env_id, build_network, far))
        self.process.start()
        far.close()
        self.case: Case | None = None
        self._began = 0.0

    def begin(self, case: Case) -> None:
        """Hand over a case."""
        self.case, self._began = case, time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it has died, and `answer` is going to say so
            self.pipe.send(case)

    def answer(self) -> Verdict | RuntimeError:
        """Return what came of the case, its death included."""
        assert self.case is not None
        try:
            return cast(Verdict | RuntimeError, self.pipe.recv())
        except (EOFError, ConnectionResetError):
            self.process.join()
            end = f"the process that validated it ended with {self.process.exitcode} before there was a verdict"
            return Verdict(self.case.task, (), time.monotonic() - self._began, end)

    def dismiss(self) -> None:
        """Let it close what it has opened, and end it."""
        self.pipe.close()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class _Crew:
    """Workers that share the cases out among them."""

    def __init__(self, env_id: str, cases: Sequence[Case], jobs: int, build_network: bool) -> None:
        self._env_id = env_id
        self._build_network = build_network
        self._waiting = deque(cases)
        self._jobs = min(jobs, len(cases))
        self._workers: list[_Worker] = []

    def judged(self) -> Iterator[tuple[Case, Verdict]]:
        """Validate all cases."""
        try:
            while self._waiting or self._workers:
                self._hire()
                ready = wait([each for one in self._workers for each in (one.pipe, one.process.sentinel)])
                for worker in [one for one in self._workers if one.pipe in ready or one.process.sentinel in ready]:
                    assert worker.case is not None
                    case, answer = worker.case, worker.answer()
                    if isinstance(answer, RuntimeError):
                        raise answer
                    self._go_on(worker)
                    yield case, answer
        finally:
            for worker in self._workers:
                worker.dismiss()

    def _hire(self) -> None:
        while self._waiting and len(self._workers) < self._jobs:
            worker = _Worker(self._env_id, self._build_network)
            self._workers.append(worker)
            worker.begin(self._waiting.popleft())

    def _go_on(self, worker: _Worker) -> None:
        """Give a worker its next case, or let it go if there is none or it has died."""
        if self._waiting and worker.process.is_alive():
            worker.begin(self._waiting.popleft())
            return
        self._workers.remove(worker)
        worker.dismiss()


def _work(env_id: str, build_network: bool, pipe: Connection) -> None:
    """Validate what comes through a pipe until its other end is closed."""
    open_judge = partial(_environment(env_id).judge, build_network=build_network)
    with contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError), open_judge() as judge:
        while True:
            case: Case = pipe.recv()
            try:
                pipe.send(judge(case))
            except RuntimeError as error:
                pipe.send(RuntimeError(str(error)))
