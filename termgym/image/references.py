"""References: what ``FROM`` says, taken apart, and which distribution it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_HUB = re.compile(
    r"^(?:(?:index\.)?docker\.io/)?(?:library/)?|^mirror\.gcr\.io/library/|^public\.ecr\.aws/docker/library/"
)
_DEBIAN = {"buster": "10", "bullseye": "11", "bookworm": "12", "trixie": "13", "forky": "14", "sid": "sid"}
_UBUNTU = {"focal": "20.04", "jammy": "22.04", "noble": "24.04", "plucky": "25.04", "questing": "25.10"}
_NEWEST = {"debian": "13", "ubuntu": "24.04"}
_PYTHON_OF = {"debian-11": "3.9", "debian-12": "3.11", "debian-13": "3.13",
              "ubuntu-20.04": "3.8", "ubuntu-22.04": "3.10", "ubuntu-24.04": "3.12"}  # fmt: skip
_T_BENCH = {"ubuntu-24-04": ("ubuntu", "24.04"), "python-3-13": ("python", "3.13")}
_VERSION = re.compile(r"\d+(?:\.\d+)*")
TOOLS: Mapping[str, tuple[str, ...]] = {
    "debian": (),
    "ubuntu": (),
    "alpine": (),
    "busybox": (),
    "buildpack-deps": ("gcc", "git", "curl"),
    "python": ("python3",),
    "node": ("node", "npm"),
    "gcc": ("gcc", "g++"),
    "golang": ("go",),
    "rust": ("cargo", "rustc"),
    "openjdk": ("java", "javac"),
    "eclipse-temurin": ("java", "javac"),
    "maven": ("mvn", "java"),
    "gradle": ("gradle", "java"),
    "ruby": ("ruby",),
    "perl": ("perl",),
    "php": ("php",),
    "r-base": ("Rscript",),
    "fedora": (),
    "rockylinux": (),
    "almalinux": (),
    "bash": ("bash",),
}
"""Images that another system may stand in for -> the programs that it must have."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of an image."""

    text: str
    name: str
    """Without registry, tag and digest, such as ``python``; as it is written if it is nobody's we know."""
    tag: str
    """Empty: none."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Names of the root filesystems that are just this, the best first."""
        return tuple(dict.fromkeys(self._roots()))

    @property
    def version(self) -> str:
        """The version in the tag, such as ``3.11``; empty: none."""
        found = _VERSION.match(self.tag)
        return found[0] if found else ""

    def _roots(self) -> list[str]:
        if self.name in ("debian", "ubuntu"):
            return [f"{self.name}-{self._release(self.name)}"]
        if self.name == "python":
            short = ".".join(self.version.split(".")[:2])
            suite = [f"debian-{number}" for name, number in _DEBIAN.items() if name in self.tag]
            fitting = [root for root, version in _PYTHON_OF.items() if version == short]
            return [f"python-{short}", *(root for root in suite if _PYTHON_OF.get(root) == short), *fitting]
        return [f"{self.name}-{self.version.split('.')[0]}"] if self.version else [self.name]

    def _release(self, name: str) -> str:
        codenames = _DEBIAN if name == "debian" else _UBUNTU
        first = self.tag.partition("-")[0]
        if first in codenames:
            return codenames[first]
        if not self.version:
            return _NEWEST[name]
        return self.version.split(".")[0] if name == "debian" else ".".join(self.version.split(".")[:2])


def parse_reference(text: str) -> Reference:
    """Return what the name of an image says.

    Example:
        >>> parse_reference("docker.io/library/python:3.11-slim-bookworm").roots
        ('python-3.11', 'debian-12')
        >>> parse_reference("ubuntu:noble").roots
        ('ubuntu-24.04',)
    """
    plain = _HUB.sub("", text.partition("@")[0])
    path, _, last = plain.rpartition("/")
    name, _, tag = last.partition(":")
    if path == "ghcr.io/laude-institute/t-bench" and name in _T_BENCH:
        return Reference(text, *_T_BENCH[name])
    return Reference(text, f"{path}/{name}" if path else name, tag)
