"""What the terminal tells an evaluation: its splits, what is hidden from contestants, what an ending is worth."""

from __future__ import annotations

import gymnasium as gym
import pytest

import termgym
from rolf.evaluation.episode import Ending
from rolf.evaluation.evaluable import Bounded, Evaluable
from rolf.evaluation.origin import bounds
from rolf.variant import Variant
from termgym import catalogue, splits
from termgym.errors import UnknownTask

DIGESTS = {
    "term-v1/train": "6d01310583fc04e9d2ba3d654cb081a71c8fdf3271bfb3e3186c9356becdea49",
    "term-v1/validation": "cfe12078859ca2f14e7897c23276f511a2293d37b1f603b713beab57a0ce4e1a",
    "term-v1/unseen-family": "40a38676064b9bc56e0d4d8bf49ef6a7ed3f3a3d542b3501b33876f29b848f3f",
    "term-v1/unseen-cause": "19106313433f4899bab89b5620c2cbb37fd1898920e5c960f28f5aea489be8b5",
    "term-v1/unseen-world": "d8d7cffd5fe64fe817a699ab94b5c1e519820980457403699d6dc07b91bb8f12",
    "term-v1/unseen-interface": "f087954eb479449842f8cfbeea4998065508197411f7dc7cf1a2c4b887888964",
}
"""A split whose digest moves is another benchmark: results on it are no longer comparable, and its name must change."""


def ending(**info: object) -> Ending:
    told = {"success": False, "failure_kind": None, "diff": [["a"], ["b"]], "drift": ["/srv/x"], **info}
    return Ending([-0.1, 3.0], told, terminated=True, truncated=False)


def test_the_terminal_can_be_evaluated() -> None:
    """The protocol is looked up by its names, so a misspelt one would make `rolf eval` deny the environment."""
    assert isinstance(catalogue, Evaluable)
    assert isinstance(catalogue, Bounded)


@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_splits_are_what_they_were(name: str) -> None:
    """Variants, limits and the content of tasks and interfaces: a result says which it was played on."""
    assert catalogue.split(name).digest == DIGESTS[name]


def test_lists_each_split_with_its_size() -> None:
    """`rolf split list` is what people choose from."""
    listed = {entry.name: entry.count for entry in catalogue.splits()}
    assert listed == {name: len(catalogue.split(name)) for name in DIGESTS}
    assert listed["term-v1/unseen-world"] == len(splits.named("unseen-world"))


def test_no_two_variants_are_the_same_problem() -> None:
    """A problem played twice would count twice."""
    for name in DIGESTS:
        variants = catalogue.split(name).variants
        assert len({variant.digest for variant in variants}) == len(variants)


def test_worlds_of_a_cause_are_one_cluster() -> None:
    """Ten worlds of one cause are not ten independent problems."""
    held_out = catalogue.split("term-v1/unseen-cause")
    clusters = {label.cluster for label in held_out.labels}
    assert len(clusters) * splits.WORLDS == len(held_out)
    assert {label.cluster for label in held_out.labels if label.family == "key-modes"} == {"key-modes/open-directory"}


def test_an_unknown_split_is_told_with_the_nearest() -> None:
    """A typo must not cost a look into the documentation."""
    with pytest.raises(UnknownTask, match="did you mean 'term-v1/unseen-cause'"):
        catalogue.split("term-v1/unsen-cause")


def test_unseen_interface_asks_the_tasks_of_unseen_world() -> None:
    """Played side by side, the difference is what the interface costs."""
    plain, styled = catalogue.split("term-v1/unseen-world"), catalogue.split("term-v1/unseen-interface")
    assert [variant.kwargs for variant in plain.variants] == [variant.kwargs for variant in styled.variants]
    counts = {style: sum(label.style == style for label in styled.labels) for style in {x.style for x in styled.labels}}
    assert len(counts) >= 3
    assert min(counts.values()) > len(styled) / len(counts) / 2


def test_a_reseeded_variant_is_a_world_that_nobody_has_played() -> None:
    """Private splits are made so: the same causes, in worlds beyond all that training draws and all public sets."""
    public = catalogue.split("term-v1/unseen-cause").variants[0]
    private = catalogue.reseeded(public, 2**63 + 5)
    assert private.kwargs["task"].partition("@")[0] == public.kwargs["task"].partition("@")[0]
    assert int(private.kwargs["task"].partition("@")[2]) > splits.HELD_OUT + 1_000
    assert private != catalogue.reseeded(public, 2**63 + 6)
    with private.make() as env:
        observation, info = env.reset(seed=0)
        assert info["task"] == private.kwargs["task"]
        assert observation["instruction"]


def test_success_is_the_score_where_no_verifier_grants_one() -> None:
    """Shaped or summed rewards are for learning; the benchmark asks whether it was done."""
    variant = catalogue.split("term-v1/train").variants[0]
    done = catalogue.measure(variant, ending(success=True))
    assert (done.success, done.score, done.fault) == (True, 1.0, "")
    assert done.measures == {"changed": 2.0, "drift": 1.0}
    assert catalogue.measure(variant, ending()).score == 0.0


def test_a_verifiers_grade_is_the_score() -> None:
    """A task folder may grant a part."""
    variant = catalogue.split("term-v1/train").variants[0]
    assert catalogue.measure(variant, ending(verifier={"reward": 0.25})).score == 0.25


def test_a_score_lies_between_failure_and_success_unless_a_folders_verifier_grants_it() -> None:
    """What no score can leave, no interval needs to hold; and a recording that tells more is forged."""
    for name in DIGESTS:
        assert bounds(catalogue.split(name).variants) == (0.0, 1.0)
    own = Variant("termgym:TermEnv-v1", {"task": "./folder"})
    assert bounds([catalogue.split("term-v1/train").variants[0], own]) is None


def test_a_machine_that_failed_is_a_fault_and_no_score() -> None:
    """It says nothing of the policy."""
    variant = catalogue.split("term-v1/train").variants[0]
    assert catalogue.measure(variant, ending(failure_kind="SandboxError", success=True)).fault == "SandboxError"


def test_what_is_hidden_is_there_to_be_hidden() -> None:
    """A key that is spelt wrongly would hide nothing."""
    env = gym.make("termgym:TermEnv-v1", task="permission-denied/not-executable@3")
    env.reset(seed=0)
    *_, info = env.step(termgym.submit())
    env.close()
    assert set(catalogue.HIDDEN) - {"verifier", "stage"} <= info.keys(), "the two are told of task folders only"
