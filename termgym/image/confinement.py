"""The command line that a build's program runs under: its own namespaces, and docker's capabilities less two.

The overlay is mounted in a mount namespace of this one program's, by the shell that then becomes bubblewrap: no mount
is ever seen outside, and none is left if the whole tree of processes is killed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from termgym.errors import ImageError
from termgym.image.people import Person
from termgym.sandbox.bubblewrap import executable

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "NET_BIND_SERVICE",
                "SYS_CHROOT", "AUDIT_WRITE", "SETFCAP")  # fmt: skip
"""Docker's default set, without MKNOD (no device group would keep a device harmless) and NET_RAW (a build with network
shares the host's)."""
GIVEN = "/dev/.rolf"
"""Where a program with network finds what it needs of the host's; /dev is not part of the image."""
NOT_MOUNTED = 125
"""Exit status of the script where overlayfs refused."""
_MASKED_FILES = ("kcore", "keys", "timer_list", "latency_stats", "sched_debug", "sysrq-trigger")
_MASKED_PLACES = ("acpi", "scsi", "asound")
_OPTIONS = {
    True: "redirect_dir=follow,index=off,metacopy=off",
    False: "userxattr",
}
_SCRIPT = r"""
cd "$1" || exit 125
lower=$2 options=$3 groups=$4 program=$5
shift 5
for group in $groups; do echo 0 > "$group/cgroup.procs" || exit 125; done
mount -t overlay -o "lowerdir=$lower,upperdir=upper,workdir=work,$options,volatile" overlay root || exit 125
if [ "$program" ]; then
    : > program && mount --bind "$program" program && mount -o remount,bind,ro program || exit 125
fi
exec "$@"
"""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a program of a build sees and may do."""

    room: Path
    """A scratch directory: ``upper`` in it becomes the new layer."""
    layers: Sequence[str]
    """Lowest first."""
    privileged: bool
    person: Person
    cwd: str
    env: Mapping[str, str]
    network: bool
    resolver: str = ""
    """Path in the image at which the host's resolv.conf is shown; empty: nowhere."""
    mounts: Sequence[str] = ()
    """Further words of bubblewrap's."""
    given: Path | None = None
    groups: Sequence[Path] = field(default_factory=tuple)
    filter_fd: int | None = None

    def command(self, argv: Sequence[str], switch: Sequence[str]) -> list[str]:
        """Return the whole command line; ``switch`` is what makes the program another user's.

        Raises:
            ImageError: bubblewrap is not installed.
        """
        lower = self._lay_out()
        apart = ["unshare", "--mount", "--propagation", "private"]
        if not self.privileged:
            apart[1:1] = ["--user", "--map-root-user"]
        script = ["sh", "-c", _SCRIPT, "sh", str(self.room), lower, _OPTIONS[self.privileged]]
        script.append(" ".join(str(group) for group in self.groups))
        program = executable()
        if program is None:
            raise ImageError("bubblewrap, which builds run in, is not there; install it (apt-get install bubblewrap)")
        # To root inside, /proc/1/exe is a way to bubblewrap that leads past all else: it must be read-only there.
        script += [program, "./program"] if self.privileged else ["", program]
        return [*apart, "--", "prlimit", "--core=0:0", "--", *script, *self._bubblewrap(), "--", *switch, *argv]

    def _lay_out(self) -> str:
        """Make the directories of the overlay; return its lower ones by short names, for the options are one page."""
        for name in ("upper", "work", "root"):
            (self.room / name).mkdir()
        (self.room / "upper").chmod(0o755)
        for number, layer in enumerate(self.layers):
            (self.room / f"l{number}").symlink_to(layer)
        return ":".join(f"l{number}" for number in reversed(range(len(self.layers))))

    def _bubblewrap(self) -> list[str]:
        argv = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if not self.network:
            argv.append("--unshare-net")
        argv += ["--hostname", "rolf", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        for name in CAPABILITIES:
            argv += ["--cap-add", f"CAP_{name}"]
        argv += ["--bind", "root", "/", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm", "--proc", "/proc"]
        # bubblewrap takes it for read-only and leaves it as it is: root may write there without any capability.
        argv += ["--ro-bind", "/proc/sys", "/proc/sys", "--tmpfs", "/sys", "--remount-ro", "/sys"]
        for name in _MASKED_FILES:
            if os.path.exists(f"/proc/{name}"):
                argv += ["--ro-bind", "/dev/null", f"/proc/{name}"]
        for name in _MASKED_PLACES:
            if os.path.isdir(f"/proc/{name}"):
                argv += ["--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
        if self.given is not None:
            argv += ["--ro-bind", str(self.given), GIVEN]
        if self.resolver:
            argv += ["--ro-bind", "/etc/resolv.conf", self.resolver]
        argv += [*self.mounts, "--clearenv"]
        for name, value in self.env.items():
            argv += ["--setenv", name, value]
        if self.filter_fd is not None:
            argv += ["--seccomp", str(self.filter_fd)]
        return [*argv, "--chdir", self.cwd]


def switching(person: Person, setpriv: str | None, *, may_switch: bool) -> list[str]:
    """Return the argv that makes a program a user's, by the image's own setpriv.

    Raises:
        LookupError: the image has none.
    """
    if (person.uid == 0 and person.gid == 0 and not person.groups) or not may_switch:
        return []
    if setpriv is None:
        raise LookupError("the image has no setpriv (util-linux), which it takes to become another user")
    groups = f"--groups={','.join(map(str, person.groups))}" if person.groups else "--clear-groups"
    return [setpriv, f"--reuid={person.uid}", f"--regid={person.gid}", groups, "--inh-caps=-all", "--"]
