"""The line's splits, labels and measures: what a leaderboard compares, and by which names."""

from __future__ import annotations

import csv
from importlib import import_module
from math import fsum
from typing import Any

import golden_scores
import pytest

import linegym
from linegym import catalogue, splits
from linegym.contestants import POLICIES
from linegym.errors import ArgumentError
from linegym.evaluation import entry
from linegym.labels import labels, parameters
from linegym.perturbations import NetworkPerturbation
from linegym.policies import POLICIES as MAKERS
from linegym.policies import policy
from linegym.scores import baseline
from linegym.variants import Variant as Line
from linegym.variants import variant
from rolf.evaluation.evaluable import Attributable, Batched, Evaluable
from rolf.variant import SEEDS, Variant

DIGESTS = {
    "line-v1/train": "249e1a919889126c6c3fdffda16adf5b81168b00bb94e175edfd6005c5d2afdd",
    "line-v1/validation": "13dd0c80aca7d4c3b7a94d25731e8075ccabcff016c71af104739b5f8cb0f643",
    "line-v1/fit": "6b2c24b393a268ad2a1dc2813979527eff9fc37b04d5ee757664d0e9d7c6be35",
    "line-v1/held-out": "91ef400b5b5d7716219ba1e4c70edfcb511eeaf4c29d33a4206fdfcb6fea8782",
    "line-v1/unseen-template": "1d18092e25a29b948276513f53c3bd3b083f59fb13b83c4edd620d3d1b829d8b",
    "line-v1/extrapolation": "4e389db4b82aadf1573893b45ce6f93962793b362af4f1185a776caae4f0114e",
    "line-v1/iid": "b8525c4db5acfbd93c443939aebf587d5f18e3cf198db0b83ed5c11944fd2331",
    "line-v1/all": "bee0b47976afabe1632be96d23287313228120d1a326503da053d542b5e60561",
    "line-v1/combination": "b3b5b00c5a0b63443a514edc9d27e677258274f78a1477c45b53adc2b940416f",
    "line-v1/clean": "73d1ef08b6fc9ed49e1cb56a0ad6aaaa308673fd135f98c108692bda2da127a2",
    "line-v1/sweep": "7f2188c9de47da8aea32c15f0ac1c8a6302cbf080a60819822ea2ae098bde5c3",
}
"""Of all that is played in a split. One that moves is another benchmark: raise ``line-v1``."""
SHOWN = {
    "action_mask",
    "assess",
    "closed_station",
    "dispatch",
    "episode_index",
    "execute",
    "invalid_action",
    "output",
    "phase",
    "scrap",
    "station_mask",
    "template_id",
    "tick",
}
"""What a contestant is told in ``info``."""


def test_the_catalogue_offers_everything() -> None:
    for protocol in (Evaluable, Batched, Attributable):
        assert isinstance(catalogue, protocol)


def test_every_set_is_a_split() -> None:
    entries = catalogue.splits()
    assert [each.name for each in entries] == [f"line-v1/{name}" for name in splits.SETS]
    for each in entries:
        found = catalogue.split(each.name)
        assert (len(found), found.attempts, found.name) == (each.count, each.attempts, each.name)
        assert [one.name for one in found.variants] == [one.id for one in splits.named(each.name[8:])]
    counts = {each.name[8:]: each.count * each.attempts for each in entries}
    assert (counts["iid"], counts["validation"], counts["clean"]) == (1000, 1750, 3415)
    assert (counts["train"], counts["unseen-template"], counts["sweep"]) == (7000, 1245, 1826)


def test_nobody_changes_a_split_unnoticed() -> None:
    assert {each.name: catalogue.split(each.name).digest for each in catalogue.splits()} == DIGESTS


def test_what_the_names_stand_for_is_in_the_digest() -> None:
    """The content of a set, and the part of it that a first few are taken from."""
    iid = catalogue.split("line-v1/iid")
    assert iid.content != catalogue.split("line-v1/clean").content
    assert iid.first(20).content == iid.content
    assert iid.first(20).digest != iid.digest


def test_a_split_that_is_not_there_is_refused_with_the_nearest() -> None:
    for name in ("line-v1/idd", "line-v2/iid", "iid"):
        with pytest.raises(LookupError, match=r"no split is named .*did you mean.*'line-v1/iid'"):
            catalogue.split(name)


