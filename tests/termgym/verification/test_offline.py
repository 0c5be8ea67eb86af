"""Verifiers that fetch their tools at run time find them without network, or what they say does not count.

The scripts are those that task folders really bring, in the variants that are to be found.
"""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.specifiers import SpecifierSet

from termgym.verification.offline.shown.requirements import meets
from termgym.verification.offline.toolbox import toolbox

INSTALL = "apt-get update\napt-get install -y curl\ncurl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh\n"
SOURCE = "source $HOME/.local/bin/env\n"
UVX = (
    "uvx -p 3.13 -w pytest==8.4.1 -w pytest-json-ctrf==0.3.5 pytest --ctrf $LOGS/ctrf.json $TESTS/test_outputs.py -rA\n"
)

SCRIPTS = {
    "uvx": f"{INSTALL}{SOURCE}{UVX}",
    "uvx, strict": f"set -euo pipefail\n{INSTALL}{SOURCE}{UVX}",
    "uvx, spelled out": INSTALL
    + 'export PATH="$HOME/.local/bin:$PATH"\n'
    + "uvx --python 3.13 --with pytest==8.4.1 --with=pytest-json-ctrf python -m pytest $TESTS/test_outputs.py -rA\n",
    "uvx, version at the program": f"{INSTALL}{SOURCE}uvx pytest@8.4.1 $TESTS/test_outputs.py\n",
    "uvx, from": f"{INSTALL}{SOURCE}uvx --from 'pytest>=8,<10' pytest $TESTS/test_outputs.py\n",
    "uv tool run": f"{INSTALL}{SOURCE}uv tool run --with pytest-json-ctrf pytest $TESTS/test_outputs.py\n",
    "only if missing": f"if ! command -v uv &>/dev/null; then\n{INSTALL}fi\n{SOURCE}{UVX}",
    "uv add": f"{INSTALL}{SOURCE}uv init\nuv add pytest==8.4.1\nuv run pytest $TESTS/test_outputs.py -rA\n",
    "uv run with": f"{INSTALL}{SOURCE}uv run --with pytest python -m pytest $TESTS/test_outputs.py -rA\n",
    "uv venv": f"{INSTALL}{SOURCE}uv venv .testing\nsource .testing/bin/activate\nuv pip install pytest==8.4.1\n"
    "uv run pytest $TESTS/test_outputs.py -rA\n",
    "the environment's pip": f"{INSTALL}{SOURCE}uv venv .testing\nsource .testing/bin/activate\npip install pytest\n"
    "python -m pytest $TESTS/test_outputs.py -rA\n",
    "requirements": f"{INSTALL}{SOURCE}echo 'pytest==8.4.1 # why' > r.txt\nuv add -r r.txt\n"
    "uv run pytest $TESTS/test_outputs.py\n",
    "wget": "apt-get install -y --no-install-recommends wget ca-certificates\n"
    f"wget -qO- https://astral.sh/uv/install.sh | sh\n{SOURCE}{UVX}",
    "in two steps": f"curl -fsSLo i.sh https://astral.sh/uv/install.sh\nsh i.sh\n{SOURCE}{UVX}",
    "with many options": "(set -o pipefail; curl --fail --retry 3 --connect-timeout 30 -LsSf "
    f"https://astral.sh/uv/0.10.11/install.sh | sh) || exit 9\n{SOURCE}{UVX}",
}


class Run(NamedTuple):
    """What a script came to."""

    status: int
    output: str
    unserved: str
    versions: str


def run(tmp_path: Path, script: str, test: str = "def test_it(): pass\n") -> Run:
    """Run a verifier's script with the tools first on its PATH, in an empty directory, at an empty home."""
    places = {name: tmp_path / name for name in ("home", "app", "tests", "logs/verifier")}
    for place in places.values():
        place.mkdir(parents=True)
    (places["tests"] / "test_outputs.py").write_text(test)
    logs = str(places["logs/verifier"])
    env = {
        "PATH": f"{toolbox()}/bin:{toolbox()}/python:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(places["home"]),
        "TESTS": str(places["tests"]),
        "LOGS": logs,
        "ROLF_TOOLS_LOG": logs,
    }
    done = subprocess.run(
        ["bash", "-c", script], env=env, cwd=places["app"], capture_output=True, text=True, check=False
    )
    told = [Path(logs, name) for name in ("unserved.txt", "versions.txt")]
    unserved, versions = (each.read_text() if each.exists() else "" for each in told)
    return Run(done.returncode, done.stdout + done.stderr, unserved, versions)


