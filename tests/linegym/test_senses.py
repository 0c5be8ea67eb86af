"""Senses tell what the expert works out, row by row, and what is where in them is what their docstring says."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

from linegym.plant import FIRST_DISPATCH, STATIONS, Fault
from linegym.policies import Lineup, policy
from linegym.policies.composed import Composed
from linegym.policies.cusum import Cusum
from linegym.senses import CLASSES, SIZE, senses
from linegym.variants import variant

DEVIATIONS, GAINS, SUMS, ALLOWED, MEASURED = slice(0, 4), slice(4, 10), slice(10, 16), slice(16, 24), slice(24, 27)
FLAT, STILL, SILENT, DUTY, NEAR = 27, 28, 29, 30, slice(31, 37)
IDS = ("serial/rtd/profinet/bearing", "hybrid/rtd/mqtt/overheat+network:4", "parallel/current/opcua/jam+sensor:3")


def shift(ids: tuple[str, ...], seed: int, ticks: int) -> tuple[list[NDArray[Any]], list[Any], Composed]:
    """Play the expert; return what is sensed and told of each tick, and the expert as it then is."""
    envs: Any = gym.make_vec("linegym:LineEnv-v1", num_envs=len(ids), variants=ids)
    seen, infos = envs.reset(seed=seed)
    every = np.ones(len(ids), np.bool_)
    expert = policy("cusum")
    assert isinstance(expert, Composed)
    expert.begin(Lineup.of([variant(each) for each in ids], np.zeros(len(ids), np.uint64)))
    lines = senses()
    lines.begin(infos, every)
    sensed, told = [], []
    for _ in range(ticks):
        sensed.append(lines.look(seen))
        told.append((seen, infos))
        seen, *_, infos = envs.step(expert.act(seen, infos["action_mask"] == 1, infos))
    envs.close()
    return sensed, told, expert


def test_tell_what_the_expert_has_worked_out() -> None:
    sensed, _, expert = shift(IDS, 4, 120)
    last = sensed[-1]
    assert last.shape == (3, STATIONS, SIZE)
    assert last.dtype == np.float32
    assert isinstance(expert.diagnosis, Cusum)
    evidence = expert.diagnosis.evidence
    scaled = evidence.deviation * np.sqrt(evidence.weights()) * evidence.present
    assert np.allclose(last[:, :, DEVIATIONS], scaled.transpose(1, 2, 0), atol=1e-6)
    gains = np.stack([evidence.gains()[fault] for fault in CLASSES]) * evidence.present
    assert np.allclose(last[:, :, GAINS], np.clip(gains / 20, -1, 5).transpose(1, 2, 0), atol=1e-5)
    assert np.allclose(last[:, :, DUTY], evidence.duty * evidence.present)
    assert np.abs(last[:, :, DEVIATIONS]).max() > 1, "something has happened in these lines"


def test_point_at_faults_while_they_are_there() -> None:
    """Among stations with a bearing fault for long, most have more summed up for bearings than sound ones have."""
    sensed, told, _ = shift(IDS, 7, 400)
    faulty, sound = [], []
    for look, (_, infos) in zip(sensed[60:], told[60:], strict=True):
        sums = look[:, :, SUMS][:, :, CLASSES.index(Fault.BEARING)]
        present = look[:, :, ALLOWED].any(axis=2)
        faulty += sums[infos["true_faults"] == Fault.BEARING].tolist()
        sound += sums[(infos["true_faults"] == 0) & present].tolist()
    assert len(faulty) > 20
    assert np.mean(faulty) > 4 * np.mean(sound)


def test_say_what_a_template_can_have_and_who_is_near() -> None:
    """No leak on a line of currents; of six technicians the free ones stand at a station, at nearness 1."""
    sensed, told, _ = shift((IDS[2],), 0, 30)
    plant = variant(IDS[2]).template.plant()
    used = len(plant.stations)
    allowed = {Fault(number + 1) for number in np.flatnonzero(sensed[0][0, 0, ALLOWED])}
    assert allowed == set(plant.allowed)
    assert not sensed[-1][0, used:].any(), "there is no such station"
    free = told[0][1]["action_mask"][0, FIRST_DISPATCH:][: 6 * STATIONS]
    assert free.shape == (6 * STATIONS,)
    nearest = sensed[0][0, :used, NEAR].max(axis=0)
    assert (nearest[nearest > 0] == 1).all()
    assert (nearest > 0).any()


def test_a_row_depends_on_its_line_alone() -> None:
    together, _, _ = shift(IDS, 3, 50)
    for row, name in enumerate(IDS):
        alone, _, _ = shift((name,), 3 + row, 50)
        for ours, theirs in zip(together, alone, strict=True):
            assert np.array_equal(ours[row], theirs[0])


def test_rows_begin_anew_and_leave_the_others_alone() -> None:
    envs: Any = gym.make_vec("linegym:LineEnv-v1", num_envs=2, variants=IDS[:2])
    seen, infos = envs.reset(seed=0)
    both, second = senses(), np.array([False, True])
    both.begin(infos, np.ones(2, np.bool_))
    first_look = both.look(seen)
    for _ in range(40):
        seen, *_, infos = envs.step(np.zeros(2, np.int64))
        both.look(seen)
    again, infos = envs.reset(seed=0)
    other = senses()
    other.begin(infos, np.ones(2, np.bool_))
    both.begin(infos, second)
    found = both.look(again)
    assert np.array_equal(found[1], first_look[1])
    assert not np.array_equal(found[0], first_look[0])
    envs.close()


def test_a_template_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="serial/rtd/profinet/gremlin"):
        senses().begin({"template_id": "serial/rtd/profinet/gremlin"}, np.ones(1, np.bool_))
