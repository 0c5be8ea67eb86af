"""FreshProcess: call a function in a Python that knows nothing of this one."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rolf.checks.errors import CheckFailed, NotApplicable

DEADLINE = 600.0
"""How long a process may take [s]."""
START = "from {module} import main; from rolf.checks.process import answer; answer(main)"


class FreshProcess:
    """A process that calls ``main`` of a module with one argument; use as a context manager.

    Args:
        module: Where the function is.
        request: What it is given.
        environment: Environment variables that are set.

    Raises:
        NotApplicable: the request holds something that no other process can have.
    """

    def __init__(self, module: str, request: Any, environment: Mapping[str, str]) -> None:
        packed = _portable(request)
        self._folder = tempfile.TemporaryDirectory(prefix="rolf-check-")
        asked, self._told, self._said = (Path(self._folder.name, name) for name in ("asked", "told", "said"))
        asked.write_bytes(packed)
        path = os.pathsep.join(each or os.getcwd() for each in sys.path)
        # A file, not a pipe: what the process leaves running may hold that open for ever.
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-c", START.format(module=module), str(asked), str(self._told)],
                env={**os.environ, "PYTHONPATH": path, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )

    def result(self) -> Any:
        """Return what the function returned.

        Raises:
            CheckFailed, NotApplicable: it raised that.
            RuntimeError: the process died before there was a result.
            subprocess.TimeoutExpired: it took longer than `DEADLINE`.
        """
        self._process.wait(DEADLINE)
        if not self._told.exists():
            last = self._said.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"a process ended with {self._process.returncode} before it answered:\n{last}")
        returned, raised = pickle.loads(self._told.read_bytes())
        if raised is not None:
            raise raised
        return returned

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()


def _portable(request: Any) -> bytes:
    """Return a request as another process can read it back."""
    # Comes with Gymnasium, whose AsyncVectorEnv sends functions in the same way; it ships no type information.
    import cloudpickle  # type: ignore[import-untyped]

    try:
        return bytes(cloudpickle.dumps(request))
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise NotApplicable(f"it cannot be made in another process: {error}; give an id and plain arguments") from error


def answer(function: Callable[[Any], Any]) -> None:
    """Be the fresh process: call the function with what was asked, and write down what came of it."""
    asked, told = sys.argv[1:]
    result: tuple[Any, BaseException | None]
    try:
        result = function(pickle.loads(Path(asked).read_bytes())), None
    except (CheckFailed, NotApplicable) as error:
        result = None, error
    part = Path(f"{told}.part")
    part.write_bytes(pickle.dumps(result))
    part.rename(told)
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        os._exit(0)  # a thread that nobody ends would keep this process for ever
