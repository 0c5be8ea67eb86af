"""Splits by name and from files, and what is said of one that cannot be had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rolf.cli import main
from rolf.evaluation.origin import origins
from rolf.splitting import as_json, find_split, from_json, is_installed, read_split
from rolf.variant import Labels, Split, Variant

PLAIN: dict[str, Any] = {
    "format": "rolf-split/1",
    "name": "poles",
    "attempts": 3,
    "limits": {"steps": 500},
    "variants": [
        {"env_id": "gymnasium:CartPole-v1", "kwargs": {}, "seed": 0, "name": "a"},
        {"env_id": "gymnasium:CartPole-v1", "kwargs": {}, "seed": 1},
    ],
    "labels": [{"cluster": "x", "family": "wind", "level": 2, "parameters": {"wind [m/s]": 3.0}}, {"cluster": "x"}],
}


def changed(**changes: Any) -> dict[str, Any]:
    return {**PLAIN, **changes}


def with_variant(**changes: Any) -> dict[str, Any]:
    return changed(variants=[PLAIN["variants"][0], {**PLAIN["variants"][1], **changes}])


def test_a_file_says_what_is_played(tmp_path: Path) -> None:
    path = tmp_path / "poles.json"
    path.write_text(json.dumps(PLAIN))
    split = find_split(str(path))
    assert (split.name, split.attempts, split.limits, split.content) == ("poles", 3, {"steps": 500}, "")
    assert [variant.seed for variant in split.variants] == [0, 1]
    assert split.labels[0] == Labels("x", "wind", 2, {"wind [m/s]": 3.0})
    assert find_split(f"{path}[:1]").variants == split.variants[:1]


def test_without_labels_each_variant_stands_for_itself() -> None:
    plain = {key: value for key, value in PLAIN.items() if key not in ("labels", "limits")}
    split = from_json(plain)
    assert [labels.cluster for labels in split.labels] == [variant.digest for variant in split.variants]


def test_a_split_comes_back_from_its_file() -> None:
    split = from_json(changed(content="ab"))
    again = from_json(json.loads(json.dumps(as_json(split))))
    assert again == split
    assert again.digest == split.digest


@pytest.mark.parametrize("entry", [entry for module in origins().values() for entry in module.splits()])
def test_every_installed_split_comes_back_from_its_file(entry: Any) -> None:
    """Whoever makes a split of their own begins with one of these."""
    split = find_split(f"{entry.name}[:25]")
    assert from_json(json.loads(json.dumps(as_json(split)))) == split


@pytest.mark.parametrize(
    ("plain", "told"),
    [
        ([], r"the file is \[\], expected an object with format, name"),
        (changed(format="rolf-split/9"), "format is 'rolf-split/9'; this version reads 'rolf-split/1'"),
        ({"format": "rolf-split/1"}, "the file has no 'name'; it needs format, name, attempts, variants"),
        (changed(atempts=3), "unknown key 'atempts'; did you mean 'attempts'"),
        (changed(name=""), "name is ''; expected 1 to 200 printable characters"),
        (changed(name="a\nb"), "expected 1 to 200 printable characters"),
        (changed(name="x" * 201), "expected 1 to 200 printable characters"),
        (changed(attempts=0), "attempts is 0; expected a whole number from 1 to 1000"),
        (changed(attempts=10**9), "attempts is 1000000000; expected"),
        (changed(attempts=True), "'attempts' is True, expected a whole number"),
        (changed(attempts=2.0), "'attempts' is 2.0, expected a whole number"),
        (changed(limits={"x": {"y": [float("inf")]}}), "limits holds a number that JSON does not know"),
        (changed(limits=[]), r"'limits' is \[\], expected an object"),
        (changed(variants=[]), "variants is empty"),
        (changed(variants={}), "'variants' is {}, expected a list"),
        (changed(labels=[]), "2 variants and 0 labels"),
        (changed(variants=[5]), r"variants\[0\] is 5, expected an object with env_id, kwargs, seed"),
        (with_variant(seed=-1), r"variants\[1\]: seed is -1; expected a whole number from 0 and below 2\*\*62"),
        (with_variant(seed=1 << 62), r"variants\[1\]: seed is 4611686018427387904"),
        (with_variant(seed="1"), r"variants\[1\]: 'seed' is '1', expected a whole number"),
        (with_variant(kwargs=[]), r"variants\[1\]: 'kwargs' is \[\], expected an object"),
        (with_variant(kwargs={"x": float("nan")}), r"variants\[1\] holds a number that JSON does not know"),
        (with_variant(kwarg={}), r"variants\[1\] has the unknown key 'kwarg'; did you mean 'kwargs'"),
        (with_variant(wrappers=[1]), r"variants\[1\]: wrappers\[0\] is 1, expected an object with name, entry_point"),
        (with_variant(wrappers=[{"name": "x"}]), r"wrappers\[0\] has no 'entry_point'"),
        (with_variant(seed=0, name="b"), r"variants\[1\] is the same problem as variants\[0\]"),
        (changed(labels=[{"cluster": "x"}, {"family": "y"}]), r"labels\[1\] has no 'cluster'"),
        (changed(labels=[{"cluster": "x"}, {"cluster": 5}]), r"labels\[1\]: 'cluster' is 5, expected text"),
        (changed(labels=[{"cluster": "x"}, {"cluster": "x", "level": "3"}]), "expected a whole number or null"),
        *(
            (
                changed(labels=[{"cluster": "x"}, {"cluster": "x", "parameters": {"a": value}}]),
                rf"labels\[1\]: parameters: 'a' is {value!r:.60}, expected a finite number of 64 bits",
            )
            for value in ("b", True, float("nan"), float("-inf"), 10**400)
        ),
    ],
)
def test_says_what_is_wrong_with_a_file(plain: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        from_json(plain)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is nested too deep"),
        (b'{"format": "rolf-split/1", "attempts": ' + b"9" * 5_000 + b"}", "is not JSON"),
    ],
)
def test_says_which_file_cannot_be_read(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"split file '{path}' {told}"):
        read_split(path)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("line-v1/idd", "no split is named 'line-v1/idd'; did you mean 'line-v1/iid'"),
        ("term-v1/unseen-famly[:3]", "did you mean 'term-v1/unseen-family'"),
        ("iid", "`rolf split list` shows those there are"),
        ("line-v1/iid[3]", r"did you mean 'line-v1/iid\[:3\]'\? \[:N\] takes the first N variants"),
        ("line-v1/iid[2:4]", r"did you mean 'line-v1/iid\[:N\]'\? \[:N\] takes the first N variants"),
        ("", "no split is named ''"),
    ],
)
def test_suggests_the_nearest_name(name: str, told: str) -> None:
    with pytest.raises(LookupError, match=told):
        find_split(name)


def test_what_cannot_be_read_is_told() -> None:
    with pytest.raises(ValueError, match=r"split file 'nowhere.json': No such file or directory"):
        find_split("nowhere.json")
    with pytest.raises(ValueError, match="Is a directory"):
        read_split(Path("/"))


def test_lists_every_split_with_its_digest() -> None:
    """Results with equal digests can be compared."""
    listed = CliRunner().invoke(main, ["split", "list", "--json"])
    found = {row["name"]: row for row in map(json.loads, listed.stdout.splitlines())}
    assert {
        "line-v1/iid",
        "line-v1/unseen-template",
        "term-v1/unseen-family",
        "term-v1/unseen-interface",
    } <= found.keys()
    assert is_installed("line-v1/iid")
    assert not is_installed("line-v1/idd")
    iid = find_split("line-v1/iid")
    assert found["line-v1/iid"]["digest"] == iid.digest
    assert found["line-v1/iid"]["variants"] == len(iid) == 200
    assert found["line-v1/iid"]["attempts"] == iid.attempts == 5
    table = CliRunner().invoke(main, ["split", "list"]).stdout.splitlines()
    assert len(table) == len(found)
    assert any("line-v1/iid " in line and "200 variants × 5" in line and iid.digest[:12] in line for line in table)


def test_shows_variants_and_makes_files_of_them(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["split", "show", "line-v1/iid[:3]"])
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    split = find_split("line-v1/iid[:3]")
    assert [row["digest"] for row in rows] == [variant.digest for variant in split.variants]
    assert [row["labels"]["cluster"] for row in rows] == [labels.cluster for labels in split.labels]
    path = tmp_path / "mine.json"
    path.write_text(CliRunner().invoke(main, ["split", "show", "line-v1/iid[:3]", "--file"]).stdout)
    assert read_split(path) == split
    done = CliRunner().invoke(main, ["split", "show", "line-v1/idd"])
    assert done.exit_code == 2
    assert "did you mean" in done.stderr


def test_variants_of_a_file_are_played_as_they_are() -> None:
    assert from_json(PLAIN).variants[1] == Variant("gymnasium:CartPole-v1", {}, 1)
    assert isinstance(from_json(PLAIN), Split)
