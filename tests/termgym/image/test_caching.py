"""The same recipe is built once, wherever it lies and whenever it is built."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from termgym.image import Store
from termgym.image.store import discard

TEXT = "FROM tiny\nWORKDIR /w\nCOPY . .\nENV A=1\nRUN cat a > b; ls > c\n"
FILES = {"a": "text", "d/e": "more"}


def _ran(lines: list[str]) -> bool:
    return any(line.startswith("RUN") for line in lines)


def test_builds_once(make) -> None:
    first = make(TEXT, FILES)
    began = time.perf_counter()
    second = make(TEXT, FILES)
    assert time.perf_counter() - began < 0.1
    assert second.image == first.image
    assert not _ran(second.lines)


def test_depends_on_content_and_not_on_place_or_time(make, tmp_path: Path) -> None:
    first = make(TEXT, FILES)
    os.utime(tmp_path / "context/a", (0, 0))
    assert make(TEXT, FILES).image.id == first.image.id
    assert make(TEXT, FILES, at="elsewhere").image.id == first.image.id


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (TEXT, {"a": "tExt", "d/e": "more"}),
        (TEXT, {"a": "text", "d/f": "more"}),
        (TEXT.replace("A=1", "A=2"), FILES),
        (TEXT.replace("ls > c", "ls >c"), FILES),
        (TEXT.replace("/w", "/v"), FILES),
        (TEXT.replace("RUN cat", "RUN true\nRUN cat"), FILES),
        (TEXT + "USER 5\n", FILES),
        (TEXT + 'SHELL ["/bin/bash", "-c"]\n', FILES),
    ],
)
def test_is_another_image_with_another_content(make, text: str, files: dict[str, str]) -> None:
    assert make(text, files, at="other").image.id != make(TEXT, FILES).image.id


def test_sees_a_changed_mode(make, tmp_path: Path) -> None:
    first = make(TEXT, FILES)
    (tmp_path / "context/a").chmod(0o700)
    assert make(TEXT, FILES).image.id != first.image.id


def test_does_not_run_again_for_a_file_that_comes_later(make) -> None:
    text = "FROM tiny\nRUN echo once > /x\nCOPY a /a\n"
    make(text, {"a": "1"})
    assert not _ran(make(text, {"a": "2"}).lines)


def test_runs_again_where_the_network_is_allowed_or_an_argument_differs(make) -> None:
    text = "FROM tiny\nARG V=1\nRUN echo here > /x\n"
    first = make(text)
    assert make(text, arguments={"V": "2"}).image.id != first.image.id
    assert make(text, arguments={"V": "1"}).image.id == first.image.id


def _listing(layer: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for path in sorted(Path(layer).rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        rows.append((str(path.relative_to(layer)), status.st_mode, status.st_uid, status.st_mtime_ns, content))
    return rows


def test_makes_equal_layers_in_another_store(make, tmp_path: Path, store: Store) -> None:
    """So that two machines start an episode from the same tree."""
    other = Store(tmp_path / "other")
    first, second = make(TEXT, FILES), make(TEXT, FILES, on=other, at="elsewhere")
    assert second.image.id == first.image.id
    for one, two in zip(first.image.layers[1:], second.image.layers[1:], strict=True):
        assert one != two
        assert _listing(one) == _listing(two)


def test_builds_the_same_thing_in_several_threads_once(make) -> None:
    text = "FROM tiny\nRUN echo thread; echo threads > /x\n"
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(lambda number: make(text, at=str(number)), range(4)))
    assert len({each.image.id for each in built}) == 1
    assert sum(_ran(each.lines) for each in built) == 1


def test_builds_in_several_processes_at_once(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM tiny\nRUN echo $(cat /proc/sys/kernel/hostname) > /x\n")
    code = (
        "from pathlib import Path\nfrom termgym.image import Recipe, Store, build\n"
        f"image = build(Recipe(dockerfile={str(tmp_path / 'Dockerfile')!r}), "
        f"store=Store(Path({str(tmp_path / 's')!r})), bases={{'tiny': {str(tiny)!r}}})\nprint(image.id)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0, 0]
    assert len(said) == 1
    store = Store(tmp_path / "s")
    assert len(list((store.root / "layers").iterdir())) == 1
    assert not list((store.root / "scratch").iterdir())
    discard(store.root)


def test_stacks_more_steps_than_overlayfs_takes_layers(make) -> None:
    steps = "".join(f"WORKDIR /d{number}\nRUN echo {number} > file; rm -rf /d{number - 3}\n" for number in range(33))
    built = make(f"FROM tiny\n{steps}RUN cat /d32/file > /last; ls -d /d* > /left\n")
    assert len(built.image.layers) <= 64
    assert built.text("/last") == "32\n"
    assert built.text("/left") == "/d30\n/d31\n/d32\n/dev\n"
    assert [name for name in built.names("/") if name.startswith("d")] == ["d30", "d31", "d32", "dev"]


def test_is_closed_to_other_users(store: Store) -> None:
    """A layer may hold setuid programs of root's."""
    assert store.root.stat().st_mode & 0o777 == 0o700
