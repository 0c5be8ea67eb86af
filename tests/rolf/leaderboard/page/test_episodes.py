"""Episodes as the page shows them: every step, what was paid for it, and a terminal that plays it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from toy_board import Made, made, observation, terminal_step, terminal_steps, toy_board, write_gzip, write_terminal

from rolf.environments import environments
from rolf.evaluation.narration import Narrator
from rolf.leaderboard.board import Board, Sample
from rolf.leaderboard.page.episodes import shown

SCREEN = ".ap-term-text"


def opened(window: Browser, toy: Made, place: int) -> None:
    window.open(toy.path)
    window.run("arguments[0].click()", window.all("#board-0 .open")[place])


def one(folder: Path, *samples: Sample) -> Board:
    """Return a board of one submission with these samples."""
    split = toy_board(folder / "unused").splits[0]
    return Board((replace(split, entries=(replace(split.entries[0], samples=samples),), comparisons=()),))


def lines(window: Browser) -> list[str]:
    """Return what stands on the player's screen."""
    return [line for line in window.texts(".ap-term-text .ap-line") if line]


# ---- terminals


def test_a_terminal_episode_is_told_step_by_step(window: Browser, toy: Made) -> None:
    opened(window, toy, 0)
    steps = terminal_steps()
    assert window.texts(".episode blockquote") == ["Make `make` work again."]
    commands = [json.loads(step["action"][0])["command"] for step in steps]
    assert window.texts(".step .command") == [f"/home/agent$ {command}" for command in commands]
    assert window.texts(".step .stdout") == [
        "total 8\n-rw-r--r-- 1 agent agent 96 main.cc",
        "cc -o a.out main.c",
    ]
    assert window.texts(".step .stderr") == [steps[0]["observation"]["stderr"].rstrip()]
    assert window.texts(".step .event") == ["NONZERO", "DONE", "DONE"]
    assert window.texts(".step .reward") == ["reward −0.100", "reward +0.000", "reward +1.000"]
    assert window.texts(".step .term") == ["plan_quality −0.100", "task_success +1.000"]
    check = "goal: file_exists /home/agent/a.out kind='file'"
    assert window.texts(".step .checks li") == [f"✗ {check}", f"✗ {check}", f"✓ {check}"]
    assert window.texts(".episode table tbody td") == ["added", "/home/agent/a.out", "", "file"]
    assert "ab" * 32 in window.find(".episode").text
    assert "toys/cusum/trajectories/00000-0.jsonl.gz" in window.find(".episode header").text


def test_the_player_plays_what_was_recorded(window: Browser, toy: Made) -> None:
    opened(window, toy, 0)
    window.until(lambda: lines(window) == ["Make `make` work again.", "/home/agent$"], "the first screen is not shown")
    # Forward from the very first screen, where a player with a poster shows nothing.
    window.run("player.seek('40%')")
    window.until(lambda: "make: *** No rule" in " ".join(lines(window)), "the first step's output is not shown")
    window.run("player.seek(0); player.play()")
    window.until(
        lambda: window.run("return Promise.resolve(player.getCurrentTime()).then((at) => at > 0.2)"), "it does not play"
    )
    window.run("player.seek('100%')")
    window.until(lambda: "cc -o a.out main.c" in " ".join(lines(window)), "the last output is not shown")
    assert lines(window) == [
        "Make `make` work again.",
        "/home/agent$ make",
        "make: *** No rule to make target 'main.c', needed by 'a.out'.  Stop.",
        "/home/agent$ ls -la",
        "total 8",
        "-rw-r--r-- 1 agent agent 96 main.cc",
        "/home/agent$ mv main.cc main.c && make",
        "cc -o a.out main.c",
        "/home/agent$",
    ]
    assert window.complaints() == []


def test_a_step_can_be_played_from_its_beginning(window: Browser, toy: Made) -> None:
    opened(window, toy, 0)
    window.until(lambda: window.all(SCREEN), "no player")
    window.click(".step:nth-child(3) .seek")
    window.until(lambda: "mv main.cc" in " ".join(lines(window)), "the third step is not played")
    duration = window.run("return Promise.resolve(player.getDuration())")
    assert duration == pytest.approx(3 * (1.6 + 0.5) + 1.6, abs=0.01)


def test_colours_of_an_output_are_played(window: Browser, toy: Made) -> None:
    opened(window, toy, 0)
    window.until(lambda: window.all(SCREEN), "no player")
    window.run("player.seek('100%')")
    blue = """
    const spans = [...document.querySelectorAll('.ap-line > span')];
    const span = spans.find((each) => each.textContent.trim() === 'main.cc');
    return span ? getComputedStyle(span).color : null
    """
    window.until(lambda: window.run(blue), "main.cc has no colour of its own")
    assert window.run(blue) != window.run("return getComputedStyle(document.querySelector('.ap-term-text')).color")


