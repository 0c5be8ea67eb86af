"""COPY and ADD put things where docker puts them."""

from __future__ import annotations

import io
import os
import tarfile
import time
from pathlib import Path

import pytest

from termgym.errors import ImageError
from termgym.sandbox.environment import EPOCH

FILES = {"a.txt": "a", "b.txt": "b", "d/one": "1", "d/sub/two": "2", ".hidden": "h"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("COPY a.txt /x", {"/x": "a"}),
        ("COPY a.txt /x/", {"/x/a.txt": "a"}),
        ("COPY a.txt /srv", {"/srv/a.txt": "a"}),
        ("COPY a.txt /x/y/z", {"/x/y/z": "a"}),
        ("COPY a.txt .", {"/w/a.txt": "a"}),
        ("COPY ./a.txt ./x/.", {"/w/x/a.txt": "a"}),
        ("COPY ../../a.txt x", {"/w/x": "a"}),
        ("COPY /a.txt x", {"/w/x": "a"}),
        ("COPY a.txt b.txt /x/", {"/x/a.txt": "a", "/x/b.txt": "b"}),
        ("COPY a.txt b.txt /srv", {"/srv/a.txt": "a", "/srv/b.txt": "b"}),
        ("COPY *.txt /x/", {"/x/a.txt": "a", "/x/b.txt": "b"}),
        ("COPY [^b].t?t x/", {"/w/x/a.txt": "a"}),
        ("COPY d /x", {"/x/one": "1", "/x/sub/two": "2"}),
        ("COPY d /srv/", {"/srv/one": "1", "/srv/sub/two": "2"}),
        ("COPY d/* /x/", {"/x/one": "1", "/x/two": "2"}),
        ("COPY . /x", {"/x/a.txt": "a", "/x/d/sub/two": "2", "/x/.hidden": "h"}),
        ('COPY ["a.txt", "/with space"]', {"/with space": "a"}),
        ("COPY --exclude=sub d /x", {"/x/one": "1", "/x/sub/two": None}),
        ("COPY --exclude=*.txt . /x", {"/x/a.txt": None, "/x/d/one": "1"}),
        ("COPY --parents d/sub/two a.txt /x/", {"/x/d/sub/two": "2", "/x/a.txt": "a"}),
        ("COPY --link a.txt /x", {"/x": "a"}),
        ("ENV N=a\nCOPY $N.txt /$N", {"/a": "a"}),
        ("COPY <<EOF /x\nE $HOME ${V:-v}\nEOF", {"/x": "E  v\n"}),
        ("ENV V=1\nCOPY <<'EOF' <<-B a.txt /x/\n'$V'\nEOF\n\t\"$V\"\nB",
         {"/x/EOF": "'$V'\n", "/x/B": '"1"\n', "/x/a.txt": "a"}),
        ("COPY a.txt /bin/../root/y", {"/root/y": "a"}),
    ],
)  # fmt: skip
def test_puts_files_where_docker_does(make, line: str, expected: dict[str, str | None]) -> None:
    built = make(f"FROM tiny\nWORKDIR /w\n{line}\n", FILES)
    for path, text in expected.items():
        content = built.tree.read(path)
        assert (None if content is None else content.decode()) == text, path


def test_follows_the_links_of_the_image_to_the_target(make) -> None:
    """On a merged-/usr system /bin is a link, and must stay one."""
    links = "RUN ln -s /srv/deep /link && ln -s ../x /srv/up && mkdir /srv/deep"
    built = make(f"FROM tiny\n{links}\nCOPY a.txt /link/\nCOPY a.txt /srv/up\n", FILES)
    assert built.text("/srv/deep/a.txt") == "a"
    assert built.text("/x") == "a"
    found = built.tree.find("/link", follow=False)
    assert found is not None
    assert found.is_link


def test_copies_what_a_link_of_the_context_names_and_links_in_directories_as_they_are(make, tmp_path: Path) -> None:
    (tmp_path / "context/d").mkdir(parents=True)
    (tmp_path / "context/link").symlink_to("d/one")
    (tmp_path / "context/d/inner").symlink_to("one")
    (tmp_path / "context/d/outer").symlink_to("/etc/passwd")
    built = make("FROM tiny\nCOPY link /x\nCOPY d /y\n", FILES)
    assert built.text("/x") == "1"
    for name, target in (("inner", "one"), ("outer", "/etc/passwd")):
        found = built.tree.find(f"/y/{name}", follow=False)
        assert found is not None
        assert os.readlink(found.sources[0]) == target


@pytest.mark.parametrize("target", ["/etc/hostname", "../../../../../../../../../etc/hostname"])
def test_never_reads_outside_the_context(make, tmp_path: Path, target: str) -> None:
    """Else a task could show its agent any file of this machine."""
    (tmp_path / "context").mkdir()
    (tmp_path / "context/link").symlink_to(target)
    with pytest.raises(ImageError, match="'link' is not in the context"):
        make("FROM tiny\nCOPY link /x\n")


