"""An image's files are found in its layers as a real overlay mount shows them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termgym.verification.imagetree import ImageTree

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="mounting an overlay outside a user namespace needs root")


@contextmanager
def mounted(tmp_path: Path, *scripts: str) -> Iterator[tuple[Path, list[str]]]:
    """Yield what an overlay of layers shows, each made by a script in the mount, and the layers, lowest first."""
    # On tmpfs: the test's own folder may lie on an overlay, which cannot be the upper layer of another.
    store = tmp_path / "store"
    store.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", store], check=True)
    try:
        layers: list[str] = []
        (store / "0").mkdir()
        subprocess.run(["bash", "-ec", scripts[0]], cwd=store / "0", check=True)
        layers.append(str(store / "0"))
        for number, script in enumerate(scripts[1:], 1):
            upper, work, view = (store / f"{number}{kind}" for kind in ("", "w", "v"))
            for each in (upper, work, view):
                each.mkdir()
            _mount(view, layers, upper, work)
            try:
                subprocess.run(["bash", "-ec", script], cwd=view, check=True)
            finally:
                subprocess.run(["umount", view], check=True)
            layers.append(str(upper))
        view = store / "view"
        view.mkdir()
        _mount(view, layers)
        try:
            yield view, layers
        finally:
            subprocess.run(["umount", view], check=True)
    finally:
        subprocess.run(["umount", store], check=True)


def _mount(view: Path, layers: list[str], upper: Path | None = None, work: Path | None = None) -> None:
    options = f"redirect_dir=on,lowerdir={':'.join(reversed(layers))}"
    if upper is not None:
        options += f",upperdir={upper},workdir={work}"
    elif len(layers) == 1:
        options += ":/var/empty"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, view], check=True)


LAYERS = (
    "mkdir -p usr/bin usr/lib/a/b etc opt/old/deep; echo 1 > usr/bin/tool; echo 1 > usr/lib/a/b/f; ln -s usr/bin bin; "
    "echo x > etc/gone; echo x > opt/old/deep/file; mkdir -p srv/again; echo > srv/again/first; ln -s /bin/tool etc/t",
    "rm etc/gone; echo 2 > usr/bin/tool; mv opt/old opt/new; rm -r srv/again; mkdir srv/again; echo > srv/again/next",
    "rm -r usr/lib/a; echo 3 > usr/lib/a; ln -s .. usr/lib/up; mv opt/new opt/newest; echo 3 > opt/newest/deep/other",
)


@needs_root
def test_shows_what_the_kernel_shows(tmp_path: Path) -> None:
    """Whiteouts, opaque and renamed directories, files over directories, links through links."""
    with mounted(tmp_path, *LAYERS) as (view, layers):
        tree = ImageTree(layers)
        seen = 0
        for directory, folders, files in os.walk(view):
            inside = "/" + os.path.relpath(directory, view).removeprefix(".")
            assert tree.names(inside) == {*folders, *files}, inside
            for name in files:
                path = os.path.join(inside, name)
                assert tree.has(path)
                if not os.path.islink(os.path.join(directory, name)):
                    assert tree.read(path) == (Path(directory) / name).read_bytes(), path
                seen += 1
        assert seen == 6
        assert not tree.has("/etc/gone")
        assert not tree.has("/srv/again/first")
        assert not tree.has("/usr/lib/a/b")
        assert not tree.has("/opt/old")


def test_follows_links_inside_the_image_alone(tmp_path: Path) -> None:
    """A link to / is the image's own root, whatever lies there on the host."""
    layer = tmp_path / "layer"
    (layer / "usr/bin").mkdir(parents=True)
    (layer / "usr/bin/tool").write_text("ours")
    (layer / "bin").symlink_to("/usr/bin")
    (layer / "out").symlink_to("/../../../etc")
    (layer / "round").symlink_to("round")
    tree = ImageTree([str(layer)])
    assert tree.read("/bin/tool") == b"ours"
    assert tree.resolve("/bin/tool") == "/usr/bin/tool"
    assert not tree.has("/out/passwd")
    assert tree.resolve("/round") is None
    assert tree.names("/round") == frozenset()