def test_another_episode_takes_the_place_of_the_first(window: Browser, toy: Made) -> None:
    opened(window, toy, 0)
    window.run("arguments[0].click()", window.all("#board-0 .open")[1])
    assert len(window.all(".episode header")) == 1
    assert window.all(".player") == []
    assert window.texts(".list tr[aria-current] .open") == ["serial/toy+network:0"]
    window.click(".episode .quiet")
    assert window.texts(".episode")[0] == ""


def test_episodes_can_be_picked_by_what_they_are(seen: Browser, toy: Made) -> None:
    def rows() -> list[bool]:
        return [row.is_displayed() for row in seen.all("#board-0 .list tbody tr")]

    def choose(name: str, value: str) -> None:
        script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change', {bubbles: true}))"
        seen.run(script, seen.find(f"#board-0 .filters [name={name}]"), value)

    assert rows() == [True, True, True]
    choose("outcome", "failure")
    assert rows() == [False, False, True]
    assert seen.texts("#board-0 .filters output") == ["1 of 3"]
    choose("outcome", "")
    choose("family", "sensor")
    assert rows() == [True, False, False]


def test_what_a_long_episode_leaves_out_is_counted(window: Browser, tmp_path: Path) -> None:
    steps = [terminal_step(n, f"echo {n}", f"{n}\n") for n in range(1, 251)]
    diff = [{"path": f"/tmp/{n}", "kind": "added", "before": None, "after": "file"} for n in range(130)]
    board = one(tmp_path, write_terminal(tmp_path / "toys/cusum", 0, steps, diff))
    window.open(made(board, tmp_path).path)
    window.click(".open")
    assert len(window.all(".step")) == 200
    said = window.find(".episode").text
    assert "50 more steps are in the file alone." in said
    assert "30 more changes are in the file alone." in said


def test_a_rotated_interface_is_a_terminal_too(window: Browser, tmp_path: Path) -> None:
    """Its messages are what its terminal says; what was not understood is told."""
    steps = [terminal_step(1, "ls", "unused\n"), terminal_step(2, "pwd", "unused\n")]
    for number, step in enumerate(steps, 1):
        step["action"] = [f"<call>{number}</call>"]
        step["observation"] = {"system": "You may call tools.", "message": f"result {number}"}
    steps[1]["info"]["interface"] = {"style": "hermes", "call": None, "malformed": "no call in it"}
    sample = write_terminal(tmp_path / "toys/cusum", 0, steps)
    path = tmp_path / "toys/cusum/trajectories/00000-0.jsonl.gz"
    head = {"type": "header", "format": "rolf-trajectory/1", "env_id": "termgym:TermEnv-v1", "kwargs": {}}
    begun = {"system": "You may call tools.", "message": "Mend it."}
    reset = {"type": "reset", "seed": 1, "options": None, "observation": begun, "info": {}}
    final = {"type": "final", "steps": 2, "episode_return": 0.0, "state_digest": "", "diff": []}
    write_gzip(path, [head, reset, *steps, final])
    window.open(made(one(tmp_path, sample), tmp_path).path)
    window.click(".open")
    assert window.texts(".step .command") == ["$ <call>1</call>", "$ <call>2</call>"]
    assert window.texts(".step .stdout") == ["result 1", "result 2"]
    assert "not understood: no call in it" in window.texts(".step .warn")
    assert window.texts(".episode blockquote") == ["Mend it."]
    assert window.texts(".episode .system pre") == ["You may call tools."]


def test_of_many_checks_those_that_fail_are_seen_at_once(window: Browser, tmp_path: Path) -> None:
    [step] = [terminal_step(1, "true", "\n")]
    step["info"]["checks"] = [
        {"of": "goal", "check": f"check {n}", "passed": n % 10 != 3, "detail": ""} for n in range(70)
    ]
    window.open(made(one(tmp_path, write_terminal(tmp_path / "toys/cusum", 0, [step])), tmp_path).path)
    window.click(".open")
    assert [each.text for each in window.all(".step > .checks li")] == [f"✗ goal: check {n}" for n in range(3, 60, 10)]
    assert window.texts(".step summary") == ["✓ 54 of 60 checks hold"]
    assert not window.find(".step details li").is_displayed()
    assert "10 more checks are in the file alone." in window.find(".step").text


# ---- all others


def test_an_episode_of_actions_has_a_timeline(window: Browser, toy: Made) -> None:
    opened(window, toy, 1)
    steps = window.run(
        """const {plot} = document.querySelector('.timeline');
           const x = plot.scale('x');
           return [...plot.querySelectorAll('g[aria-label=tick] line')].map((each) => [
             Math.round(x.invert(Number(each.getAttribute('x1')))), each.getAttribute('aria-label')])"""
    )
    assert sorted(steps) == [[n + 1, str(n % 7)] for n in range(60)]
    assert window.texts(".deeds tbody tr:nth-child(3) td") == ["3", "2", "+0.000"]
    assert "nowhere:Toy-v1 is not installed where this page was made" in window.texts(".episode .warn")


