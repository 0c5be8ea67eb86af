"""What a real terminal needs of this machine, found by trying; shown by ``rolf doctor``."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rolf.environments import Finding, State
from termgym.errors import TermGymError

_FDS_PER_SHELL = 8
"""Descriptors that one shell costs its owner: socket, two terminals, report pipe, memfd, and what watches them."""
_PTYS_PER_SHELL = 4
"""Two, and as many for the spare that is made ready beside it."""
_FEW_SHELLS = 64
_RLIMIT_COVERS = {"processes": "all that this user runs"}
"""What an rlimit limits where it is not each process alone (getrlimit(2), RLIMIT_NPROC)."""
_LITTLE_MEMORY = 2 << 30  # [bytes]; all trees lie in memory


def checkup() -> Iterator[Finding]:
    """Yield findings; a sandbox is really started, so this takes a moment."""
    yield _kernel()
    yield _bash()
    yield _program("bubblewrap", "bwrap", State.MISSING, "namespaces for the sandbox")
    yield from _sandbox()
    yield _program("rsync", "rsync", State.LIMITED, "the snapshot backend of that name and the demo's comparison")
    yield _program("git", "git", State.LIMITED, "the tasks about repositories")
    yield _terminals()
    yield _descriptors()
    yield _memory()
    yield _disk()


def _kernel() -> Finding:
    if sys.platform != "linux":
        return Finding("kernel", State.MISSING, sys.platform, "termgym needs Linux; linegym runs anywhere")
    return Finding("kernel", State.OK, f"Linux {platform.release()}")


def _bash() -> Finding:
    path = shutil.which("bash", path="/usr/local/bin:/usr/bin:/bin")
    if path is None:
        return Finding("bash", State.MISSING, "not installed", "sudo apt-get install bash")
    version = subprocess.run(
        [path, "-c", "echo $BASH_VERSION"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if int(version.partition(".")[0]) < 5:
        return Finding("bash", State.LIMITED, version, "tested with bash 5; install a newer one")
    return Finding("bash", State.OK, version)


def _program(package: str, command: str, without: State, purpose: str) -> Finding:
    path = shutil.which(command)
    if path is None:
        return Finding(package, without, "not installed", f"sudo apt-get install {package}   (for {purpose})")
    return Finding(package, State.OK, path)


def _sandbox() -> Iterator[Finding]:
    """Start a sandbox and tell what it really provides."""
    from termgym.sandbox import open_sandbox
    from termgym.tasks import blank

    try:
        sandbox = open_sandbox("local")
    except TermGymError as error:
        yield Finding("sandbox", State.MISSING, "does not start", str(error))
        return
    try:
        sandbox.start(blank())
        provided = sandbox.capabilities()
    except TermGymError as error:
        yield Finding("sandbox", State.MISSING, "does not start", str(error))
        return
    finally:
        sandbox.close()
    missing = provided["missing"]
    limits = provided["limits"]
    assert isinstance(missing, Mapping)
    assert isinstance(limits, Mapping)
    yield _isolation(str(provided["isolation"]))
    yield _snapshot(str(provided["snapshot"]), missing)
    for name, source in limits.items():
        yield _limit(str(name), str(source), missing)


def _isolation(kind: str) -> Finding:
    said = {"root": "namespaces, as root", "userns": "a user namespace, as an ordinary user"}
    return Finding("sandbox", State.OK, said.get(kind, kind))


def _snapshot(name: str, missing: Mapping[str, object]) -> Finding:
    reason = missing.get("snapshot overlay")
    if name.startswith("overlay"):
        return Finding("overlay", State.OK, f"resets by {name}")
    return Finding("overlay", State.LIMITED, f"resets by {name}, which takes longer", f"no overlay here: {reason}")


def _limit(name: str, source: str, missing: Mapping[str, object]) -> Finding:
    subject = f"limit on {name}"
    # The kernel has a limit on file sizes as an rlimit only, so there is nothing better to be had.
    if source.startswith("cgroup") or (name == "file" and source == "rlimit"):
        return Finding(subject, State.OK, source)
    why = missing.get(f"limit {name}", "no control group")
    weaker = _RLIMIT_COVERS.get(name, "each process alone") if source == "rlimit" else "not limited"
    advice = (
        f"no control group: {why}; run as root or in a delegated cgroup (systemd-run --user --scope -p Delegate=yes)"
    )
    return Finding(subject, State.LIMITED, f"{source}: {weaker}", advice)


def _terminals() -> Finding:
    most = int(Path("/proc/sys/kernel/pty/max").read_text())
    shells = most // _PTYS_PER_SHELL
    state = State.OK if shells >= _FEW_SHELLS else State.LIMITED
    advice = "" if state is State.OK else "sudo sysctl kernel.pty.max=4096"
    return Finding("terminals", state, f"kernel.pty.max {most}: {shells} shells at once", advice)


def _descriptors() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    shells = soft // _FDS_PER_SHELL
    state = State.OK if shells >= _FEW_SHELLS else State.LIMITED
    advice = "" if state is State.OK else f"ulimit -n {hard if hard > 0 else 65536}"
    return Finding("open files", state, f"{soft}: {shells} shells in one process", advice)


def _memory() -> Finding:
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    free = int(fields["MemAvailable"].split()[0]) * 1024
    state = State.OK if free >= _LITTLE_MEMORY else State.LIMITED
    advice = "" if state is State.OK else "trees lie in memory: run fewer environments at once"
    return Finding("memory", state, f"{free / 2**30:.1f} GiB free", advice)


def _disk() -> Finding:
    place = tempfile.gettempdir()
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        return Finding("disk", State.LIMITED, f"{place} cannot be written", "set TMPDIR to a directory that can")
    state = State.OK if free >= 1 << 30 else State.LIMITED
    advice = "" if state is State.OK else f"little room in {place}; set TMPDIR"
    return Finding("disk", state, f"{free / 2**30:.0f} GiB free in {place}", advice)