def test_refuses_a_pipe(make, tmp_path: Path) -> None:
    """Reading it would never end."""
    (tmp_path / "context").mkdir()
    os.mkfifo(tmp_path / "context/pipe")
    with pytest.raises(ImageError, match="'pipe' is no file and no directory"):
        make("FROM tiny\nCOPY pipe /x\n")
    assert make("FROM tiny\nCOPY . /x\n").names("/x") == ["Dockerfile"]


def test_keeps_modes_and_gives_everything_to_root_at_one_time(make, tmp_path: Path) -> None:
    (tmp_path / "context").mkdir()
    (tmp_path / "context/run").write_text("x")
    (tmp_path / "context/run").chmod(0o751)
    built = make("FROM tiny\nCOPY run /new/run\nCOPY --chmod=4711 run /new/set\nCOPY --chmod=700 d /new/d\n", FILES)
    assert built.mode("/new/run") == 0o751
    assert built.mode("/new/set") == 0o4711
    assert (built.mode("/new"), built.mode("/new/d"), built.mode("/new/d/one")) == (0o755, 0o700, 0o700)
    found = built.tree.find("/new/run")
    assert found is not None
    assert found.status.st_mtime == EPOCH
    assert found.status.st_uid == os.geteuid()


@pytest.mark.root
@pytest.mark.parametrize(
    ("owner", "expected"),
    [("ann", (1001, 1002)), ("ann:wheel", (1001, 10)), ("7", (7, 7)), ("7:ann", (7, 1002)), ("0:9", (0, 9))],
)
def test_looks_owners_up_in_the_image(make, owner: str, expected: tuple[int, int]) -> None:
    built = make(f"FROM tiny\nCOPY --chown={owner} d /n/d\n", FILES)
    for path in ("/n", "/n/d", "/n/d/sub/two"):
        found = built.tree.find(path)
        assert found is not None
        assert (found.status.st_uid, found.status.st_gid) == expected, path


def test_leaves_what_a_directory_of_the_image_is_like(make) -> None:
    """A file put into /tmp must not take the sticky bit away."""
    built = make("FROM tiny\nCOPY a.txt /tmp/\nCOPY d /root\n", FILES)
    assert built.mode("/tmp") == 0o1777
    assert built.mode("/root") == 0o700


@pytest.mark.parametrize(
    ("ignore", "kept", "gone"),
    [
        ("*.txt\n", ["d"], ["a.txt", "b.txt"]),
        ("*.txt\n!b.txt\n", ["b.txt", "d"], ["a.txt"]),
        ("*\n!d/sub\n", ["d"], ["a.txt", ".hidden"]),
        ("# d\n/d/\n\n", ["a.txt"], ["d"]),
        ("**/two\n", ["a.txt", "d"], []),
    ],
)
def test_leaves_out_what_dockerignore_says(make, ignore: str, kept: list[str], gone: list[str]) -> None:
    built = make("FROM tiny\nCOPY . /x/\n", {**FILES, ".dockerignore": ignore})
    names = built.names("/x")
    assert set(kept) <= set(names)
    assert not set(gone) & set(names)
    if ignore.startswith("*\n"):
        assert built.names("/x/d") == ["sub"]
    if "two" in ignore:
        assert built.names("/x/d") == ["one", "sub"]
        assert built.names("/x/d/sub") == []


def test_prefers_the_ignore_file_of_the_dockerfile(make) -> None:
    built = make("FROM tiny\nCOPY . /x/\n", {**FILES, ".dockerignore": "a.txt", "Dockerfile.dockerignore": "b.txt"})
    assert built.tree.read("/x/a.txt") == b"a"
    assert built.tree.read("/x/b.txt") is None


def test_copies_from_stages_by_name_and_number_with_their_times(make) -> None:
    text = (
        "FROM tiny AS one\nCOPY --chmod=640 a.txt /deep/a\nRUN touch -d @1000000000 /deep/old\n"
        "FROM tiny\nCOPY --from=one /deep /x\nCOPY --from=0 deep/a /y\n"
    )
    built = make(text, FILES)
    assert (built.text("/x/a"), built.mode("/x/a"), built.text("/y")) == ("a", 0o640, "a")
    found = built.tree.find("/x/old")
    assert found is not None
    assert found.status.st_mtime == 1_000_000_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("COPY none /x", r"'none' is not in the context; it has there: .*a\.txt"),
        ("COPY *.none /x/", r"'\*\.none' matches nothing in the context"),
        ("COPY d/none/x /x", "'d/none/x' is not in the context; it has no such directory either"),
        ("COPY ../x /x", "'../x' is not in the context; a path cannot leave it"),
        ("COPY ignored /x", r"\.dockerignore leaves it out; add !ignored there"),
        ("COPY a.txt b.txt /x", "2 sources for the target '/x', which is no directory; end it with a slash: /x/"),
        ("COPY a.txt", "takes a source and a target, got 'a.txt'"),
        ("COPY --chmod=rwx a.txt /x", "--chmod=rwx is no mode; give an octal one"),
        ("COPY --chown=bob a.txt /x", "--chown=bob: user 'bob' is not in the image's /etc/passwd"),
        ("COPY --chown=ann:bob a.txt /x", "group 'bob' is not in the image's /etc/group"),
        ("COPY --from=nobody /x /y", "no root filesystem here stands for 'nobody'"),
        ("COPY d /etc/passwd", "/etc/passwd is no directory in the image"),
        ("COPY a.txt /etc/passwd/x", "/etc/passwd is no directory in the image"),
        ("COPY name-of-a-directory /", "/tmp is a directory in the image, and /name-of-a-directory/tmp is none"),
        ("ADD http://127.0.0.1:1/x /x", "needs the network; allow it"),
        ("ADD git@github.com:a/b.git /x", "is a git repository; clone it in a RUN"),
        ("ADD broken.tar /x/", None),
    ],
)  # fmt: skip
def test_says_what_cannot_be_copied(make, line: str, said: str | None) -> None:
    files = {**FILES, "ignored": "", ".dockerignore": "ignored", "name-of-a-directory/tmp": "", "broken.tar": "x"}
    if said is None:  # docker takes what is no archive for a file
        assert make(f"FROM tiny\n{line}\n", files).text("/x/broken.tar") == "x"
        return
    with pytest.raises(ImageError, match=said) as caught:
        make(f"FROM tiny\n{line}\n", files)
    assert f"Dockerfile, line 2: {line[:3]}" in str(caught.value)


