"""What root of an image tries in order to be root of the machine. To files it is: by number it is the same user."""

from __future__ import annotations

import hashlib
import os
import platform
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from toy_images import host_image, imaged_task, tiny_layer

from termgym.image.image import Image
from termgym.sandbox import open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.session.session import Session
from termgym.tasks.task import Limits

ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can make devices and setuid files of another user")
INTEL = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls are those of x86-64")


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


def said(session: Session, command: str) -> str:
    result = session.step(command.encode(), timeout=60)
    return (result.stdout + result.stderr).decode("utf-8", "replace").strip()


ATTEMPTS = r"""
import ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)

def attempt(name, act):
    ctypes.set_errno(0)
    try:
        act()
    except OSError as error:
        print(name, "refused")
    else:
        print(name, "WORKED")

def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def call(number, *arguments):
    return checked(libc.syscall(ctypes.c_long(number), *arguments))

def write(path, text):
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, text)

def read(path):
    if not os.read(os.open(path, os.O_RDONLY), 1):
        raise OSError("nothing is in it")

def mount(source, target, kind, flags):
    checked(libc.mount(source, target, kind, ctypes.c_ulong(flags), None))

def capabilities(effective, inheritable):
    header, high = struct.pack("=Ii", 0x20080522, 0), inheritable >> 32
    call(126, header, struct.pack("=6I", effective, effective, inheritable & 0xFFFFFFFF, 0, 0, high))

# the kernel's knobs
for path in ("sys/kernel/core_pattern", "sys/kernel/hostname", "sys/vm/drop_caches", "sys/fs/file-max", "mtrr",
             "sysrq-trigger", "irq/default_smp_affinity", "timer_list", "kcore", "kmsg"):
    attempt(path, lambda: os.open("/proc/" + path, os.O_WRONLY))
for path in ("kmsg", "kcore", "kpageflags"):
    attempt(path + " read", lambda: read("/proc/" + path))
# mounts and namespaces
attempt("mount", lambda: mount(b"x", b"/mnt", b"tmpfs", 0))
attempt("bind", lambda: mount(b"/", b"/mnt", None, 4096))
attempt("remount /", lambda: mount(None, b"/", None, 32))
attempt("remount /proc/sys", lambda: mount(None, b"/proc/sys", None, 32 | 4096))
attempt("remount /dev", lambda: mount(None, b"/dev", None, 32 | 4096))
attempt("umount", lambda: checked(libc.umount2(b"/proc/sys", 2)))
attempt("pivot_root", lambda: call(155, b"/tmp", b"/tmp"))
attempt("fsopen", lambda: call(430, b"tmpfs", 0))
attempt("open_tree", lambda: call(428, -100, b"/", 1))
for kind in (0x20000, 0x10000000, 0x20000000, 0x40000000, 0x2000000, 0x4000000, 0x8000000, 0x80):
    attempt(f"unshare {kind:x}", lambda: checked(libc.unshare(kind)))
attempt("clone", lambda: call(56, 0x10000000 | 17, 0, 0, 0, 0))
attempt("setns", lambda: checked(libc.setns(os.open("/proc/1/ns/mnt", 0), 0)))
# devices and what is on them
for name, kind, number in (("mem", 0o020666, (1, 1)), ("null", 0o020666, (1, 3)), ("disk", 0o060666, (254, 0)),
                           ("whiteout", 0o020666, (0, 0))):
    attempt("mknod " + name, lambda: os.mknod("/tmp/" + name, kind, os.makedev(*number)))
attempt("chmod /dev/null", lambda: os.chmod("/dev/null", 0o666))
attempt("chown /dev/null", lambda: os.chown("/dev/null", 0, 0))
attempt("unlink /dev/null", lambda: os.unlink("/dev/null"))
attempt("chmod /sys", lambda: os.chmod("/sys", 0o777))
attempt("chmod a mask", lambda: os.chmod("/proc/uptime", 0o777))
attempt("rename /dev", lambda: os.rename("/dev", "/dev2"))
attempt("rename /proc", lambda: os.rename("/proc", "/proc2"))
attempt("quota", lambda: call(179, 0x800002 << 8, b"/", 0, 0))
attempt("open by handle", lambda: call(304, -100, struct.pack("Ii", 8, 1) + bytes(128), 0))
# the host's files behind bubblewrap
attempt("write pid 1's program", lambda: os.open("/proc/1/exe", os.O_WRONLY))
attempt("chmod pid 1's program", lambda: os.chmod("/proc/1/exe", 0o755))
attempt("a mapped file", lambda: os.chmod("/proc/1/map_files/" + os.listdir("/proc/1/map_files")[0], 0o777))
for descriptor in os.listdir("/proc/1/fd"):
    attempt("a directory of pid 1", lambda: os.listdir("/proc/1/fd/" + descriptor))
# marks of overlayfs, and privileges in files
attempt("overlay mark", lambda: os.setxattr("/tmp", "trusted.overlay.redirect", b"/root"))
every = struct.pack("<5I", 0x02000001, 2**32 - 1, 0, 2**32 - 1, 0)
attempt("file capability", lambda: os.setxattr("/tmp/attempts.py", "security.capability", every))
# the kernel itself
attempt("module", lambda: call(175, b"", 0, b""))
attempt("kexec", lambda: call(246, 0, 0, 0, 0))
attempt("reboot", lambda: call(169, 0xFEE1DEAD, 672274793, 0x89ABCDEF, 0))
attempt("clock", lambda: __import__("time").clock_settime(0, 1))
attempt("swap", lambda: call(167, b"/tmp/x", 0))
attempt("accounting", lambda: call(163, b"/tmp/x"))
attempt("ports", lambda: call(172, 3))
attempt("bpf", lambda: call(321, 0, 0, 0))
attempt("perf", lambda: call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0))
attempt("keyring", lambda: call(250, 0, -4, 1))
attempt("io_uring", lambda: call(425, 4, ctypes.create_string_buffer(120)))
attempt("kernel's log", lambda: call(103, 3, ctypes.create_string_buffer(10), 10))
attempt("raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("packet socket", lambda: socket.socket(17, socket.SOCK_RAW, 0))
attempt("hostname", lambda: socket.sethostname("x"))
attempt("hang up", lambda: call(153))
# more than was given
attempt("capabilities", lambda: capabilities(2**32 - 1, 0))
attempt("inherited capabilities", lambda: capabilities(0x405FB, 2**41 - 1))
attempt("limit", lambda: call(302, 0, 7, struct.pack("QQ", 1 << 20, 1 << 20), 0))
attempt("priority", lambda: os.nice(-5))
attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt("spared by the memory limit", lambda: write("/proc/self/oom_score_adj", b"-1000"))
attempt("a process outside", lambda: [os.kill(pid, 0) for pid in range(2, 40000) if not os.path.exists(f"/proc/{pid}")])
"""


