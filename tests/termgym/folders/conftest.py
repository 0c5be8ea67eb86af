from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from rolf.cache import VARIABLE

FIXTURES = Path(__file__).parent / "fixtures"
collect_ignore_glob = ["fixtures/*"]  # their tests are data: a verifier's, not ours


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache for all these tests: images are built once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(cache))


@pytest.fixture
def folder() -> Callable[[str], Path]:
    """Return where a fixture lies."""
    return lambda name: FIXTURES / name


@pytest.fixture
def altered(tmp_path: Path) -> Callable[..., Path]:
    """Return a copy of a fixture with files changed (text), written (bytes) or removed (None)."""

    def change(name: str, **files: str | bytes | None) -> Path:
        copy = copytree(FIXTURES / name, tmp_path / name, symlinks=True)
        for key, content in files.items():
            path = copy / key.replace("__", "/").replace("_DOT_", ".").replace("_DASH_", "-")
            path.unlink(missing_ok=True)
            if content is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        return copy

    return change
