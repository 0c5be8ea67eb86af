"""Scene: what the guard knows of a task and its image when it looks at what the agent changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from termgym.verification.imagetree import ImageTree

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # docker's
RUNNERS = re.compile(
    r"(ba|da|z|)sh|env|python[\d.]*|py\.?test[\d.-]*|pip[\d.]*|uvx?|node|npm|npx|perl[\d.]*|ruby[\d.]*|go|cargo|make"
    r"|busybox|coreutils|cat|cp|mv|ls|rm|ln|mkdir|chmod|chown|test|\[|true|false|echo|printf|tee|head|tail|sort|uniq|wc|cut|tr"
    r"|e?f?grep|sed|[gmn]?awk|find|xargs|diff|cmp|timeout|sleep|date|stat|id|whoami|su|sudo|setpriv|kill|ps|jq|curl|wget"
    r"|git|tar|gzip|gunzip|unzip|sha\d*sum|md5sum|apt|apt-get|dpkg|ld.*\.so.*|lib.*\.so.*"
)
"""Programs and libraries that verifiers stand on. No instruction lets an agent replace them."""


@dataclass(frozen=True, slots=True)
class Scene:
    """All that does not depend on what the agent did, and how to read what it left."""

    tree: ImageTree
    read: Callable[[str], bytes | None]
    """Reads a file of the agent's tree from outside."""
    path: tuple[str, ...]
    """Directories of PATH, the first first; those of the home that shells and installers put before them included."""
    home: str
    workdir: str
    instruction: str
    tests: str
    """All text of the verifier's files."""
    tools: frozenset[str] = field(default=frozenset())
    """Names of the programs that are shown as tools."""

    def asked_for(self, path: str) -> bool:
        """Return whether the instruction names this path as something to work on."""
        return _names(self.instruction, path) and not RUNNERS.fullmatch(path.rpartition("/")[2])

    def deliverable(self, path: str) -> bool:
        """Return whether the instruction or the tests name this new path."""
        if RUNNERS.fullmatch(path.rpartition("/")[2]):
            return False
        return _names(self.instruction, path) or _names(self.tests, path)

    def word(self, name: str) -> bool:
        """Return whether the instruction names a file by its name alone."""
        return _names(self.instruction, name, before=r"\w.-")


def image_path(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the directories of an image's PATH."""
    return tuple(each.rstrip("/") for each in env.get("PATH", _DEFAULT_PATH).split(":") if each.startswith("/"))


def search_path(env: Mapping[str, str], home: str) -> tuple[str, ...]:
    """Return the directories in which a verifier looks for programs, those that installers put first included."""
    return tuple(dict.fromkeys([f"{home}/.local/bin", f"{home}/bin", *image_path(env)]))


def _names(text: str, path: str, before: str = r"\w./-") -> bool:
    if path not in text:
        return False
    return re.search(rf"(?<![{before}]){re.escape(path)}(?![\w/-]|\.\w)", text) is not None
