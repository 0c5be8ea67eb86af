"""Pictures and text of a line: complete, the same for the same state, and made into films."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from line_play import action

import linegym
from linegym.env import LineEnv
from linegym.plant import Crew, Fault, Order, Panel
from linegym.render.picture import HEIGHT, WIDTH
from linegym.render.scene import scene
from linegym.variants import split

TOPOLOGIES = (
    "serial/current/profinet/jam",
    "parallel/pressure/mqtt/leak",
    "assembly-merge/thermocouple/opcua/overheat",
    "inspection-split/thermocouple/ethercat/sensor-stuck",
    "rework-loop/accelerometer/profinet/tool-wear",
    "hybrid/encoder/profinet/jam",
)


def played(env: Any, steps: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    for _ in range(steps):
        *_, info = env.step(action(info["action_mask"], rng))
    return info


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_picture_of_every_topology(name: str) -> None:
    env = LineEnv(f"{name}+sensor:3+network:4", render_mode="rgb_array")
    played(env, 150)
    before = env.render()
    assert isinstance(before, np.ndarray)
    assert (before.shape, before.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
    assert np.array_equal(before, env.render())
    env.step(0)
    assert not np.array_equal(before, env.render())


def test_no_station_hides_another() -> None:
    """Boxes that overlap would show a line of fewer stations, in any of the plants that there are."""
    from linegym.render.floor import HALF_HEIGHT, HALF_WIDTH, Floor
    from linegym.render.pen import Pen
    from linegym.render.picture import FLOOR_BOX

    env = LineEnv()
    for variant in split("clean"):
        env.reset(seed=0, options={"variant": variant})
        now = scene(env._batch, 0)
        floor = Floor(Pen(8, 8), now, FLOOR_BOX)
        spots = np.array([floor._spot(station.at) for station in now.stations])
        away = np.abs(spots[:, None] - spots[None])
        apart = (away[..., 0] >= 2 * HALF_WIDTH) | (away[..., 1] >= 2 * HALF_HEIGHT)
        np.fill_diagonal(apart, True)
        assert apart.all(), variant.id
        left, top, right, bottom = FLOOR_BOX
        assert (spots >= (left + HALF_WIDTH, top + HALF_HEIGHT)).all()
        assert (spots <= (right - HALF_WIDTH, bottom - HALF_HEIGHT)).all()


def test_the_scene_is_what_the_observation_says() -> None:
    """The picture reads the state by itself; where the agent sees the same thing, both must agree."""
    env = LineEnv("hybrid/current/opcua/bearing+sensor:3+network:4+load:3", horizon=400)
    rng = np.random.default_rng(4)
    _, info = env.reset(seed=4)
    for _ in range(399):
        seen, *_, info = env.step(action(info["action_mask"], rng))
        now = scene(env._batch, 0)
        stations = seen[: 24 * 24].reshape(24, 24)
        assert [station.panel for station in now.stations] == [Panel(round(x * 4)) for x in stations[:, 13]]
        assert [station.order for station in now.stations] == [Order(round(x * 4)) for x in stations[:, 14]]
        assert [station.claim + 1 for station in now.stations] == [round(x * 8) for x in stations[:, 15]]
        assert [station.alarm for station in now.stations] == stations[:, 18].astype(bool).tolist()
        assert [min(station.age, 64) for station in now.stations] == [round(x * 16) for x in stations[:, 6]]
        assert [station.fault for station in now.stations] == [Fault(x) for x in info["true_faults"]]
        crew = seen[576:600].reshape(6, 4)
        assert [who.state for who in now.technicians] == [Crew(round(x * 4)) for x in crew[:, 0]]
        assert [who.near for who in now.technicians] == [round(x * 24) for x in crew[:, 1]]
        parts = seen[600:624].reshape(8, 3)
        assert [min(part.stock, 10) for part in now.parts] == [round(x * 10) for x in parts[:, 0]]
        for station, buffer in (
            (each, now.buffers[number - 1]) for each in now.stations for number in _into(env, each)
        ):
            assert round(stations[station.number, 11] * buffer.capacity) == buffer.level


def _into(env: LineEnv, station: Any) -> list[int]:
    """Return the first input buffer of a station, unless it is the source."""
    first = env.variant.template.plant().stations[station.number].inputs[0]
    return [first] if first else []


def test_technicians_walk_to_where_they_are_sent() -> None:
    """A step a tick, along the aisles, and the way gets shorter."""
    env = LineEnv("hybrid/current/opcua/bearing")
    env.reset(seed=0)
    plant, begin = env.variant.template.plant(), scene(env._batch, 0)
    far = max(range(24), key=lambda to: min(plant.travel(who.near, to) for who in begin.technicians))
    env.step(linegym.inspect(far))
    ways = []
    for _ in range(40):
        now = scene(env._batch, 0)
        walking = [who for who in now.technicians if who.state is Crew.TO_INSPECT]
        if not walking:
            break
        end = now.stations[walking[0].to].at
        ways.append(abs(walking[0].at[0] - end[0]) + abs(walking[0].at[1] - end[1]))
        env.step(0)
    assert len(ways) > 1
    assert ways == sorted(ways, reverse=True)
    assert ways[-1] <= 2


def test_text_names_every_station_technician_and_part() -> None:
    env = LineEnv("rework-loop/accelerometer/profinet/tool-wear+load:5", render_mode="ansi", horizon=150)
    info = played(env, 150)
    text = env.render()
    assert isinstance(text, str)
    for number in range(int(info["station_mask"].sum())):
        assert f"\nS{number} " in text
    assert all(f"\nT{number} " in text for number in range(6))
    assert "spare parts: bearing" in text
    assert "tick 150 of 150" in text
    assert "shift over" in text
    for number in np.flatnonzero(info["true_faults"]):
        assert f"!{Fault(info['true_faults'][number]).name.lower().replace('_', '-')}" in text


def test_says_which_command_was_not_possible() -> None:
    env = LineEnv(render_mode="ansi")
    env.reset(seed=0)
    env.step(linegym.close(3))
    assert "close the work order of station 3 (not possible)" in str(env.render())


def test_rendering_changes_nothing() -> None:
    plain, shown = LineEnv(horizon=100), LineEnv(horizon=100, render_mode="rgb_array")
    played(plain, 50)
    rng = np.random.default_rng(0)
    _, info = shown.reset(seed=0)
    for _ in range(50):
        shown.render()
        *_, info = shown.step(action(info["action_mask"], rng))
    assert plain.state_digest() == shown.state_digest()


def test_restoring_shows_the_kept_moment() -> None:
    env = LineEnv(render_mode="ansi")
    played(env, 30)
    kept = env.save()
    played(env, 10, seed=1)
    env.restore(kept)
    assert "tick 30 of" in str(env.render())


def test_without_a_render_mode_render_says_what_to_do() -> None:
    env = LineEnv()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert env.render() is None


def test_render_before_reset_is_refused() -> None:
    with pytest.raises(gym.error.ResetNeeded, match="no episode has begun"):
        LineEnv(render_mode="ansi").render()


def test_record_video(tmp_path: Path) -> None:
    """The frames really make a film."""
    env = gym.make("linegym:LineEnv-v1", render_mode="rgb_array", horizon=5)
    env = gym.wrappers.RecordVideo(env, str(tmp_path / "films"), episode_trigger=lambda _: True, disable_logger=True)
    played(env, 5)
    env.close()
    films = list(tmp_path.glob("films/*.mp4"))
    assert len(films) == 1
    assert films[0].stat().st_size > 1000


def test_every_row_of_a_batch_is_drawn_as_a_single_line() -> None:
    names = [TOPOLOGIES[0], TOPOLOGIES[5]]
    envs = gym.make_vec("linegym:LineEnv-v1", num_envs=2, variants=names, render_mode="ansi", horizon=6)
    single = LineEnv(names[1], render_mode="ansi", horizon=6)
    envs.reset(seed=0)
    single.reset(seed=1)
    for _ in range(6):
        envs.step(np.array([linegym.inspect(0), linegym.inspect(4)]))
        single.step(linegym.inspect(4))
        frames = envs.render()
        assert frames is not None
        assert frames[1] == single.render()
    envs.step(np.array([0, 0]))
    single.reset()
    assert envs.render()[1] == single.render()
