"""A batch plays what a single environment plays, row by row and to the last bit, and counts what it counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from linegym import catalogue
from linegym.actions import COMMANDS
from linegym.errors import ArgumentError
from linegym.evaluation import entry
from linegym.plant import FAULTS, HORIZON, Verb
from linegym.policies import POLICIES as MAKERS
from linegym.policies import Policy, policy
from linegym.solo import Solo
from linegym.tally import COUNTED
from linegym.variants import variant
from rolf.evaluation.episode import Ending, Run
from rolf.evaluation.errors import PolicyError
from rolf.evaluation.policy import Start
from rolf.trajectory import jsonable, read_trajectory
from rolf.variant import Variant, policy_seed
from rolf_wrappers import RecordTrajectory

LINES = [
    entry(variant(text))
    for text in (
        "serial/thermocouple/profinet/bearing",
        "parallel/current/opcua/tool-wear+sensor:4",
        "hybrid/accelerometer/profinet/jam+network:3",
        "rework-loop/rtd/mqtt/overheat+load:5",
        "serial/pressure/ethercat/leak+sensor:3+network:3+load:3",
    )
]
"""One without and one of each family, and one with all three."""


def alone(player: Policy, played: Variant, seed: int, env: gym.Env[Any, Any]) -> Run:
    """Play an episode in a single environment, and show the policy no more than a contest would."""
    one, rewards, actions = Solo(player), [], []
    hidden = () if one.privileged else catalogue.HIDDEN
    seen, info = env.reset(seed=seed)
    shown = {name: value for name, value in info.items() if name not in hidden}
    one.begin(Start(played, 0, policy_seed(seed), seen, shown, env))
    over = False
    while not over:
        actions.append(one.act(seen, shown))
        seen, reward, _, over, info = env.step(actions[-1])
        rewards.append(float(reward))
        shown = {name: value for name, value in info.items() if name not in hidden}
    world: Any = env.unwrapped
    return Run(actions, Ending(rewards, jsonable(info), False, over), world.state_digest(), 0.0)


@pytest.mark.parametrize(("place", "name"), list(enumerate(MAKERS)))
def test_a_batch_plays_what_a_single_environment_plays(place: int, name: str) -> None:
    """Actions, each reward, all of the last information, the state: equal, and so is whatever is measured of them.

    Every policy on two of the lines, every line under two policies at least.
    """
    lines = [LINES[place % 5], LINES[(place + 2) % 5]]
    seeds = [each.attempt_seed(2) for each in lines]
    runs = catalogue.play(policy(name), lines, seeds)
    for played, seed, run in zip(lines, seeds, runs, strict=True):
        with played.make() as env:
            single = alone(policy(name), played, seed, env)
        assert run.actions == single.actions
        assert run.ending == single.ending
        assert run.state_digest == single.state_digest
        assert catalogue.measure(played, run.ending) == catalogue.measure(played, single.ending)
        assert json.loads(json.dumps(run.ending.info)) == run.ending.info


def test_what_is_recorded_measures_the_same(tmp_path: Path) -> None:
    """From the file of a single environment, by hand and step by step: the counts of a shift, and where they stand."""
    played = LINES[4]
    seed = played.attempt_seed(0)
    with RecordTrajectory(played.make(), tmp_path / "shift.jsonl") as env:
        single = alone(policy("cusum"), played, seed, env)
    *steps, final = read_trajectory(tmp_path / "shift.jsonl").lines[1:]
    contents = [line.content for line in steps]
    assert len(contents) == HORIZON
    assert [each["info"].keys() & {"shift"} for each in contents[:-1]] == [set()] * (HORIZON - 1)
    ending = Ending([each["reward"] for each in contents], contents[-1]["info"], False, True)
    (run,) = catalogue.play(policy("cusum"), [played], [seed])
    assert ending == run.ending == single.ending
    assert final.content["state_digest"] == run.state_digest
    faults = read_trajectory(tmp_path / "shift.jsonl").lines[0].content["info"]["true_faults"]
    assert ending.info["shift"] == counted_by_hand(contents, faults)
    assert ending.info["shift"]["claims"] > ending.info["shift"]["claims_right"] > 0


def counted_by_hand(steps: list[dict[str, Any]], faults: list[int]) -> dict[str, int]:
    """Return what a shift counts, one step after the other; ``faults`` are those at its beginning."""
    found = Counter(dict.fromkeys(COUNTED, 0))
    for step in steps:
        info, (verb, station, claim) = step["info"], COMMANDS[step["action"][0]].tolist()
        found["invalid"] += info["invalid_action"]
        if verb == Verb.DIAGNOSE and not info["invalid_action"]:
            kind = "claims" if claim < FAULTS else "dismissals"
            found[kind] += 1
            found[f"{kind}_right"] += faults[station] == (claim + 1 if claim < FAULTS else 0)
        if info["closed_station"] != -1:
            found["orders"] += 1
            for phase in ("identify", "assess", "dispatch", "execute"):
                found[phase] += info[phase]
        faults = info["true_faults"]
    return dict(found)


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_claim_is_judged_by_what_was_so_when_it_was_made(attempt: int) -> None:
    """In these two shifts a fault appears in the very step of a claim, and in that of a dismissal."""
    played = entry(variant("rework-loop/thermocouple/ethercat/plc-comm+load:4"))
    seed = played.attempt_seed(attempt)
    (run,) = catalogue.play(policy("random"), [played], [seed])
    found = Counter(dict.fromkeys(COUNTED, 0))
    with played.make() as env:
        _, info = env.reset(seed=seed)
        for action in run.actions:
            (verb, station, claim), faults = COMMANDS[action].tolist(), info["true_faults"]
            *_, info = env.step(action)
            if verb == Verb.DIAGNOSE:
                found["claims_right"] += faults[station] == claim + 1
                found["dismissals_right"] += bool(claim >= FAULTS and not faults[station])
    for counted in (run.ending.info["shift"], info["shift"]):
        assert {name: counted[name] for name in ("claims_right", "dismissals_right")} == {
            name: found[name] for name in ("claims_right", "dismissals_right")
        }


def test_impossible_commands_are_counted() -> None:
    """No shipped policy gives any: this one closes what is not open, but for one step in three."""

    class Stubborn:
        name = "stubborn"
        truthful = False

        def begin(self, lineup: Any, rows: Any = None) -> None:
            self.step = 0

        def act(self, seen: Any, masks: Any, infos: Any) -> Any:
            self.step += 1
            return np.full(len(seen), 473 if self.step % 3 else 0)

    (run,) = catalogue.play(Stubborn(), LINES[:1], [5])
    assert run.ending.info["shift"]["invalid"] == HORIZON * 2 // 3
    assert catalogue.measure(LINES[0], run.ending).measures["invalid"] == HORIZON * 2 // 3


def test_rows_do_not_know_their_neighbours() -> None:
    """However the episodes of a split are shared out, the same comes of each."""
    rows, seeds = LINES * 3, list(range(15))
    together = catalogue.play(policy("random"), rows, seeds)
    apart = [run for at in range(15) for run in catalogue.play(policy("random"), rows[at : at + 1], seeds[at : at + 1])]
    assert [(run.actions, run.ending, run.state_digest) for run in together] == [
        (run.actions, run.ending, run.state_digest) for run in apart
    ]


def test_a_contestant_is_told_neither_faults_nor_seeds_nor_perturbations() -> None:
    """By seed and uid it could play the shift in advance; two intensities of a line look alike before it begins."""

    class Curious:
        name = "curious"
        truthful = False
        told: list[Any]

        def begin(self, lineup: Any, rows: Any = None) -> None:
            self.told = [lineup]

        def act(self, seen: Any, masks: Any, infos: Any) -> Any:
            self.told.append(dict(infos))
            return np.zeros(len(seen), np.int64)

    curious = Curious()
    rows = [entry(variant(f"serial/current/profinet/jam+load:{level}")) for level in (1, 5)]
    catalogue.play(curious, rows, [7, 7])
    lineup, *infos = curious.told
    assert infos == [{}] * HORIZON
    assert lineup.uids.tolist() == [0, 0]
    assert lineup.seeds.tolist() == [policy_seed(7)] * 2
    assert np.array_equal(lineup.whole[0], lineup.whole[1])
    assert np.array_equal(lineup.real[0], lineup.real[1])


def test_who_wants_the_truth_must_say_so() -> None:
    """Else a reference would stand among the contestants."""

    class Sly:
        name = "sly"
        truthful = True

        def begin(self, lineup: Any, rows: Any = None) -> None: ...

        def act(self, seen: Any, masks: Any, infos: Any) -> Any: ...

    with pytest.raises(PolicyError, match=r"at its start: .*'sly' is truthful.*declare privileged = True"):
        catalogue.play(Sly(), LINES[:1], [0])
    with pytest.raises(ArgumentError, match=r"'sly' is truthful.*declare privileged = True"):
        Solo(Sly())


def test_only_policies_for_many_lines_are_played_in_a_batch() -> None:
    assert catalogue.plays(policy("cusum"))
    assert not catalogue.plays(Solo(policy("cusum")))
    assert not catalogue.plays(object())


def test_a_variant_that_is_seen_otherwise_is_not_played_in_a_batch() -> None:
    """What wrappers and other spaces do to a policy's eyes would not be done."""
    plain = LINES[0]
    others = [
        Variant(plain.env_id, plain.kwargs),
        Variant(plain.env_id, {**plain.kwargs, "observation": "dict"}, 0, plain.wrappers),
    ]
    for other in others:
        with pytest.raises(ArgumentError, match="give a policy that plays alone"):
            catalogue.play(policy("no-op"), [other], [0])


def test_actions_are_checked() -> None:
    class Wild:
        name = "wild"
        truthful = False

        def begin(self, lineup: Any, rows: Any = None) -> None: ...

        def act(self, seen: Any, masks: Any, infos: Any) -> Any:
            return np.full(len(seen), 545)

    with pytest.raises(PolicyError, match=r"step 0: it answered array\(\[545\]\).* action 545 of row 0 is out"):
        catalogue.play(Wild(), LINES[:1], [0])
