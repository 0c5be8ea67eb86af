"""Scores stand on published baselines; these must be those of the plant that ships."""

from __future__ import annotations

import pytest

from linegym.data import make_baselines
from linegym.errors import VariantError
from linegym.layout import V_TARGET
from linegym.perturbations import LoadPerturbation
from linegym.scores import EPISODES, NEEDED, PLACES, baseline, score, target
from linegym.templates import TEMPLATES, CustomTemplate, template
from linegym.variants import Variant, split, variant

NAME = "serial/thermocouple/profinet/bearing"


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAME, "hybrid/pressure/opcua/leak"])
def test_the_published_baselines_are_those_of_this_plant(name: str) -> None:
    """Whoever changes the plant, a reward or one of the two policies makes the file anew, or this fails."""
    (line,) = make_baselines.rows([template(name)])
    published = make_baselines.FILE.read_text().splitlines()
    assert line in published


def test_every_template_has_every_place() -> None:
    """10 245 variants of the benchmark and 683 clean ones."""
    assert PLACES[:2] == ("clean", "sensor:1")
    assert len(PLACES) * len(TEMPLATES) == 10_245 + 683
    for one in split("all"):
        known = baseline(one)
        assert known is not None
        assert known.oracle > known.chance, one.id
        assert known.output > 0, one.id


def test_random_scores_nothing_and_the_oracle_one() -> None:
    """That is what the scale means."""
    one = variant(f"{NAME}+sensor:3")
    known = baseline(one)
    assert known is not None
    assert score(one, known.chance) == 0
    assert score(one, known.oracle) == 1
    assert score(one, (known.chance + known.oracle) / 2) == pytest.approx(0.5)


def test_success_needs_nine_tenths_of_the_oracles_output() -> None:
    """The kernel reads it from the variant's row, unless a caller says otherwise."""
    one = variant(f"{NAME}+load:4")
    known = baseline(one)
    assert known is not None
    assert target(one) == NEEDED * known.output
    assert one.row()[V_TARGET] == target(one)
    assert one.row(target=7)[V_TARGET] == 7


def test_the_target_does_not_change_what_happens() -> None:
    """New baselines must not mean other random numbers."""
    one = variant(f"{NAME}+load:4")
    assert one.digest == Variant(template(NAME), load=4).digest
    assert one.rows(target=0.0).perturbations[:V_TARGET].tolist() == one.row()[:V_TARGET].tolist()


def test_families_together_are_put_together_from_each_alone() -> None:
    """Returns by adding, output by shares: checked by hand."""
    clean, sensor, load = (baseline(variant(NAME + ending)) for ending in ("", "+sensor:2", "+load:4"))
    both = baseline(variant(f"{NAME}+sensor:2+load:4"))
    assert clean
    assert sensor
    assert load
    assert both
    assert both.oracle == pytest.approx(sensor.oracle + load.oracle - clean.oracle)
    assert both.chance == pytest.approx(sensor.chance + load.chance - clean.chance)
    assert both.output == pytest.approx(sensor.output * load.output / clean.output)


def test_a_counterfactual_is_measured_against_what_it_would_be() -> None:
    """Without its family it must reach a clean line's output, whoever's random numbers it has."""
    one = variant(f"{NAME}+load:4")
    assert target(one.without("load")) == target(variant(NAME))


def test_beyond_the_benchmark_the_strongest_of_it_counts() -> None:
    """Intensities 6 and 7 have no baselines of their own."""
    assert baseline(variant(f"{NAME}+sensor:7")) == baseline(variant(f"{NAME}+sensor:5"))


def test_a_line_of_ones_own_has_no_score() -> None:
    """And no output that success needs: nobody has played it before."""
    own = Variant(CustomTemplate("own", template(NAME).plant()))
    assert target(own) == 0
    assert target(Variant(template(NAME), load=LoadPerturbation(ar=0.1))) == 0
    with pytest.raises(VariantError, match="is no published variant"):
        score(own, 1.0)


def test_means_are_of_four_episodes() -> None:
    """One episode of a random policy says little; the documentation names the number."""
    assert EPISODES == 4
