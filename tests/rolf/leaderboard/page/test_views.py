"""What the page shows is what the board says: every table, every curve, every interval."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from chromium import Browser
from toy_board import FAMILIES, PARAMETERS, STYLES, Made

from rolf.leaderboard.board import Entry, Estimate, SplitBoard

CLOSE = 0.006
"""How far a place on a curve may be from the number that it stands for: half a pixel."""
POINTS = """
const [selector, mark, label] = arguments;
const {plot} = document.querySelector(selector);
const [x, y] = [plot.scale("x"), plot.scale("y")];
const path = [...plot.querySelectorAll(`g[aria-label="${mark}"] path`)].find((each) => each.ariaLabel === label);
const numbers = path.getAttribute("d").match(/-?[0-9.]+(e-?[0-9]+)?/g).map(Number);
const points = [];
for (let n = 0; n < numbers.length; n += 2) points.push([x.invert(numbers[n]), y.invert(numbers[n + 1])]);
return points;
"""
"""The places of a line or an area, back from pixels."""
WHISKERS = """
const {plot} = document.querySelector(arguments[0]);
const [x, y] = [plot.scale("x"), plot.scale("y")];
const numbers = (text) => text.match(/-?[0-9.]+/g).map(Number);
const links = [...plot.querySelectorAll('g[aria-label="link"] path')].map((each) => numbers(each.getAttribute("d")));
const dots = [...plot.querySelectorAll('g[aria-label="dot"] :is(path, circle)')].map((each) =>
  numbers(each.getAttribute("cx") ?? each.getAttribute("transform")));
return y.domain.map((name, n) => [name, x.invert(dots[n][0]), x.invert(links[n][0]), x.invert(links[n][2])]);
"""


def first(toy: Made) -> SplitBoard:
    return toy.board.splits[0]


def name(entry: Entry) -> str:
    return str(entry.policy["name"])


def shown(number: float) -> str:
    return f"{number:.3f}".replace("-0.000", "0.000").replace("-", "−")


def written(estimate: Estimate) -> str:
    assert estimate.low is not None
    assert estimate.high is not None
    return f"{shown(estimate.value)} {shown(estimate.low)} to {shown(estimate.high)}"


def cells(window: Browser, selector: str) -> list[list[str]]:
    """Return the texts of a table's body, a row each."""
    rows: list[list[str]] = window.run(
        """return [...document.querySelectorAll(arguments[0] + " tr")].filter((row) => !row.closest("thead"))
             .map((row) => [...row.children].map((cell) => cell.textContent.replace(/\\s+/g, " ").trim()))""",
        selector,
    )
    return rows


def part(selector: str, heading: str, window: Browser) -> str:
    """Return what selects the small chart under a heading."""
    headings = window.texts(f"{selector} h4")
    return f"{selector} > div:nth-child({headings.index(heading) + 1}) > .chart-part"


# ---- tables


def test_the_ranking_is_the_boards(seen: Browser, toy: Made) -> None:
    rows = {row[1].split(" ")[0]: row for row in cells(seen, "#ranking-0 .ranking tbody") if len(row) > 1}
    assert list(rows) == [name(entry) for entry in first(toy).entries]
    for entry in first(toy).entries:
        place, _, score, success, every, behind = rows[name(entry)]
        assert score == written(entry.score)
        assert success == written(entry.success)
        assert every == written(entry.chances[-1].all)
        if entry.rank is None:
            assert (place, behind) == ("·", "–")
        elif entry.leader is None:
            assert (place, behind) == ("1", "leads")
        else:
            assert place == "–".join(dict.fromkeys(map(str, entry.rank)))
            assert behind.removesuffix(" tie") == written(entry.leader.difference)


def test_references_stand_apart(seen: Browser, toy: Made) -> None:
    """Who is told the truth has no place among those who are not."""
    assert seen.texts(".ranking .references tr[data-entry] .name") == ["truthful"]
    assert "truthful" not in seen.texts(".ranking .contestants .name")
    assert "without a place" in seen.find(".divider").text


def test_badges_say_who_vouches(seen: Browser, toy: Made) -> None:
    badges = seen.texts("#ranking-0 .contestants tr:nth-child(1) .badge")
    assert badges == ["✓ verified"]
    title = seen.find("#ranking-0 .badge.verified").get_attribute("title")
    assert (
        title == "by the maintainers with rolf 1.0: 20 of 1000 episodes replayed, 4 played again by the policy itself"
    )
    assert seen.texts("#ranking-0 .contestants tr:nth-child(3) .badge") == ["unverified", "3 faults"]
    assert seen.texts("#ranking-0 .contestants tr:nth-child(4) .badge") == ["unverified", "not understood"]


def test_scores_lie_at_their_places_on_the_axis(seen: Browser, toy: Made) -> None:
    for entry in first(toy).entries:
        row = f'.ranking tr[data-entry="{entry.name}"] .forest'
        line = seen.find(f"{row} .whisker")
        ends = [float(line.get_attribute(key) or "") / 100 for key in ("x1", "x2")]
        low, high = axis(toy)
        assert [low + end * (high - low) for end in ends] == pytest.approx(
            [entry.score.low, entry.score.high], abs=1e-3
        )
        dot = float(seen.find(f"{row} .dot").get_attribute("x1") or "") / 100
        assert low + dot * (high - low) == pytest.approx(entry.score.value, abs=1e-3)