def test_the_rewards_add_up(window: Browser, toy: Made) -> None:
    opened(window, toy, 1)
    drawn = window.run(
        """const {plot} = document.querySelector('.rewards');
           const path = plot.querySelector('g[aria-label=line] path').getAttribute('d');
           return plot.scale('y').invert(Number(path.match(/-?[0-9.]+/g).at(-1)))"""
    )
    assert drawn == pytest.approx(sum(0.25 * (n % 7 - 2) for n in range(60)), abs=0.2)


def test_what_the_last_step_told_is_listed(window: Browser, toy: Made) -> None:
    opened(window, toy, 1)
    facts = dict(zip(*[iter(window.texts(".episode > div.scroll:last-of-type tbody td"))] * 2, strict=True))
    assert facts == {"output": "12", "success": "yes", "shift: claims": "4", "shift: note": "</script>"}


def test_an_environment_tells_what_its_actions_mean(window: Browser, tmp_path: Path) -> None:
    """The line is installed with rolf: its shifts are told with their work orders."""
    module = environments()["linegym:LineEnv-v1"]
    assert isinstance(module, Narrator)
    kwargs = {"variant": "serial/thermocouple/profinet/bearing+sensor:2", "evaluation": True}
    wrapper = {"name": "TellShift", "entry_point": "linegym.shift:TellShift", "kwargs": {}}
    # Inspect, open an order for a bearing at station 3, send technician 1, withdraw it.
    actions = [0] * 10 + [1 + 3 * 3, 73 + 3 * 10, 329 + 24 + 3, 473 + 3] + [0] * 586
    line: dict[str, Any] = {"format": "rolf-actions/1", "env_id": "linegym:LineEnv-v1", "kwargs": kwargs, "seed": 5}
    ending = {"rewards": [0.0] * 600, "info": {}, "terminated": False, "truncated": True, "state_digest": ""}
    folder = tmp_path / "toys/cusum/trajectories"
    write_gzip(folder / "block-00000.jsonl.gz", [line | {"wrappers": [wrapper], "actions": actions} | ending])
    sample = Sample("block-00000.jsonl.gz#1", 0, kwargs["variant"], 0, "sensor", 2, "", False, 0.1, 0.0, 600)
    window.open(made(one(tmp_path, sample), tmp_path).path)
    window.click(".open")
    assert window.run("return document.querySelector('.timeline').plot.scale('y').domain") == [
        "inspect", "diagnose", "dispatch", "close",
    ]  # fmt: skip
    assert window.texts(".deeds tbody td:nth-child(2)")[0] == "inspect channel 0 of station 3"
    assert "Work orders closed, and how long each phase took" in window.texts(".episode h5")
    assert window.texts(".episode .grid h4") == ["Parts", "Faults"]
    assert len(window.all(".episode .grid svg.figure")) == 2


# ---- without a browser


def test_a_sample_that_is_gone_is_told_and_the_rest_shown(tmp_path: Path) -> None:
    sample = write_terminal(tmp_path / "toys/cusum", 0, terminal_steps())
    gone = replace(sample, trajectory="00007-0.jsonl.gz")
    found = list(shown(one(tmp_path, gone, sample), tmp_path))
    assert [each.data is None for each in found] == [True, False]
    assert found[0].note.startswith("it cannot be read: ")


def test_no_link_leads_out_of_a_submission(tmp_path: Path) -> None:
    """A trajectory that is a link to another file would put that file's text into the page."""
    secret = tmp_path / "secret.jsonl.gz"
    sample = write_terminal(tmp_path / "elsewhere", 0, terminal_steps())
    (tmp_path / "elsewhere/trajectories/00000-0.jsonl.gz").rename(secret)
    folder = tmp_path / "toys/cusum/trajectories"
    board = one(tmp_path, sample)
    folder.mkdir(parents=True)
    (folder / "00000-0.jsonl.gz").symlink_to(secret)
    [found] = shown(board, tmp_path)
    assert found.data is None
    assert "cannot be read" in found.note


def test_an_episode_too_large_for_its_share_is_left_out(tmp_path: Path) -> None:
    samples = [write_terminal(tmp_path / "toys/cusum", index, terminal_steps()) for index in range(3)]
    sizes = [len(each.data or "") for each in shown(one(tmp_path, *samples), tmp_path)]
    found = list(shown(one(tmp_path, *samples), tmp_path, budget=sizes[0] + sizes[1] + 10))
    assert [each.data is None for each in found] == [False, False, True]
    assert found[2].note == "left out, so that the page does not become too large"


def test_an_observation_of_the_toys_is_one_of_a_terminal() -> None:
    """What the toys write must be of the shape that the environment's own trajectories have."""
    from gymnasium import make

    env = make("termgym:TermEnv-v1")
    try:
        assert set(env.observation_space.spaces) == set(observation(0))  # type: ignore[attr-defined]
    finally:
        env.close()
