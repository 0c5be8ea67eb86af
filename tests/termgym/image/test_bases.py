"""What FROM stands for: this machine's own system without its owner's things, or what a table says."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from machines import python_on
from toy_images import PROGRAMS, tiny_layer

from termgym.errors import ImageError
from termgym.image import Image, Recipe, Store, build
from termgym.image.bases import TABLE, host_image
from termgym.image.debootstrap import plan_root
from termgym.image.people import find_owner, find_person
from termgym.image.references import parse_reference
from termgym.image.roots import find_root, keep_root, list_roots, remove_root
from termgym.image.tree import Found, Tree

TOP = {"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "root",
       "run", "sbin", "srv", "sys", "tmp", "usr", "var"}  # fmt: skip
debian = pytest.mark.skipif(not Path("/var/lib/dpkg/status").exists(), reason="this machine is no Debian")


@pytest.fixture(scope="module")
def host(store: Store) -> Tree:
    return Tree(host_image(store).layers, store.prefix)


def _all(tree: Tree, path: str) -> list[Found]:
    found = tree.find(path)
    assert found is not None
    below = [found]
    for each in below:
        if each.is_directory:
            below.extend(tree.children(each))
    return below


def test_the_host_shows_its_programs_and_nothing_of_its_owner(host: Tree) -> None:
    for program in ("bash", "cat", "env"):
        assert host.find(f"/bin/{program}") is not None
    for place in ("/home", "/opt", "/srv", "/tmp", "/mnt", "/media", "/boot", "/usr/local/bin", "/var/log/apt"):
        found = host.find(place)
        assert found is not None, place
        assert list(host.children(found)) == [], place
    root = host.find("/")
    assert root is not None
    assert {child.path.strip("/") for child in host.children(root)} <= TOP


def test_the_etc_of_the_host_holds_no_secret(host: Tree) -> None:
    """Whatever a user of the machine may not read there, an agent may not either."""
    for found in _all(host, "/etc"):
        source = Path("/etc", found.path.removeprefix("/etc").lstrip("/"))
        if found.path in ("/etc/shadow", "/etc/gshadow") or not source.is_file():
            continue
        content = host.read(found.path)
        assert not content or stat.S_IMODE(source.stat().st_mode) & stat.S_IROTH or content != source.read_bytes(), (
            found.path
        )
    shadow = (host.read("/etc/shadow") or b"").decode()
    assert {line.split(":")[1] for line in shadow.splitlines()} == {"*"}
    assert host.read("/etc/hostname") == b"rolf\n"
    assert host.read("/etc/machine-id") == b""
    assert host.read("/etc/resolv.conf") == b""
    assert b"@" not in b"".join(
        host.read(each.path) or b"" for each in _all(host, "/etc/apt") if "sources" in each.path
    )


def test_the_people_of_the_host_are_its_systems(host: Tree) -> None:
    users = [line.split(":") for line in (host.read("/etc/passwd") or b"").decode().splitlines()]
    assert users[0] == ["root", "x", "0", "0", "root", "/root", "/bin/bash"]
    assert all(int(user[2]) < 1000 or int(user[2]) == 65534 for user in users)
    assert find_person(host, "").home == "/root"


def test_programs_of_the_host_run(store: Store, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM debian:12\nRUN bash -c 'id -un; ls /' > /said; rm /usr/bin/env\n")
    image = build(Recipe(dockerfile=str(tmp_path / "Dockerfile")), store=store)
    tree = Tree(image.layers, store.prefix)
    assert (tree.read("/said") or b"").startswith(b"root\n")
    assert tree.find("/usr/bin/env") is None
    assert Path("/usr/bin/env").exists()


@debian
def test_python_can_be_installed_into(store: Store, tmp_path: Path) -> None:
    text = (
        "FROM python:3.1\nRUN python -c 'import sys; print(sys.prefix)' > /said && python3 -m pip --version >> /said\n"
        "RUN pip install --no-index -q /none 2> /err; cat /err; ! grep -q externally-managed /err\n"
        "RUN head -n 3 /usr/local/bin/pip && pip list --format=freeze > /list\n"
    )
    (tmp_path / "Dockerfile").write_text(text)
    image = build(Recipe(dockerfile=str(tmp_path / "Dockerfile")), store=store)
    said = (Tree(image.layers, store.prefix).read("/said") or b"").decode().splitlines()
    assert said[0] == "/usr/local"
    assert "from /usr/local/lib/python3" in said[1]
    assert any("python:3.1 has Python 3." in note for note in image.notes)


@pytest.mark.parametrize(
    ("text", "name", "roots"),
    [
        ("debian:12", "debian", ("debian-12",)),
        ("debian:bookworm-slim", "debian", ("debian-12",)),
        ("debian:12.5-slim", "debian", ("debian-12",)),
        ("debian", "debian", ("debian-13",)),
        ("ubuntu:24.04", "ubuntu", ("ubuntu-24.04",)),
        ("docker.io/library/ubuntu:noble-20250101", "ubuntu", ("ubuntu-24.04",)),
        ("ubuntu@sha256:abc", "ubuntu", ("ubuntu-24.04",)),
        ("python:3.12-slim", "python", ("python-3.12", "ubuntu-24.04")),
        ("python:3.11.9-slim-bookworm", "python", ("python-3.11", "debian-12")),
        ("public.ecr.aws/docker/library/python:3.13", "python", ("python-3.13", "debian-13")),
        ("ghcr.io/laude-institute/t-bench/ubuntu-24-04:latest", "ubuntu", ("ubuntu-24.04",)),
        ("ghcr.io/laude-institute/t-bench/python-3-13:20250620", "python", ("python-3.13", "debian-13")),
        ("node:20-alpine", "node", ("node-20",)),
        ("localhost:5000/own/image:1", "localhost:5000/own/image", ("localhost:5000/own/image-1",)),
    ],
)
def test_knows_what_a_reference_means(text: str, name: str, roots: tuple[str, ...]) -> None:
    found = parse_reference(text)
    assert (found.name, found.roots) == (name, roots)


def _built(tmp_path: Path, store: Store, text: str, **options: object) -> Image:
    (tmp_path / "Dockerfile").write_text(text)
    return build(Recipe(dockerfile=str(tmp_path / "Dockerfile")), store=store, **options)  # type: ignore[arg-type]


def test_a_table_of_the_users_own_comes_first(
    tmp_path: Path, store: Store, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "bases.toml"
    table.write_text(f'[bases]\n"debian:12" = "{tiny}"\n"own/*" = "{tiny}"\n"machine" = "host"\n')
    monkeypatch.setenv(TABLE, str(table))
    for name in ("debian:12", "own/image:7"):
        assert _built(tmp_path, store, f"FROM {name}\n").layers == (str(tiny),)
    assert _built(tmp_path, store, "FROM machine\n").layers == host_image(store).layers
    assert _built(tmp_path, store, "FROM own/x\n", bases={"own/x": "host"}).layers == host_image(store).layers


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[bases]\n'x' = '/none'\n", "base 'x' is mapped to '/none', which is no directory"),
        ("[bases]\n'x' = 'relative'\n", "is mapped to 'relative'"),
        ("[bases]\n'x' = 1\n", "bases.x is 1; give a path or a name in quotes"),
        ("[bases\n", r"write \[bases\] and below it"),
        (None, "is no file; give a TOML file"),
    ],
)
def test_says_what_is_wrong_with_the_table(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "bases.toml").write_text(content)
    monkeypatch.setenv(TABLE, str(tmp_path / "bases.toml"))
    with pytest.raises(ImageError, match=said):
        _built(tmp_path, store, "FROM x\n")


def test_a_root_filesystem_is_found_by_its_name_and_replaced(tmp_path: Path, store: Store, tiny: Path) -> None:
    stood_in = _built(tmp_path, store, "FROM ubuntu:22.04\n")
    assert any("ubuntu:22.04 stands on this machine's" in note for note in stood_in.notes)
    for identity in ("first", "second"):
        with store.scratch() as room:
            (room / "made/tree").mkdir(parents=True)
            (room / "made/tree/which").write_text(identity)
            keep_root(store, "ubuntu-22.04", room / "made/tree", {"suite": "jammy"}, identity)
    image = _built(tmp_path, store, "FROM ubuntu:jammy\n")
    assert Tree(image.layers, store.prefix).read("/which") == b"second"
    assert not image.notes
    found = find_root(store, "ubuntu-22.04")
    assert found is not None
    assert [root.name for root in list_roots(store)] == ["ubuntu-22.04"]
    assert remove_root(store, "ubuntu-22.04")
    assert not remove_root(store, "ubuntu-22.04")
    assert _built(tmp_path, store, "FROM ubuntu:22.04\n").id == stood_in.id
    with pytest.raises(ImageError, match="cannot name a root filesystem"):
        remove_root(store, "../layers")


def test_lends_programs_that_images_are_made_for(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """`COPY --from=ghcr.io/astral-sh/uv` is in many a Dockerfile."""
    text = "FROM scratch\nCOPY --from=ghcr.io/astral-sh/uv:0.5 /uv /uvx /bin/\n"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match="this machine has no uv and uvx to lend; install it"):
        _built(tmp_path, store, text)
    for name in ("uv", "uvx"):
        (tmp_path / name).write_text(name)
        (tmp_path / name).chmod(0o755)
    image = _built(tmp_path, store, text)
    assert Tree(image.layers, store.prefix).read("/bin/uvx") == b"uvx"


def test_says_what_is_missing_in_a_stand_in(tmp_path: Path, store: Store) -> None:
    if Path("/usr/bin/Rscript").exists():
        pytest.fail("this test needs a machine without R")
    with pytest.raises(ImageError, match=r"r-base:4: there is no Rscript in what stands for it here; make one \(`rolf"):
        _built(tmp_path, store, "FROM r-base:4\n")


def test_plans_a_root_filesystem_by_its_name() -> None:
    order = plan_root("python-3.11", include=("git",))
    assert (order.suite, order.distribution, order.include) == (
        "bookworm",
        "debian",
        ("python3", "python3-venv", "git"),
    )
    assert plan_root("own", suite="noble").mirror.endswith(("/ubuntu", "/ubuntu-ports"))
    with pytest.raises(ImageError, match=r"'own' does not say which suite; give one \(--suite bookworm\)"):
        plan_root("own")


def test_finds_people_as_docker_does(store: Store, tiny: Path) -> None:
    tree = Tree([tiny], store.prefix)
    assert find_person(tree, "ann")[:3] == (1001, 1002, (10,))
    assert find_person(tree, "1001").home == "/home/ann"
    assert find_person(tree, "ann:wheel")[:3] == (1001, 10, ())
    assert find_person(tree, "77")[:4] == (77, 0, (), "/")
    assert find_owner(tree, "77") == (77, 77)
    for wrong in ("bob", "ann:bob", "4294967295"):
        with pytest.raises(LookupError):
            find_person(tree, wrong)


@pytest.mark.root
def test_an_ordinary_user_builds_too() -> None:
    """In a user namespace with one user, on a root filesystem of its own."""
    with TemporaryDirectory() as name:  # the directories of pytest are closed to it
        _build_as_an_ordinary_user(Path(name))


def _build_as_an_ordinary_user(tmp_path: Path) -> None:
    tiny = tiny_layer(tmp_path / "tiny", (*PROGRAMS, "mount"))
    (tiny / "bin/sh").symlink_to("bash")
    for place in (tmp_path, *tmp_path.rglob("*")):
        os.chown(place, 65534, 65534, follow_symlinks=False)
    (tmp_path / "Dockerfile").write_text(
        "FROM tiny\nWORKDIR /w\nCOPY --chown=ann a x\nRUN mkdir /d && echo b > /d/f && id -u > /d/g\n"
        "RUN rm -r /d && mkdir /d && echo c > /d/f\nUSER ann\nRUN id -u > /d/who; ! mount -o remount,ro /\n"
    )
    (tmp_path / "a").write_text("a")
    code = f"""
from pathlib import Path
from termgym.image import Recipe, Store, build
from termgym.image.tree import Tree
place = Path({str(tmp_path)!r})
store = Store(place / "store")
assert store.prefix == "user.overlay."
image = build(Recipe(context=str(place), dockerfile=str(place / "Dockerfile")), store=store,
              bases={{"tiny": str(place / "tiny")}})
tree = Tree(image.layers, store.prefix)
print([tree.read(path) for path in ("/w/x", "/d/f", "/d/g", "/d/who")], image.notes)
"""
    said = python_on(code, user=True)
    assert said.stdout.startswith("[b'a', b'c\\n', None, b'0\\n']"), said
    assert "ran as root, for there is no user ann here" in said.stdout
    assert "--chown takes root" in said.stdout
