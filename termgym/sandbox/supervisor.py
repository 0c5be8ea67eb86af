"""The supervisor: a helper process that holds the mounts and starts the sandboxes.

It lives in a mount namespace of its own (for an ordinary user: in a user namespace where it is root), keeps all
trees on a tmpfs there, and ends when its owner does. The kernel then takes the namespace, its mounts and the tmpfs
away, so nothing is left behind even after ``kill -9``. Only the standard library is imported here.
"""

from __future__ import annotations

import base64
import contextlib
import os
import select
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from termgym.errors import SandboxError, TermGymError
from termgym.sandbox import limits
from termgym.sandbox.death import collect
from termgym.sandbox.footing import make_room_for_descriptors, stand_alone
from termgym.sandbox.machine import Machine
from termgym.sandbox.pair import Pair, Started
from termgym.sandbox.premises import Premises
from termgym.sandbox.processes import children
from termgym.sandbox.pulse import OwnerGone, Pulse, limit_the_end
from termgym.sandbox.standing import Standings
from termgym.sandbox.wire import Wire
from termgym.sandbox.worlds import AGENT_OWNER, SETUP_BUDGET, Worlds
from termgym.snapshot import Snapshot


class Supervisor:
    """Serves one owner process, one request at a time."""

    def __init__(self, wire: Wire, *, isolated: bool) -> None:
        self._wire = wire
        self._pairs: dict[str, Pair] = {}
        self._premises = premises = Premises(isolated=isolated)
        self._standings = Standings(
            premises.root / "images",
            real_root=premises.real_root,
            redirects=premises.isolation == "root",
            no_fence=premises.enforcement.missing.get("processes") if premises.isolation == "root" else None,
        )
        self._worlds = Worlds(premises.root / "worlds", AGENT_OWNER if premises.real_root else None)

    def traces(self) -> dict[str, Any]:
        """Return what would stay behind if this process were killed, for the owner to clean up."""
        return self._premises.traces()

    # ---- requests

    def hello(self, _: dict[str, Any]) -> dict[str, Any]:
        """Return what this host provides."""
        premises = self._premises
        return {
            "pid": os.getpid(),
            "isolation": premises.isolation,
            "limits": premises.enforcement.sources,
            "missing": premises.missing(),
        }

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make a machine."""
        name, network = request["machine"], request["network"]
        premises = self._premises
        settings = premises.settings(request["snapshot"], request["log_dir"], network=network)

        def make(suffix: str) -> Machine:
            return Machine(premises.root / f"m{name}{suffix}", f"{name}{suffix}", settings)

        # Programs on the host's network must be gone before the next ones start, or their ports are taken.
        self._pairs[name] = Pair(make, may_spare=premises.isolation != "none" and not network)
        return {}

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put an initial state in place; build it if it is new (``need``: the recipe was not sent)."""
        pair = self._pairs[request["machine"]]
        if request.get("image") is not None:
            return self._start_on_image(pair, request)
        base = self._worlds.get(request["key"])
        if base is None and "recipe" not in request:
            return {"need": "recipe"}
        self._collect_orphans()
        if base is None:
            base = self._build(pair, request)
        started = pair.start(base, request)
        self._worlds.trim(self._bases())
        return self._serve_shell(pair.machine, started, request["services"])

    def _start_on_image(self, pair: Pair, request: dict[str, Any]) -> dict[str, Any]:
        self._collect_orphans()
        standing = self._standings.get(request["image"], network=request["network"])
        started = pair.start(standing.base, {**request, "standing": standing})
        self._standings.trim(self._bases())
        facts = self._serve_shell(pair.machine, started, request["services"])
        return {**facts, "missing": {**facts["missing"], **standing.missing}}

    def _bases(self) -> set[Path]:
        """Return the trees that sandboxes stand on."""
        return {m.snapshot.base for pair in self._pairs.values() for m in pair.machines if m.snapshot is not None}

    def _build(self, pair: Pair, request: dict[str, Any]) -> Path:
        """Build an initial state under limits and in a control group of its own.

        What the setup writes stays charged to the group that wrote it; in the sandbox's it would count as the agent's.
        """
        pair.machine.kill()
        builder = pair.make_builder()
        try:
            builder.limit(limits.Budget(**request["budget"]).at_least(SETUP_BUDGET))
            return self._worlds.build(request["key"], request["recipe"], builder.launch)
        finally:
            builder.close()

    def _collect_orphans(self) -> None:
        """Take the exit statuses of processes that this one adopted, or they stay as zombies."""
        awaited = set().union(*(machine.awaited for pair in self._pairs.values() for machine in pair.machines))
        for pid in children(os.getpid()):
            if pid not in awaited:
                collect(pid)

    def respawn(self, request: dict[str, Any]) -> dict[str, Any]:
        """Start a new shell on the files as they are."""
        machine = self._machine(request)
        machine.kill()
        return self._serve_shell(machine, Started(*machine.start_shell()), [])

    def restore(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put saved files back and start a new shell."""
        machine = self._machine(request)
        machine.kill()
        self._tree(request).load(request["token"])
        return self._serve_shell(machine, Started(*machine.start_shell()), [])

    def _serve_shell(self, machine: Machine, started: Started, services: Sequence[dict[str, Any]]) -> dict[str, Any]:
        fds, facts = started
        try:
            for service in services:
                machine.start_service(service)
        except BaseException:
            _close(fds)
            raise
        assert machine.snapshot is not None
        return {**facts, "snapshot": machine.snapshot.name, "live": str(machine.snapshot.live), "fds": fds}

    def wait(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the shell's exit status if it ends in time."""
        return {"status": self._machine(request).wait(request["timeout"])}

    def kill(self, request: dict[str, Any]) -> dict[str, Any]:
        """Kill every process of a machine."""
        self._machine(request).kill()
        return {}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run one program beside the shell."""
        done = self._machine(request).run(request, base64.b64decode(request["stdin"]))
        return {
            "exit_code": done.exit_code,
            "stdout": base64.b64encode(done.stdout).decode(),
            "stderr": base64.b64encode(done.stderr).decode(),
            "timed_out": done.timed_out,
            "refused": done.refused,
        }

    def copy_in(self, request: dict[str, Any]) -> dict[str, Any]:
        """Copy a directory of the host's into the tree."""
        self._machine(request).hand_in(request)
        return {}

    def verify(self, request: dict[str, Any]) -> dict[str, Any]:
        """Start a verifier on what the agent left; its owner waits for it and then asks for ``verified``."""
        self._collect_orphans()
        return {"fds": self._machine(request).begin_verification(request)}

    def verified(self, request: dict[str, Any]) -> dict[str, Any]:
        """End a verification, and return what it came to."""
        return self._machine(request).end_verification()

    def diff(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the changes since the initial state."""
        return {"changes": [list(change) for change in self._tree(request).diff()]}

    def digest(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the digest of the tree."""
        return {"digest": self._tree(request).digest()}

    def save(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep the files as they are."""
        token = self._tree(request).save()
        self._pairs[request["machine"]].tokens.add(token)
        return {"token": token}

    def forget(self, request: dict[str, Any]) -> dict[str, Any]:
        """Free what ``save`` kept."""
        self._tree(request).forget(request["token"])
        self._pairs[request["machine"]].tokens.discard(request["token"])
        return {}

    def close_machine(self, request: dict[str, Any]) -> dict[str, Any]:
        """Remove a machine."""
        pair = self._pairs.pop(request["machine"], None)  # its opening may have been interrupted
        if pair is not None:
            pair.close()
        return {}

    def _machine(self, request: dict[str, Any]) -> Machine:
        return self._pairs[request["machine"]].machine

    def _tree(self, request: dict[str, Any]) -> Snapshot:
        machine = self._machine(request)
        if machine.snapshot is None:
            raise SandboxError("this sandbox has no files yet; start it first")
        return machine.snapshot

    # ---- the loop

    def serve(self, pulse: Pulse) -> None:
        """Answer requests until the owner is gone.

        Raises:
            OwnerGone: it went while something was being done for it.
        """
        poll = select.poll()
        poll.register(self._wire.fileno(), select.POLLIN)
        poll.register(pulse.owner, select.POLLIN)
        while True:
            chores = [pair for pair in self._pairs.values() if pair.urgency]
            ready = {fd for fd, _ in poll.poll(0 if chores else None)}
            if pulse.owner in ready:
                return
            with pulse.felt():
                if not ready:
                    max(chores, key=lambda pair: pair.urgency).do_chore()
                    continue
                try:
                    request, _ = self._wire.receive()
                    self._answer(request)
                except (EOFError, ConnectionError):
                    return

    def _answer(self, request: dict[str, Any]) -> None:
        fds: list[int] = []
        try:
            reply = getattr(self, request["do"])(request)
            fds = reply.pop("fds", [])
        except Exception as error:  # noqa: BLE001 - for its owner; the other sandboxes are not to end for it
            reply = _fault(error)
        try:
            self._wire.send(reply, fds)
        finally:
            _close(fds)

    def close(self) -> None:
        """Leave nothing behind, even if one of the machines cannot be closed."""
        with contextlib.ExitStack() as last:
            last.callback(self._premises.leave)
            for pair in self._pairs.values():
                last.callback(pair.close)


def _fault(error: Exception) -> dict[str, Any]:
    """Return an error as the owner raises it again; one that nobody foresaw says which call it came from."""
    if isinstance(error, TermGymError):
        return {"error": type(error).__name__, "message": str(error)}
    where = traceback.extract_tb(error.__traceback__)[-1]
    what = str(error) if isinstance(error, OSError) else repr(error)
    return {"error": "SandboxError", "message": f"{what} (in {where.name}, {Path(where.filename).name}:{where.lineno})"}


def _close(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)


def main(fd: int, mode: str, owner_pid: int) -> None:
    """Serve ``owner_pid`` on the socket ``fd``; ``mode`` is ``isolated`` or ``unsafe``."""
    wire = Wire(stand_alone(fd))
    try:
        make_room_for_descriptors()
        pulse = Pulse(owner_pid)
        with pulse.felt():
            supervisor = Supervisor(wire, isolated=mode == "isolated")
    except (ProcessLookupError, OwnerGone):
        return
    except (TermGymError, OSError) as error:
        with contextlib.suppress(ConnectionError):
            wire.send(_fault(error))
        sys.exit(1)
    try:
        with contextlib.suppress(ConnectionError):  # the owner is gone already
            wire.send(supervisor.traces())
        with contextlib.suppress(OwnerGone):
            supervisor.serve(pulse)
    finally:
        limit_the_end()
        supervisor.close()
