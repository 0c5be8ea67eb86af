"""Episodes on an image for an ordinary user: root of a user namespace in which nobody else is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from machines import python_on

SHARED = Path(__file__).parents[2] / "shared"
CODE = f"""
import json, os, sys, tempfile
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, {str(SHARED)!r})
from toy_images import imaged_task, tiny_image
from termgym.sandbox import open_sandbox
from termgym.verification.request import Verification

def said(session, command):
    result = session.step(command.encode(), timeout=30)
    return (result.stdout + result.stderr).decode("utf-8", "replace").strip()

told = {{}}
with tempfile.TemporaryDirectory() as scratch:
    image = tiny_image(Path(scratch, "tiny"), workdir="/srv")
    tests = Path(scratch, "tests")
    tests.mkdir()
    (tests / "test.sh").write_text("cat /bin/tr; id -u; cat /srv/new; echo 1 > /logs/verifier/reward.txt; rm -rf /etc")
    sandbox = open_sandbox("local")
    session = sandbox.start(imaged_task(), image=image)
    told["who"] = said(session, "id -u; id -g; pwd; stat -c %u:%g /bin/cat /srv; echo ~")
    told["untouched"] = sandbox.digest()
    said(session, "echo x > /etc/new; rm /bin/touch; chmod 700 /bin/cat; mkdir /opt")
    said(session, "echo new > /srv/new; echo > /bin/tr")
    told["changes"] = [tuple(change) for change in sandbox.diff()]
    told["digest"] = sandbox.digest()
    told["status"] = sandbox.status("/etc/new").uid
    told["chown"] = said(session, "chown 1:1 /srv")
    done = sandbox.verify(Verification(str(tests), ("bash", "/tests/test.sh"), 30, put_back=("/bin/tr",)))
    told["verified"] = [done.files.get("reward.txt", b"").decode(), done.output.decode("latin-1")[-6:], done.exit_code]
    told["after"] = sandbox.digest()
    session = sandbox.respawn()
    told["capabilities"] = said(session, "cat /proc/self/status").split("CapPrm:")[1].split()[0]
    told["run"] = sandbox.run(["cat", "/proc/self/status"]).stdout.decode().split("CapBnd:")[1].split()[0]
    sandbox.copy_in(str(tests), "/solution")
    told["handed"] = said(session, "stat -c %u /solution/test.sh")
    resets = []
    for _ in range(3):
        sandbox.start(imaged_task(), image=image)
        resets.append((sandbox.digest(), sandbox.diff()))
    told["resets"] = resets
    session = sandbox.start(imaged_task(), image=replace(image, user="ann"))
    told["ann"] = said(session, "id -u; echo ~")
    told["missing"] = dict(sandbox.capabilities()["missing"])
    sandbox.close()
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_ordinary_user_lives_in_an_image_as_root_does() -> None:
    """The same commands on the same image give the same changes and digests, whoever runs them."""
    machines = [True] if os.getuid() else [True, False]
    results = {}
    for user in machines:
        done = python_on(CODE, user=user)
        assert done.returncode == 0, done.stderr
        results[user] = json.loads(done.stdout)
    told = results[True]
    assert told["who"] == "0\n0\n/srv\n0:0\n0:0\n/root"
    assert told["status"] == 0
    assert told["verified"] == ["1\n", "0\nnew\n", 0]
    assert told["after"] == told["digest"] != told["untouched"]
    assert told["resets"] == [[told["untouched"], []]] * 3
    assert told["handed"] == "0"
    assert told["ann"] == "0\n/root"
    assert "Invalid argument" in told["chown"]
    assert {"image owners", "image user"} <= told["missing"].keys()
    assert told["run"] == "00000000000405fb"
    assert told["capabilities"] == "00000000000405fb"
    for other in results.values():
        for name in ("untouched", "changes", "digest", "verified"):
            assert other[name] == told[name], name


@pytest.mark.skipif(os.getuid() != 0, reason="an ordinary user's processes are bounded by RLIMIT_NPROC")
def test_root_without_a_group_that_counts_its_processes_is_refused() -> None:
    """RLIMIT_NPROC does not hold for root: a fork bomb would be the machine's end."""
    code = f"""
import sys, tempfile
from pathlib import Path
sys.path.insert(0, {str(SHARED)!r})
from toy_images import imaged_task, tiny_image
from termgym.errors import SandboxUnavailable
from termgym.sandbox import open_sandbox
from termgym.tasks.task import Task
with tempfile.TemporaryDirectory() as scratch:
    image = tiny_image(Path(scratch, "tiny"))
    sandbox = open_sandbox("local")
    try:
        sandbox.start(imaged_task(), image=image)
    except SandboxUnavailable as error:
        print(error)
    print(sandbox.start(Task(id="plain", instruction="")).step(b"id -u", timeout=10).stdout.decode())
    sandbox.close()
"""
    done = python_on(code, setup=("mount -t tmpfs none /sys/fs/cgroup",))
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert "an image runs as root, whose processes only a control group can count" in told[0]
    assert "pids controller" in told[0]
    assert told[1] == "1000"
