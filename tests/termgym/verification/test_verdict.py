"""Rewards are read as Harbor 0.26 reads them, and what is no reward is a fault of the machinery."""

from __future__ import annotations

import pytest

from termgym.errors import SandboxError, VerifierError
from termgym.verification.verdict import Verdict, read_verdict

BOTH = frozenset({"reward.json", "reward.txt"})


def read(odd: dict[str, str] | None = None, named: frozenset[str] = BOTH, **files: bytes) -> Verdict:
    """Read what ``json`` and ``txt`` hold."""
    return read_verdict({f"reward.{name}": content for name, content in files.items()}, odd or {}, named)


@pytest.mark.parametrize(
    ("text", "reward"),
    [(b"1", 1.0), (b"0\n", 0.0), (b" 0.75 \r\n", 0.75), (b"1e-3", 0.001), (b"-1", -1.0), (b"1_0", 10.0)],
)
def test_reads_what_float_reads(text: bytes, reward: float) -> None:
    """Harbor calls ``float`` on the text, so everything that it takes is a reward."""
    assert read(txt=text).reward == reward


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"passed", b"nan", b"NaN", b"inf", b"-Infinity", b"1e999", b"1 0", b"\xff", b"0x1", b"1\0"],
)
def test_a_text_that_is_no_finite_number_is_a_fault(text: bytes) -> None:
    """Never a 0: nobody knows whether the task was done."""
    with pytest.raises(VerifierError, match=r"reward\.txt"):
        read(txt=text)


def test_a_fault_is_an_infrastructure_fault() -> None:
    """It has to be masked as every failure of the machine is."""
    assert issubclass(VerifierError, SandboxError)


@pytest.mark.parametrize(
    ("content", "reward"),
    [
        (b"1", 1.0),
        (b"0.25", 0.25),
        (b"true", 1.0),
        (b'{"reward": 0.5, "style": 1}', 0.5),
        (b'{"accuracy": 0.75}', 0.75),
        (b'{"a": 1, "b": 0.5}', 0.75),
    ],
)
def test_reads_a_number_or_a_dictionary(content: bytes, reward: float) -> None:
    """The one called reward counts; without it the only one, or their mean."""
    assert read(json=content).reward == reward


def test_keeps_every_reward() -> None:
    """A trainer may want the others too."""
    assert dict(read(json=b'{"reward": 1, "speed": 0.25}').rewards) == {"reward": 1.0, "speed": 0.25}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[1]",
        b"null",
        b'"1"',
        b"NaN",
        b"1e309",
        b"{",
        b'{"reward": "1"}',
        b'{"reward": null}',
        b'{"reward": 1, "other": NaN}',
        b'{"reward": {"a": 1}}',
        b"1" * 5000,
        b"1" * 400,
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_json_that_is_no_reward_is_a_fault(content: bytes) -> None:
    """Also where one of several rewards is none, and where the text file would have been fine."""
    with pytest.raises(VerifierError, match=r"reward\.json"):
        read(json=content, txt=b"1")


def test_json_comes_before_text() -> None:
    """The order of Harbor 0.26."""
    assert read(json=b"0.5", txt=b"1").reward == 0.5


def test_no_file_is_a_fault() -> None:
    """A verifier that failed half way says nothing about the agent."""
    with pytest.raises(VerifierError, match=r"wrote no /logs/verifier/reward\.json and no /logs/verifier/reward\.txt"):
        read()


def test_what_the_verifier_does_not_write_does_not_count() -> None:
    """A program that the tests start could put a reward.json beside the honest reward.txt; it would come first."""
    assert read(json=b"1", txt=b"0", named=frozenset({"reward.txt"})).reward == 0.0
    assert read(json=b"0", txt=b"1", named=frozenset({"reward.json"})).reward == 0.0
    with pytest.raises(VerifierError, match=r"wrote no /logs/verifier/reward\.txt"):
        read(json=b"1", named=frozenset({"reward.txt"}))


def test_harbors_order_holds_where_nothing_is_named() -> None:
    """A verifier may be a program in the image that writes either."""
    assert read(json=b"0.5", txt=b"1", named=frozenset()).reward == 0.5


def test_a_file_that_is_none_is_a_fault() -> None:
    """A FIFO, a link or a gigabyte in the place of the reward."""
    with pytest.raises(VerifierError, match=r"reward\.json is a FIFO"):
        read(odd={"reward.json": "is a FIFO"}, txt=b"1")


def test_a_threshold_looks_at_reward_alone() -> None:
    """As Harbor's ``min_reward`` does: a missing key is below every threshold."""
    assert read(json=b'{"reward": 0.5, "b": 1}').gated == 0.5
    assert read(json=b'{"b": 1}').gated == float("-inf")