def axis(toy: Made) -> tuple[float, float]:
    scores = [entry.score for entry in first(toy).entries]
    return min(0.0, *(each.low or 0.0 for each in scores)), max(1.0, *(each.high or 0.0 for each in scores))


def test_a_figure_without_an_interval_says_so(seen: Browser) -> None:
    seen.click("#tab-1")
    assert cells(seen, "#ranking-1 .ranking tbody")[0][2] == "0.690 no interval"


def test_every_chart_has_its_numbers_beside_it(seen: Browser, toy: Made) -> None:
    entries = first(toy).entries
    expected = {
        "profiles": [
            [name(e), shown(t), shown(v), f"{shown(low)} to {shown(high)}"]
            for e in entries
            for t, v, low, high in zip(
                e.profile.thresholds, e.profile.values, e.profile.low, e.profile.high, strict=True
            )
        ],
        "attempts": [[name(e), str(c.attempts), written(c.any), written(c.all)] for e in entries for c in e.chances],
        "families": groups(entries, "families"),
        "styles": groups(entries, "styles"),
        "intensity": curves(entries, "levels"),
        "adaptivity": curves(entries, "adaptivity"),
        "robustness": [
            [name(e), written(e.robustness.area), e.robustness.worst, written(e.robustness.worst_score)]
            for e in entries
            if e.robustness is not None
        ],
        "failures": [
            [name(e), "120", family, shown(share)]
            for e in entries
            if e.attribution is not None
            for family, share in [*e.attribution.shares.items(), ("no family", e.attribution.unexplained)]
        ],
        "claims": [
            [name(e), "180", "120", "310", shown(e.attribution.precision or 0.0)] for e in entries if e.attribution
        ],
    }
    for view, rows in expected.items():
        assert cells(seen, f'#board-0 [data-numbers="{view}"]') == rows, view


def groups(entries: Sequence[Entry], key: str) -> list[list[str]]:
    return [
        [name(e), group.name, str(group.variants), written(group.score), written(group.success)]
        for e in entries
        for group in getattr(e, key)
    ]


def curves(entries: Sequence[Entry], key: str) -> list[list[str]]:
    return [
        [name(e), curve.name, f"{point.at:g}", str(point.variants), written(point.score), written(point.success)]
        for e in entries
        for curve in getattr(e, key)
        for point in curve.points
    ]


def test_pairs_read_the_same_in_both_directions(seen: Browser, toy: Made) -> None:
    names = [name(entry) for entry in first(toy).entries]
    rows = cells(seen, "#pairs-0 .pairs")
    assert [row[0] for row in rows] == names
    for comparison in first(toy).comparisons:
        a, b = (names.index(each.removeprefix("toys/")) for each in (comparison.first, comparison.second))
        there, back = rows[a][b + 1], rows[b][a + 1]
        value, low, high = (
            comparison.difference.value,
            comparison.difference.low or 0.0,
            comparison.difference.high or 0.0,
        )
        assert there.startswith(
            f"{value:+.3f} {low:+.3f} to {high:+.3f} P {comparison.improvement.value:.2f}".replace("-", "−")
        )
        assert back.startswith(
            f"{-value:+.3f} {-high:+.3f} to {-low:+.3f} P {1 - comparison.improvement.value:.2f}".replace("-", "−")
        )
        shade = seen.find(f"#pairs-0 .pairs tbody tr:nth-child({a + 1}) td:nth-child({b + 2})").get_attribute("class")
        assert (shade == "shade0") is comparison.tied


# ---- charts


def test_profiles_run_through_their_points(seen: Browser, toy: Made) -> None:
    place = "#board-0 [data-chart=profiles]"
    for entry in first(toy).entries:
        profile = entry.profile
        line = seen.run(POINTS, place, "line", f"line of {name(entry)}")
        assert flat(line) == pytest.approx(flat(zip(profile.thresholds, profile.values, strict=True)), abs=CLOSE)
        band = seen.run(POINTS, place, "area", f"interval of {name(entry)}")
        upper = list(zip(profile.thresholds, profile.high, strict=True))
        lower = list(zip(profile.thresholds, profile.low, strict=True))
        assert flat(band) == pytest.approx(flat([*upper, *reversed(lower)]), abs=CLOSE)


def flat(points: Any) -> list[float]:
    return [float(number) for point in points for number in point]


