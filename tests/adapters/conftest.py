"""What frameworks write besides goes where pytest tidies up."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def logs_of_stable_baselines(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its logger makes a folder for each training, in /tmp where it is told no other."""
    folder: Path = tmp_path_factory.getbasetemp() / "sb3"
    monkeypatch.setenv("SB3_LOGDIR", str(folder))
