"""What is held out is really held out, and nobody chose it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from linegym import layout
from linegym.errors import VariantError
from linegym.plant import STATIONS
from linegym.splits import SETS, digest, named, seen, unseen
from linegym.templates import TEMPLATES, Template
from linegym.variants import FAMILIES, Variant, split

LISTS = {  # number and digest of the ids: a list that changes is another benchmark
    "train": (7000, "6c001622ae0120ee67a2dcf9e802946e162a207da5b27ee4855c5f4b8b2ea4e0"),
    "validation": (350, "f3a8b213e378589b3deec34bb4d9c9044fe72b3d9a6a82c5e9e2c172cd68c974"),
    "fit": (6650, "253415eec1024f81917c54d68cafe19a59501bfd01341fa7e06f2ca4f72fec69"),
    "held-out": (3245, "06110e49f0c4449649a4c823dc5aa9f6d53a67400b606d60ec9c3f273ee54276"),
    "unseen-template": (1245, "8484e3cf4837a5f7384ab0b6fd5a21a568966d2e6cf7979b962e1ef45be0e704"),
    "extrapolation": (1800, "19d33897b76ea43d4619c17a1e1662d1ac4df090366f08355814e5d810ad9fe7"),
    "iid": (200, "937d6ac359ee28e495c5ca42ce3a0b1ad00fd1012bc6c87f2a493e2a5b5c852a"),
    "all": (10245, "45351cf4bed86f0f9aaf0798d56249f5fed1e46ecb78712c01292fd0d2d09a0f"),
    "combination": (2732, "c01f2765f10f6857083f142d781ce16296ba96fccac34bc17e5fcaf1f31ed186"),
    "clean": (683, "3913f5004a79ac130b187f9bbe2c79030615f881f7b96bcb2be606d557296d8c"),
    "sweep": (1826, "be2cc6c7c4ea11ef6f23a89d54cedc1e72cea2cb45eff46045f21fe59492890a"),
}
AXES = ("topology", "sensor", "protocol", "fault")


def cell(variant: Variant) -> tuple[int, int, int]:
    return variant.sensor, variant.network, variant.load  # type: ignore[return-value]


def pairs(templates: tuple[Template, ...]) -> set[tuple[str, str, str, str]]:
    """Return every level of an axis together with every level of another that occurs."""
    return {
        (one, getattr(each, one), other, getattr(each, other))
        for each in templates
        for one, other in combinations(AXES, 2)
    }


def cycles(templates: tuple[Template, ...], nothing: int) -> np.ndarray:
    """Return the process times of lines, (len(templates), STATIONS), with ``nothing`` where no station is."""
    rows = np.array([each.plant().rows()[0][: layout.T_CAPACITY : layout.T_STRIDE] for each in templates])
    used = np.array([len(each.plant().stations) for each in templates])
    return np.where(np.arange(STATIONS) < used[:, None], rows, nothing)


@pytest.mark.parametrize("name", SETS)
def test_lists_never_change(name: str) -> None:
    """Results are compared over years by the names of these lists."""
    assert (len(named(name)), digest(name)) == LISTS[name]
    assert len(set(named(name))) == len(named(name))
    assert split(name) is named(name)


def test_every_variant_of_the_benchmark_is_in_one_place() -> None:
    """Train and the three held-out sets are the whole, without overlap."""
    parts = [variant for name in ("train", "unseen-template", "extrapolation", "iid") for variant in named(name)]
    assert Counter(parts) == Counter(named("all"))
    assert len(named("all")) == len(TEMPLATES) * 15
    assert set(named("held-out")) == set(named("all")) - set(named("train"))


def test_nothing_held_out_has_the_content_of_something_trained_on() -> None:
    """Ids can differ where plants do not; the digests of the content cannot lie."""
    trained = {variant.digest for variant in named("train")}
    assert len(trained) == 7000
    for name in ("held-out", "combination", "clean"):
        assert trained.isdisjoint(variant.digest for variant in named(name)), name
    assert trained.isdisjoint(variant.digest for variant in named("sweep"))


def test_an_unseen_template_is_near_to_none_that_was_seen() -> None:
    """A line with the same process times at most places would be the same line, whatever its digest says."""
    assert len(unseen()) == 83
    strange = tuple(template for template in TEMPLATES if template in unseen())
    alike = (cycles(strange, -1)[:, None, :] == cycles(seen(), -2)[None, :, :]).sum(axis=2)
    assert alike.max() <= 3
    assert alike.mean() < 0.02


def test_extrapolation_is_beyond_all_training() -> None:
    """In each family, and in all that gets worse with intensity; so an orchestrator inside train never meets it."""
    assert {max(cell(variant)) for variant in named("extrapolation")} == {5}
    assert {max(cell(variant)) for variant in named("train")} == {1, 2, 3, 4}
    known = np.array([variant.row() for variant in named("train")])
    beyond = np.array([variant.row() for variant in named("extrapolation")])
    assert ((beyond < known.min(0)) | (beyond > known.max(0))).any(axis=1).all()


def test_iid_lies_between_what_was_trained_on() -> None:
    """16 or 17 of each family and intensity; each has a neighbour of its template and family in training."""
    counts = Counter(cell(variant) for variant in named("iid"))
    assert sorted(counts.values()) == [16] * 4 + [17] * 8
    families = {(v.template, tuple(level > 0 for level in cell(v))) for v in named("train")}  # type: ignore[operator]
    assert all(
        (v.template, tuple(level > 0 for level in cell(v))) in families  # type: ignore[operator]
        for v in named("iid")
    )


def test_training_meets_every_pair_of_levels() -> None:
    """What is asked of the held-out set was seen in parts: all 205 pairs that the rules allow."""
    assert len(pairs(TEMPLATES)) == 205
    assert pairs(seen()) == pairs(TEMPLATES)
    assert {variant.template for variant in named("train")} == set(seen())


def test_unseen_templates_are_spread_over_the_topologies() -> None:
    """83 of 683, by largest remainder: within one of the exact share in each."""
    total = Counter(template.topology for template in TEMPLATES)
    for topology, count in Counter(template.topology for template in unseen()).items():
        assert abs(count - 83 * total[topology] / 683) < 1


def test_validation_is_a_part_of_train_and_nothing_else() -> None:
    """Models are chosen on it; the held-out sets are looked at once."""
    train, validation, fit = (set(named(name)) for name in ("train", "validation", "fit"))
    assert validation | fit == train
    assert not validation & fit
    assert len({cell(variant) for variant in validation}) == 12


def test_combinations_are_of_two_families_or_three() -> None:
    """Each of the four, for each template."""
    counts = Counter(cell(variant) for variant in named("combination"))
    assert counts == dict.fromkeys(((3, 3, 0), (3, 0, 3), (0, 3, 3), (3, 3, 3)), 683)


def test_sweeps_go_from_nuisance_to_beyond() -> None:
    """Eight points a curve, on templates that no training met."""
    assert {variant.template for variant in named("sweep")} == set(unseen())
    for place, _ in enumerate(FAMILIES):
        levels = {cell(v)[place] for v in named("sweep") if sum(cell(v)) == cell(v)[place]}
        assert levels == set(range(8))


@pytest.mark.parametrize("name", ["train", "unseen-template", "extrapolation", "all"])
def test_the_beginning_of_a_list_is_a_sample_of_it(name: str) -> None:
    """`num_envs=500, variants="train"` must not be five hundred times the same topology."""
    variants = named(name)
    whole = Counter(variant.template.topology for variant in variants)  # type: ignore[union-attr]
    beginning = Counter(variant.template.topology for variant in variants[:500])  # type: ignore[union-attr]
    for topology, count in whole.items():
        assert beginning[topology] / 500 == pytest.approx(count / len(variants), abs=0.08)


def test_another_name_is_refused() -> None:
    """With what is near and what there is."""
    with pytest.raises(VariantError, match=r"'heldout'; did you mean 'held-out'\?; sets are train, validation, fit"):
        split("heldout")