@pytest.mark.parametrize("measure", ["score", "success"])
@pytest.mark.parametrize(
    ("view", "key", "names"), [("intensity", "levels", FAMILIES), ("adaptivity", "adaptivity", PARAMETERS)]
)
def test_curves_run_through_their_points(
    seen: Browser, toy: Made, view: str, key: str, names: Sequence[str], measure: str
) -> None:
    """Scaled by the axis: a parameter may go to hundreds."""
    seen.click(f"#board-0 [data-measure={measure}]")
    for curve_name in names:
        place = part(f"#board-0 [data-chart={view}]", curve_name, seen)
        for entry in first(toy).entries:
            curve = next(each for each in getattr(entry, key) if each.name == curve_name)
            wide = max(point.at for point in curve.points)
            told = [(point.at, getattr(point, measure)) for point in curve.points]
            line = seen.run(POINTS, place, "line", f"line of {name(entry)}")
            assert flat([(x / wide, y) for x, y in line]) == pytest.approx(
                flat([(x / wide, e.value) for x, e in told]), abs=CLOSE
            )
            band = seen.run(POINTS, place, "area", f"interval of {name(entry)}")
            ends = [(x / wide, e.high) for x, e in told] + [(x / wide, e.low) for x, e in reversed(told)]
            assert flat([(x / wide, y) for x, y in band]) == pytest.approx(flat(ends), abs=CLOSE)


def test_attempts_run_through_their_points(seen: Browser, toy: Made) -> None:
    for heading, key in (("At least one of k succeeds (pass@k)", "any"), ("All of k succeed (pass^k)", "all")):
        place = part("#board-0 [data-chart=attempts]", heading, seen)
        for entry in first(toy).entries:
            line = seen.run(POINTS, place, "line", f"line of {name(entry)}")
            told = [(chance.attempts, getattr(chance, key).value) for chance in entry.chances]
            assert flat(line) == pytest.approx(flat(told), abs=CLOSE * 4)  # of an axis to 5


@pytest.mark.parametrize(("view", "key", "names"), [("families", "families", FAMILIES), ("styles", "styles", STYLES)])
def test_groups_have_their_points_and_whiskers(
    seen: Browser, toy: Made, view: str, key: str, names: Sequence[str]
) -> None:
    seen.click("#board-0 [data-measure=success]")
    for group_name in names:
        place = part(f"#board-0 [data-chart={view}]", group_name, seen)
        drawn = seen.run(WHISKERS, place)
        told = [
            (name(entry), next(each for each in getattr(entry, key) if each.name == group_name).success)
            for entry in first(toy).entries
        ]
        assert [row[0] for row in drawn] == [each for each, _ in told]
        for (_, *values), (_, estimate) in zip(drawn, told, strict=True):
            assert values == pytest.approx([estimate.value, estimate.low, estimate.high], abs=CLOSE)


def test_failures_have_bars_as_long_as_their_shares(seen: Browser, toy: Made) -> None:
    for family in (*FAMILIES, "no family explains it"):
        place = part("#board-0 [data-chart=failures]", family, seen)
        drawn = seen.run(
            """const {plot} = document.querySelector(arguments[0]);
               const x = plot.scale("x");
               return [...plot.querySelectorAll('g[aria-label="bar"] rect')].map((each) =>
                 x.invert(Number(each.getAttribute("x")) + Number(each.getAttribute("width"))))""",
            place,
        )
        told = [
            entry.attribution.shares.get(family, entry.attribution.unexplained)
            for entry in first(toy).entries
            if entry.attribution is not None
        ]
        assert drawn == pytest.approx(told, abs=CLOSE)


def test_a_policy_can_be_taken_out_of_the_charts(seen: Browser, toy: Made) -> None:
    chip = '.chip[data-entry="toys/random"]'
    everybody = [name(entry) for entry in first(toy).entries]
    place = part("#board-0 [data-chart=families]", "sensor", seen)
    seen.click(chip)
    assert seen.find(chip).get_attribute("aria-pressed") == "false"
    rest = [each for each in everybody if each != "random"]
    assert [row[0] for row in seen.run(WHISKERS, place)] == rest
    assert labels(seen, "#board-0 [data-chart=profiles]") == {f"line of {each}" for each in rest}
    seen.click(chip)
    assert [row[0] for row in seen.run(WHISKERS, place)] == everybody


def labels(window: Browser, place: str) -> set[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.ariaLabel)"
    return set(window.run(script, f"{place} g[aria-label=line] path"))


def test_a_policy_looks_the_same_everywhere(seen: Browser, toy: Made) -> None:
    """In another split too, where it has another place."""
    first_data, second_data = (json.loads(seen.texts(f"#data-{number}")[0]) for number in (0, 1))
    inks = {entry["label"]: entry["ink"] for entry in first_data["entries"]}
    assert [inks[entry["label"]] for entry in second_data["entries"]] == [
        entry["ink"] for entry in second_data["entries"]
    ]
    assert len({json.dumps(ink) for ink in inks.values()}) == len(inks)


def test_views_that_a_split_has_nothing_for_are_not_there(seen: Browser) -> None:
    assert [
        re.sub(r"-\d$", "", each)
        for each in seen.run(
            "return [...document.querySelectorAll('#board-1 .sections a')].map((e) => e.hash.slice(1))"
        )
    ] == ["ranking", "profiles"]
    assert seen.all("#board-1 .pairs, #board-1 .episodes, #board-1 [data-chart=families]") == []


def test_who_is_refused_is_told_with_the_reason(seen: Browser, toy: Made) -> None:
    assert "mallory/line" in seen.texts(".refused summary")[0]
    assert seen.texts(".refused li") == list(toy.board.refused[0].problems)
