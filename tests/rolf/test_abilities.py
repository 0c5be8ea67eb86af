"""The three abilities of the mission, on episodes whose answers are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np
import pytest

from rolf import abilities
from rolf.abilities.grades import areas
from rolf.evaluation.episode import Episode
from rolf.statistics import interval, mean
from rolf.variant import Labels

NOISE, TRIP = "sensor noise σ [normalised]", "network round trip [ms]"


def episode(index: int, attempt: int = 0, **told: Any) -> Episode:
    """Return a row of which only what is told matters."""
    plain: dict[str, Any] = {
        "variant": f"v{index}",
        "seed": 0,
        "steps": 1,
        "episode_return": 0.0,
        "success": True,
        "score": 1.0,
        "fault": "",
        "measures": {},
        "state_digest": "",
        "trajectory": "",
        "trajectory_digest": "",
        "seconds": 0.0,
    }
    return Episode(index=index, attempt=attempt, **{**plain, **told})


def scored(table: Sequence[Sequence[float | None]]) -> list[Episode]:
    """Return an episode of each attempt: its score, None where the machine failed; it succeeded from 0.5 up."""
    return [
        episode(
            index, attempt, score=score, success=None if score is None else score >= 0.5, fault="died" * (score is None)
        )
        for index, row in enumerate(table)
        for attempt, score in enumerate(row)
    ]


class TestMatrix:
    def test_faults_are_holes_and_no_zeros(self) -> None:
        rows = scored([[0.25, None], [1.0, 0.75]])
        found = abilities.matrix(rows, value="score", variants=2, attempts=2)
        assert found.tolist()[1] == [1.0, 0.75]
        assert found[0, 0] == 0.25
        assert isnan(found[0, 1])
        success = abilities.matrix(reversed(rows), value="success", variants=2, attempts=2)  # type: ignore[arg-type]
        assert success[1].tolist() == [1.0, 1.0]
        assert isnan(success[0, 1])

    def test_the_return_of_a_fault_does_not_count(self) -> None:
        rows = [episode(0, episode_return=-3.0, fault="died", score=None, success=None)]
        assert isnan(abilities.matrix(rows, value="episode_return", variants=1, attempts=1)[0, 0])

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([[0.0, 0.0], [0.0]], "1 of 4 episodes are missing, first attempt 1 at variant 1; give all of a split"),
            (
                [[0.0, 0.0], [0.0, 0.0], [0.0]],
                "attempt 0 at variant 2 is none of 2 at 2 variants",
            ),
            ([[0.0, 0.0, 0.0], [0.0, 0.0]], "attempt 2 at variant 0 is none of 2 at 2 variants"),
        ],
    )
    def test_what_is_no_whole_table_is_refused(self, rows: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            abilities.matrix(scored(rows), value="score", variants=2, attempts=2)

    def test_an_episode_that_is_there_twice_is_refused(self) -> None:
        with pytest.raises(ValueError, match="attempt 0 at variant 0 is there twice"):
            abilities.matrix([episode(0), episode(0)], value="score", variants=1, attempts=1)

    def test_an_unknown_value_is_refused(self) -> None:
        with pytest.raises(ValueError, match="value 'steps' is not known; allowed are score, success, episode_return"):
            abilities.matrix([episode(0)], value="steps", variants=1, attempts=1)  # type: ignore[arg-type]


class TestGroups:
    labels = (
        Labels("a", "sensor", style="xml"),
        Labels("b", "load", style="xml"),
        Labels("a", "sensor", style="react"),
        Labels("b", "clean", style="react"),
    )
    rows = scored([[0.2, 0.4], [1.0, None], [0.6, 0.8], [None, None]])

    def test_a_group_is_the_mean_of_its_variants(self) -> None:
        found = abilities.groups(self.rows, self.labels, by="family")
        assert list(found) == ["sensor", "load"]
        assert found["sensor"].estimate == pytest.approx(0.5)
        assert (found["load"].estimate, found["load"].faults, found["load"].low) == (1.0, 1, None)

    def test_its_interval_is_that_of_the_statistics(self) -> None:
        found = abilities.groups(self.rows, self.labels, by="style", seed=4)["xml"]
        table = [[0.2, 0.4], [1.0, float("nan")]]
        assert found == interval(mean, table, ["a", "b"], seed=4)

    def test_groups_are_of_families_styles_or_clusters(self) -> None:
        assert list(abilities.groups(self.rows, self.labels, by="cluster")) == ["a", "b"]
        with pytest.raises(ValueError, match="by 'level' is not known; allowed are family, style, cluster"):
            abilities.groups(self.rows, self.labels, by="level")  # type: ignore[arg-type]

    def test_success_everywhere_is_no_certainty(self) -> None:
        """Ten of ten: at least 69 % of such variants, by Clopper and Pearson."""
        labels = [Labels(str(each), "sensor") for each in range(10)]
        found = abilities.groups(scored([[1.0]] * 10), labels, value="success")["sensor"]
        assert (found.low, found.high) == (pytest.approx(0.6915, abs=1e-4), 1.0)


class TestAdaptivity:
    labels = tuple(
        Labels(f"t{each}", "sensor", level, {NOISE: noise})
        for level, noise in ((1, 0.05), (2, 0.25))
        for each in range(4)
    )
    rows = scored([[1.0, 1.0]] * 3 + [[1.0, 0.0]] + [[0.0, 0.0]] * 2 + [[1.0, 0.0]] * 2)

    def test_a_value_between_two_points_is_read_off_the_line(self) -> None:
        """The mission asks at σ = 0.15: half way from 7/8 to 1/4."""
        found = abilities.adaptivity(self.rows, self.labels, NOISE)
        assert [(point.at, point.value.estimate, point.variants) for point in found.points] == [
            (0.05, 7 / 8, 4),
            (0.25, 1 / 4, 4),
        ]
        reading = found.at(0.15)
        assert reading.estimate == pytest.approx((7 / 8 + 1 / 4) / 2)
        assert found.at(0.1).estimate == pytest.approx(0.75 * 7 / 8 + 0.25 * 1 / 4)
        assert not reading.extrapolated
        left, right = (point.value for point in found.points)
        assert (reading.low, reading.high) == pytest.approx(((left.low + right.low) / 2, (left.high + right.high) / 2))

    def test_at_a_point_it_is_that_point(self) -> None:
        found = abilities.adaptivity(self.rows, self.labels, NOISE)
        for point in found.points:
            reading = found.at(point.at)
            assert (reading.estimate, reading.low, reading.high) == (
                point.value.estimate,
                point.value.low,
                point.value.high,
            )
            assert not reading.extrapolated

    @pytest.mark.parametrize(("place", "nearest"), [(0.01, 0), (0.9, 1)])
    def test_further_out_than_was_measured_it_says_so(self, place: float, nearest: int) -> None:
        found = abilities.adaptivity(self.rows, self.labels, NOISE)
        reading = found.at(place)
        assert reading.extrapolated
        assert reading.estimate == found.points[nearest].value.estimate
        assert str(reading).endswith("(extrapolated)")

    def test_a_place_that_is_no_number_is_refused(self) -> None:
        with pytest.raises(ValueError, match="place nan is no number"):
            abilities.adaptivity(self.rows, self.labels, NOISE).at(float("nan"))

    def test_variants_without_the_parameter_are_left_out(self) -> None:
        labels = (*self.labels, Labels("other", "load"))
        found = abilities.adaptivity([*self.rows, *scored([[0.0, 0.0]] * 9)[16:]], labels, NOISE)
        assert found == abilities.adaptivity(self.rows, self.labels, NOISE)

    def test_many_values_are_taken_together_by_neighbours(self) -> None:
        """Every variant is in one point, and each point has about as many."""
        count = 100
        labels = [Labels(str(each), parameters={TRIP: float(each**2)}) for each in range(count)]
        found = abilities.adaptivity(
            scored([[1.0 - each / count] for each in range(count)]), labels, TRIP, value="score"
        )
        assert len(found.points) == 12
        assert sum(point.variants for point in found.points) == count
        assert {point.variants for point in found.points} <= {8, 9}
        assert [point.at for point in found.points] == sorted(point.at for point in found.points)
        assert found.points[0].at == pytest.approx(np.mean(np.arange(9) ** 2))

    def test_a_parameter_that_nothing_has_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"has the parameter 'rtt'; known are sensor noise σ"):
            abilities.adaptivity(self.rows, self.labels, "rtt")

    def test_parameters_are_those_that_vary(self) -> None:
        labels = [Labels("a", parameters={NOISE: 0.1, TRIP: 5.0}), Labels("b", parameters={NOISE: 0.1, TRIP: 9.0})]
        assert abilities.parameters(labels) == (TRIP,)


class TestRobustness:
    @staticmethod
    def played(levels: dict[tuple[str, int], float], clusters: int = 5) -> tuple[list[Episode], list[Labels]]:
        """Return episodes that score so much in each cell, every cluster in all of them."""
        labels = [Labels(f"t{one}", family, level) for family, level in levels for one in range(clusters)]
        scores = [[score] for score in levels.values() for _ in range(clusters)]
        return scored(scores), labels

    def test_the_area_is_that_of_the_trapezoids(self) -> None:
        """1, 0.8, 0.2 at 1, 2, 4: (0.9 + 2 · 0.5) / 3."""
        found = abilities.robustness(*self.played({("load", 1): 1.0, ("load", 4): 0.2, ("load", 2): 0.8}))
        assert [cell.level for cell in found.families["load"].cells] == [1, 2, 4]
        assert found.families["load"].area.estimate == pytest.approx((0.9 + 2 * 0.5) / 3)
        assert found.area.estimate == pytest.approx((0.9 + 2 * 0.5) / 3)

    def test_what_nothing_disturbs_begins_every_curve(self) -> None:
        found = abilities.robustness(*self.played({("clean", 0): 1.0, ("load", 2): 0.5, ("sensor", 2): 0.1}))
        assert set(found.families) == {"load", "sensor"}
        assert [cell.value.estimate for cell in found.families["sensor"].cells] == pytest.approx([1.0, 0.1])
        assert found.families["load"].area.estimate == pytest.approx(0.75)
        assert found.area.estimate == pytest.approx((0.75 + 0.55) / 2)

    def test_the_worst_cell_is_named(self) -> None:
        found = abilities.robustness(
            *self.played({("load", 1): 0.9, ("load", 2): 0.3, ("sensor", 1): 0.4, ("sensor", 2): 0.6})
        )
        assert (found.worst.family, found.worst.level, found.worst.variants) == ("load", 2, 5)
        assert found.worst.value.estimate == pytest.approx(0.3)

    def test_nothing_but_undisturbed_variants_is_a_curve_of_one_point(self) -> None:
        found = abilities.robustness(*self.played({("clean", 0): 0.7}))
        assert found.area.estimate == pytest.approx(0.7)

    def test_where_nothing_is_graded_it_says_so(self) -> None:
        with pytest.raises(ValueError, match=r"robustness takes Labels\.level"):
            abilities.robustness(scored([[1.0]]), [Labels("a", "sensor")])

    def test_ungraded_variants_are_left_out(self) -> None:
        rows, labels = self.played({("load", 1): 1.0, ("load", 2): 0.5})
        more = abilities.robustness([*rows, episode(10, score=0.0)], [*labels, Labels("x", "load")])
        assert more == abilities.robustness(rows, labels)

    def test_the_interval_of_the_area_is_over_clusters(self) -> None:
        """Every cluster is in both cells, so the area is a mean over clusters and its interval is known."""
        draw = np.random.default_rng(0)
        scores = draw.random((30, 2))
        labels = [Labels(f"t{one:02d}", "load", level) for level in (1, 2) for one in range(30)]
        rows = scored([[score] for score in scores.T.ravel().tolist()])
        found = abilities.robustness(rows, labels).area
        known = interval(mean, scores.mean(1)[:, None], [f"t{one:02d}" for one in range(30)])
        assert (found.estimate, found.low, found.high) == pytest.approx(
            (known.estimate, known.low, known.high), abs=1e-9
        )
        assert (found.variants, found.clusters) == (60, 30)

    def test_a_curve_goes_past_cells_that_a_resample_lacks(self) -> None:
        means = np.array([[1.0, 0.5, 0.0], [1.0, np.nan, 0.0], [np.nan, 0.5, 0.1], [np.nan] * 3])
        assert areas(means, [1, 2, 3])[:3].tolist() == pytest.approx([0.5, 0.5, (0.5 + 0.3) / 2])
        assert isnan(areas(means, [1, 2, 3])[3])

    def test_two_variants_a_cell_are_enough_for_an_interval(self) -> None:
        """Many resamples then lack a cell."""
        found = abilities.robustness(*self.played({("load", 1): 1.0, ("load", 2): 0.5, ("sensor", 1): 0.1}, clusters=2))
        assert found.area.low is not None
        assert found.area.low <= found.area.estimate <= found.area.high


class TestAttribution:
    def test_every_failure_counts_the_same(self) -> None:
        """The first lost 0.8: sensors cost half of it. The second lost all, and nothing explains it."""
        rows = [
            episode(0, success=False, score=0.2, attribution={"sensor": 0.4, "load": -0.1}),
            episode(1, success=False, score=0.0, attribution={"sensor": 0.0, "load": 0.0}),
            episode(2, success=True, score=1.0, attribution={"sensor": 0.9, "load": 0.9}),
        ]
        found = abilities.attribution(rows)
        assert (found.failures, found.examined) == (2, 2)
        assert found.shares == pytest.approx({"load": 0.0, "sensor": 0.25})
        assert found.unexplained == pytest.approx(0.75)

    def test_shares_add_up_to_one_even_where_costs_are_more_than_was_lost(self) -> None:
        """A score above 1 without disturbance: it cost more than what is missing to 1."""
        found = abilities.attribution([episode(0, success=False, score=0.7, attribution={"sensor": 0.5, "load": 0.3})])
        assert found.shares == pytest.approx({"sensor": 0.625, "load": 0.375})
        assert found.unexplained == pytest.approx(0.0)

    def test_a_failure_that_lost_nothing_is_unexplained(self) -> None:
        found = abilities.attribution([episode(0, success=False, score=1.0, attribution={"sensor": 0.0})])
        assert (found.shares, found.unexplained) == ({"sensor": 0.0}, 1.0)

    def test_failures_that_nobody_looked_at_are_counted_apart(self) -> None:
        found = abilities.attribution(
            [episode(0, success=False, score=0.0), episode(1, fault="died", success=None, score=None)]
        )
        assert (found.failures, found.examined, found.shares) == (1, 0, {})
        assert isnan(found.unexplained)

    def test_precision_is_of_all_diagnoses_together(self) -> None:
        """An episode with many counts for many; one in which the machine failed counts for none."""
        rows = [
            episode(0, measures={"claims": 9.0, "claims_right": 3.0}),
            episode(1, measures={"claims": 1.0, "claims_right": 1.0}),
            episode(2, measures={"claims": 5.0, "claims_right": 5.0}, fault="died", success=None, score=None),
        ]
        assert (abilities.attribution(rows).precision, abilities.attribution(rows).claims) == (0.4, 10)

    def test_who_says_nothing_has_no_precision(self) -> None:
        assert abilities.attribution([episode(0)]).precision is None
        assert abilities.attribution([episode(0, measures={"claims": 0.0, "claims_right": 0.0})]).precision is None
