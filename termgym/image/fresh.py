"""What docker's images of the distributions have in common, beside their packages."""

from __future__ import annotations

from pathlib import Path

from termgym.image.making import make_directory, make_file

_FILES = {
    "etc/resolv.conf": b"",
    "etc/hostname": b"rolf\n",
    "etc/machine-id": b"",
    "etc/hosts": b"127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n",
}
_APT = b'Acquire::Languages "none";\nAPT::Keep-Downloaded-Packages "false";\n'
_NO_SERVICES = b"#!/bin/sh\nexit 101\n"


def make_fresh(tree: Path) -> None:
    """Let a root filesystem be nobody's: no name, no resolver; installing a package starts no service."""
    for name, content in _FILES.items():
        make_directory((tree / name).parent)
        (tree / name).unlink(missing_ok=True)
        make_file(tree / name, content)
    if (tree / "etc/apt").is_dir():
        make_directory(tree / "etc/apt/apt.conf.d")
        make_file(tree / "etc/apt/apt.conf.d/docker", _APT)
        make_file(tree / "usr/sbin/policy-rc.d", _NO_SERVICES, 0o755)
