"""A checkpoint is whole or it is not used, and what is whole gives back every bit."""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from rolf.variant import canonical
from rolf_adapters.ppo.checkpoint import LATEST, MANIFEST, TENSORS, VALUES, Checkpoint, CheckpointError, Checkpoints
from rolf_adapters.ppo.checkpoint import read as read_checkpoint
from rolf_adapters.ppo.learner import State


def made(iteration: int, *, rollbacks: int = 0, good: bool = True) -> Checkpoint:
    tensors = {"weights": torch.full((3, 2), float(iteration)), "steps": torch.tensor(iteration)}
    return Checkpoint(
        iteration, rollbacks, good, {"experiment": {"seed": 7}}, "0" * 64, {"lines": iteration},
        State(tensors, {"count": iteration}), {"torch": "1"}, Path(),
    )  # fmt: skip


@pytest.fixture
def three(tmp_path: Path) -> Checkpoints:
    """Checkpoints of iterations 1, 2 and 3."""
    checkpoints = Checkpoints(tmp_path, keep=3)
    for iteration in (1, 2, 3):
        checkpoints.save(made(iteration))
    return checkpoints


def test_gives_back_every_bit(tmp_path: Path) -> None:
    """Of every kind of tensor: no dimension, no element, a view, NaN, minus zero, denormal; and of floats in JSON."""
    whole = torch.arange(12.0).reshape(3, 4)
    tensors = {
        "view": whole.T,
        "shared": whole[1:],
        "scalar": torch.tensor(0.1),
        "empty": torch.empty(0, 5),
        "odd": torch.tensor([math.nan, -0.0, 5e-324, math.inf], dtype=torch.float64),
        "half": torch.tensor([1.5], dtype=torch.bfloat16),
        "long": torch.tensor([2**62 + 1]),
        "truth": torch.tensor([True, False]),
        "bytes": torch.arange(256, dtype=torch.uint8),
    }
    values = {"float": 0.1 + 0.2, "large": 2**127 + 1, "text": "é\x1f", "nested": {"list": [None, True, 1e-320]}}
    saved = Checkpoints(tmp_path).save(replace(made(1), state=State(tensors, values)))
    found = read_checkpoint(saved.path)
    assert found.state.values == values
    assert found.state.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        again = found.state.tensors[name]
        assert (again.dtype, again.shape) == (tensor.dtype, tensor.shape)
        assert again.flatten().view(torch.uint8).tolist() == tensor.contiguous().flatten().view(torch.uint8).tolist()
    assert replace(found, state=saved.state, path=saved.path) == saved


def test_equal_trainings_have_equal_bytes(tmp_path: Path) -> None:
    """No time, no path, no order of making."""
    one, other = Checkpoints(tmp_path / "one"), Checkpoints(tmp_path / "other")
    turned = replace(made(1), state=State(dict(reversed(made(1).state.tensors.items())), {"count": 1}))
    for folder, checkpoint in ((one, made(1)), (other, turned)):
        folder.save(checkpoint)
    files = sorted(each.relative_to(one.folder) for each in one.folder.rglob("*") if each.is_file())
    assert len(files) == 4
    assert all((one.folder / each).read_bytes() == (other.folder / each).read_bytes() for each in files)


def test_nothing_in_it_is_a_pickle(three: Checkpoints) -> None:
    """A checkpoint of somebody else's must not run anything."""
    names = {each.name for each in (three.folder / "iteration-000003").iterdir()}
    assert names == {MANIFEST, TENSORS, VALUES}
    for name in (MANIFEST, VALUES):
        json.loads((three.folder / "iteration-000003" / name).read_text())