def test_unpacks_archives_with_their_owners_and_keeps_them_in_their_target(make) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, mode in (("in/x", 0o640), ("y", 0o600)):
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime, member.uid, member.gid = 1, mode, 1_000_000_000, 7, 8
            archive.addfile(member, io.BytesIO(b"z"))
    built = make("FROM tiny\nADD pack.tgz /x\nCOPY pack.tgz /y\nADD a.txt /z/\n", {"pack.tgz": raw.getvalue(), **FILES})
    assert (built.text("/x/in/x"), built.mode("/x/in/x"), built.text("/z/a.txt")) == ("z", 0o640, "a")
    assert built.tree.read("/y") == raw.getvalue()
    found = built.tree.find("/x/y")
    assert found is not None
    assert found.status.st_mtime == 1_000_000_000
    if os.geteuid() == 0:
        assert (found.status.st_uid, found.status.st_gid) == (7, 8)


def test_unpacks_an_archive_nowhere_else(make, tmp_path: Path) -> None:
    """By its names, by a link that it brings, or by a hard link to a file of the host."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    link, through, hard = tarfile.TarInfo("link"), tarfile.TarInfo("link/made"), tarfile.TarInfo("hard")
    link.type, link.linkname = tarfile.SYMTYPE, str(outside)
    hard.type, hard.linkname = tarfile.LNKTYPE, str(outside / "kept")
    for members in ([tarfile.TarInfo(f"../../../../../..{outside}/made")], [link, through], [hard]):
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as archive:
            for member in members:
                archive.addfile(member)
        with pytest.raises(ImageError, match=r"pack\.tar cannot be unpacked"):
            make("FROM tiny\nADD pack.tar /x/\n", {"pack.tar": raw.getvalue()})
        assert [path.name for path in outside.iterdir()] == ["kept"]


def test_never_writes_through_a_link_that_it_copied(make, tmp_path: Path) -> None:
    """A link from one source and a directory of that name from another: the file must not come to lie on the host."""
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    outside.chmod(0o700)
    (tmp_path / "context/one").mkdir(parents=True)
    (tmp_path / "context/one/x").symlink_to(outside)
    for files in ({"two/x/file": "bad"}, {"two/x/sub/file": "bad"}):
        with pytest.raises(ImageError, match="/t/x is no directory in the image"):
            make("FROM tiny\nCOPY one two /t/\n", files)
        assert [str(path.relative_to(outside)) for path in outside.rglob("*")] == ["sub"]
        assert outside.stat().st_mode & 0o777 == 0o700


def test_does_not_read_a_huge_file_that_is_not_copied_and_refuses_one_that_is(make, tmp_path: Path) -> None:
    (tmp_path / "context").mkdir()
    with open(tmp_path / "context/huge", "wb") as file:
        file.truncate(5 << 30)
    began = time.monotonic()
    make("FROM tiny\nCOPY a.txt /x\n", FILES)
    with pytest.raises(ImageError, match=r"5\.0 GiB from the context, huge alone 5\.0 GiB; at most 4 GiB are copied"):
        make("FROM tiny\nCOPY . /x\n", FILES)
    make("FROM tiny\nCOPY . /x\n", {**FILES, ".dockerignore": "huge"})
    assert time.monotonic() - began < 2.0


def test_keeps_holes(make, tmp_path: Path) -> None:
    (tmp_path / "context").mkdir()
    with open(tmp_path / "context/sparse", "wb") as file:
        file.truncate(64 << 20)
        file.write(b"begin")
    found = make("FROM tiny\nCOPY sparse /x\n").tree.find("/x")
    assert found is not None
    assert found.status.st_size == 64 << 20
    assert found.status.st_blocks * 512 < 1 << 20