@INTEL
def test_nothing_that_root_tries_leads_out(sandbox: LocalSandbox, tmp_path: Path) -> None:
    null, bwrap = os.stat("/dev/null"), os.stat("/usr/bin/bwrap")
    session = sandbox.start(imaged_task(), image=host_image())
    said(session, f"cat > /tmp/attempts.py <<'END'\n{ATTEMPTS}\nEND")
    lines = said(session, "python3 /tmp/attempts.py").splitlines()
    worked = [line for line in lines if not line.endswith(" refused")]
    assert worked == []
    assert len(lines) > 70, "the list was cut short"
    assert (os.stat("/dev/null").st_ctime_ns, os.stat("/usr/bin/bwrap").st_ctime_ns) == (
        null.st_ctime_ns,
        bwrap.st_ctime_ns,
    )


def test_powers_are_dockers_and_none_comes_back(sandbox: LocalSandbox) -> None:
    session = sandbox.start(imaged_task(), image=host_image())
    # In a user namespace with one user there is nobody whom su could become.
    by_su = [] if os.getuid() else ["su root -c 'cat /proc/self/status'"]
    for command in ("cat /proc/self/status", *by_su):
        fields = dict(line.split(":\t", 1) for line in said(session, command).splitlines() if ":\t" in line)
        assert fields["CapPrm"] == fields["CapEff"] == "00000000000405fb"
        assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
    if by_su:
        other = said(session, "su nobody -s /bin/bash -c 'cat /proc/self/status'")
        assert "CapEff:\t0000000000000000" in other.splitlines()
    assert "CapPrm:\t0000000000000000" in said(session, "cat /proc/1/status").splitlines()


def test_chroot_leads_nowhere(sandbox: LocalSandbox) -> None:
    """CAP_SYS_CHROOT stays, as in docker; the old trick out of a chroot ends at the sandbox's own root."""
    session = sandbox.start(imaged_task(), image=host_image())
    code = (
        "import os; os.mkdir('/c'); d = os.open('/', 0); os.chroot('/c'); os.fchdir(d); "
        "[os.chdir('..') for _ in range(64)]; os.chroot('.'); print(sorted(os.listdir('/')))"
    )
    assert said(session, f'python3 -c "{code}"') == str(sorted(said(session, "ls -A /").split()))


