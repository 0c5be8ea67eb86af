"""Episodes on an image: the whole root is the agent's, and goes back to what the image says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from toy_images import PROGRAMS, host_image, imaged_task, tiny_image, tiny_layer

from termgym.errors import SandboxUnavailable, SnapshotError, TaskError
from termgym.image.image import Image
from termgym.sandbox import open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.session.session import Session
from termgym.snapshot.change import ChangeKind
from termgym.tasks.task import Limits, Service, Task

ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to other users")


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return tiny_image(tmp_path_factory.mktemp("images") / "tiny", workdir="/srv")


def said(session: Session, command: str) -> str:
    result = session.step(command.encode(), timeout=30)
    return (result.stdout + result.stderr).decode("utf-8", "replace").strip()


def test_agent_is_root_in_the_image_and_nothing_else_is_there(sandbox: LocalSandbox, tiny: Image) -> None:
    session = sandbox.start(imaged_task(), image=tiny)
    assert said(session, "id -u; id -g; pwd; echo ~") == "0\n0\n/srv\n/root"
    assert said(session, "ls /").split() == sorted(
        {"bin", "dev", "etc", "home", "proc", "root", "srv", "sys", "tmp", *os.listdir(tiny.layers[0])}
    )
    assert sandbox.workdir == "/srv"
    assert sandbox.status("/bin/bash") is not None
    assert sandbox.read_file("/etc/hostname") == b"rolf\n"


def test_environment_is_the_images_over_a_small_one(sandbox: LocalSandbox, tiny: Image) -> None:
    """LD_PRELOAD of an image is for its programs; bubblewrap, which is the host's, must not see it."""
    told = {"LANG": "C", "A": "b c'", "LD_PRELOAD": "/nowhere.so", "PROMPT_COMMAND": "echo no"}
    session = sandbox.start(imaged_task(), image=replace(tiny, env=told))
    listed = said(session, "tr '\\0' '\\n' </proc/$$/environ")
    env = dict(line.split("=", 1) for line in listed.splitlines() if "=" in line)
    assert {name: env.get(name) for name in ("LANG", "LC_ALL", "A", "TZ", "TERM", "HOME", "HOSTNAME")} == {
        "LANG": "C",
        "LC_ALL": None,
        "A": "b c'",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "HOME": "/root",
        "HOSTNAME": "rolf",
    }
    assert env["LD_PRELOAD"] == "/nowhere.so"
    assert env["PATH"] == "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert "PROMPT_COMMAND" not in env


def test_changes_are_seen_and_gone_after_the_next_start(sandbox: LocalSandbox, tiny: Image) -> None:
    task = imaged_task()
    session = sandbox.start(task, image=tiny)
    before = sandbox.digest()
    said(session, "echo x > /etc/new; rm /bin/touch; chmod 700 /bin/cat; mkdir /opt; echo > /dev/shm/x; touch /proc/x")
    assert [(change.path, change.kind) for change in sandbox.diff()] == [
        ("/bin/cat", ChangeKind.MODE),
        ("/bin/touch", ChangeKind.REMOVED),
        ("/etc/new", ChangeKind.ADDED),
        ("/opt", ChangeKind.ADDED),
    ]
    changed = sandbox.digest()
    for _ in range(4):  # with the spare, and without
        session = sandbox.start(task, image=tiny)
        assert (sandbox.diff(), sandbox.digest()) == ((), before)
        said(session, "touch /srv/x; echo x > /etc/new; rm /bin/touch; rm -f /srv/x; chmod 700 /bin/cat; mkdir /opt")
        assert sandbox.digest() == changed
    token = sandbox.save()
    said(session, "rm -rf /etc /root")
    session = sandbox.restore(token)
    assert sandbox.digest() == changed
    assert said(session, "cat /etc/new") == "x"
    sandbox.forget(token)


def test_digest_knows_the_image(sandbox: LocalSandbox, tiny: Image) -> None:
    sandbox.start(imaged_task(), image=tiny)
    first = sandbox.digest()
    sandbox.start(imaged_task(), image=replace(tiny, id="another"))
    assert sandbox.digest() != first


def test_shell_comes_back_after_the_agent_has_wrecked_the_root(sandbox: LocalSandbox, tiny: Image) -> None:
    session = sandbox.start(imaged_task(), image=tiny)
    result = session.step(
        b"rm -rf /srv /tmp /home; ln -s /proc/1/root /tmp; mv /dev /d; mv /proc /p; exit 3", timeout=30
    )
    assert result.exit_code == 3
    session = sandbox.respawn()
    assert said(session, "pwd; ls -1 /dev/null /proc/self/status") == "/\n/dev/null\n/proc/self/status"


