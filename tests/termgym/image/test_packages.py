"""Programs of a build may fetch packages where the network is allowed, and nothing of how is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from termgym.image import Recipe, Store, build
from termgym.image.debootstrap import make_root, plan_root
from termgym.image.packages import host_setup
from termgym.image.roots import remove_root
from termgym.image.tree import Tree


def test_lends_mirrors_proxies_and_certificates_without_paths_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, given = tmp_path / "home", tmp_path / "given"
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text(
        "[global]\nindex-url = https://user:secret@mirror.example/simple\nfind-links = /opt/wheels\n"
        "extra-index-url = file:///opt/own https://other.example/simple\n"
    )
    (tmp_path / "ca.pem").write_text("certificates")
    given.mkdir()
    for name, value in (("HOME", home), ("SSL_CERT_FILE", tmp_path / "ca.pem"), ("HTTPS_PROXY", "http://proxy:1")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "file:///opt/own")
    env = host_setup(given, one_user=True)
    settings = (given / "pip.conf").read_text()
    assert "https://user:secret@mirror.example/simple" in settings
    assert "https://other.example/simple" in settings
    assert "/opt" not in settings
    assert env["HTTPS_PROXY"] == "http://proxy:1"
    assert env["PIP_EXTRA_INDEX_URL"] == ""
    assert (given / "certificates.pem").read_text() == "certificates"
    assert 'APT::Sandbox::User "root";' in (given / "apt.conf").read_text()
    assert {value for value in env.values() if value.startswith("/")} <= {
        f"/dev/.rolf/{name}" for name in ("certificates.pem", "pip.conf", "apt.conf", "npmrc")
    }


def test_shows_what_it_lends_only_with_network_and_keeps_it_out_of_the_layer(make) -> None:
    text = "FROM tiny\nRUN ls /dev/.rolf > /lent; env > /env\n"
    without = make(text)
    assert (without.text("/lent"), "PIP_CONFIG_FILE" in without.text("/env")) == ("", False)
    lent = make(text, network=True)
    assert "pip.conf" in lent.text("/lent")
    assert lent.image.env.keys() == {"PATH"}
    layer = Path(lent.image.layers[-1])
    assert sorted(str(path.relative_to(layer)) for path in layer.rglob("*")) == ["dev", "env", "etc", "lent", "sys"]


@pytest.mark.nightly
def test_installs_from_the_network(tmp_path: Path, store: Store) -> None:
    (tmp_path / "Dockerfile").write_text(
        "FROM python:3.11-slim\nRUN apt-get update && apt-get install -y --no-install-recommends cowsay\n"
        "RUN pip install six==1.16.0 && python -c 'import six; print(six.__file__)' > /said\n"
    )
    image = build(Recipe(dockerfile=str(tmp_path / "Dockerfile")), store=store, network=True)
    tree = Tree(image.layers, store.prefix)
    assert tree.find("/usr/games/cowsay") is not None
    assert (tree.read("/said") or b"").startswith(b"/usr/local/lib/python3")
    assert tree.read("/etc/resolv.conf") == b""


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_makes_a_root_filesystem_by_debootstrap(tmp_path: Path, store: Store) -> None:
    root = make_root(store, plan_root("debian-12"), print)
    assert "Debian GNU/Linux 12" in str(root.about["system"])
    (tmp_path / "Dockerfile").write_text("FROM debian:bookworm-slim\nRUN cat /etc/debian_version > /said\n")
    image = build(Recipe(dockerfile=str(tmp_path / "Dockerfile")), store=store)
    assert image.layers[0] == str(root.tree)
    assert not image.notes
    assert (Tree(image.layers, store.prefix).read("/said") or b"").startswith(b"12.")
    assert remove_root(store, "debian-12")
