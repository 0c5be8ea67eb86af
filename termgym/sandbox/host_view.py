"""What the agent sees of the host: an /etc of its own and fixed figures in /proc, made once a supervisor.

Host files come in by an allow-list, so a secret that nobody thought of stays out.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from termgym.sandbox.environment import AGENT_GID, AGENT_NAME, AGENT_UID, EPOCH, HOSTNAME

_FROM_HOST = (
    "alternatives", "bash.bashrc", "ca-certificates", "debian_version", "gai.conf", "inputrc", "ld.so.cache",
    "ld.so.conf", "ld.so.conf.d", "localtime", "lsb-release", "magic", "mailcap", "mime.types", "nanorc", "netconfig",
    "networks", "os-release", "perl", "profile", "protocols", "python3", "python3.11", "python3.12", "python3.13",
    "rpc", "screenrc", "services", "shells", "skel", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "vim",
    "zsh", "java-17-openjdk", "java-21-openjdk", "fonts",
)  # fmt: skip

_OWN = {
    "passwd": f"root:x:0:0:root:/root:/bin/bash\n"
    f"{AGENT_NAME}:x:{AGENT_UID}:{AGENT_GID}:{AGENT_NAME}:/home/{AGENT_NAME}:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": f"root:x:0:\ntty:x:5:\n{AGENT_NAME}:x:{AGENT_GID}:\nnogroup:x:65534:\n",
    "hostname": f"{HOSTNAME}\n",
    "hosts": f"127.0.0.1 localhost\n127.0.1.1 {HOSTNAME}\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    "resolv.conf": "",
    "machine-id": "0" * 31 + "1\n",
}

_FIXED_PROC = {
    "uptime": "100000.00 100000.00\n",
    "loadavg": "0.00 0.00 0.00 1/100 100\n",
    "meminfo": "MemTotal:        8388608 kB\nMemFree:         4194304 kB\nMemAvailable:    6291456 kB\n"
    "Buffers:          131072 kB\nCached:          1048576 kB\nSwapCached:            0 kB\n"
    "SwapTotal:             0 kB\nSwapFree:              0 kB\nShmem:             65536 kB\n"
    "SReclaimable:     131072 kB\n",
    # The keys of a user of the host, who happens to have the agent's number.
    "keys": "",
    "key-users": "",
    "sys/kernel/random/boot_id": "00000000-0000-4000-8000-000000000001\n",
}


def make_etc(target: Path) -> None:
    """Fill ``target`` with the sandbox's /etc."""
    target.mkdir()
    for name in _FROM_HOST:
        source = Path("/etc", name)
        if not os.path.lexists(source):
            continue
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink() or not source.is_dir():
            _copy(str(source), str(copy))
        else:
            shutil.copytree(source, copy, symlinks=True, copy_function=_copy)
    for name, text in _OWN.items():
        (target / name).write_text(text)
        os.utime(target / name, (EPOCH, EPOCH))
    os.utime(target, (EPOCH, EPOCH))


def _copy(source: str, target: str) -> None:
    """Copy one entry; what this user may not read, the agent may not either, so it is left out."""
    try:
        shutil.copy2(source, target, follow_symlinks=False)
    except PermissionError:
        return


def make_proc_files(target: Path) -> list[tuple[str, str]]:
    """Write the fixed /proc files into ``target``; return (file, path in the sandbox) pairs."""
    target.mkdir()
    pairs = []
    for index, (name, text) in enumerate(_FIXED_PROC.items()):
        file = target / str(index)
        file.write_text(text)
        file.chmod(0o444)
        if Path("/proc", name).exists():
            pairs.append((str(file), f"/proc/{name}"))
    return pairs