@ROOT
def test_user_of_the_image_is_the_agent(sandbox: LocalSandbox, tiny: Image) -> None:
    session = sandbox.start(imaged_task(), image=replace(tiny, user="ann", workdir="/home/ann"))
    assert said(session, "id -u; id -g; id -G; echo ~; echo x > f; stat -c %u:%g f; cat /root/x") == (
        "1001\n1002\n1002 10\n/home/ann\n1001:1002\ncat: /root/x: Permission denied"
    )
    assert sandbox.run(["id", "-u"]).stdout == b"1001\n"
    capabilities = said(
        session, "while read -r line; do case $line in Cap[PE]*) echo $line;; esac; done </proc/$$/status"
    )
    assert capabilities.split() == ["CapPrm:", "0" * 16, "CapEff:", "0" * 16]


@ROOT
@pytest.mark.parametrize(
    ("user", "ids"),
    [("1001:10", "1001\n10\n10"), ("4711", "4711\n0\n0"), ("root:wheel", "0\n10\n10"), ("", "0\n0\n0 10")],
)
def test_users_are_found_as_docker_finds_them(sandbox: LocalSandbox, tiny: Image, user: str, ids: str) -> None:
    session = sandbox.start(imaged_task(), image=replace(tiny, user=user))
    assert said(session, "id -u; id -g; id -G") == ids


@ROOT
@pytest.mark.parametrize("program", ["setpriv", "chroot", ""])
def test_image_has_to_have_a_program_that_becomes_its_user(sandbox: LocalSandbox, tmp_path: Path, program: str) -> None:
    """Either of two does, and root needs neither: alpine has none of them."""
    others = tuple(name for name in PROGRAMS if name != "setpriv")
    layer = tiny_layer(tmp_path / "layer", (*others, *([program] if program else [])))
    image = Image("becoming", (str(layer),), workdir="/srv")
    assert said(sandbox.start(imaged_task(), image=image), "id -u; id -G") == "0\n0 10"
    if program:
        session = sandbox.start(imaged_task(), image=replace(image, user="ann"))
        assert said(session, "id -u; id -g; id -G; pwd") == "1001\n1002\n1002 10\n/srv"
    else:
        with pytest.raises(TaskError, match="neither setpriv"):
            sandbox.start(imaged_task(), image=replace(image, user="ann"))


