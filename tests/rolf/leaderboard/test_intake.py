"""Files of strangers: whatever they are, what reading them costs is bounded, and they are data or refused."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from pathlib import Path

import pytest

from rolf.leaderboard import intake
from rolf.leaderboard.problem import LONGEST, MOST, Problems


def told(folder: Path, most: int = 100) -> list[str]:
    problems = Problems()
    intake.inventory(folder, most, problems)
    return [str(problem) for problem in problems]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that a submission has, empty."""
    made = tmp_path / "submission"
    (made / "trajectories").mkdir(parents=True)
    for name in intake.FILES:
        (made / name).write_text("{}\n")
    return made


def test_finds_every_file_and_nothing_wrong_with_a_whole_folder(folder: Path) -> None:
    (folder / "trajectories" / "00000-0.jsonl.gz").write_bytes(b"12345")
    problems = Problems()
    found = intake.inventory(folder, 100, problems)
    assert not problems
    assert found["trajectories/00000-0.jsonl.gz"] == 5
    assert set(found) == {*intake.FILES, "trajectories/00000-0.jsonl.gz"}


def test_names_every_file_that_is_missing(tmp_path: Path) -> None:
    said = told(tmp_path)
    assert len(said) == 3
    assert all("it is missing; hand in the whole folder" in line for line in said)


@pytest.mark.parametrize("place", ["submission.json", "trajectories/00000-0.jsonl.gz"])
def test_a_link_out_of_the_folder_is_not_followed(folder: Path, place: str) -> None:
    """A submission with a link to /etc/shadow must not have it read, nor quoted in a report."""
    (folder / place).unlink(missing_ok=True)
    (folder / place).symlink_to("/etc/passwd")
    assert any(f"{place}: it is a link" in line for line in told(folder))
    with pytest.raises(OSError, match="symbolic links"):
        intake.opened(folder, place)


def test_a_link_in_place_of_the_trajectories_is_not_followed(folder: Path) -> None:
    (folder / "trajectories").rmdir()
    (folder / "trajectories").symlink_to("/etc")
    assert told(folder) == ["trajectories: it is a link; put the file itself there"]


def test_a_pipe_keeps_nobody_waiting(folder: Path) -> None:
    os.mkfifo(folder / "README.md")
    assert told(folder) == ["README.md: it is no ordinary file; put the file itself there"]
    with pytest.raises(intake.Refused, match="no ordinary file"):
        intake.opened(folder, "README.md")


def test_what_has_no_place_is_named(folder: Path) -> None:
    (folder / "run.sh").write_text("rm -rf /")
    (folder / ".git").mkdir()
    (folder / "trajectories" / "more").mkdir()
    (folder / "results.partial.jsonl").write_text("")
    said = "\n".join(told(folder))
    assert "run.sh: this file has no place here; remove it" in said
    assert "'.git': no file of a submission is called so" in said
    assert "trajectories/more: a folder has no place here" in said
    assert "results.partial.jsonl: an evaluation that has not ended; run the same `rolf eval` to its end" in said


def test_a_name_with_control_characters_is_shown_harmless(folder: Path) -> None:
    (folder / "\x1b[2J.json").write_text("")
    (said,) = told(folder)
    assert "\x1b" not in said
    assert r"\x1b[2J.json" in said


def test_thousands_of_files_are_not_listed(folder: Path) -> None:
    for number in range(40):
        (folder / "trajectories" / f"{number}.jsonl.gz").write_bytes(b"")
    problems = Problems()
    assert len(intake.inventory(folder, 20, problems)) == 20
    assert any("there are more than 20 files" in str(problem) for problem in problems)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
        ('{"b": {"a": 1, "c": 0, "a": 2}}', "the key 'a' is there twice"),
        ('{"score": NaN}', "NaN is not JSON"),
        ('{"score": Infinity}', "Infinity is not JSON"),
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        ('{"a": ' + "9" * 5_000 + "}", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ("", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
    ],
)
def test_what_is_no_strict_json_is_refused(folder: Path, text: str | bytes, reason: str) -> None:
    (folder / "submission.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(intake.Refused, match=reason):
        intake.document(folder, "submission.json")


def test_a_large_document_is_not_read(folder: Path) -> None:
    (folder / "lock.json").write_text(json.dumps({"packages": "x" * intake.DOCUMENT}))
    with pytest.raises(intake.Refused, match=f"more than {intake.DOCUMENT} bytes"):
        intake.document(folder, "lock.json")


def test_numbers_of_an_environment_may_be_none() -> None:
    """An observation may well hold NaN; a result may not."""
    assert repr(intake.strict(b'{"seen": NaN}', nan=True)["seen"]) == "nan"


def test_a_small_file_that_decompresses_to_an_endless_line_costs_little(folder: Path) -> None:
    """A hundred kilobytes of gzip can hold a hundred megabytes of one line."""
    bomb = gzip.compress(b"\0" * (100 << 20))
    assert len(bomb) < 200_000
    (folder / "trajectories" / "bomb.jsonl.gz").write_bytes(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(intake.Refused, match="longer than any such file is"):
            list(intake.lines(folder, "trajectories/bomb.jsonl.gz", most=10))
        assert tracemalloc.get_traced_memory()[1] < 4 * intake.LINE
    finally:
        tracemalloc.stop()


def test_a_small_file_of_endless_lines_is_read_up_to_a_bound(folder: Path) -> None:
    (folder / "trajectories" / "bomb.jsonl.gz").write_bytes(gzip.compress(b"{}\n" * 1_000_000))
    with pytest.raises(intake.Refused, match="more than 1000 lines"):
        for _ in intake.lines(folder, "trajectories/bomb.jsonl.gz", most=1000):
            pass
    with pytest.raises(intake.Refused, match="longer than any such file is"):
        for _ in intake.lines(folder, "trajectories/bomb.jsonl.gz", most=1_000_000, unpacked=30_000):
            pass


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_damaged_file_is_refused(folder: Path, cut: int) -> None:
    whole = gzip.compress(b'{"a": 1}\n' * 20)
    (folder / "trajectories" / "cut.jsonl.gz").write_bytes(whole[:cut])
    with pytest.raises(intake.Refused, match=r"damaged|cut off"):
        list(intake.lines(folder, "trajectories/cut.jsonl.gz", most=100))


def test_a_line_without_an_end_is_refused(folder: Path) -> None:
    (folder / "results.jsonl").write_text('{"a": 1}\n{"a": ')
    with pytest.raises(intake.Refused, match="line 2 was cut off"):
        list(intake.lines(folder, "results.jsonl", most=100))


def test_problems_are_bounded_in_number_and_length() -> None:
    problems = Problems()
    for number in range(MOST + 50):
        problems.add("results.jsonl", "wrong", line=number, got="\x1b]0;" + "x" * 10_000, expected=1)
    assert (len(problems), len(problems.kept)) == (MOST + 50, MOST)
    said = str(problems.kept[0])
    assert len(said) < LONGEST + 80
    assert "\x1b" not in said
    assert said.startswith("results.jsonl, line 0: wrong: got '\\x1b]0;xxx")
    assert said.endswith("…, expected 1")