def test_layers_are_never_written_to(sandbox: LocalSandbox, tmp_path: Path) -> None:
    layer = tiny_layer(tmp_path / "layer")
    (layer / "srv/victim").write_text("untouched")
    (layer / "srv/victim").chmod(0o666)
    before = _facts(layer)
    session = sandbox.start(imaged_task(), image=Image("writes", (str(layer),)))
    for command in (
        "ln /srv/victim /tmp/link; echo x >> /tmp/link; echo x > /srv/victim; touch /srv/victim; chmod 777 /srv/victim",
        "exec 5<>/bin/cat; echo x >&5; rm /bin/touch; mv /srv /srv2; ln /bin/ls /l; echo x > /l; rm -rf /etc",
        "chown 1:1 /bin/id; mkdir /bin/id2; mv /bin/mv /bin/id2; ln -sf /etc/passwd /bin/stat",
    ):
        said(session, command)
    assert len(sandbox.diff()) > 10
    assert _facts(layer) == before


def test_own_system_is_never_written_to(sandbox: LocalSandbox) -> None:
    """The lowest layer is this machine's /usr."""
    victims = ("/usr/bin/env", "/usr/bin/bash", "/usr/share/doc")
    before = [_fact(Path(victim)) for victim in victims]
    session = sandbox.start(imaged_task(), image=host_image())
    code = (
        "import os; d = os.open('/usr/share/doc', os.O_TMPFILE | os.O_RDWR); os.write(d, b'x');"
        "os.link(f'/proc/self/fd/{d}', '/usr/share/doc/rolf', src_dir_fd=d, follow_symlinks=True)"
    )
    said(
        session, f'python3 -c "{code}"; cp /usr/bin/true /usr/bin/env; chmod 4777 /usr/bin/bash; echo >> /usr/bin/bash'
    )
    changed = {change.path for change in sandbox.diff()}
    assert {"/usr/bin/env", "/usr/share/doc/rolf"} <= changed
    assert [_fact(Path(victim)) for victim in victims] == before


def _facts(tree: Path) -> dict[str, tuple[object, ...]]:
    return {str(path): _fact(path) for path in tree.rglob("*")}


def _fact(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
    return status.st_mode, status.st_uid, status.st_nlink, status.st_mtime_ns, status.st_ctime_ns, content


@ROOT
def test_devices_and_setuid_programs_of_a_layer_are_dead(sandbox: LocalSandbox, tmp_path: Path) -> None:
    layer = tiny_layer(tmp_path / "layer")
    os.mknod(layer / "srv/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    (layer / "bin/id").chmod(0o4755)
    image = Image("devices", (str(layer),), user="ann", workdir="/home/ann")
    session = sandbox.start(imaged_task(), image=image)
    assert "Permission denied" in said(session, "echo > /srv/null")
    assert said(session, "id -u") == "1001"
    session = sandbox.start(imaged_task(), image=replace(image, user=""))
    assert "Permission denied" in said(session, "echo > /srv/null")


def test_nothing_of_the_machine_is_to_be_seen(sandbox: LocalSandbox) -> None:
    session = sandbox.start(imaged_task(), image=host_image())
    seen = said(session, "cat /proc/mounts /proc/self/mountinfo; ls -l /proc/*/fd /proc/*/cwd /proc/*/root; env; ls /")
    for secret in (str(Path.home() / ".cache"), os.getcwd(), "images/1/layers"):
        assert secret not in seen
    assert said(session, "ls -A /sys /mnt /home /srv /opt") == "/home:\n\n/mnt:\n\n/opt:\n\n/srv:\n\n/sys:"


@pytest.mark.skipif(os.getuid() != 0, reason="an ordinary user's processes are bounded by RLIMIT_NPROC")
def test_fork_bomb_of_root_ends_at_its_group(sandbox: LocalSandbox) -> None:
    session = sandbox.start(imaged_task(limits=Limits(processes=40)), image=host_image())
    group = sandbox._facts["cgroup"]["directories"]["pids"]
    assert Path(group, "pids.max").read_text().strip() == "40"  # verified before the bomb is lit
    session.step(b"bomb() { bomb | bomb & }; bomb", timeout=3)
    assert len(sandbox.processes()) <= 40
    session = sandbox.start(imaged_task(limits=Limits(processes=40)), image=host_image())
    assert said(session, "echo alive") == "alive"
