"""What the tests of verification share: a cache of their own, and a small task folder with several verifiers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import answer_task
import pytest

from termgym.episode import Episode
from termgym.options import Options
from termgym.sandbox.local import LocalSandbox
from termgym.verification.offline.toolbox import toolbox


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep images and tools where they do not mix with the user's own."""
    place = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROLF_CACHE", str(place))
        toolbox.cache_clear()
        yield place
    toolbox.cache_clear()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task's environment and its verifiers."""
    written: Path = answer_task.write(tmp_path_factory.mktemp("folder"))
    return written


@pytest.fixture(scope="module")
def episode() -> Iterator[Episode]:
    """One machine for all tests of a module."""
    opened = Episode(LocalSandbox, Options(reward="success"))
    yield opened
    opened.close()
