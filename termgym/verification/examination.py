"""Examination: one run of a task's verifier on what the agent left, from the request to the verdict."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from termgym.errors import VerifierError
from termgym.image.image import Image
from termgym.snapshot.change import Change
from termgym.tasks.verifier import LOGS, Verifier
from termgym.verification.guard import Guarded, guard
from termgym.verification.imagetree import ImageTree
from termgym.verification.offline.shown.requirements import UNSERVED, VERSIONS
from termgym.verification.offline.toolbox import names, toolbox
from termgym.verification.report import read_report
from termgym.verification.request import COLLECTED, TOOLS, Verification, Verified
from termgym.verification.scene import Scene, image_path, search_path
from termgym.verification.verdict import Verdict, read_verdict

_SHOWN = 4096
"""Characters of a verifier's output that ``info`` keeps: its end, where verdicts are explained."""
_NAMED = 100
"""Paths that ``info`` names at most."""
_TEXT = 1 << 20
"""Largest file of a verifier's that is searched for names [bytes]; larger ones are data."""


_KILLED = range(128 + 1, 128 + 65)
"""Exit statuses that tell of a signal. A program of the agent's that the tests start may write a reward and then end
them; every other exit status is the verifier's own affair, and ignored."""


class Verifying(Protocol):
    """What an examination needs of a sandbox."""

    def read_file(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """See ``Inspector.read_file``."""

    def verify(self, verification: Verification) -> Verified:
        """See ``Sandbox.verify``."""


class Examined(NamedTuple):
    """What an examination came to."""

    verdict: Verdict
    told: Mapping[str, Any]
    """For ``info["verifier"]``."""


def examine(
    sandbox: Verifying,
    verifier: Verifier,
    image: Image,
    instruction: str,
    changes: Sequence[Change],
    *,
    network: bool,
) -> Examined:
    """Return the verdict on what the agent left. Every process of the agent's is dead.

    Args:
        sandbox: Where the files lie.
        verifier: Who judges.
        image: What the files were at first.
        instruction: What the agent was asked; what it names is the agent's to change.
        changes: What differs from the image now.
        network: Whether the verifier has any; else it is lent tools.

    Raises:
        VerifierError: there is no verdict; ``told`` says what is known.
        SandboxError: the machine failed.
    """
    tests = _text_of(verifier.directory)
    tree = ImageTree(image.layers)
    guarded = Guarded((), ())
    if verifier.guard:
        home = _home(tree, verifier.user)
        path = search_path({**image.env, **verifier.env}, home)
        lent = frozenset[str]() if network else names()
        scene = Scene(tree, sandbox.read_file, path, home, image.workdir, instruction, tests, lent)
        guarded = guard(changes, scene)
    junit = f"{secrets.token_hex(16)}.xml" if verifier.format == "pytest" else ""
    env = _environment(verifier, image, tree, junit, lent=not network)
    done = sandbox.verify(_request(verifier, env, guarded, junit, lent=not network))
    output = done.output.decode("utf-8", "replace")
    told = _told(done, output, guarded, junit)
    try:
        verdict = _verdict(verifier, done, output, tests, junit)
    except VerifierError as error:
        error.told = told
        raise
    return Examined(verdict, {"reward": verdict.reward, "rewards": dict(verdict.rewards), **told})


def _request(verifier: Verifier, env: Mapping[str, str], guarded: Guarded, junit: str, *, lent: bool) -> Verification:
    return Verification(
        tests=verifier.directory,
        command=verifier.command,
        timeout=verifier.timeout,
        env=env,
        user=verifier.user,
        put_back=guarded.put_back,
        hidden=guarded.hidden,
        tools=toolbox() if lent else "",
        collect=(*COLLECTED, UNSERVED, VERSIONS, *([junit] if junit else [])),
    )


def _environment(verifier: Verifier, image: Image, tree: ImageTree, junit: str, *, lent: bool) -> dict[str, str]:
    env = dict(verifier.env)
    if junit:
        report = f"--junitxml={LOGS}/verifier/{junit}"
        env["PYTEST_ADDOPTS"] = f"{env.get('PYTEST_ADDOPTS', '')} {report}".strip()
    if lent:
        path = image_path({**image.env, **env})
        own = [f"{TOOLS}/bin"]
        if any("python3" in tree.names(each) for each in path):
            own.append(f"{TOOLS}/python")
        env["PATH"] = ":".join([*own, *path])
    return env


def _verdict(verifier: Verifier, done: Verified, output: str, tests: str, junit: str) -> Verdict:
    if done.refused:
        raise VerifierError(f"the verifier did not run to its end: {done.refused}")
    if done.timed_out:
        raise VerifierError(f"the verifier ran past its time-out of {verifier.timeout:g} s and was ended")
    if done.exit_code in _KILLED:
        raise VerifierError(
            f"a signal ended the verifier (exit status {done.exit_code}), so what it had written is not its last word"
        )
    if UNSERVED in done.files:
        asked = "; ".join(done.files[UNSERVED].decode("utf-8", "replace").split("\n")[:5]).strip("; ")
        raise VerifierError(
            f"the verifier wanted something from the network, and there is none: {asked}. Put it into the image, or "
            "allow network=True"
        )
    if junit:
        return read_report(done.files.get(junit), output)
    return read_verdict(done.files, done.odd, frozenset(name for name in COLLECTED if name in tests))


def _told(done: Verified, output: str, guarded: Guarded, junit: str) -> dict[str, Any]:
    lines = [line for line in output.splitlines() if not junit or junit not in line]  # that name is never the same
    listed = guarded.told
    more = (f"… and {len(listed) - _NAMED} more",) if len(listed) > _NAMED else ()
    return {
        "exit_code": done.exit_code,
        "timed_out": done.timed_out,
        "output": "\n".join(lines)[-_SHOWN:],
        "put_back": (*listed[:_NAMED], *more),
        "versions": tuple(sorted({*done.files.get(VERSIONS, b"").decode("utf-8", "replace").splitlines()})),
    }


def _text_of(directory: str) -> str:
    """Return all text of a verifier's files; what it names is expected to be there."""
    found: list[str] = []
    for place, _, files in os.walk(directory):
        for name in sorted(files):
            path = os.path.join(place, name)
            if os.path.isfile(path) and os.path.getsize(path) <= _TEXT:
                with open(path, "rb") as file:
                    found.append(file.read().decode("utf-8", "replace"))
    return "\n".join(found)


def _home(tree: ImageTree, user: str) -> str:
    """Return the home of whoever runs the verifier, as the image's passwd says."""
    wanted = user.partition(":")[0] or "0"
    for line in (tree.read("/etc/passwd") or b"").decode("utf-8", "replace").splitlines():
        entry = line.split(":")
        if len(entry) == 7 and wanted in (entry[0], entry[2]):
            return entry[5].rstrip("/") or "/"
    return "/root"