def test_seeds_of_attempts_are_taken_and_differ() -> None:
    """As a single environment takes them; the largest too."""
    played = catalogue.split("line-v1/iid").variants[0]
    assert played.kwargs["evaluation"] is True
    seeds = [played.attempt_seed(attempt) for attempt in range(5)]
    other = catalogue.reseeded(played, 1)
    assert len({*seeds, *(other.attempt_seed(attempt) for attempt in range(5))}) == 10
    assert (other.kwargs, other.wrappers, other.seed) == (played.kwargs, played.wrappers, 1)
    with played.make() as env:
        for seed in (*seeds, SEEDS - 1):
            _, info = env.reset(seed=seed)
            assert info["seed"] == seed < SEEDS


def test_what_a_contestant_is_told_is_chosen() -> None:
    """A new entry of ``info`` belongs to one of the two: whoever adds it says to which."""
    with catalogue.split("line-v1/iid").variants[0].make() as env:
        _, info = env.reset(seed=0)
    assert set(info) == SHOWN | set(catalogue.HIDDEN)
    assert SHOWN.isdisjoint(catalogue.HIDDEN)
    assert list(catalogue.HIDDEN) == sorted(catalogue.HIDDEN)


# ---- labels


def test_labels_say_what_disturbs_a_line() -> None:
    """By hand from the ladders in docs/explanation/disturbances.md."""
    found = labels(variant("serial/thermocouple/profinet/bearing+sensor:3"))
    assert (found.cluster, found.family, found.level) == ("serial/thermocouple/profinet/bearing", "sensor", 3)
    assert found.parameters == {
        "sensor noise σ [normalised]": 1.65,
        "sensor sine amplitude [share]": 0.06,
        "sensor impulse height [share]": 0.08,
        "sensor wander amplitude [normalised]": 1.5,
        "sensor hold [probability/sample]": 0.03,
    }
    found = labels(variant("parallel/current/opcua/tool-wear+load:5"))
    assert (found.family, found.level) == ("load", 5)
    assert found.parameters == {
        "scan time noise σ [nominal scans]": 0.13,
        "periodic load amplitude [nominal scans]": 0.2,
        "load spike height [nominal scans]": 1.8,
        "load spike [probability/tick]": 0.1,
        "load ripple σ [normalised/nominal scan]": 13.5,
    }


def test_a_network_is_told_with_and_without_its_protocol() -> None:
    """MQTT takes 1.3 times the round trips and gateway cycles (3 s each): 100 ms are 130, 2.4 cycles 9 360 ms.

    Loss: a burst begins with 0.024 and ends with 0.0108, so that 0.024/0.0348 of the time is within one, which loses
    0.99, and the rest 0.001.
    """
    found = labels(variant("rework-loop/rtd/mqtt/overheat+network:5")).parameters
    assert found.pop("network loss [share]") == pytest.approx(0.024 / 0.0348 * 0.99 + 0.0108 / 0.0348 * 0.001)
    assert found == {
        "network round trip [ms]": 100.0,
        "network round trip under the protocol [ms]": 130.0,
        "network gateway delay under the protocol [ms]": pytest.approx(9360.0),
        "network utilisation [share]": 0.95,
        "network signal to noise [dB]": 0.0,
    }


def test_a_clean_line_is_the_beginning_of_every_curve_and_others_are_not() -> None:
    """At level 0 of a family stand the lines that nothing disturbs, and not those that another family does."""
    clean = labels(variant("serial/current/profinet/jam"))
    assert (clean.family, clean.level) == ("clean", 0)
    assert clean.parameters["sensor noise σ [normalised]"] == 0.15
    assert clean.parameters["network round trip [ms]"] == 3.0
    assert clean.parameters["scan time noise σ [nominal scans]"] == 0.02
    both = labels(variant("serial/current/profinet/jam+sensor:3+load:3"))
    assert (both.family, both.level) == ("sensor+load", 3)
    assert both.parameters == parameters("sensor", 3, 0.8) | parameters("load", 3, 0.8)


