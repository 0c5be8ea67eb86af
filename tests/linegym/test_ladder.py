"""Policies that know more get further, in every family: the benchmark has a slope, and room at the top."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from linegym.ladder import ORDER, Cell, Ladder, ladder, sample
from linegym.ladder_command import command
from linegym.policies import POLICIES
from linegym.variants import FAMILIES

STEP = 0.10
"""Least step from one policy to the next, as a share of the way from random to the oracle."""
REPAIRING = ("random", "threshold", "cusum", "oracle")


@pytest.fixture(scope="module")
def sampled() -> Ladder:
    return ladder(ORDER, sample(24, (1, 3, 5)))


def check_steps(played: Ladder) -> None:
    """Hold every family to the order and the steps."""
    for family in FAMILIES:
        steps = played.steps(family, "returns")
        assert min(steps.values()) >= STEP, (family, "returns", steps)
        repaired = played.steps(family, "repaired", REPAIRING)
        assert min(repaired.values()) >= STEP, (family, "repaired", repaired)
        # Of neither, anything is repaired in time; but random mends something now and then.
        assert played.of("random", family).mended > played.of("no-op", family).mended == 0
        assert played.of("oracle", family).repaired >= 0.95
        successes = [played.of(policy, family).success for policy in ("threshold", "cusum", "oracle")]
        assert successes == sorted(successes), (family, successes)


@pytest.mark.slow
def test_each_policy_is_clearly_above_the_one_before(sampled: Ladder) -> None:
    """No-op < random < threshold < cusum < oracle, in return and in repairs."""
    check_steps(sampled)


@pytest.mark.slow
def test_the_oracle_succeeds(sampled: Ladder) -> None:
    """What the reference does not reach is no fair demand."""
    for family in FAMILIES:
        for intensity in (1, 3):
            assert sampled.of("oracle", family, intensity).success > 0.9, (family, intensity)


@pytest.mark.slow
def test_more_disturbance_is_harder_for_the_expert(sampled: Ladder) -> None:
    """An intensity that nobody feels is none."""
    for family in FAMILIES:
        repaired = [sampled.of("cusum", family, intensity).repaired for intensity in (1, 3, 5)]
        assert repaired[0] > repaired[1] > repaired[2], (family, repaired)


@pytest.mark.nightly
def test_the_whole_ladder() -> None:
    """Every policy, every family, every intensity of the benchmark."""
    played = ladder(POLICIES, sample(80))
    check_steps(played)
    for family in FAMILIES:
        repaired = [played.of("cusum", family, intensity).repaired for intensity in range(1, 6)]
        assert repaired == sorted(repaired, reverse=True), (family, repaired)
        for half in ("oracle diagnosis", "oracle dispatch"):
            assert played.of("cusum", family).returns - 1 < played.of(half, family).returns
            assert played.of(half, family).returns < played.of("oracle", family).returns + 1


def cell(policy: str, returns: float, intensity: int = 1) -> Cell:
    return Cell(policy, "load", intensity, 1, returns, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_steps_are_shares_of_the_way_from_random_to_the_oracle() -> None:
    """Worked by hand: from 10 to 60, a step of 5 is a tenth; intensities count alike."""
    played = Ladder(
        (
            *(cell("no-op", 0.0), cell("random", 10.0), cell("threshold", 10.0), cell("threshold", 20.0, 2)),
            *(cell("cusum", 40.0), cell("oracle", 60.0)),
        )
    )
    assert played.steps("load", "returns") == {"random": 0.2, "threshold": 0.1, "cusum": 0.5, "oracle": 0.4}


def test_what_nobody_played_is_refused() -> None:
    """Instead of a mean over nothing."""
    with pytest.raises(KeyError, match="'cusum' did not play 'sensor'"):
        Ladder((cell("no-op", 0.0),)).of("cusum", "sensor")


def test_the_command_writes_json_and_a_page(tmp_path: Path) -> None:
    """Anyone can make the tables of the documentation anew."""
    page = tmp_path / "ladder.md"
    arguments = ["--templates", "1", "--intensity", "2", "--policy", "no-op", "--policy", "oracle", "--json"]
    done = CliRunner().invoke(command, [*arguments, "--markdown", str(page)], catch_exceptions=False)
    cells = json.loads(done.stdout)
    assert [(each["policy"], each["family"]) for each in cells] == [
        (policy, family) for policy in ("no-op", "oracle") for family in FAMILIES
    ]
    assert "| policy | sensor 2 | network 2 | load 2 |" in page.read_text()


def test_the_command_refuses_an_unknown_policy() -> None:
    """With a suggestion, and the exit code of a usage error."""
    done = CliRunner().invoke(command, ["--templates", "1", "--policy", "orakle"])
    assert done.exit_code == 2
    assert "did you mean 'oracle'" in done.output
