"""Dockerfile: the initial state of a generated task as a container image that any docker builds."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from termgym.folders.trees import put
from termgym.sandbox.environment import AGENT_NAME, AGENT_UID, EPOCH, pinned
from termgym.tasks.task import HOME, FileSpec, Service, Task

BASE = "debian:bookworm-slim"
TOOLS = (
    *("acl", "attr", "bzip2", "ca-certificates", "file", "gcc", "git", "iproute2", "jq", "less", "libc6-dev", "make"),
    *("nano", "patch", "procps", "psmisc", "python3", "python3-pip", "python3-venv", "rsync", "sqlite3", "unzip"),
    *("util-linux", "vim-tiny", "xz-utils", "zip"),
)
"""What the families' oracles and their goals run, and what an agent may well reach for."""
WITNESSES = ("git", "python3", "sqlite3", "setpriv")
"""Programs that say whether the tools are there already; then nothing is installed, and no network is needed."""
SERVICES = "/opt/rolf/services.sh"
"""Starts the task's services; Harbor runs it as health check, when the container is up."""


def write_environment(task: Task, directory: Path) -> None:
    """Write the build context of a task: its files, what gives them their modes, its setup, its services."""
    for index, spec in enumerate(each for each in task.files if each.kind == "file"):
        (directory / "files").mkdir(parents=True, exist_ok=True)
        (directory / "files" / f"{index:04d}").write_bytes(spec.content)
    put(directory / "prepare.sh", _prepare(task), runs=True)
    if task.setup:
        put(directory / "setup.sh", task.setup)
    if task.services:
        put(directory / "services.sh", _services(task.services), runs=True)
    put(directory / "Dockerfile", _dockerfile())
    put(directory / ".dockerignore", "rolf\n")


def _dockerfile() -> str:
    variables = " \\\n    ".join(f"{name}={json.dumps(value)}" for name, value in pinned().items() if name != "TERM")
    there = " && ".join(f"command -v {name}" for name in WITNESSES)
    install = "apt-get update && apt-get install -y --no-install-recommends"
    return "\n".join(
        [
            f"FROM {BASE}",
            f"RUN {{ {there}; }} > /dev/null || {{ {install} \\\n    {' '.join(TOOLS)}; }}",
            f"RUN id {AGENT_NAME} > /dev/null 2>&1 || useradd -m -u {AGENT_UID} -s /bin/bash {AGENT_NAME}",
            "COPY . /opt/rolf/",
            "RUN bash /opt/rolf/prepare.sh",
            f"ENV {variables}",
            f"USER {AGENT_NAME}",
            f"WORKDIR {HOME}",
            "",
        ]
    )


def _prepare(task: Task) -> str:
    """Return the script that lays the files where they belong, sets the rest up, and leaves nothing of itself."""
    lines = ["#!/bin/bash", "# Make the initial state of the task; runs once, as root.", "set -eu", "umask 022"]
    roots = " ".join(map(shlex.quote, _roots(task.files)))
    lines += [f"mkdir -p {HOME} /srv", *_placed(task.files)]
    lines += [f"chown -hR {AGENT_UID}:{AGENT_UID} {roots}", *_modes(task.files)]
    if task.setup:
        pairs = " ".join(shlex.quote(f"{name}={value}") for name, value in pinned().items())
        who = f"setpriv --reuid={AGENT_UID} --regid={AGENT_UID} --clear-groups"
        lines += [f"cd {HOME}", f"{who} env -i {pairs} bash < /opt/rolf/setup.sh", "cd /"]
    lines += [f"find {roots} -exec touch -h -d @{EPOCH} {{}} +"]
    kept = "services.sh" if task.services else ""
    lines += [f"find /opt/rolf -mindepth 1 ! -name '{kept}' -delete"]
    return "\n".join(lines) + "\n"


def _roots(files: tuple[FileSpec, ...]) -> list[str]:
    """Return what belongs to the agent with all that is below: its home, /srv, and its own in what others use too."""
    shared = {
        str(Path(*Path(spec.path).parts[:3])) for spec in files if not spec.path.startswith((f"{HOME}/", "/srv/"))
    }
    return [HOME, "/srv", *sorted(shared)]


def _placed(files: tuple[FileSpec, ...]) -> Iterator[str]:
    index = 0
    for spec in files:
        path = shlex.quote(spec.path)
        parent = shlex.quote(str(Path(spec.path).parent))
        yield f"mkdir -p {path if spec.kind == 'dir' else parent}"
        if spec.kind == "file":
            yield f"cp /opt/rolf/files/{index:04d} {path}"
            index += 1
        elif spec.kind == "symlink":
            yield f"ln -s -- {shlex.quote(spec.content.decode(errors='surrogateescape'))} {path}"


def _modes(files: tuple[FileSpec, ...]) -> Iterator[str]:
    """Yield what gives files their modes, a directory's after those below it: it may let nobody in."""
    for spec in sorted(files, key=lambda spec: spec.path, reverse=True):
        if spec.kind != "symlink":
            yield f"chmod {spec.mode:04o} {shlex.quote(spec.path)}"


def _services(services: tuple[Service, ...]) -> str:
    """Return the script that starts each service once, and says whether all are ready."""
    lines = [
        "#!/bin/bash",
        "# Start the services of the task, once; exit 0 when all are ready.",
        "exec 9> /tmp/.rolf-services",
    ]
    lines += ["if flock -n 9 && [ ! -s /tmp/.rolf-services ]; then", "    echo started >&9"]
    for each in services:
        argv = " ".join(shlex.quote(word) for word in each.argv)
        lines.append(f"    (cd {shlex.quote(each.cwd)} && exec setsid {argv} < /dev/null > /dev/null 2>&1 9>&-) &")
    lines.append("fi")
    for each in services:
        if each.ready_port is not None:
            lines.append(f"(: < /dev/tcp/127.0.0.1/{each.ready_port}) 2> /dev/null || exit 1")
        if each.ready_path is not None:
            lines.append(f"[ -e {shlex.quote(each.ready_path)} ] || exit 1")
    return "\n".join(lines) + "\nexit 0\n"
