"""RUN: what a program of a build may do, what is said when it fails, and that nothing of it is left."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from machines import python_on

from termgym.errors import ImageError
from termgym.image import Store
from termgym.sandbox.cgroups import hierarchies


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('RUN ["bash", "-c", "echo $0 $HOME > /said", "name"]', "name /root\n"),
        ("RUN echo a > /said && \\\n  echo b >> /said", "a\nb\n"),
        ("RUN <<EOF\necho $0 > /said\necho \"$((1+1))\" >> /said\nEOF", "/bin/sh\n2\n"),
        ("RUN <<-EOF\n\techo a > /said\n\tEOF", "a\n"),
        ("RUN cat > /said <<A && cat >> /said <<B\na\nA\nb\nB", "a\nb\n"),
        ("RUN <<EOF\n#!/bin/bash -e\necho $BASH_VERSINFO > /dev/null\necho script > /said\nEOF", "script\n"),
        ('SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN [[ -o pipefail ]] && echo yes > /said', "yes\n"),
        ("WORKDIR /a\nWORKDIR b/../c\nRUN echo $PWD > /said", "/a/c\n"),
        ("ENV A=1\nARG B=2\nRUN env > /env; echo $A$B > /said", "12\n"),
        ("RUN --network=none echo a > /said", "a\n"),
    ],
)  # fmt: skip
def test_runs_as_docker_does(make, text: str, expected: str) -> None:
    assert make(f"FROM tiny\n{text}\n").text("/said") == expected


def test_fails_with_the_line_the_status_and_the_output(make) -> None:
    with pytest.raises(ImageError) as caught:
        make("FROM tiny\n\nRUN echo before && \\\n  ls /none; exit 7\n")
    said = str(caught.value)
    assert "Dockerfile, line 3: RUN: 'echo before &&   ls /none; exit 7' ended with exit status 7" in said
    assert "before\nls: cannot access '/none': No such file or directory" in said


def test_says_that_a_program_is_not_in_the_image(make) -> None:
    with pytest.raises(ImageError, match="the program is not in the image; install it, or choose another by SHELL"):
        make('FROM tiny\nSHELL ["/bin/zsh", "-c"]\nRUN echo\n')


def test_says_that_a_working_directory_is_gone(make) -> None:
    with pytest.raises(ImageError, match="the working directory /a is not in the image; name it by WORKDIR"):
        make("FROM tiny\nWORKDIR /a\nRUN rm -r /a\nRUN echo\n")


@pytest.mark.root
def test_becomes_the_user_of_the_image(make) -> None:
    built = make(
        "FROM tiny\nUSER ann\nRUN id -u > /tmp/a; id -G >> /tmp/a; echo $HOME >> /tmp/a; touch /no 2>/dev/null || "
        "echo refused >> /tmp/a\nUSER 7:8\nRUN id -u > /tmp/b; id -G >> /tmp/b\nUSER 0\nRUN id -G > /c\n"
    )
    assert built.text("/tmp/a") == "1001\n1002 10\n/home/ann\nrefused\n"
    assert built.text("/tmp/b") == "7\n8\n"
    assert built.text("/c") == "0 10\n"
    found = built.tree.find("/tmp/a")
    assert found is not None
    assert (found.status.st_uid, found.status.st_gid) == (1001, 1002)


def test_says_that_a_user_is_not_in_the_image(make) -> None:
    with pytest.raises(ImageError, match="line 3: RUN: user 'bob' is not in the image's /etc/passwd; make the user"):
        make("FROM tiny\nUSER bob\nRUN id\n")


@pytest.mark.parametrize(
    "attack",
    [
        "mount -o remount,ro /",
        "mount -t tmpfs none /srv",
        "mknod /device c 1 3",
        "echo x > /proc/sys/kernel/hostname",
        "echo b > /proc/sysrq-trigger",
        "cat /proc/1/root/etc/hostname /proc/kcore | head -c1 | read -N1",
        "chroot / mount -t proc proc /srv",
        "echo 1 > /sys/anything",
    ],
)
def test_refuses_what_reaches_past_the_image(make, attack: str) -> None:
    with pytest.raises(ImageError, match="ended with exit status"):
        make(f"FROM tiny\nRUN {attack}\n")


@pytest.mark.root
def test_cannot_write_to_the_program_that_confines_it(make) -> None:
    """Its pid 1 is a file of the host, which root could change (CVE-2019-5736), were it not on a read-only mount."""
    built = make("FROM tiny\nRUN (: >> /proc/1/exe) 2> /dev/null || chmod 777 /proc/1/exe 2> /said || true\n")
    assert built.text("/said").endswith(": Read-only file system\n")


@pytest.mark.parametrize("network", [False, True])
def test_reaches_the_network_only_where_that_is_allowed(make, network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attempt = f"bash -c ': > /dev/tcp/127.0.0.1/{port}' 2> /dev/null"
        built = make(f"FROM tiny\nRUN {attempt} && echo yes > /said || echo no > /said\n", network=network)
        assert built.text("/said") == ("yes\n" if network else "no\n")


def test_has_no_capability_that_docker_would_not_give(make) -> None:
    built = make("FROM tiny\nRUN cat /proc/self/status > /status\n")
    effective = next(line for line in built.text("/status").splitlines() if line.startswith("CapEff"))
    allowed = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 29, 31))  # capabilities(7)
    assert int(effective.split()[1], 16) & ~allowed == 0
    assert "NoNewPrivs:\t1" in built.text("/status")


def test_leaves_no_trace_of_how_it_was_run(make) -> None:
    """Neither mount points nor the time: a layer must not tell when and where it was made."""
    built = make("FROM tiny\nRUN mkdir /new && echo a > /new/file && chmod 755 /srv\n")
    layer = Path(built.image.layers[-1])
    assert sorted(path.name for path in layer.iterdir()) == ["dev", "new", "srv", "sys"]
    assert {path.lstat().st_mtime for path in (layer, layer / "new", layer / "new/file")} == {1_767_225_600}
    assert not list((layer / "dev").iterdir())


def _processes(mark: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = place.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if mark in text:
            found.append(text)
    return found


def _groups() -> list[str]:
    usable, _ = hierarchies()
    return [path.name for each in usable.values() for path in each.parent.glob(f"rolf-{os.getpid()}-*build*")]


def test_ends_everything_when_time_is_up(make, store: Store) -> None:
    began = time.monotonic()
    with pytest.raises(ImageError, match=r"took longer than the 0\.7 s of the build.*\nbegun"):
        make("FROM tiny\nRUN echo begun; sleep 4321 & bash -c 'trap \"\" TERM; sleep 4321'; sleep 4321\n", timeout=0.7)
    assert time.monotonic() - began < 5.0
    assert not _processes("sleep 4321")
    assert not _groups()
    assert not list((store.root / "scratch").iterdir())


def test_ends_what_is_left_in_the_background(make) -> None:
    make("FROM tiny\nRUN sleep 4322 > /dev/null & sleep 4322 & echo done\n")
    assert not _processes("sleep 4322")


def test_mounts_nothing_that_the_caller_sees(make, store: Store) -> None:
    make("FROM tiny\nRUN cat /proc/self/mountinfo > /mounts\n")
    assert str(store.root) not in Path("/proc/self/mountinfo").read_text()


def test_leaves_only_scratch_when_killed_and_the_next_build_takes_it_away(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM tiny\nRUN echo ready; sleep 4323\n")
    code = (
        "import sys\nfrom pathlib import Path\nfrom termgym.image import Recipe, Store, build\n"
        f"build(Recipe(dockerfile={str(tmp_path / 'Dockerfile')!r}), store=Store(Path({str(tmp_path / 'store')!r})), "
        f"bases={{'tiny': {str(tiny)!r}}}, report=lambda line: print(line, flush=True))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line == "ready\n" for line in process.stdout)
        process.kill()
    end = time.monotonic() + 10.0
    while _processes("sleep 4323") and time.monotonic() < end:
        os.sched_yield()
    assert not _processes("sleep 4323")
    store = Store(tmp_path / "store")
    assert len(list((store.root / "scratch").iterdir())) == 1
    assert not list((store.root / "layers").iterdir())
    store.tidy()
    assert not list((store.root / "scratch").iterdir())


def test_shows_files_only_while_a_program_runs(make) -> None:
    text = (
        "FROM tiny AS one\nRUN echo stage > /from\nFROM tiny\n"
        "RUN --mount=type=bind,source=d,target=/in --mount=type=bind,from=one,source=/from,target=/stage "
        "cat /in/file /stage > /said\n"
        "RUN --mount=type=cache,target=/cache echo x > /cache/y && ls /cache > /cached\n"
        "RUN --mount=type=cache,target=/cache ls /cache > /again\n"
        "RUN --mount=type=tmpfs,target=/mem echo x > /mem/y\n"
        "RUN --mount=type=secret,id=key echo fine > /secret\n"
    )
    built = make(text, {"d/file": "context\n"})
    assert built.text("/said") == "context\nstage\n"
    assert built.text("/cached") == "y\n"
    assert built.text("/again") == ""
    assert [name for path in ("/in", "/cache", "/mem") for name in built.names(path)] == []
    assert any("no secret is given to a build" in note for note in built.image.notes)


def test_mounts_nothing_through_a_link_of_the_image(make, tmp_path: Path) -> None:
    """bubblewrap makes what it mounts on, and follows the image's links in a root of its own, with the host in it."""
    text = (
        f"FROM tiny\nRUN ln -s /oldroot{tmp_path} /link\n"
        "RUN --mount=type=cache,target=/link/made echo a > /link/made/b; ls -d /oldroot/*/* > /said\n"
    )
    assert "/oldroot" in make(text).text("/said")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["context"]