@pytest.mark.parametrize("name", SCRIPTS)
def test_serves_what_verifiers_ask_for(tmp_path: Path, name: str) -> None:
    """The tests run, and pass."""
    done = run(tmp_path, SCRIPTS[name])
    assert (done.status, done.unserved) == (0, ""), done.output
    assert "1 passed" in done.output


@pytest.mark.parametrize("name", ["uvx", "uv add", "uv venv"])
def test_a_failing_test_fails(tmp_path: Path, name: str) -> None:
    """The exit status is what the script makes its verdict of."""
    done = run(tmp_path, SCRIPTS[name], "def test_it(): assert 1 + 1 == 3\n")
    assert done.status == 1
    assert "1 failed" in done.output


def test_writes_the_report_that_was_asked_for(tmp_path: Path) -> None:
    """Some verifiers make their verdict of the CTRF file."""
    run(tmp_path, SCRIPTS["uvx"])
    assert json.loads((tmp_path / "logs/verifier/ctrf.json").read_text())["results"]["summary"]["passed"] == 1


def test_tells_which_versions_ran(tmp_path: Path) -> None:
    """They may be others than asked for, and a verdict may depend on it."""
    versions = run(tmp_path, SCRIPTS["uvx"]).versions
    assert "pytest 9" in versions
    assert "(asked for ==8.4.1)" in versions


def test_keeps_the_images_packages_out(tmp_path: Path) -> None:
    """uvx isolates: what the agent installed is not importable there, nor is a plugin of its loaded."""
    source = "import sys\ndef test_it(): assert not [p for p in sys.path if 'dist-packages' in p], sys.path\n"
    assert run(tmp_path, SCRIPTS["uvx"], source).status == 0


def test_an_environment_that_lies_ready_is_not_used(tmp_path: Path) -> None:
    """Whoever prepared it would decide what pytest says."""
    plant = "mkdir -p .testing/bin; touch .testing/pyvenv.cfg; printf '#!/bin/sh\\nexit 0\\n' > .testing/bin/pytest\n"
    plant += "chmod +x .testing/bin/pytest; cp -r .testing .venv\n"
    for number, name in enumerate(("uv venv", "uv add")):
        done = run(tmp_path / str(number), plant + SCRIPTS[name], "def test_it(): assert False\n")
        assert done.status == 1, done.output


UNSERVED = {
    "apt-get install -y no-such-package-at-all": "apt-get install no-such-package-at-all",
    "curl -s https://example.com/data.json": "curl https://example.com/data.json",
    "wget https://example.com/data.json": "wget https://example.com/data.json",
    f"{INSTALL}{SOURCE}uvx -w pandas==2.3.3 pytest": "package pandas==2.3.3",
    f"{INSTALL}{SOURCE}uvx ruff check": "package ruff",
    f"{INSTALL}{SOURCE}uv add 'pluggy<1'": "package pluggy<1 (here is",
    f"{INSTALL}{SOURCE}uv publish": "uv publish",
    "pip install no-such-package-at-all": "package no-such-package-at-all",
    "python3 -m pip install no-such-package-at-all": "package no-such-package-at-all",
    "pip install git+https://example.com/x.git": "package 'git+https://example.com/x.git'",
}


@pytest.mark.parametrize("script", UNSERVED)
def test_says_what_it_cannot_serve(tmp_path: Path, script: str) -> None:
    """Whatever the script makes of it, its verdict must not count: the agent is not to blame."""
    done = run(tmp_path, script + " || true")
    assert done.unserved.startswith(UNSERVED[script]), (done.unserved, done.output)


