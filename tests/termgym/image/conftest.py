from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from toy_images import PROGRAMS, tiny_layer

from termgym.image import Image, Recipe, Store, build
from termgym.image.store import discard
from termgym.image.tree import Tree


@dataclass(frozen=True)
class Built:
    image: Image
    lines: list[str]
    """What the build reported."""
    tree: Tree

    def text(self, path: str) -> str:
        content = self.tree.read(path)
        assert content is not None, f"{path} is not in the image"
        return content.decode()

    def names(self, path: str) -> list[str]:
        found = self.tree.find(path)
        assert found is not None, f"{path} is not in the image"
        return [child.path.rpartition("/")[2] for child in self.tree.children(found)]

    def mode(self, path: str) -> int:
        found = self.tree.find(path, follow=False)
        assert found is not None, f"{path} is not in the image"
        return found.status.st_mode & 0o7777


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root filesystem with a few programs."""
    layer = tiny_layer(tmp_path_factory.mktemp("tiny") / "root", (*PROGRAMS, "mknod", "env", "mount", "head"))
    (layer / "bin/sh").symlink_to("bash")
    return layer


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = Store(tmp_path_factory.mktemp("store"))
    yield made
    discard(made.root)


Make = Callable[..., Built]


@pytest.fixture
def make(tmp_path: Path, store: Store, tiny: Path) -> Make:
    """Build a Dockerfile on ``FROM tiny``, with files around it."""

    def built(
        text: str,
        files: Mapping[str, str | bytes] | None = None,
        *,
        on: Store | None = None,
        at: str = "context",
        network: bool = False,
        **kw: object,
    ) -> Built:
        context = tmp_path / at
        for name, content in {**(files or {}), "Dockerfile": text}.items():
            place = context / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        lines: list[str] = []
        recipe = Recipe(context=str(context), dockerfile=str(context / "Dockerfile"), **kw)  # type: ignore[arg-type]
        image = build(recipe, network=network, store=on or store, report=lines.append, bases={"tiny": str(tiny)})
        return Built(image, lines, Tree(image.layers, (on or store).prefix))

    return built