@pytest.mark.parametrize("name", ["sys", "dev"])
def test_refuses_a_link_where_it_would_mount(make, tmp_path: Path, name: str) -> None:
    (tmp_path / "context/d").mkdir(parents=True)
    (tmp_path / "context/d" / name).symlink_to(f"/oldroot{tmp_path}")
    with pytest.raises(ImageError, match=f"/{name} is no directory in the image; leave it as the base has it"):
        make("FROM tiny\nCOPY d /\nRUN echo\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("RUN --mount=type=secret,id=key,required=true echo", "requires a secret; no build is given any"),
        ("RUN --mount=type=none,target=/x echo", "allowed are bind, cache, tmpfs, secret, ssh"),
        ("RUN --mount=type=cache echo", "has no target"),
        ("RUN --mount=typ=cache,target=/x echo", "option 'typ' is unknown"),
        ("RUN --network=all echo", "allowed are default, none, host"),
        ("RUN --security=insecure echo", "is not given to anybody"),
        ("SHELL /bin/bash -c\nRUN echo", "is no JSON list"),
        ("WORKDIR /etc/passwd\nRUN echo", "/etc/passwd is no directory in the image"),
    ],
)
def test_says_what_is_not_given(make, line: str, said: str) -> None:
    with pytest.raises(ImageError, match=said):
        make(f"FROM tiny\n{line}\n")


@pytest.mark.root
def test_says_what_helps_where_nothing_can_be_mounted(tmp_path: Path, tiny: Path) -> None:
    """As in a container that allows no mounts: neither as root nor in a user namespace."""
    (tmp_path / "Dockerfile").write_text("FROM tiny\nRUN echo\n")
    code = (
        "from pathlib import Path\nfrom termgym.errors import SandboxUnavailable\n"
        "from termgym.image import Recipe, Store, build\n"
        f"recipe = Recipe(dockerfile={str(tmp_path / 'Dockerfile')!r})\n"
        f"try:\n    build(recipe, store=Store(Path({str(tmp_path / 'store')!r})), bases={{'tiny': {str(tiny)!r}}})\n"
        "except SandboxUnavailable as error:\n    print(error)\n"
    )
    limits = ("bash", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "bash")
    bounded = ("setpriv", "--bounding-set=-sys_admin", "--")
    said = python_on(code, wrap=("unshare", "--user", "--map-root-user", "--mount", "--", *limits, *bounded))
    assert "an image cannot be built on this machine (unshare: unshare failed" in said.stdout, said
    assert "a container must allow mounts (docker: --privileged)" in said.stdout
    assert not list((tmp_path / "store/images/1/scratch").iterdir())