SERVED = (
    "apt-get update -qq && apt-get install -y --no-install-recommends bash coreutils curl=7.* && apt-get clean",
    "DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 install -y bash",
    "curl --version",
    "curl -s file:///etc/passwd",
    "uv --version; true",
    "pip --version; true",
    "python3 -c 'print(1)'",
    "python3 -m json.tool < /dev/null; true",
)


@pytest.mark.parametrize("script", SERVED)
def test_lets_pass_what_needs_no_network(tmp_path: Path, script: str) -> None:
    """The image's own programs do it."""
    done = run(tmp_path, script)
    assert (done.status, done.unserved) == (0, ""), done.output


def test_a_local_server_is_asked_by_the_images_own_curl(tmp_path: Path) -> None:
    """Tests ask the agent's server; only the rest of the world is out of reach."""
    script = (
        "python3 -u -m http.server 0 --bind 127.0.0.1 > out 2>&1 &\n"
        "until port=$(grep -o 'port [0-9]*' out | cut -c6-); [ -n \"$port\" ]; do :; done\n"
        "curl -sf http://127.0.0.1:$port/out; code=$?; kill %1; exit $code\n"
    )
    done = run(tmp_path, script)
    assert (done.status, done.unserved) == (0, ""), done.output
    assert "Serving HTTP" in done.output


def test_the_toolbox_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It depends on versions alone, and a second process takes what the first has made."""
    monkeypatch.setenv("ROLF_CACHE", str(tmp_path))
    first = toolbox.__wrapped__()
    made = os.stat(first).st_ino
    assert toolbox.__wrapped__() == first
    assert os.stat(first).st_ino == made
    assert [each.name for each in (tmp_path / "verifier-tools").iterdir()] == [os.path.basename(first)]


def test_wheels_that_lie_ready_are_lent(tmp_path: Path, cache: Path) -> None:
    """Whoever runs many tasks puts what their verifiers want into the cache, once."""
    wheels = cache / "wheels"
    wheels.mkdir(exist_ok=True)
    described = (
        "Metadata-Version: 2.1\nName: Some_Thing\nVersion: 1.2\nRequires-Dist: pluggy>=1\nRequires-Python: >=3.8\n"
    )
    with zipfile.ZipFile(wheels / "Some_Thing-1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("something.py", "import pluggy\ndef main(): print('something', pluggy.__name__)\n")
        wheel.writestr("Some_Thing-1.2.dist-info/METADATA", described)
        wheel.writestr("Some_Thing-1.2.dist-info/entry_points.txt", "[console_scripts]\nsomething = something:main\n")
    before = toolbox()
    toolbox.cache_clear()
    try:
        assert toolbox() != before
        script = f"{INSTALL}{SOURCE}uvx some-thing==1.2 || uvx --from 'some_thing~=1.1' something\n"
        done = run(tmp_path, script)
        assert "something pluggy" in done.output, done
        assert done.versions.startswith("some-thing 1.2")
    finally:
        (wheels / "Some_Thing-1.2-py3-none-any.whl").unlink()
        toolbox.cache_clear()


@pytest.mark.parametrize(
    ("version", "condition", "met"),
    [
        ("1.2.3", "", True),
        ("1.2.3", "==1.2.3", True),
        ("1.2", "==1.2.0", True),
        ("1.2.3", "==1.2.*", True),
        ("1.3.0", "==1.2.*", False),
        ("1.3.0", "!=1.2.*", True),
        ("1.2.3", "~=1.1", True),
        ("2.0", "~=1.1", False),
        ("1.2.3", ">=1.2,<2", True),
        ("1.10", ">1.9", True),
        ("1.2.3", "<=1.2", False),
        ("1.2.3", "1.2.3", True),
        ("1.2.3", "@ file:///x", False),
    ],
)
def test_versions_are_compared_as_pip_does(version: str, condition: str, met: bool) -> None:
    """For releases; what is no condition is not met."""
    assert meets(version, condition) is met
    if met and condition[:1] in "=!~<>":
        assert SpecifierSet(condition).contains(version)
