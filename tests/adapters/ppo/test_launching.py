"""Whoever stays in charge of several processes finds them among all that a machine runs, whatever those are called."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from rolf_adapters.ppo.launching import _listening, _lives

ODD = r"""
import time
open("/proc/self/comm", "wb").write(b"\xff) Z x")  # no UTF-8, as a long name that was cut off may be
print(flush=True)
time.sleep(60)
"""


def test_processes_may_be_called_anything() -> None:
    with subprocess.Popen([sys.executable, "-c", ODD], stdout=subprocess.PIPE) as odd:
        assert odd.stdout is not None
        odd.stdout.readline()
        assert odd.pid in _listening(os.getpid(), signal.SIGINT)
        assert odd.pid not in _listening(os.getpid(), signal.SIGTERM)
        assert _lives(odd.pid)
        odd.kill()
    assert not _lives(odd.pid)
