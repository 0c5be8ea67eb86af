"""What one process says is what all hear; alone, what is raised is raised."""

from __future__ import annotations

import pytest

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.agreement import diverged_together
from rolf_adapters.ppo.learner import Diverged


def test_alone_it_is_raised_as_it_was() -> None:
    """With where it came from."""
    with pytest.raises(Diverged, match="no number") as caught, diverged_together():
        raise Diverged("a loss is no number")
    assert isinstance(caught.value.__cause__, Diverged)
    with diverged_together():
        pass


def test_another_process_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing went wrong here, and yet it does not go on."""
    monkeypatch.setattr(parallel, "gathered", lambda mine: [mine, "there"])
    with pytest.raises(Diverged, match="there"), diverged_together():
        pass


def test_other_errors_ask_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """They end this process, and the others may be anywhere."""
    monkeypatch.setattr(parallel, "gathered", lambda _: pytest.fail("asked"))
    with pytest.raises(KeyError), diverged_together():
        raise KeyError("x")
