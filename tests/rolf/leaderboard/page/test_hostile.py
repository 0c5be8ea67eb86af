"""Hostile submissions: whatever they say is shown as text, and does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from toy_board import CURSED, Made, estimate, made, policy, terminal_step, toy_board, write_gzip, write_terminal

from rolf.leaderboard.board import Board, Curve, Group, Point, Refused
from rolf.leaderboard.page.text import title, visible

CANARY = "window.canary=1"
MARKUP = (
    f"<script>{CANARY}</script>",
    f"</script><script>{CANARY}</script>",
    f"<!--<script>{CANARY}//",
    f"<img src=x onerror={CANARY}>",
    f'"><svg onload={CANARY}>',
    f"' autofocus onfocus={CANARY} '",
    f"`${{{CANARY}}}`",
    f"{{{{{CANARY}}}}}",
    f"<svg><style><img src=x onerror={CANARY}></style></svg>",
    f"<a href=javascript:{CANARY}>x</a>",
    f"</textarea></title></style></noscript><iframe srcdoc='<script>parent.{CANARY}</script>'>",
    f"<base href=https://example.org/><link rel=stylesheet href=/x><meta http-equiv=refresh content=0;url=/x>{CANARY}",
    f"\u2028{CANARY}\u2029//]]>",
)
"""What has opened pages before; OWASP's list of filter evasion, shortened."""
SEQUENCES = (
    "\x1b]8;;https://example.org/\x1b\\click me\x1b]8;;\x1b\\",
    "\x1b]8;;javascript:window.canary=1\x07click me\x1b]8;;\x07",
    "\x1b]0;owned\x07\x1b]2;owned\x1b\\",
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1b[8;5000;9000t\x1b[3;1;1t\x1b[21t",
    "A\x1b[99999999b",
    "\x1bP+q544e\x1b\\\x1b_G\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\",
    "\x1bc\x1b[!p\x1b(0\x0e\x9b31m\x90x\x9c\x07",
    "\x1b]unfinished " + "x" * 300,
)
TURNED = "abc\u202edef\u2066ghi\u200b\u00ad\ufeff\U000e0041"
URLS = (
    f"javascript:{CANARY}",
    f" javascript:{CANARY}",
    f"java\tscript:{CANARY}",
    f"data:text/html,<script>{CANARY}</script>",
    "vbscript:x",
    "//example.org/x",
    "https://good.example@evil.example/",
    "https://evil.example/\u202egnp",
    "file:///etc/passwd",
    f"javascript://example.org/%0a{CANARY}",
    "ftp://example.org/x",
    'https://example.org/" onclick="window.canary=1',
    f"https:{MARKUP[0]}",
)
ALL = "".join(MARKUP) + TURNED


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A board on which every text is an attack."""
    folder = tmp_path_factory.mktemp("hostile")
    board = toy_board(folder)
    split = board.splits[0]
    entries = tuple(spoiled(entry, number) for number, entry in enumerate(split.entries))
    samples = list(write_samples(folder / entries[0].name))
    entries = (replace(entries[0], samples=tuple(samples)), *entries[1:])
    bad = replace(split, split=f"line-v1/{ALL}", limits={ALL: ALL}, digest="<b>" * 20, entries=entries)
    return made(Board((bad,), (Refused(ALL, (ALL, *MARKUP)),)), folder)


def spoiled(entry: Any, number: int) -> Any:
    """Return an entry whose texts are attacks."""
    name = MARKUP[number % len(MARKUP)] + str(number)
    point = Point(1.0, estimate(0.5), estimate(0.4), 3)
    return replace(
        entry,
        policy=policy(name, description=ALL, authors=list(MARKUP), url=URLS[number], spec=ALL, args={ALL: ALL}),
        families=tuple(Group(each, estimate(0.5), estimate(0.4), 3) for each in MARKUP[:4]),
        styles=(Group(ALL, estimate(0.5), estimate(0.4), 3),),
        levels=(Curve(MARKUP[2], (point, replace(point, at=2.0))),),
        adaptivity=(Curve(ALL, (point, replace(point, at=2.0))),),
        robustness=replace(entry.robustness, worst=ALL),
        attribution=replace(entry.attribution, shares={ALL: 0.4, MARKUP[1]: 0.3}),
    )


def write_samples(folder: Path) -> Iterator[Any]:
    """Write trajectories that attack, and yield their samples."""
    attacks = (*MARKUP, *SEQUENCES, TURNED)
    more = {"violations": [ALL], "failure_kind": ALL, "event": MARKUP[0]}
    steps = [
        terminal_step(n, attack, f"out {attack}\n", f"err {attack}\n", **more) for n, attack in enumerate(attacks, 1)
    ]
    for step in steps:
        step["info"]["checks"] = [{"of": "goal", "check": attack, "passed": False, "detail": ""} for attack in MARKUP]
        step["info"]["reward_terms"] = {"safety": -0.5, MARKUP[0]: 0.1}
        step["observation"]["cwd"] = MARKUP[3]
        step["observation"]["instruction"] = ALL
    diff = [{"path": path, "kind": MARKUP[0], "before": ALL, "after": ALL} for path in (*MARKUP, CURSED)]
    sample = write_terminal(folder, 0, steps, diff, variant=MARKUP[1])
    yield replace(sample, family=MARKUP[3], style=ALL)
    huge = [
        terminal_step(1, "cat huge", "x" * 7_000_000 + "the end\n"),
        terminal_step(2, "y" * 100_000, "y\n" * 1_500_000),
    ]
    yield write_terminal(folder, 1, huge)
    actions = [each for each in MARKUP for _ in range(3)]
    line = {"format": "rolf-actions/1", "env_id": MARKUP[0], "kwargs": {}, "seed": 1, "actions": actions}
    rewards: list[Any] = [0.5] * len(actions)
    rewards[1] = float("nan")
    ending = {"rewards": rewards, "info": dict.fromkeys(MARKUP, ALL), "terminated": True, "truncated": False}
    write_gzip(folder / "trajectories/block-00000.jsonl.gz", [line | ending | {"state_digest": MARKUP[0]}])
    yield replace(sample, trajectory="block-00000.jsonl.gz#1", index=2, success=False, family=MARKUP[4])
    broken = [terminal_step(1, "true", "fine\n")]
    broken[0]["info"] = {"checks": {"of": "goal"}}
    yield write_terminal(folder, 3, broken, variant="broken")
    yield replace(sample, trajectory="00099-0.jsonl.gz", index=4)


def opened(window: Browser, hostile: Made, place: int) -> None:
    window.open(hostile.path)
    window.run("arguments[0].click()", window.all(".open")[place])


def test_nothing_of_it_runs_and_nothing_is_fetched(window: Browser, hostile: Made) -> None:
    window.open(hostile.path)
    openers = window.all(".open")
    assert len(openers) == 3
    for opener in openers:
        window.run("arguments[0].click()", opener)
        window.run("for (const each of document.querySelectorAll('details')) each.open = true")
        if window.all(".player"):
            window.until(lambda: window.all(".ap-term-text"), "no player")
            window.run("player.seek('100%')")
            window.run("for (const each of document.querySelectorAll('.seek')) each.click()")
    window.click("[data-measure=success]")
    window.look(390, dark=True)
    assert window.run("return window.canary") is None
    assert window.fetched() == []
    assert window.complaints() == []


@pytest.mark.parametrize("attack", [MARKUP[0], MARKUP[3], MARKUP[4]], ids=["script", "img", "svg"])
def test_what_would_run_without_the_escapes_does_run(attack: str, window: Browser, tmp_path: Path) -> None:
    """The attacks are real: as HTML, without a policy, these set the canary that the test above looks for."""
    path = tmp_path / "open.html"
    path.write_text(f'<meta charset=utf-8><p title="{attack}">{attack}</p>', encoding="utf-8")
    window.open(path)
    window.until(lambda: window.run("return window.canary") is not None, f"nothing ran of {attack}")
    assert window.run("return window.canary") == 1


def test_the_page_has_no_element_that_is_not_its_own(window: Browser, hostile: Made) -> None:
    """Looked at in the document as the browser has it, not in the text of the file."""
    window.open(hostile.path)
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.outerHTML.slice(0, 200))"
    strangers = (
        "iframe, object, embed, base, link, img, audio, video, form[action], textarea, [onerror], [onload], [onfocus]"
    )
    assert window.run(script, strangers) == []
    openers = window.all(".open")
    assert len(openers) == 3
    for opener in openers:
        window.run("arguments[0].click()", opener)
        assert window.run(script, strangers) == []
    assert window.run("return document.querySelectorAll('meta').length") == 5
    handlers = """
    return [...document.querySelectorAll("*")].flatMap((each) => [...each.attributes])
      .filter((each) => each.name.startsWith("on")).map((each) => each.name)
    """
    assert window.run(handlers) == []


def test_markup_is_shown_as_it_was_written(window: Browser, hostile: Made) -> None:
    window.open(hostile.path)
    names = window.texts(".ranking .name")
    assert names == [title(f"{MARKUP[n % len(MARKUP)]}{n}", 32) for n in range(len(names))]
    assert window.find("h2").text == title(f"line-v1/{ALL}", 80)
    assert window.texts(".refused li")[1:] == [title(each, 400) for each in MARKUP]
    assert window.texts("[data-chart=families] h4") == [visible(each) for each in MARKUP[:4]]


def test_an_episode_shows_attacks_as_they_were_written(window: Browser, hostile: Made) -> None:
    opened(window, hostile, 0)
    commands = window.texts(".step .command")
    outputs = window.texts(".step .stdout")
    for number, attack in enumerate(MARKUP):
        assert commands[number] == f"{title(MARKUP[3], 100) if number else '/home/agent'}$ {visible(attack)}"
        assert outputs[number] == f"out {visible(attack)}"
    assert window.texts(".step:first-child .checks code") == [title(f"goal: {each}", 300) for each in MARKUP]
    paths = window.run("return [...document.querySelectorAll('.episode table code')].map((each) => each.textContent)")
    assert paths == [title(each, 300) for each in (*MARKUP, CURSED)]


def test_what_turns_text_around_can_be_seen(window: Browser, hostile: Made) -> None:
    """A file called photo⟨U+202E⟩gnp.sh is no picture: CVE-2021-42574."""
    opened(window, hostile, 0)
    everything = window.run("return document.querySelector('main').textContent")
    assert not set(everything) & set("\u202e\u2066\u200b\u00ad\ufeff\U000e0041\u2028\u2029\x1b\x07\x9b")
    assert "⟨U+202E⟩gnp.sh" in everything


def test_only_web_addresses_can_be_followed(window: Browser, tmp_path: Path) -> None:
    board = toy_board(tmp_path)
    base = board.splits[0].entries[0]
    good = "https://example.org/paper?a=1&b=2#c"
    entries = tuple(
        replace(base, name=f"toys/{n}", policy=policy(f"p{n}", url=url), samples=())
        for n, url in enumerate((good, *URLS))
    )
    split = replace(board.splits[0], entries=entries, comparisons=())
    window.open(made(Board((split,)), tmp_path).path)
    links = window.run("return [...document.querySelectorAll('.ranking a')].map((each) => [each.href, each.rel])")
    assert links == [[good, "noopener noreferrer nofollow"]]
    addresses = window.run("return [...document.querySelectorAll('a')].map((each) => each.getAttribute('href'))")
    assert {each for each in addresses if not each.startswith("#")} == {good}


def test_the_players_terminal_is_not_commanded(window: Browser, hostile: Made) -> None:
    """No links, no title, no other size: what is printed is shown and no more."""
    opened(window, hostile, 0)
    window.until(lambda: window.all(".ap-term-text"), "no player")
    window.run("player.seek('100%')")
    window.until(lambda: "err abc" in window.find(".ap-term-text").text, "the end is not shown")
    assert window.run("return document.title") == "Leaderboard"
    assert window.all(".player a, .player script, .player iframe") == []
    rows, columns = window.run(
        """const style = document.querySelector('.ap-term').style;
           return [style.getPropertyValue('--term-rows'), style.getPropertyValue('--term-cols')]"""
    )
    assert (rows, columns) == ("24", "80")
    assert window.run("return window.canary") is None


def test_an_endless_output_is_cut_and_says_so(window: Browser, hostile: Made) -> None:
    """10 MB, 7 of them in one line; the page stays small and tells how much is missing and where all of it is."""
    assert hostile.path.stat().st_size < 3_000_000
    opened(window, hostile, 1)
    shown = window.texts(".step .stdout")[0]
    assert len(shown) < 5_000
    assert "[… 6,996,008 characters left out here …]" in shown
    assert shown.endswith("the end")
    assert "toys/cusum/trajectories/00001-0.jsonl.gz" in window.find(".episode header").text
    assert len(window.texts(".step .command")[1]) < 3_000


def test_what_cannot_be_shown_says_why(window: Browser, hostile: Made) -> None:
    """One misshapen episode must not cost the page."""
    window.open(hostile.path)
    rows = window.texts(".list tbody tr td:nth-child(2)")
    assert len(window.all(".open")) == 3
    assert "not of the shape that can be shown" in rows[3]
    assert "cannot be read" in rows[4]


def test_a_sequence_of_attacks_is_shown_as_text(window: Browser, hostile: Made) -> None:
    opened(window, hostile, 2)
    words = window.texts(".deeds tbody td:nth-child(2)")
    assert len(words) == 3 * len(MARKUP)
    assert words[0] == '"<script>window.canary=1</script>"'
    assert window.texts(".deeds tbody tr:nth-child(2) td:nth-child(3)") == ["–"]  # NaN is no number to show
    assert window.run("return window.canary") is None