def test_the_missions_two_points_are_on_the_sweep() -> None:
    """Success at σ = 0.15 and at a round trip of 200 ms: 83 unseen templates each."""
    found = catalogue.split("line-v1/sweep").labels
    noise = [each for each in found if each.parameters.get("sensor noise σ [normalised]") == 0.15]
    network = [each for each in found if each.parameters.get("network round trip [ms]") == 200.0]
    assert (len(noise), {each.family for each in noise}) == (83, {"clean"})
    assert (len(network), {(each.family, each.level) for each in network}) == (83, {("network", 7)})
    assert len({each.cluster for each in found}) == 83


def test_parameters_of_ones_own_have_no_level() -> None:
    own = labels(Line(linegym.template("serial/current/profinet/jam"), network=NetworkPerturbation(rtt=42)))
    assert (own.family, own.level) == ("network", None)
    assert own.parameters["network round trip [ms]"] == 42.0


# ---- measures


def test_a_score_lies_between_chance_and_the_oracle() -> None:
    """By hand from the published baselines; a return of the oracle's scores 1."""
    played = entry(variant("parallel/current/opcua/tool-wear+sensor:2"))
    known = baseline(variant(played.name))
    assert known is not None
    (run,) = catalogue.play(policy("threshold"), [played], [4])
    found = catalogue.measure(played, run.ending)
    assert found.score == (fsum(run.ending.rewards) - known.chance) / (known.oracle - known.chance)
    assert found.success == run.ending.info["success"]
    assert found.fault == ""
    assert found.measures["output"] == run.ending.info["output"] > 0
    assert found.measures["orders"] == run.ending.info["shift"]["orders"] > 0
    assert all(type(value) is float for value in found.measures.values())


def test_every_episode_has_the_same_measures() -> None:
    """Whoever closes nothing has counts of 0 and no gaps."""
    played = [entry(variant(f"serial/current/profinet/jam{text}")) for text in ("", "+load:5")]
    names = [
        list(catalogue.measure(each, run.ending).measures)
        for name in ("no-op", "cusum")
        for each, run in zip(played, catalogue.play(policy(name), played, [1, 2]), strict=True)
    ]
    assert names == [names[0]] * 4
    assert {"scrap", "claims_right", "identify", "faults_due"} < set(names[0])


def test_a_shift_that_has_not_ended_is_not_judged() -> None:
    played = entry(variant("serial/current/profinet/jam"))
    (run,) = catalogue.play(policy("no-op"), [played], [1])
    short = {name: value for name, value in run.ending.info.items() if name != "shift"}
    cut = type(run.ending)(run.ending.rewards[:9], short, False, False)
    with pytest.raises(ArgumentError, match=r"tells no 'shift' after 9 steps; a shift is judged at its end, after 600"):
        catalogue.measure(played, cut)


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        ("CartPole-v1", {"variant": "serial/current/profinet/jam", "evaluation": True}),
        ("linegym:LineEnv-v1", {"variant": "serial/current/profinet/jam"}),
        ("linegym:LineEnv-v1", {"variant": "serial/current/profinet/jam", "evaluation": True, "horizon": 60}),
        ("linegym:LineEnv-v1", {"evaluation": True}),
    ],
)
def test_what_has_no_baselines_is_not_judged(env_id: str, kwargs: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="cannot be judged: baselines are known of whole shifts"):
        catalogue.play(policy("no-op"), [Variant(env_id, kwargs)], [0])


# ---- policies


def test_every_shipped_policy_can_be_named() -> None:
    """By a name without spaces, as a function that makes a new one; references say that they are."""
    entries = catalogue.policies()
    assert [name.replace("-", " ") for name in entries] == [name.replace("-", " ") for name in MAKERS]
    for given, shipped in zip(entries.values(), MAKERS, strict=True):
        module, _, name = given.spec.partition(":")
        made = getattr(import_module(module), name)()
        assert made is not getattr(import_module(module), name)()
        assert made.name == shipped
        assert given.privileged == made.truthful
        assert catalogue.plays(made)
    assert [name for name, given in entries.items() if given.privileged] == [
        "oracle-diagnosis",
        "oracle-dispatch",
        "oracle",
    ]
    assert len(POLICIES) == 7


def test_scores_are_those_of_before() -> None:
    """Of every shipped policy on the first 20 variants of iid, to the last digit."""
    with golden_scores.FILE.open(newline="") as file:
        assert golden_scores.measure() == list(csv.DictReader(file))
