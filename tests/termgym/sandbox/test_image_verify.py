"""A verifier on what the agent left: out of its reach, on its tree, and gone without a trace."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from toy_images import imaged_task, tiny_image

from termgym.errors import SandboxError, TaskError
from termgym.image.image import Image
from termgym.sandbox import open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.session.session import Session
from termgym.tasks.task import Limits, Task
from termgym.verification.request import LARGEST_FILE, Verification, Verified

ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to other users")
Judge = Callable[..., Verified]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return tiny_image(tmp_path_factory.mktemp("images") / "tiny", workdir="/srv", env={"OWN": "1", "MORE": "image"})


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


@pytest.fixture
def judge(sandbox: LocalSandbox, tmp_path: Path) -> Judge:
    """Return a function that runs a script as the verifier."""

    def run(script: str, timeout: float = 30, **fields: object) -> Verified:
        tests = tmp_path / "tests"
        tests.mkdir(exist_ok=True)
        (tests / "test.sh").write_text(script)
        base = Verification(tests=str(tests), command=("bash", "/tests/test.sh"), timeout=timeout)
        return sandbox.verify(replace(base, **fields))  # type: ignore[arg-type]

    return run


def said(session: Session, command: str) -> str:
    result = session.step(command.encode(), timeout=30)
    return (result.stdout + result.stderr).decode("utf-8", "replace").strip()


def test_verifier_sees_what_the_agent_left_and_nothing_of_it_stays(
    sandbox: LocalSandbox, judge: Judge, tiny: Image
) -> None:
    session = sandbox.start(imaged_task(), image=tiny)
    said(session, "echo answer > /srv/out; rm /bin/touch; mv /home /homes; (sleep 1000 &)")
    changes, digest = sandbox.diff(), sandbox.digest()
    done = judge(
        "cat out; ls /homes; ls /bin/touch; id -u; pwd; echo $OWN $MORE $HOME $PATH; ls /logs /proc | tr '\\n' ' ';"
        "echo x > /srv/out; rm -rf /etc; cd /logs/verifier; echo 1 > reward.txt; echo '{}' > reward.json; exit 3",
        env={"MORE": "verifier"},
    )
    assert done.exit_code == 3
    assert (done.timed_out, done.refused, done.odd) == (False, "", {})
    assert done.files == {"reward.txt": b"1\n", "reward.json": b"{}\n"}
    lines = done.output.decode().splitlines()
    assert lines[:6] == ["answer", "ann", "ls: cannot access '/bin/touch': No such file or directory", "0", "/srv",
                         "1 verifier /root /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]  # fmt: skip
    assert "agent artifacts verifier" in lines[6]
    assert len([word for word in lines[6].split() if word.isdigit()]) <= 5, "a program of the agent's still runs"
    assert (sandbox.diff(), sandbox.digest()) == (changes, digest)
    assert sandbox.status("/tests") is sandbox.status("/logs") is None
    assert said(sandbox.respawn(), "cat out; ls -d /tests /logs /srv 2>/dev/null") == "answer\n/srv"


@pytest.mark.parametrize(
    "planted",
    [
        "mkdir /tests /logs /logs/verifier; echo exit 0 > /tests/test.sh; echo 1 > /logs/verifier/reward.txt",
        "ln -s /srv /tests; ln -s /srv /logs; mkdir verifier; echo 1 > verifier/reward.txt; echo exit 0 > test.sh",
        "echo 1 > /tests; echo 1 > /logs; rm -rf /run; ln -s /srv /run",
        "ln -s /nowhere /tests; ln -s /proc/1/root /logs; rm -rf /run; echo > /run",
    ],
    ids=["directories", "links", "files", "wild links"],
)
def test_what_was_planted_is_out_of_the_way(
    sandbox: LocalSandbox, judge: Judge, tiny: Image, planted: str, tmp_path: Path
) -> None:
    (tmp_path / "tools/bin").mkdir(parents=True)
    (tmp_path / "tools/bin/tool").write_text("#!/bin/bash\necho tool\n")
    (tmp_path / "tools/bin/tool").chmod(0o755)
    session = sandbox.start(imaged_task(), image=tiny)
    said(session, planted)
    digest = sandbox.digest()
    done = judge(
        "tool; ls /tests; echo x > /run/rolf/x; echo 0.5 > /logs/verifier/reward.txt", tools=str(tmp_path / "tools")
    )
    assert done.files == {"reward.txt": b"0.5\n"}
    assert done.output.decode().splitlines()[:2] == ["tool", "test.sh"]
    assert "Read-only" in done.output.decode()
    assert sandbox.digest() == digest


def test_rewards_are_regular_files_of_some_size(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    sandbox.start(imaged_task(), image=tiny)
    done = judge(
        f"cd /logs/verifier; ln -s /etc/passwd link; mkdir dir; echo > empty; trap '' XFSZ; "
        f"ulimit -f {LARGEST_FILE // 1024 + 1}; while echo 0123456789abcdef; do :; done > large 2>/dev/null",
        collect=("link", "dir", "empty", "large", "none", "link/x"),
    )
    assert done.files == {"empty": b"\n"}
    assert done.odd == {
        "link": "is a symbolic link, not a regular file",
        "dir": "is a directory, not a regular file",
        "large": f"holds {LARGEST_FILE + 1024} bytes; allowed are {LARGEST_FILE}",
        "link/x": "cannot be reached: Too many levels of symbolic links",
    }


def test_time_out_ends_all_of_it(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    sandbox.start(imaged_task(), image=tiny)
    begun = time.monotonic()
    done = judge(
        "trap '' TERM INT; (setsid sleep 1000 &); echo begun; echo 1 > /logs/verifier/reward.txt; sleep 1000", 0.5
    )
    assert (done.timed_out, done.exit_code, done.output) == (True, 137, b"begun\n")
    assert done.files == {"reward.txt": b"1\n"}
    assert time.monotonic() - begun < 10
    assert sandbox.processes() == ()


def test_daemon_of_a_verifier_does_not_outlive_it(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    sandbox.start(imaged_task(), image=tiny)
    done = judge("(setsid sleep 1000 &); exit 0")
    assert (done.exit_code, done.timed_out) == (0, False)
    assert sandbox.processes() == ()


def test_flood_keeps_head_and_tail(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    sandbox.start(imaged_task(), image=tiny)
    done = judge("echo first; for ((i = 0; i < 200000; i++)); do echo $i; done; echo last")
    assert done.output_bytes > len(done.output) == 512 << 10
    assert done.output.startswith(b"first\n0\n1\n")
    assert done.output.endswith(b"199999\nlast\n")


def test_image_is_put_back_and_what_was_planted_hidden(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    session = sandbox.start(imaged_task(), image=tiny)
    for command in (
        "echo 'echo forged' > /bin/cat; rm -r /home; echo > /home; mkdir -p /opt/planted/deep; chmod 700 /etc",
        "ln -s /srv /opt/link; echo kept > /srv/kept; rm -r /root; ln -s /etc /root; echo x > /etc/ld.so.preload",
    ):
        said(session, command)
    done = judge(
        "cat /etc/group; ls /home; stat -c %a /etc; ls /opt /etc/ld.so.preload; cat /srv/kept; ls -ld /root",
        put_back=("/bin/cat", "/etc", "/home", "/root/.bashrc", "/gone/x"),
        hidden=("/opt/planted", "/etc/ld.so.preload", "/opt/link/kept", "/nowhere/x"),
    )
    lines = done.output.decode().splitlines()
    assert lines[:6] == [
        "root:x:0:",
        "ann:x:1002:",
        "wheel:x:10:root,ann",
        "ann",
        "755",
        "ls: cannot access '/etc/ld.so.preload': No such file or directory",
    ]
    assert lines[6:9] == ["/opt:", "link", "kept"]
    assert lines[9].endswith("/root -> /etc")
    assert said(sandbox.respawn(), "ls /opt 2>/dev/null") == "link  planted"


def test_directories_on_the_way_come_back_too(sandbox: LocalSandbox, judge: Judge, tmp_path: Path) -> None:
    image = tiny_image(tmp_path / "image")
    deep = Path(image.layers[0], "opt/venv/bin")
    deep.mkdir(parents=True)
    (deep / "tool").write_text("tool\n")
    deep.chmod(0o711)
    session = sandbox.start(imaged_task(), image=image)
    said(session, "rm -r /opt")
    done = judge("cat /opt/venv/bin/tool; stat -c %a /opt/venv/bin", put_back=("/opt/venv/bin/tool",))
    assert done.output == b"tool\n711\n"


def test_large_directory_of_the_image_is_shown_without_being_copied(
    sandbox: LocalSandbox, judge: Judge, tmp_path: Path
) -> None:
    image = tiny_image(tmp_path / "image")
    large = Path(image.layers[0], "opt/large")
    large.mkdir(parents=True)
    with open(large / "file", "wb") as file:
        file.truncate(65 << 20)
    session = sandbox.start(imaged_task(), image=image)
    said(session, "rm -r /opt/large; echo > /opt/large")
    done = judge("stat -c %s /opt/large/file; echo x > /opt/large/x", put_back=("/opt/large", "/opt/large/file"))
    lines = done.output.decode().splitlines()
    assert lines[0] == str(65 << 20)
    assert "Read-only" in lines[1]


@ROOT
def test_another_user_may_verify(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    sandbox.start(imaged_task(), image=tiny)
    done = judge(
        "id -u; echo ~; pwd; echo 1 > /logs/verifier/reward.txt; echo > /etc/x", user="ann", workdir="/home/ann"
    )
    assert done.output.decode().splitlines()[:3] == ["1001", "/home/ann", "/home/ann"]
    assert "Permission denied" in done.output.decode()
    assert done.files == {"reward.txt": b"1\n"}
    with pytest.raises(TaskError, match="no user 'bob'"):
        judge("true", user="bob")


def test_full_disk_and_memory_of_the_agent_do_not_matter(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    limits = Limits(memory_bytes=64 << 20, disk_bytes=32 << 20, file_bytes=None)
    session = sandbox.start(imaged_task(limits=limits), image=tiny)
    said(session, "cat /dev/zero > /srv/fill")
    assert sandbox.status("/srv/fill").size > 20 << 20  # type: ignore[union-attr]
    done = judge("echo x > /srv/x && echo written; echo 1 > /logs/verifier/reward.txt")
    assert done.output == b"written\n"
    assert done.files == {"reward.txt": b"1\n"}


def test_other_sandboxes_go_on_meanwhile(sandbox: LocalSandbox, judge: Judge, tiny: Image) -> None:
    """All sandboxes of a process share a supervisor, and a verifier may take minutes."""
    sandbox.start(imaged_task(), image=tiny)
    other = open_sandbox("local")
    done: list[Verified] = []
    try:
        thread = threading.Thread(target=lambda: done.append(judge("while ! [ -e /tmp/go ]; do sleep 0.05; done", 3)))
        thread.start()
        session = other.start(Task(id="plain", instruction=""))
        assert said(session, "echo alive") == "alive"
        assert not done
        thread.join()
        assert done[0].timed_out
    finally:
        other.close()


def test_abandoned_verification_leaves_nothing(sandbox: LocalSandbox, tiny: Image, tmp_path: Path) -> None:
    """^C while a verifier runs: the next start finds a clean machine."""
    from termgym.sandbox.verdicts import requested

    (tmp_path / "test.sh").write_text("sleep 1000")
    request = requested(Verification(str(tmp_path), ("bash", "/tests/test.sh"), 10))
    for _ in range(3):
        sandbox.start(imaged_task(), image=tiny)
        _, fds = sandbox._ask("verify", **request)
        for fd in fds:
            os.close(fd)
    sandbox.kill()
    supervisor = Path(f"/proc/{sandbox._hello['pid']}/mounts").read_text()
    assert "verification" not in supervisor
    assert "aside" not in supervisor
    with pytest.raises(SandboxError, match="no verification"):
        sandbox._ask("verified")


@pytest.mark.parametrize("snapshot", ["manifest", "rsync"])
def test_other_snapshots_put_the_tree_back(tiny: Image, snapshot: str, tmp_path: Path) -> None:
    sandbox = open_sandbox("local", snapshot=snapshot)
    assert isinstance(sandbox, LocalSandbox)
    try:
        session = sandbox.start(imaged_task(), image=tiny)
        said(session, "echo answer > /srv/out")
        digest = sandbox.digest()
        (tmp_path / "test.sh").write_text("echo x > /srv/out; rm -rf /home; echo 1 > /logs/verifier/reward.txt")
        done = sandbox.verify(Verification(str(tmp_path), ("bash", "/tests/test.sh"), 30))
        assert done.files == {"reward.txt": b"1\n"}
        assert sandbox.digest() == digest
    finally:
        sandbox.close()


def test_verifier_that_cannot_be_run_says_so(sandbox: LocalSandbox, judge: Judge, tiny: Image, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="start a task that has one"):
        judge("true")
    sandbox.start(imaged_task(), image=tiny)
    with pytest.raises(TaskError, match="is not there"):
        judge("true", tests=str(tmp_path / "gone"))
    done = judge("true", command=("/no/such/program",))
    assert done.exit_code != 0
    assert "No such file" in done.output.decode()
