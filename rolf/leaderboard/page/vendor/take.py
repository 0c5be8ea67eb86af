"""Take the files anew from the npm registry: ``python -m rolf.leaderboard.page.vendor.take``; needs ``npm``.

What was taken must have the digests of files.json. For another version: change its number there, run with ``--write``,
and look at what changed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
LIST = HERE / "files.json"


def take(*, write: bool) -> list[str]:
    """Put every file that is listed into this folder.

    Args:
        write: Whether the digests found are the right ones from now on.

    Returns:
        Files with another digest than was listed.
    """
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    changed = []
    with tempfile.TemporaryDirectory() as folder:
        for package in {(each["package"], each["version"]) for each in listed.values()}:
            told = ["npm", "pack", "--silent", "--pack-destination", folder, "@".join(package)]
            archive = subprocess.run(told, check=True, capture_output=True, text=True).stdout.strip()
            for name, each in listed.items():
                if (each["package"], each["version"]) == package:
                    content = _member(Path(folder, archive), f"package/{each['path']}")
                    digest = hashlib.sha256(content).hexdigest()
                    if digest != each.get("sha256"):
                        changed.append(name)
                    if write or digest == each.get("sha256"):
                        (HERE / name).write_bytes(content)
                        each["sha256"] = digest
    if write:
        LIST.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    return changed


def _member(archive: Path, path: str) -> bytes:
    with tarfile.open(archive) as opened:
        file = opened.extractfile(path)
        assert file is not None, f"{archive.name} has no {path}"
        return file.read()


if __name__ == "__main__":
    writing = sys.argv[1:] == ["--write"]
    different = take(write=writing)
    if different:
        sys.exit(f"{'now' if writing else 'not taken, for they are'} different: {', '.join(different)}")
