"""Packages do not install without network: a wheel of another machine or version, a damaged one, or bad settings.

Needs ``venv`` and a pip: the system's, or the wheel of it that ``ensurepip`` has.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import ADJECTIVES, NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, sentence, text

INSTALL = b"""\
#!/bin/bash
# Install what requirements.txt names into .venv, from wheels/ alone: there is no network here.
cd "$(dirname "$0")" || exit
pip=(python3 -m pip --python .venv)
if ! python3 -c 'import pip' 2> /dev/null; then
    bundled=$(python3 -c 'import ensurepip; print(ensurepip.__path__[0])')/_bundled
    pip=(env PYTHONPATH="$(ls /usr/share/python-wheels/pip-*.whl "$bundled"/pip-*.whl 2> /dev/null | tail -n 1)"
         .venv/bin/python -m pip)
fi
exec "${pip[@]}" install -q --disable-pip-version-check --no-cache-dir --no-compile --no-index --find-links wheels \\
    --require-hashes -r requirements.txt
"""
FOREIGN = (
    "cp311-cp311-win_amd64", "cp27-cp27mu-manylinux1_x86_64", "cp311-cp311-macosx_11_0_arm64", "py2-none-any",
    "cp36-cp36m-linux_armv7l",
)  # fmt: skip
"""Tags of wheels that no Linux machine with a Python 3 of today takes."""
ANY = "py3-none-any"
STEADY = "[global]\ntimeout = 10\n"


@dataclass(frozen=True)
class Package:
    """One release of a package."""

    name: str
    version: str
    words: str
    needs: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """What it is imported as."""
        return self.name.replace("-", "_")

    def file(self, tag: str = ANY) -> str:
        """Return the name of its wheel."""
        return f"{self.module}-{self.version}-{tag}.whl"

    def files(self, tag: str = ANY) -> dict[str, bytes]:
        """Return what its wheel holds, by path; RECORD is for an installer to write."""
        info = f"{self.module}-{self.version}.dist-info"
        about = ["Metadata-Version: 2.1", f"Name: {self.name}", f"Version: {self.version}"]
        kind = ["Wheel-Version: 1.0", "Generator: house", "Root-Is-Purelib: true", f"Tag: {tag}"]
        return {
            f"{self.module}.py": f'"""{self.words}"""\n\nVERSION = "{self.version}"\n'.encode(),
            f"{info}/METADATA": text([*about, *(f"Requires-Dist: {need}" for need in self.needs)]),
            f"{info}/WHEEL": text(kind),
        }

    def wheel(self, tag: str = ANY) -> bytes:
        """Return its wheel: the same bytes everywhere, hence not compressed."""
        packed, files = io.BytesIO(), self.files(tag)
        record = f"{self.module}-{self.version}.dist-info/RECORD"
        with zipfile.ZipFile(packed, "w") as archive:
            for path, body in {**files, record: text([*(f"{path},," for path in files), f"{record},,"])}.items():
                entry = zipfile.ZipInfo(path)
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, body)
        return packed.getvalue()


@dataclass(frozen=True)
class Scene:
    """A project with its pinned packages, and the house's mirror."""

    name: str
    place: str
    packages: tuple[Package, ...]
    culprit: Package
    """The one that things may be wrong with."""
    other: Package
    """Another release of the same."""
    home: str
    """The year of the mirror in which the culprit's wheel is the right one."""
    mirror: Mapping[str, bytes]
    """Wheels by path."""
    app: str
    """The program that needs the packages."""

    @property
    def root(self) -> str:
        """The project's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def right(self) -> str:
        """Where the right wheel of the culprit is."""
        return f"/srv/mirror/{self.home}/{self.culprit.file()}"

    @property
    def fixed(self) -> dict[str, bytes]:
        """What may not change in the project, by path."""
        pins = [f"{one.name}=={one.version} --hash=sha256:{sha256(one.wheel())}" for one in self.packages]
        lines = [f"import {one.module}" for one in self.packages]
        lines += [f'print("{one.name}", {one.module}.VERSION)' for one in self.packages]
        readme = [
            f"# {self.name}",
            "",
            f"./install puts what requirements.txt names into .venv, and .venv/bin/python {self.app} shows it.",
            "requirements.txt is reviewed: a wheel with another hash is not ours, whatever it is called. The house",
            "keeps all kinds of wheels in /srv/mirror, by year; some were built again under the same name.",
        ]
        return {"README.md": text(readme), "requirements.txt": text(pins), self.app: text(lines), "install": INSTALL}


def scene(world: World) -> Scene:
    """Draw the project; blind to the cause."""
    rng = world.scene
    names = [f"{rng.choice(ADJECTIVES)}-{noun}" for noun in rng.sample(NOUNS, rng.randrange(3, 6))]
    packages: list[Package] = []
    for name in sorted(names):
        needs = tuple(one.name for one in packages if rng.random() < 0.4)
        packages.append(Package(name, f"{rng.randrange(1, 5)}.{rng.randrange(2, 9)}", sentence(rng), needs))
    culprit = rng.choice(packages)
    major, minor = culprit.version.split(".")
    other = Package(culprit.name, f"{major}.{int(minor) + rng.choice((-1, 1))}", sentence(rng), culprit.needs)
    rebuilt = Package(culprit.name, culprit.version, sentence(rng), culprit.needs)
    home, away = rng.sample(("2024", "2025", "2026"), 2)
    mirror = {f"{home}/{culprit.file()}": culprit.wheel(), f"{away}/{culprit.file()}": rebuilt.wheel()}
    for tag in rng.sample(FOREIGN, 2):
        mirror[f"{rng.choice((home, away))}/{culprit.file(tag)}"] = culprit.wheel(tag)
    for one in (other, *(Package(one.name, f"{one.version}.1", sentence(rng)) for one in packages)):
        mirror[f"{rng.choice((home, away))}/{one.file()}"] = one.wheel()
    return Scene(
        rng.choice(PROJECTS),
        rng.choice(PLACES),
        tuple(packages),
        culprit,
        other,
        home,
        mirror,
        f"{rng.choice(NOUNS)}.py",
    )


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"{at.root}/install fails. Get exactly what requirements.txt there names into its .venv, by pip and without "
        f"network, so that `.venv/bin/python {at.app}` runs. requirements.txt, install and {at.app} are reviewed and "
        "stay as they are, hashes included. Nothing in /srv/mirror may change.",
        f"I can't install the packages of {at.name} (~/{at.place}/{at.name}/install gives an error). We have no "
        "network; whatever is missing, the house has it in /srv/mirror, which is not ours to change. The versions and "
        "hashes in requirements.txt are binding, and nothing else may be in .venv. Don't edit requirements.txt, "
        f"install or {at.app}.",
        f"Please make .venv of ~/{at.place}/{at.name} complete: ./install there breaks off. Only the wheels whose "
        "hashes requirements.txt has may be installed, so don't weaken that, and leave install, "
        f"{at.app} and the mirror in /srv/mirror untouched. There is no index to download from.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    site = f"{at.root}/.venv/lib/python3*/site-packages"
    installed = {path: body for one in at.packages for path, body in one.files().items()}
    listing = text([f"{sha256(installed[path])}  {path}" for path in sorted(installed)])
    mirror = text([f"{sha256(at.mirror[path])}  ./{path}" for path in sorted(at.mirror)])
    ours = "-path '*.dist-info/METADATA' -o -path '*.dist-info/WHEEL' -o -name '*.py'"
    kept = "REQUESTED INSTALLER RECORD"
    return (
        *(FileHash(path=f"{at.root}/{path}", sha256=sha256(body)) for path, body in at.fixed.items()),
        holds(
            f"cd {site} && find . -type f \\( {ours} \\) -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum "
            "| sha256sum",
            pattern=sha256(listing),
        ),
        holds(
            f"cd {site} && for info in *.dist-info; do for name in {kept}; do test -f $info/$name || exit 1; done; done"
        ),
        holds(
            "cd /srv/mirror && find . ! -type d -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum",
            pattern=sha256(mirror),
        ),
        holds(
            f"cd {at.root} && .venv/bin/python -I -B -c \"import sys; sys.path.insert(0, '.'); import {at.app[:-3]}\"",
            pattern="".join(rf"{one.name} {one.version}\n" for one in at.packages).replace(".", r"\."),
        ),
    )


def _task(
    world: World, at: Scene, complaint: str, repair: str, wheel: tuple[str, bytes] | None,
    settings: Mapping[str, str] | None = None,
) -> Task:  # fmt: skip
    """Return the task in which ``wheel`` is what wheels/ has of the culprit: its name and content."""
    wheels = {one.file(): one.wheel() for one in at.packages if one is not at.culprit}
    if wheel is not None:
        wheels[wheel[0]] = wheel[1]
    config = {f"{HOME}/.config/pip/pip.conf": STEADY, **(settings or {})}
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            *(
                FileSpec(f"{at.root}/{path}", body, mode=0o755 if path == "install" else 0o644)
                for path, body in at.fixed.items()
            ),
            *(FileSpec(f"{at.root}/wheels/{name}", body) for name, body in wheels.items()),
            *(FileSpec(f"/srv/mirror/{path}", body) for path, body in at.mirror.items()),
            *(FileSpec(path, body.encode()) for path, body in config.items()),
        ),
        setup=f"set -euo pipefail\ncd {at.root}\npython3 -m venv --without-pip .venv\n",
        allowed=(
            *(f"{at.root}/{path}" for path in (".venv", ".venv/**", "wheels", "wheels/**")),
            *(f"{HOME}/{path}" for path in (".config/pip/**", ".pip/**")),
            *TOOL_TRACES,
        ),
        symptom=(act(f"{at.root}/install", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(
            act(f"cd {at.root}"),
            act(repair),
            act("./install"),
            act(f".venv/bin/python {at.app}", OutputContains(pattern=f"^{at.culprit.name} {at.culprit.version}$")),
        ),
    )


def _nothing_fits(at: Scene) -> str:
    return f"No matching distribution found for {at.culprit.name}=={at.culprit.version}"


def _other_machine(world: World) -> Task:
    """The wheel is for another system or an older Python."""
    at = scene(world)
    tag = world.twist.choice(FOREIGN)
    wheel = (at.culprit.file(tag), at.culprit.wheel(tag))
    return _task(world, at, _nothing_fits(at), f"cp {at.right} wheels/", wheel)


def _other_version(world: World) -> Task:
    """The wheel is of the release before or after, or there is none."""
    at = scene(world)
    wheel = (at.other.file(), at.other.wheel()) if world.twist.random() < 0.6 else None
    return _task(world, at, _nothing_fits(at), f"cp {at.right} wheels/", wheel)


def _damaged(world: World) -> Task:
    """The wheel has the right name, and its bytes are not those that were reviewed."""
    at, rng = scene(world), world.twist
    whole = at.culprit.wheel()
    away = next(body for path, body in at.mirror.items() if path.endswith(at.culprit.file()) and body != whole)
    place = whole.index(b"VERSION") - rng.randrange(5, 20)
    bent = rng.choice(
        (away, whole[: len(whole) * rng.randrange(40, 90) // 100], whole[:place] + b"~" + whole[place + 1 :])
    )
    wheel = (at.culprit.file(), bent)
    return _task(world, at, "DO NOT MATCH THE HASHES|is invalid", f"cp {at.right} wheels/", wheel)


def _settings(world: World) -> Task:
    """pip's settings refuse wheels: the person's, or those of the environment."""
    at, rng = scene(world), world.twist
    path = rng.choice((f"{HOME}/.config/pip/pip.conf", f"{HOME}/.pip/pip.conf"))
    names = rng.choice((":all:", at.culprit.name))
    section = rng.choice(("global", "install"))
    lines = (STEADY if section == "global" else f"{STEADY}[install]\n") + f"no-binary = {names}\n"
    wheel = (at.culprit.file(), at.culprit.wheel())
    return _task(world, at, "No matching distribution found", f"sed -i /no-binary/d {path}", wheel, {path: lines})


FAMILY = Family(
    name="wheel-install",
    summary="packages cannot be installed from a wheelhouse without network",
    causes={
        "other-machine": _other_machine,
        "other-version": _other_version,
        "damaged": _damaged,
        "settings": _settings,
    },
    tags=("python", "packages"),
)
