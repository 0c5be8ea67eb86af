"""What environments show of themselves, drawn on a terminal and on the page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rolf.demo.chart import draw
from rolf.demo.exhibition import exhibit, show_section
from rolf.demo.measure import ResetCost, Throughput
from rolf.demo.report import Report, write
from rolf.environments import Environment, Exhibitor, environments
from rolf.exhibit import Chart, Charts, Figure, Figures, Picture, Progress, Prose, Section, Series, Table
from rolf.step import Step

EVIL = "</td><script>alert(1)</script>[red]"
SECTION = Section(
    EVIL,
    (
        Prose(EVIL),
        Figures((Figure("1 ms", "a reset", EVIL), Figure("2,000/s", "steps"))),
        Table(EVIL, ("what", EVIL), ((EVIL, "12"),), frozenset({1})),
        Charts((Chart(EVIL, EVIL, (Series(EVIL, ((0, 0), (1, 1)), dotted=True),), ((0.5, EVIL),)),)),
        Picture(b"no real picture", EVIL),
    ),
)


def terminal() -> Console:
    return Console(file=io.StringIO(), width=100)


def printed(console: Console) -> str:
    return cast(io.StringIO, console.file).getvalue()


def page(tmp_path: Path, section: Section) -> str:
    step = Step("true", "", "", "~", "DONE", 0, 0.0, {}, (), 0.1, {})
    path = tmp_path / "page.html"
    costs = ResetCost(1, None, 1), Throughput(1, 1, 1.0)
    write(Report("id", "task", "do it", [step], False, [], *costs, [], [section]), path)
    return path.read_text()


def places(svg: str, pattern: str) -> list[float]:
    return [float(number) for number in re.findall(pattern, svg)]


def test_a_terminal_shows_all_that_is_text() -> None:
    """What a program prints must not be taken for markup either."""
    console = terminal()
    show_section(console, SECTION)
    text = printed(console)
    for part in ("1 ms", "a reset", "2,000/s", "what", "12", EVIL):
        assert part in text
    assert text.count(EVIL) == 6  # title, prose, note, table: title, heading, cell


def test_the_page_shows_everything_and_runs_nothing(tmp_path: Path) -> None:
    """A page that opens from disk must be inert, whatever an environment says."""
    text = page(tmp_path, SECTION)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 11
    assert "data:image/png;base64,bm8gcmVhbCBwaWN0dXJl" in text
    assert '<td class="number">12</td>' in text


def test_a_chart_puts_points_where_they_belong() -> None:
    """Worked by hand: the axis goes from 0 to 1, 52 to 446 across and 216 to 34 up."""
    svg = str(draw(Chart("share", "intensity", (Series("s", ((1, 0), (2, 0.5), (3, 1))),), least=0.0, most=1.0)))
    assert 'points="52.0,216.0 249.0,125.0 446.0,34.0"' in svg
    assert re.findall(r">([\d.]+)</text>", svg) == ["0", "0.2", "0.4", "0.6", "0.8", "1", "1", "1.5", "2", "2.5", "3"]


@given(
    st.lists(
        st.tuples(*[st.floats(-1e6, 1e6, allow_subnormal=False)] * 2),
        min_size=1,
        max_size=8,
    )
)
def test_a_chart_is_well_formed_and_stays_on_its_paper(points: list[tuple[float, float]]) -> None:
    """One point, equal points, far ones: none of them leaves the frame or breaks the markup."""
    svg = str(draw(Chart("<&>", "x", (Series("a & b", tuple(points), dotted=True),), ((points[0][0], "<here>"),))))
    ElementTree.fromstring(svg)
    for x in places(svg, r'cx="([-\d.]+)"'):
        assert 51.9 <= x <= 446.1
    for y in places(svg, r'cy="([-\d.]+)"'):
        assert 33.9 <= y <= 216.1


def test_an_environment_without_an_exhibit_shows_nothing() -> None:
    """The hook is optional: one that plugs in without it still has all the rest."""
    plain = cast(Environment, SimpleNamespace(SUMMARY="plain"))
    assert exhibit(plain, 3, 7, terminal(), terminal()) == []
    assert [env_id for env_id, each in environments().items() if isinstance(each, Exhibitor)] == ["linegym:LineEnv-v1"]


def test_sections_are_shown_as_they_come() -> None:
    """Whoever waits for the last sees the first at once; a pipe gets no bar."""
    console, talk, seen = terminal(), terminal(), []

    def demonstrate(count: int, seed: int, progress: Progress) -> Iterator[Section]:
        yield Section(f"{count} of seed {seed}", ())
        seen.append(printed(console))
        progress(1, 2)
        yield Section("the last", ())

    environment: Any = SimpleNamespace(demonstrate=demonstrate)
    titles = [section.title for section in exhibit(environment, 3, 7, console, talk)]
    assert titles == ["3 of seed 7", "the last"]
    assert "3 of seed 7" in seen[0]
    assert printed(talk) == ""


def test_the_bar_goes_away_when_something_fails() -> None:
    """Else an error would be printed into the middle of it."""
    talk = Console(file=io.StringIO(), width=100, force_terminal=True)

    def demonstrate(_count: int, _seed: int, progress: Progress) -> Iterator[Section]:
        progress(1, 2)
        raise RuntimeError("broken")
        yield

    environment: Any = SimpleNamespace(demonstrate=demonstrate)
    with pytest.raises(RuntimeError, match="broken"):
        exhibit(environment, 3, 7, terminal(), talk)
    assert "\x1b[?25h" in printed(talk).rpartition("steps")[2]  # the cursor is back
