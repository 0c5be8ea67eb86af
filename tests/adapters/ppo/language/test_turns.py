"""What a model said is told once, token by token, and nothing about it can disagree."""

from __future__ import annotations

import numpy as np
import pytest

from rolf_adapters.ppo.language.turns import Episode, Said, Turn, unpacked


def said(ids: tuple[int, ...], chosen: list[bool], allowed: np.ndarray | None = None) -> Said:
    mask = np.array(chosen)
    logps = np.where(mask, -np.arange(1, len(ids) + 1), 0).astype(np.float32)
    return Said(ids, logps, mask, np.full(len(ids), 0.5, np.float32), allowed)


def turn(prompt: tuple[int, ...], answer: Said, reward: float = 0.0, *, terminated: bool = False) -> Turn:
    return Turn(prompt, answer, reward, terminated, False, 0)


def test_the_parts_of_an_answer_are_equally_long() -> None:
    """A mask that is one token off learns from what the environment said."""
    with pytest.raises(ValueError, match=r"2 tokens has parts of \[2, 1, 2\]"):
        Said((1, 2), np.zeros(2, np.float32), np.ones(1, np.bool_), np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="not empty"):
        said((), [])


def test_a_forced_token_has_no_log_probability() -> None:
    """Its ratio must be 1 whatever the policy becomes."""
    with pytest.raises(ValueError, match="without a choice"):
        Said((1,), np.array([-1.0], np.float32), np.zeros(1, np.bool_), np.zeros(1, np.float32))


def test_an_episode_is_one_row_of_prompts_and_answers() -> None:
    """What is read and what is said alternate; only the answers' chosen tokens are the policy's."""
    episode = Episode(
        (
            turn((1, 2, 3), said((10, 11), [True, False]), 0.25),
            turn((4,), said((12, 13, 14), [True, True, True]), -1.0, terminated=True),
        )
    )
    row = episode.row()
    assert row.ids.tolist() == [1, 2, 3, 10, 11, 4, 12, 13, 14]
    assert row.answered.tolist() == [False, False, False, True, True, False, True, True, True]
    assert row.chosen.tolist() == [False, False, False, True, False, False, True, True, True]
    assert row.turns.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert row.logps.tolist() == [0, 0, 0, -1, 0, 0, -1, -2, -3]
    assert {len(part) for part in row if part is not None} == {9}
    assert episode.rewards.sum() == -0.75
    assert episode.terminated
    assert row.allowed is None


def test_an_answer_without_a_grammar_may_say_anything() -> None:
    """A style may change in the middle of an episode, and a grammar holds for one style."""
    masks = np.array([[0b0110], [0b0001]], np.int32)
    free, held = said((3,), [True]), said((1, 0), [True, False], masks)
    allowed = Episode((turn((9,), held), turn((9,), free))).row().allowed
    assert allowed is not None
    assert unpacked(allowed, 4).tolist() == [
        [False, True, True, False],
        [True, False, False, False],
        [True, True, True, True],
    ]
