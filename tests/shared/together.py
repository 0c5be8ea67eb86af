"""Processes that learn together: a script run by torchrun, and what came of it in each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SHARED), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


def torchrun(count: int, script: str, folder: Path, *arguments: str) -> list[Any]:
    """Run a script of this folder in several processes; return what each handed over, by rank.

    Args:
        count: Processes.
        script: The file's name; it is given ``folder`` and then the arguments, and calls `hand_over`.
        folder: An empty one.
        arguments: Of its own.
    """
    run = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(count), "--log-dir", str(folder / "logs")]
    command = [sys.executable, "-m", *run, str(SHARED / script), str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(count)]


def hand_over(rank: int, found: Any) -> None:
    """Write what a process found where `torchrun` reads it: on one pipe they would cut into each other's lines."""
    Path(sys.argv[1], f"{rank}.json").write_text(json.dumps(found))