def test_programs_beside_the_shell_live_in_the_image(sandbox: LocalSandbox, tiny: Image) -> None:
    sandbox.start(imaged_task(), image=replace(tiny, env={"A": "b"}))
    done = sandbox.run(["bash", "-c", "id -u; echo $A; cat /proc/self/status"])
    lines = done.stdout.decode().splitlines()
    assert lines[:2] == ["0", "b"]
    fields = dict(line.split(":\t", 1) for line in lines[2:] if ":\t" in line)
    assert {fields[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {"00000000000405fb"}
    assert fields["NoNewPrivs"] == "1"


def test_services_run_in_the_image(sandbox: LocalSandbox, tiny: Image) -> None:
    service = Service(("bash", "-c", "echo up > /srv/up; sleep 100"), ready_path="/srv/up", cwd="/")
    session = sandbox.start(imaged_task(services=(service,)), image=tiny)
    assert said(session, "cat /srv/up") == "up"


def test_what_cannot_start_says_why(sandbox: LocalSandbox, tiny: Image, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"no user 'bob'.*root, ann.*useradd"):
        sandbox.start(imaged_task(), image=replace(tiny, user="bob"))
    with pytest.raises(TaskError, match="no group 'staff'"):
        sandbox.start(imaged_task(), image=replace(tiny, user="ann:staff"))
    with pytest.raises(TaskError, match="no bash on its PATH"):
        sandbox.start(imaged_task(), image=replace(tiny, env={"PATH": "/sbin"}))
    with pytest.raises(SnapshotError, match="build the image again"):
        sandbox.start(imaged_task(), image=replace(tiny, layers=(str(tmp_path / "gone"),)))
    with pytest.raises(ValueError, match=r"image=termgym\.image\.build"):
        sandbox.start(imaged_task())
    with pytest.raises(ValueError, match="has no image"):
        sandbox.start(Task(id="plain", instruction=""), image=tiny)
    assert said(sandbox.start(imaged_task(), image=tiny), "echo fine") == "fine"


def test_image_needs_namespaces(tiny: Image) -> None:
    sandbox = open_sandbox("local-unsafe")
    try:
        with pytest.raises(SandboxUnavailable, match="backend='local'"):
            sandbox.start(imaged_task(), image=tiny)
    finally:
        sandbox.close()


def test_two_images_and_a_task_without_take_turns(sandbox: LocalSandbox, tiny: Image, tmp_path: Path) -> None:
    low = tiny_layer(tmp_path / "low")
    (tmp_path / "high/srv").mkdir(parents=True)
    (tmp_path / "high/srv/only-here").touch()
    other = Image("other", (str(low), str(tmp_path / "high")))
    for _ in range(3):
        assert said(sandbox.start(imaged_task(), image=tiny), "ls /srv") == ""
        assert said(sandbox.start(Task(id="plain", instruction="")), "id -u; pwd") == "1000\n/home/agent"
        assert said(sandbox.start(imaged_task(), image=other), "ls /srv; pwd") == "only-here\n/"


@pytest.mark.parametrize("snapshot", ["manifest", "rsync"])
def test_other_snapshots_copy_the_image(tiny: Image, snapshot: str) -> None:
    """Where overlayfs cannot be written to, a copy does, for an image that is not large."""
    digests = []
    for backend in (snapshot, None):
        sandbox = open_sandbox("local", snapshot=backend)
        try:
            session = sandbox.start(imaged_task(), image=tiny)
            said(session, "echo x > /etc/new; rm /bin/touch")
            digests.append(sandbox.digest())
            assert [change.path for change in sandbox.diff()] == ["/bin/touch", "/etc/new"]
            sandbox.start(imaged_task(), image=tiny)
            assert sandbox.diff() == ()
        finally:
            sandbox.close()
    assert len(set(digests)) == 1


def test_limits_hold_for_root(sandbox: LocalSandbox, tiny: Image) -> None:
    """Root is exempt from RLIMIT_NPROC, so its bound is the control group, which is verified before it may type."""
    limits = Limits(processes=24, memory_bytes=64 << 20, file_bytes=1 << 20, disk_bytes=8 << 20)
    session = sandbox.start(imaged_task(limits=limits), image=tiny)
    session.step(b"for ((i = 0; i < 40; i++)); do (exec sleep 100) & done", timeout=5)
    assert len(sandbox.processes()) < 24
    session = sandbox.start(imaged_task(limits=limits), image=tiny)
    line = "0123456789abcdef" * 64
    assert "too large" in said(session, f"trap '' XFSZ; while echo {line}; do :; done > /tmp/big")
    big = sandbox.status("/tmp/big")
    assert big is not None
    assert big.size == 1 << 20
    assert "not permitted" in said(session, "ulimit -f unlimited")


def test_machines_own_system_is_a_root(sandbox: LocalSandbox) -> None:
    session = sandbox.start(imaged_task(), image=host_image(workdir="/root"))
    assert said(
        session, "pwd; ls -A /home /mnt /srv; ls -d /work /root/.cache 2>/dev/null; perl -e 'print 6 * 7'"
    ).split() == [
        "/root",
        "/home:",
        "/mnt:",
        "/srv:",
        "42",
    ]
    said(session, "echo changed > /usr/bin/env; mkdir /usr/share/new; rm /usr/bin/yes")
    assert {"/usr/bin/env", "/usr/share/new", "/usr/bin/yes"} <= {change.path for change in sandbox.diff()}


def test_directory_is_handed_in_where_the_image_says(sandbox: LocalSandbox, tmp_path: Path) -> None:
    """Links of the image are followed, those of the agent are not: it would choose whose files are written over."""
    image = tiny_image(tmp_path / "image")
    Path(image.layers[0], "app").symlink_to("srv/app")
    Path(image.layers[0], "srv/app").mkdir()
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep/file").write_text("handed in")
    (source / "deep").chmod(0o750)
    (source / "link").symlink_to("/etc/passwd")
    session = sandbox.start(imaged_task(), image=image)
    said(
        session,
        "mkdir /keep; ln -s /keep /srv/app/deep; ln -s /keep /solution; cd /app; echo old > old; ln -s /etc link",
    )
    sandbox.copy_in(str(source), "/app")
    sandbox.copy_in(str(source), "/solution/a/b")
    assert said(
        session, "ls -A /keep; cat /app/deep/file /srv/app/old /solution/a/b/deep/file; stat -c %a:%u /app/deep"
    ) == ("handed inold\nhanded in750:0")
    assert said(session, "ls -l /app/link").endswith("-> /etc/passwd")
    with pytest.raises(TaskError, match="is not there"):
        sandbox.copy_in(str(tmp_path / "gone"), "/app")
    if os.getuid() == 0:
        session = sandbox.start(imaged_task(), image=replace(image, user="ann"))
        sandbox.copy_in(str(source), "/home/ann", as_agent=True)
        assert said(session, "stat -c %u:%g /home/ann/deep /home/ann/deep/file") == "1001:1002\n1001:1002"


def test_nothing_lands_on_the_host_however_the_agent_moves(sandbox: LocalSandbox, tmp_path: Path) -> None:
    """An absolute link of the agent's would lead the supervisor, who is root, from the host's root."""
    image, outside = tiny_image(tmp_path / "image"), tmp_path / "outside"
    source = tmp_path / "source"
    (source / "a/b").mkdir(parents=True)
    for number in range(50):
        (source / "a/b" / str(number)).write_text("handed in")
    outside.mkdir()
    (outside / "b").mkdir()
    (outside / "b/49").write_text("the host's")
    session = sandbox.start(imaged_task(), image=image)
    turns = f"ln -s {outside} a; rm -r a; mkdir -p a/b; mv a c; rm -r c"
    swap = f"mkdir /x; cd /x; (while :; do {turns}; done) &>/dev/null & cd /"
    said(session, swap)
    for _ in range(20):
        sandbox.copy_in(str(source), "/x")
    assert os.listdir(outside / "b") == ["49"]
    assert (outside / "b/49").read_text() == "the host's"


@pytest.mark.parametrize("name", ["proc", "dev", "sys"])
def test_image_whose_mount_points_are_links_is_refused(sandbox: LocalSandbox, tmp_path: Path, name: str) -> None:
    image = tiny_image(tmp_path / "image")
    place = Path(image.layers[0], name)
    if place.exists():
        place.rmdir()
    place.symlink_to(tmp_path / "host")
    with pytest.raises(TaskError, match=f"/{name} of the image is no directory"):
        sandbox.start(imaged_task(), image=image)
    assert not (tmp_path / "host").exists()


def test_links_of_an_image_lead_nowhere_on_the_host(sandbox: LocalSandbox, tmp_path: Path) -> None:
    """What is laid over an image, read of it and handed into it stays in it."""
    image, host = tiny_image(tmp_path / "image"), tmp_path / "host"
    host.mkdir()
    layer = Path(image.layers[0])
    for name in ("passwd", "group"):
        (host / name).write_text((layer / "etc" / name).read_text().replace("ann", "bob"))
        (layer / "etc" / name).unlink()
        (layer / "etc" / name).symlink_to(host / name)
    for name in ("hosts", "resolv.conf"):
        (layer / "etc" / name).symlink_to(host / name)
    (layer / "work").symlink_to(host)
    with pytest.raises(TaskError, match=r"no user 'bob'.*has none"):
        sandbox.start(imaged_task(), image=replace(image, user="bob"))
    session = sandbox.start(imaged_task(), image=replace(image, workdir="/work"))
    assert said(session, "pwd; ls -l /etc/hosts").startswith("/\n-rw")
    sandbox.copy_in(str(layer / "etc"), "/work/deep")
    assert sorted(os.listdir(host)) == ["group", "passwd"]


def test_network_is_the_hosts_only_where_it_is_asked_for(tiny: Image) -> None:
    resolving = Path("/etc/resolv.conf").read_text()
    for network in (False, True):
        sandbox = open_sandbox("local", network=network)
        try:
            session = sandbox.start(imaged_task(), image=tiny)
            assert said(session, "cat /etc/resolv.conf") == (resolving.strip() if network else "")
            devices = said(session, "while read -r name _; do echo $name; done < /proc/net/dev").split()[2:]
            own = [line.split()[0] for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
            assert devices == (own if network else ["lo:"])
            missing = sandbox.capabilities()["missing"]
            assert isinstance(missing, dict)
            assert ("image network" in missing) == (network and os.getuid() == 0)
        finally:
            sandbox.close()
