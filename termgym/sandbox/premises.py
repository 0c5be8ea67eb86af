"""Premises: what all sandboxes of one supervisor share, and what this host does not give them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from termgym.errors import SandboxUnavailable
from termgym.sandbox import apart, bubblewrap, callfilter, cgroups, limits, stillness, syscalls
from termgym.sandbox.environment import AGENT_GID, AGENT_UID
from termgym.sandbox.host_view import make_etc, make_proc_files
from termgym.sandbox.isolation import can_become_agent, isolate
from termgym.sandbox.masks import make_masks
from termgym.sandbox.rootfs import make_root, show_closed
from termgym.sandbox.settings import Settings
from termgym.sandbox.strays import clear_strays
from termgym.snapshot import owners
from termgym.snapshot import probe as probe_snapshots

_MOUNT_POINTS = ("/mnt", "/media", "/srv", "/opt")
"""Where the private tmpfs goes: any directory that exists everywhere; only this process sees the mount."""


class Premises:
    """Where a supervisor works. Making it moves this process into namespaces of its own and tries what works.

    Raises:
        SandboxUnavailable: this host cannot do it; the message says what is missing.
    """

    def __init__(self, *, isolated: bool) -> None:
        self._temporary: Path | None = None
        self.isolation = isolate() if isolated else "none"
        """``root``, ``userns`` or ``none``."""
        self.real_root = self.isolation != "userns" and can_become_agent()
        if not self.real_root:
            owners.show(os.getuid(), os.getgid(), as_uid=AGENT_UID, as_gid=AGENT_GID)
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        self.enforcement = limits.probe()
        self._filter, self._no_filter = callfilter.probe()
        self._apart, self._no_apart = apart.make(real_root=self.real_root) if isolated else (None, None)
        self._no_stillness = stillness.probe()
        self._random_addresses = syscalls.disable_address_randomisation()
        clear_strays()
        cgroups.remove_orphans(cgroups.parents(self.enforcement.usable))
        self.root = self._storage()
        """Where all files of the sandboxes lie."""
        self._shown = self.root / "root"
        self._bwrap = self.root / "bwrap"
        self._proc_files: list[tuple[str, str]] = []
        self._masks: list[tuple[str, str]] = []
        if isolated:
            self._furnish()

    def _storage(self) -> Path:
        if self.isolation == "none":
            try:
                self._temporary = Path(tempfile.mkdtemp(prefix=cgroups.group_name("files-")))
            except OSError as error:
                raise SandboxUnavailable(
                    f"no folder for the files ({error}); let TMPDIR name a writable one"
                ) from error
            self._temporary.chmod(0o755)
            return self._temporary
        for point in _MOUNT_POINTS:
            if os.path.isdir(point):
                syscalls.mount("rolf", point, "tmpfs", 0, "mode=755,size=80%")
                return Path(point)
        raise SandboxUnavailable(f"none of {', '.join(_MOUNT_POINTS)} exists to mount the working storage on")

    def _furnish(self) -> None:
        """Put together what sandboxes see, and build one once."""
        make_etc(self.root / "etc")
        make_root(self._shown, self.root / "etc", real_root=self.real_root)
        self._proc_files = make_proc_files(self.root / "proc")
        bubblewrap.rehearse(self.root / "rehearsal", self._shown, self._proc_files, real_root=self.real_root)
        self._masks = make_masks(self.root / "masks")
        show_closed(Path(bubblewrap.executable() or "bwrap"), self._bwrap)

    def settings(self, snapshot: str | None, log_dir: str | None, *, network: bool) -> Settings:
        """Return the settings of a new machine.

        Args:
            snapshot: backend by name; None: the fastest that works here.
            log_dir: where the rsync snapshot keeps its logs.
            network: share the host's.
        """
        return Settings(
            self.isolation,
            self.real_root,
            self._shown,
            self._proc_files,
            self.enforcement,
            snapshot,
            None if log_dir is None else Path(log_dir),
            network,
            self._filter,
            self._apart,
            self._no_stillness is None,
            self._masks,
            self._bwrap,
        )

    def missing(self) -> dict[str, str]:
        """Return what this host does not give, and why."""
        found = {
            **{f"limit {name}": why for name, why in self.enforcement.missing.items()},
            "call filter": self._no_filter,
            "checks out of reach": self._no_apart,
            "checks amid stillness": self._no_stillness,
            "fixed addresses": self._random_addresses,
            **{f"snapshot {name}": why for name, why in probe_snapshots(self.root).items()},
        }
        return {name: why for name, why in found.items() if why}

    def traces(self) -> dict[str, Any]:
        """Return what would stay behind if this process were killed, for the owner to clean up."""
        return {
            "groups": [str(parent) for parent in cgroups.parents(self.enforcement.usable)],
            "prefix": cgroups.group_name(""),
            "folder": None if self._temporary is None else str(self._temporary),
        }

    def leave(self) -> None:
        """Remove what the end of this process does not take away by itself."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary)
