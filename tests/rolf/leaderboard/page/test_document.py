"""The page as a file: it opens from disk, asks for nothing, and can be read however one looks at it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from chromium import Browser, chromium, missing, using
from selenium.webdriver.common.keys import Keys
from toy_board import Made, entry, made, terminal_step, toy_board, write_terminal

from rolf.leaderboard.board import Board
from rolf.leaderboard.page import page

WIDTHS = (320, 390, 768, 1280)
LARGEST = 10_000_000
"""Of a page of ten submissions [bytes]."""


def walk(window: Browser) -> None:
    """Look at all that there is to look at."""
    for tab in window.all("[role=tab]"):
        window.run("arguments[0].click()", tab)
        for opener in window.all(".board:not([hidden]) .open"):
            window.run("arguments[0].click()", opener)
            window.until(
                lambda: window.run("return document.querySelector('.episode h4') !== null"), "no episode opens"
            )
    window.click("[data-measure=success]")
    window.click("#theme")
    window.look(390)
    window.look(1280, dark=True)


def test_opens_from_disk_without_a_request_or_a_complaint(seen: Browser) -> None:
    """A page that phones home tells who reads it; one that its own policy stops shows less than it should."""
    walk(seen)
    assert seen.address.startswith("file://")
    assert seen.fetched() == []
    assert seen.complaints() == []


def test_a_request_or_a_complaint_would_be_noticed(window: Browser, toy: Made, tmp_path: Path) -> None:
    """Otherwise the test above could not fail."""
    script = "<script>fetch('https://example.org/x').catch(() => 0)</script>"
    text = toy.path.read_text(encoding="utf-8")
    spoiled = tmp_path / "spoiled.html"
    spoiled.write_text(text.replace("<main", f"{script}<img src='other.png'><main", 1), encoding="utf-8")
    window.open(spoiled)
    said = " ".join(window.complaints())
    assert "script-src" in said
    assert "img-src" in said
    bare = tmp_path / "bare.html"
    bare.write_text(f"<meta charset=utf-8><img src='other.png'>{script}", encoding="utf-8")
    window.open(bare)
    assert {each.rpartition("/")[2] for each in window.fetched()} == {"other.png", "x"}


def test_one_split_is_shown_at_a_time(seen: Browser, toy: Made) -> None:
    assert seen.texts("#tabs [role=tab]") == ["line-v1/iid\n      5", "term-v1/unseen-cause\n      1"]
    assert [board.is_displayed() for board in seen.all(".board")] == [True, False]
    seen.press("#tab-0", Keys.ARROW_RIGHT)
    assert [board.is_displayed() for board in seen.all(".board")] == [False, True]
    assert seen.run("return document.activeElement.id") == "tab-1"
    assert [tab.get_attribute("aria-selected") for tab in seen.all("[role=tab]")] == ["false", "true"]
    seen.press("#tab-1", Keys.HOME)
    assert seen.find("#board-0").is_displayed()


def test_an_address_can_point_into_a_split(window: Browser, toy: Made) -> None:
    """People send each other links to what they talk about."""
    window.open(toy.path, "#board-1")
    assert window.find("#board-1").is_displayed()
    window.open(toy.path, "#pairs-0")
    assert window.find("#board-0").is_displayed()
    assert window.run("return Math.abs(document.getElementById('pairs-0').getBoundingClientRect().top) < 200")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_lies_beyond_the_edge_of_the_screen(seen: Browser, width: int) -> None:
    for number, tab in enumerate(seen.all("[role=tab]")):
        seen.run("arguments[0].click()", tab)
        seen.look(width)
        for opener in seen.all(f"#board-{number} .open"):
            seen.run("arguments[0].click()", opener)
            assert seen.run("return document.documentElement.scrollWidth") <= width
        assert seen.run("return document.documentElement.scrollWidth") <= width


def test_the_page_follows_the_readers_colours(seen: Browser) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    seen.look(1280)
    light = seen.run(colour)
    seen.look(1280, dark=True)
    dark = seen.run(colour)
    assert light == "rgb(253, 253, 252)"
    assert dark == "rgb(20, 22, 26)"
    seen.click("#theme")  # system -> light
    assert seen.run(colour) == light
    seen.look(1280)
    seen.click("#theme")  # light -> dark
    assert seen.run(colour) == dark


def test_prints_on_white_without_what_cannot_be_clicked(seen: Browser) -> None:
    seen.look(800, dark=True, print_out=True)
    assert seen.run("return getComputedStyle(document.body).backgroundColor") == "rgb(253, 253, 252)"
    assert not seen.find("#tabs").is_displayed()
    assert seen.find(".ranking").is_displayed()
    assert seen.find("[data-chart=profiles] svg").is_displayed()


def test_all_numbers_are_there_without_scripts(window: Browser, toy: Made) -> None:
    window.open(toy.path, scripts=False)
    assert window.all("svg.figure") == []
    assert all(board.is_displayed() for board in window.all(".board"))
    assert len(window.all("#board-0 .ranking tbody tr[data-entry]")) == len(toy.board.splits[0].entries)
    assert not window.find("#theme").is_displayed()


def test_every_control_has_a_name(seen: Browser) -> None:
    """A screen reader says what is to be pressed."""
    nameless = """
    return [...document.querySelectorAll("button, a, select, summary, svg[role=img], [role=region]")]
      .filter((each) => !each.closest("[aria-hidden=true]"))
      .filter((each) => !(each.getAttribute("aria-label") || each.textContent.trim() || each.labels?.length))
      .map((each) => each.outerHTML.slice(0, 100))
    """
    seen.click("#board-0 .open")
    seen.until(lambda: seen.all(".ap-term-text"), "no player")
    assert [each for each in seen.run(nameless) if "ap-" not in each] == []


def test_a_page_of_ten_submissions_stays_small(tmp_path: Path) -> None:
    """Each has more to show than there is room for; what is left out is said."""
    noise = [terminal_step(n, f"cat {n}", f"{n:06}" * 700 + "\n") for n in range(1, 41)]
    entries = []
    for number in range(10):
        name = f"p{number}"
        samples = [write_terminal(tmp_path / f"toys/{name}", index, noise) for index in range(24)]
        entries.append(entry(name, 0.5, number + 1, None, samples))
    base = toy_board(tmp_path)
    board = Board((replace(base.splits[0], entries=tuple(entries), comparisons=()),))
    text = page(board, tmp_path)
    assert len(text.encode()) < LARGEST
    assert text.count('id="episode-0-') >= 10
    assert text.count("left out, so that the page does not become too large") >= 100
    assert text.count("only 1,000 characters of each output are shown") >= 10


def test_the_same_board_gives_the_same_page(toy: Made) -> None:
    assert page(toy.board, toy.folder) == toy.path.read_text(encoding="utf-8")


def test_a_board_of_nothing_says_so(window: Browser, tmp_path: Path) -> None:
    window.open(made(Board(), tmp_path).path)
    assert window.texts(".empty") == ["No submission is on the board yet."]
    assert window.complaints() == []


def test_without_chromium_says_which_line_brings_it() -> None:
    assert missing(lambda _: None).endswith("sudo apt-get install chromium chromium-driver")
    assert missing(lambda name: None if name == "chromedriver" else name).endswith("apt-get install chromium-driver")
    assert missing(lambda name: name) == ""


def test_chromium_leaves_nothing_behind() -> None:
    """Neither processes nor profiles."""
    with chromium() as window:
        folder = window.folder
        assert len(using(str(folder))) > 1
        assert (folder / "profile").is_dir()
    assert using(str(folder)) == []
    assert not folder.exists()
