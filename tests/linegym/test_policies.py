"""The policies that come with the line do what they say, in each row by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linegym.actions import COMMANDS
from linegym.batch import Batch
from linegym.blueprint import Plant
from linegym.env import LineEnv
from linegym.errors import ArgumentError
from linegym.perturbations import LoadPerturbation, NetworkPerturbation, SensorPerturbation
from linegym.plant import ACTIONS, CLAIMS, FIRST_DIAGNOSE, FIRST_ORDER, PARTS, STATIONS
from linegym.play import Played, play
from linegym.policies import POLICIES, Lineup, policy
from linegym.policies.chance import Chance
from linegym.policies.evidence import Evidence
from linegym.policies.sight import Sight
from linegym.policies.single import Single
from linegym.templates import CustomTemplate, template
from linegym.variants import Variant, variant

VARIANTS = tuple(
    variant(name)
    for name in (
        "serial/thermocouple/profinet/bearing+sensor:2",
        "hybrid/pressure/opcua/leak+network:4",
        "inspection-split/encoder/ethercat/jam+load:3",
        "rework-loop/current/mqtt/tool-wear+sensor:4",
    )
)


def same(one: Played, other: Played, rows: list[int], others: list[int]) -> bool:
    return all(
        np.array_equal(getattr(one, name)[rows], getattr(other, name)[others]) for name in Played.__dataclass_fields__
    )


@pytest.mark.parametrize("name", POLICIES)
def test_does_only_what_is_possible(name: str) -> None:
    """An impossible command costs; whoever gets a mask has no excuse."""
    batch = Batch(VARIANTS, horizon=200, autoreset="disabled", evaluation=True)
    seeds = np.arange(4, dtype=np.uint64)
    batch.reset(seeds)
    player = policy(name)
    player.begin(Lineup.of(VARIANTS, seeds, horizon=200))
    for _ in range(200):
        chosen = player.act(batch.observations, batch.masks, {"true_faults": batch.faults()})
        assert batch.masks[np.arange(4), chosen].all()
        batch.step(COMMANDS[chosen][:, None])
        assert not batch.facts[:, 2].any()


@pytest.mark.parametrize("name", POLICIES)
def test_a_row_does_not_depend_on_its_neighbours(name: str) -> None:
    """Baselines are played a thousand rows at once, and compared with episodes played alone."""
    together = play(policy(name), VARIANTS, [5, 6, 7, 8])
    turned = play(policy(name), VARIANTS[::-1], [8, 7, 6, 5])
    assert same(together, turned, [0, 1, 2, 3], [3, 2, 1, 0])
    alone = play(policy(name), VARIANTS[1:2], [6])
    assert same(together, alone, [1], [0])


@pytest.mark.parametrize("name", ["random", "threshold", "cusum", "oracle"])
def test_forgets_a_row_that_begins_anew_and_no_other(name: str) -> None:
    """In a vector environment rows begin at different times."""
    lines, seeds, first = VARIANTS[3:1:-1], np.array([3, 4], np.uint64), np.array([True, False])
    lineup = Lineup.of(lines, seeds)
    batch = Batch(lines, autoreset="disabled", evaluation=True)
    batch.reset(seeds)
    player = policy(name)
    player.begin(lineup)
    chosen = []
    for tick in range(500):
        if tick == 250:
            batch.reset(seeds, first)
            player.begin(lineup, first)
        chosen.append(player.act(batch.observations, batch.masks, {"true_faults": batch.faults()}))
        batch.step(COMMANDS[chosen[-1]][:, None])
    actions = np.array(chosen)
    assert np.array_equal(actions[:250, 0], actions[250:, 0])
    assert np.array_equal(actions[:, 1], _actions(name, lines[1], 4, 500))


def _actions(name: str, chosen: Variant, seed: int, ticks: int) -> list[int]:
    env = LineEnv(chosen, evaluation=True)
    player = Single(policy(name))
    seen, info = env.reset(seed=seed)
    player.begin(env.variant, info)
    actions = []
    for _ in range(ticks):
        actions.append(player.act(seen, info))
        seen, _, _, _, info = env.step(actions[-1])
    return actions


def test_random_is_the_same_in_the_same_episode_and_another_in_another() -> None:
    """A baseline that nobody can repeat is none."""
    one, again = _actions("random", VARIANTS[0], 1, 50), _actions("random", VARIANTS[0], 1, 50)
    assert one == again
    assert one != _actions("random", VARIANTS[0], 2, 50)
    masks = np.ones((2, ACTIONS), np.bool_)
    player = Chance()
    player.begin(Lineup.of([VARIANTS[0]] * 2, [1, 1], [0, 1]))
    chosen = np.array([player.act(np.zeros((2, 632), np.float32), masks, {}) for _ in range(50)])
    assert (chosen[:, 0] != chosen[:, 1]).any()


def test_random_chooses_evenly() -> None:
    """Each of four possible actions in a quarter of 4 000 steps, give or take five standard deviations."""
    masks = np.zeros((1, ACTIONS), np.bool_)
    masks[0, [0, 100, 330, 544]] = True
    player = Chance()
    player.begin(Lineup.of(VARIANTS[:1], [0]))
    chosen = [int(player.act(np.zeros((1, 632), np.float32), masks, {})[0]) for _ in range(4000)]
    counts = [chosen.count(action) for action in (0, 100, 330, 544)]
    assert sum(counts) == 4000
    assert max(abs(count - 1000) for count in counts) < 137


def test_the_oracle_repairs_everything_in_time() -> None:
    """What it misses, nobody can be asked for."""
    names = ("serial/rtd/profinet/overheat", "parallel/current/opcua/leak", "assembly-merge/pressure/mqtt/plc-comm")
    lines = [Variant(template(name), network=level) for name in names for level in (1, 3, 5) for _ in range(3)]
    played = play(policy("oracle"), lines, range(len(lines)))
    assert played.closed_due.sum() / played.faults_due.sum() > 0.95
    assert played.wrong.sum() == 0


def test_the_expert_expects_what_a_sound_station_reads() -> None:
    """Without fault, stop and disturbance nothing is left unexplained, whatever the stations do."""
    sensor = SensorPerturbation(noise=0.001)  # without any, a station that waits for parts is flat, which is an alarm
    quiet = {"sensor": sensor, "network": NetworkPerturbation(), "load": LoadPerturbation()}
    for name in ("serial/thermocouple/profinet/bearing", "hybrid/pressure/opcua/leak", "serial/encoder/ethercat/jam"):
        plant: Plant = replace(template(name).plant(), fault=-1.0, minor=0.0)
        line = Variant(CustomTemplate("sound", plant), **quiet)  # type: ignore[arg-type] # by family
        batch = Batch([line], autoreset="disabled")
        batch.reset(np.zeros(1, np.uint64))
        evidence = Evidence()
        evidence.begin(Lineup.of([line], [0]))
        worst = 0.0
        for _ in range(300):
            evidence.take(Sight.of(batch.observations, batch.masks))
            worst = max(worst, float(np.abs(evidence.deviation[:3]).max()))
            batch.step(np.zeros((1, 1, 3), np.int32))
        assert worst < 0.05, name


def test_the_expert_claims_and_orders_only_what_its_line_can_have() -> None:
    """No leaks on an inspection line, no drift of an encoder: the template says so, and so does no spare part."""
    batch = Batch(VARIANTS[2:3], autoreset="disabled", evaluation=True)
    seeds = np.array([9], np.uint64)
    batch.reset(seeds)
    player = policy("cusum")
    player.begin(Lineup.of(VARIANTS[2:3], seeds))
    for _ in range(600):
        (action,) = player.act(batch.observations, batch.masks, {})
        claimed = (action - FIRST_DIAGNOSE) % CLAIMS if FIRST_DIAGNOSE <= action < FIRST_ORDER else -1
        assert claimed not in (4, 5)
        batch.step(COMMANDS[[action]][:, None])


def test_a_single_environment_sees_the_same_policy() -> None:
    """The adapter is thin: the return is that of the batch, to the last bit."""
    env = LineEnv(VARIANTS[0], evaluation=True)
    player = Single(policy("cusum"))
    seen, info = env.reset(seed=11)
    player.begin(env.variant, info)
    total, over = 0.0, False
    while not over:
        seen, reward, _, over, info = env.step(player.act(seen, info))
        total += reward
    assert total == play(policy("cusum"), VARIANTS[:1], [11]).returns[0]


def test_a_later_episode_of_a_seed_is_another_one() -> None:
    """Episodes of one seed are numbered; policies are told the number."""
    first, second = (play(policy("oracle"), VARIANTS[:1], [0], episode=episode) for episode in (0, 1))
    assert first.returns[0] != second.returns[0]


def test_the_observation_is_taken_apart_as_it_was_put_together() -> None:
    """A field read from the wrong place would mislead every policy alike."""
    batch = Batch(VARIANTS, autoreset="disabled")
    batch.reset(np.arange(4, dtype=np.uint64))
    player = policy("oracle")
    player.begin(Lineup.of(VARIANTS, [0, 1, 2, 3]))
    for _ in range(150):
        batch.step(COMMANDS[player.act(batch.observations, batch.masks, {"true_faults": batch.faults()})][:, None])
    sight = Sight.of(batch.observations, batch.masks)
    stations = batch.observations[:, : STATIONS * 24].reshape(4, STATIONS, 24)
    assert np.array_equal(sight.values, stations[:, :, :3].transpose(2, 0, 1))
    assert np.array_equal(sight.age, np.rint(stations[:, :, 6] * 16))
    assert np.array_equal(sight.claim, np.rint(stations[:, :, 15] * 8) - 1)
    assert np.array_equal(sight.stock, np.rint(batch.observations[:, 600:624].reshape(4, PARTS, 3)[:, :, 0] * 10))
    assert sight.idle.sum(axis=1).tolist() == np.rint(batch.observations[:, 628] * 6).tolist()


def test_an_unknown_policy_is_refused_with_a_suggestion() -> None:
    """A typing error must not cost a search."""
    with pytest.raises(ArgumentError, match=r"no policy is named 'cussum'; did you mean 'cusum'\?"):
        policy("cussum")
