"""Rendering: what a person sees, and what must not reach the person's terminal."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termgym import keys, plan, submit
from termgym.event import Event
from termgym.outcome import Outcome
from termgym.render.picture import HEIGHT, WIDTH, picture
from termgym.render.screen import COLUMNS, LINES, Screen
from termgym.render.transcript import KEPT, LEFT_OUT, Transcript, harmless
from termgym.render.viewer import Viewer

PIECES = [*"?;:19#$%(cdhlmnqrsuxABCDHJKLMP@²日", "\x1b", "\x1b[", "\x1b]", "\x9b", "\x9d", "\x07", "\x08", "\u0301"]
"""What escape sequences are made of, and what looks like it."""


def outcome(stdout: str = "", stderr: str = "", event: Event = Event.DONE, cwd: str = "/home/agent") -> Outcome:
    return Outcome("do it", stdout, stderr, cwd, 0, event, 1, 0.0, False, False, {})


def drawn(text: str) -> np.ndarray:
    screen = Screen()
    screen.feed(text)
    return picture(screen)


@pytest.mark.parametrize(
    "attack",
    [
        "\x1b]0;title\x07",
        "\x1b]52;c;ZXZpbA==\x1b\\",
        "\x1b[2J\x1b[H",
        "\x1b[6n",
        "\x1b[?1049h",
        "\x1bP+q544e\x1b\\",
        "\x1b_payload\x1b\\",
        "\x1bc",
        "\x9b31m",
        "\x07\x08\x0e\x7f\r",
        "\x1b]8;;http://x\x07",
        "\x1b[",
        "\x1b",
        "\x1b]0;never ends",
    ],
)
def test_nothing_steers_the_terminal_of_who_looks(attack: str) -> None:
    """An agent's output could rename windows, write the clipboard, or make the terminal type answers."""
    assert harmless(f"before{attack}").replace("31m", "") == "before"


def test_text_tabs_lines_and_colours_stay() -> None:
    text = "a\tb\n\x1b[1;38;5;208mwarm\x1b[0m ☕\n"
    assert harmless(text) == text


@given(st.text())
def test_harmless_is_final(text: str) -> None:
    """What has been made harmless once holds nothing that a second look would take away."""
    assert harmless(harmless(text)) == harmless(text)


def test_ansi_shows_prompt_command_output_and_errors() -> None:
    viewer = Viewer("ansi", io.StringIO())
    viewer.begin(outcome())
    viewer.step(plan("ls"), outcome("file\n", "oops", cwd="/home/agent/src"))
    text = viewer.render()
    assert isinstance(text, str)
    plain = text.replace("\x1b[1;32m", "").replace("\x1b[1;34m", "").replace("\x1b[0m", "").replace("\x1b[1m", "")
    assert plain == "do it\nagent:~$ ls\nfile\n\x1b[31moops\nagent:~/src$ "


def test_no_prompt_while_a_program_waits() -> None:
    viewer = Viewer("ansi", io.StringIO())
    viewer.begin(outcome())
    viewer.step(plan("cat"), outcome(event=Event.WAITING_INPUT))
    viewer.step(keys("hello Enter"), outcome("hello\n", event=Event.WAITING_INPUT))
    text = viewer.render()
    assert isinstance(text, str)
    assert text.count("agent") == 1
    assert text.endswith("hello Enter\nhello\n")


@pytest.mark.parametrize("mode", ["ansi", "human", "rgb_array"])
@pytest.mark.parametrize("action", [5, None, b"ls", "\ud800", "ls", '{"command": 1}', submit(), keys("q"), plan("é")])
@pytest.mark.parametrize("event", [Event.MALFORMED, Event.REJECTED, Event.KILLED, Event.DONE])
def test_shows_whatever_an_agent_sends(mode: str, action: str, event: Event) -> None:
    """Who looks on must not change what a step can take; nor must a stream that knows only ASCII."""
    viewer = Viewer(mode, io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    viewer.begin(outcome("☕"))
    viewer.step(action, outcome("☕", event=event))
    frame = viewer.render()
    assert {"ansi": str, "human": type(None), "rgb_array": np.ndarray}[mode] is type(frame)


def test_human_writes_each_thing_once() -> None:
    """Gymnasium's human mode shows during the step; calls of render must not repeat it."""
    out = io.StringIO()
    viewer = Viewer("human", out)
    viewer.begin(outcome())
    viewer.step(plan("echo \x1b[2Jhi"), outcome("hi\x07\n"))
    assert viewer.render() is None
    assert viewer.render() is None
    assert out.getvalue().count("echo hi") == 1
    assert "\x07" not in out.getvalue()


def test_a_long_episode_keeps_its_end() -> None:
    transcript = Transcript()
    for _ in range(40):
        transcript.add("x" * (KEPT // 20))
    transcript.add("the end")
    assert transcript.text().startswith(LEFT_OUT)
    assert transcript.text().endswith("the end")
    assert len(transcript.text()) <= KEPT + len(LEFT_OUT)


def test_every_frame_has_the_same_size() -> None:
    """Video files cannot change size."""
    for text in ("", "x" * 5000, "\n" * 50, "☕日本語" * 100):
        frame = drawn(text)
        assert frame.shape == (HEIGHT, WIDTH, 3)
        assert frame.dtype == np.uint8
    assert HEIGHT % 2 == WIDTH % 2 == 0


def test_the_picture_shows_text_colour_and_cursor() -> None:
    empty, text, red = drawn("\x1b[?25l"), drawn("\x1b[?25lhello"), drawn("\x1b[?25l\x1b[31mhello")
    assert not np.array_equal(empty, text)
    assert not np.array_equal(text, red)
    cursor = np.argwhere((drawn("ab") != drawn("\x1b[?25lab")).any(axis=2))
    assert cursor[:, 1].min() == 8 + 2 * 8  # the margin and two cells
    assert len(np.unique(drawn("\x1b[?25l\x1b[41m \x1b[0m").reshape(-1, 3), axis=0)) == 2


def test_bold_underlined_reversed_and_wide_look_different() -> None:
    frames = [drawn(f"\x1b[?25l\x1b[{code}mab") for code in (0, 1, 4, 7)] + [drawn("\x1b[?25l日")]
    for index, frame in enumerate(frames):
        assert not any(np.array_equal(frame, other) for other in frames[:index])


def test_full_screen_programs_are_drawn_where_they_draw() -> None:
    screen = Screen()
    screen.feed("\x1b[2J\x1b[5;10Hhere\x1b[24;80H")
    assert screen.text().splitlines()[4] == " " * 9 + "here"
    assert screen.cursor() == (LINES - 1, COLUMNS - 1)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["\x1b[", "?", ";", "\x1b]", "\x9b", "m", "r", "h", "²", "9", "n", "J", "A", "\x07", "x"]))
)
def test_no_output_breaks_the_screen(pieces: list[str]) -> None:
    """pyte raises on sequences that it does not know; an agent can print anything."""
    screen = Screen()
    screen.feed("".join(pieces))
    assert picture(screen).shape == (HEIGHT, WIDTH, 3)
    screen.feed("\x18\x1b\\\x1bcstill here")
    assert "still here" in screen.text()


def test_line_feeds_go_to_the_start_of_the_next_line() -> None:
    """The sandbox's terminals do not turn LF into CR LF."""
    screen = Screen()
    screen.feed("one\ntwo")
    assert screen.text().splitlines()[:2] == ["one", "two"]
