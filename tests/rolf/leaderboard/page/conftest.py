"""A leaderboard made by hand, its page, and a browser to look at it with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chromium import Browser, chromium
from toy_board import Made, made, toy_board


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("board")
    return made(toy_board(folder), folder)


@pytest.fixture(scope="session")
def window() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def seen(window: Browser, toy: Made) -> Browser:
    """The toy board's page, just opened."""
    window.open(toy.path)
    return window