@pytest.mark.parametrize("name", [MANIFEST, TENSORS, VALUES])
@pytest.mark.parametrize("damage", ["cut in half", "emptied", "removed", "a byte more", "a bit of each byte"])
def test_a_damaged_file_is_noticed_and_the_checkpoint_before_used(three: Checkpoints, name: str, damage: str) -> None:
    """Disks fill up and lose power; what is damaged must neither be trained on nor stop the training."""
    path = three.folder / "iteration-000003" / name
    whole, draw = path.read_bytes(), random.Random(0)
    versions = {
        "cut in half": [whole[: len(whole) // 2]],
        "emptied": [b""],
        "removed": [None],
        "a byte more": [whole + b"\n"],
        "a bit of each byte": [
            whole[:at] + bytes([whole[at] ^ (1 << draw.randrange(8))]) + whole[at + 1 :] for at in range(len(whole))
        ],
    }
    for version in versions[damage]:
        path.unlink(missing_ok=True)
        if version is not None:
            path.write_bytes(version)
        with pytest.raises(CheckpointError, match="iteration-000003"):
            read_checkpoint(path.parent)
    found, wrong = three.newest()
    assert found.iteration == 2
    assert len(wrong) == 1
    assert name in wrong[0]


def test_without_a_whole_one_all_that_is_wrong_is_told(three: Checkpoints) -> None:
    """To begin anew without a word would throw away days."""
    for each in three.folder.glob("iteration-*"):
        (each / VALUES).write_bytes(b"{}")
    with pytest.raises(CheckpointError, match="no checkpoint is whole") as caught:
        three.newest()
    assert all(f"iteration-{iteration:06d}" in str(caught.value) for iteration in (1, 2, 3))


@pytest.mark.parametrize("content", [None, b"", b"iteration-", b"../../etc", b"\xff\xfe"])
def test_without_a_readable_pointer_the_newest_counts(three: Checkpoints, content: bytes | None) -> None:
    """LATEST is a convenience; the folders tell what they are themselves."""
    (three.folder / LATEST).unlink()
    if content is not None:
        (three.folder / LATEST).write_bytes(content)
    assert three.newest()[0].iteration == 3


def test_a_folder_that_the_pointer_does_not_name_yet_does_not_count(three: Checkpoints) -> None:
    """The run was killed between the two; it writes the same one again."""
    (three.folder / LATEST).write_text("iteration-000002\n")
    assert three.newest()[0].iteration == 2
    three.save(made(3))
    assert three.newest()[0].iteration == 3


def test_a_half_written_one_is_swept_away(three: Checkpoints) -> None:
    """A run that was killed while it wrote leaves a folder of another name."""
    (three.folder / ".partial-iteration-000004").mkdir()
    assert three.newest()[0].iteration == 3
    three.save(made(4))
    assert sorted(each.name for each in three.folder.iterdir()) == [
        LATEST, "iteration-000002", "iteration-000003", "iteration-000004",
    ]  # fmt: skip


def test_the_last_good_one_is_kept_however_old(tmp_path: Path) -> None:
    """It is what the training goes back to."""
    checkpoints = Checkpoints(tmp_path, keep=2)
    for iteration, good in ((1, True), (2, True), (3, False), (4, False), (5, False)):
        checkpoints.save(made(iteration, good=good))
    assert checkpoints.names() == ["iteration-000005", "iteration-000004", "iteration-000002"]
    assert checkpoints.last_good()[0].iteration == 2
    assert checkpoints.newest()[0].iteration == 5


def test_what_is_not_called_as_a_checkpoint_is_stays(three: Checkpoints) -> None:
    """Somebody has put one aside, under a name of his own; it is neither removed nor gone on with."""
    shutil.copytree(three.folder / "iteration-000001", three.folder / "iteration-000001-best")
    for iteration in (4, 5, 6):
        three.save(made(iteration))
    assert read_checkpoint(three.folder / "iteration-000001-best").iteration == 1
    assert three.names() == ["iteration-000006", "iteration-000005", "iteration-000004"]


def test_after_a_return_an_earlier_iteration_is_the_latest(three: Checkpoints) -> None:
    """What came after it before does not count, but is older and can be fallen back to."""
    three.save(made(1, rollbacks=1))
    assert three.names() == ["iteration-000001-rollback-1", "iteration-000003", "iteration-000002"]
    (three.folder / "iteration-000001-rollback-1" / VALUES).unlink()
    assert three.newest()[0].iteration == 3


def test_another_format_is_named(three: Checkpoints) -> None:
    """A checkpoint of a later version is not damaged."""
    path = three.folder / "iteration-000003" / MANIFEST
    from rolf.variant import digest

    told = json.loads(path.read_bytes()) | {"format": "rolf-checkpoint/2"}
    del told["digest"]
    path.write_bytes(canonical(told | {"digest": digest(told)}))
    with pytest.raises(CheckpointError, match="this version reads 'rolf-checkpoint/1'"):
        read_checkpoint(path.parent)


@pytest.mark.parametrize("values", [{"rate": math.nan}, {"numbers": {1, 2}}])
def test_values_that_are_no_json_are_refused(tmp_path: Path, values: dict[str, object]) -> None:
    """The learner is to blame, and LATEST stays as it was."""
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(made(1))
    with pytest.raises(TypeError, match=r"State\.values"):
        checkpoints.save(replace(made(2), state=State({}, values)))
    assert checkpoints.newest()[0].iteration == 1
