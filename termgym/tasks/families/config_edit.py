"""A setting does not have the value that it must have: wrong, written twice, or overridden by an included file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PEOPLE, PROJECTS, TOOL_TRACES, World, phrase, sentence, text

APP = '''\
#!/usr/bin/env python3
"""usage: bin/NAME show [SECTION.KEY] | verify

show    the settings in effect: etc/NAME.conf is read from top to bottom, an `include` line reads other files right
        there in the order of their names, and what is read later counts
verify  compare them with etc/required.conf
"""
import pathlib, sys

etc = pathlib.Path(__file__).resolve().parent.parent / "etc"


def read(path, settings):
    section = ""
    for line in map(str.strip, path.read_text().splitlines()):
        if line.startswith("include "):
            for more in sorted(etc.glob(line.split(None, 1)[1])):
                read(more, settings)
        elif line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, value = (part.strip() for part in line.split("=", 1))
            settings[f"{section}.{key}"] = value
    return settings


settings = read(etc / "NAME.conf", {})
if sys.argv[1:2] == ["show"]:
    for key in sys.argv[2:] or sorted(settings):
        print(f"{key} = {settings[key]}")
elif sys.argv[1:] == ["verify"]:
    wanted = [line.split() for line in (etc / "required.conf").read_text().splitlines()]
    wrong = [f"{key} is {settings.get(key)}, must be {value}" for key, value in wanted if settings.get(key) != value]
    sys.exit("\\n".join(f"verify: {line}" for line in wrong) or 0)
else:
    sys.exit(__doc__)
'''
KEYS = ("workers", "timeout", "retries", "backlog", "cache", "depth")


@dataclass(frozen=True)
class Scene:
    """An application, its settings, and the one that must become another."""

    name: str
    settings: Mapping[str, Mapping[str, int]]
    """Section -> key -> value in effect at the start."""
    section: str
    key: str
    wanted: int
    remark: str
    """A comment in the settings that must survive."""

    @property
    def root(self) -> str:
        """The application's directory."""
        return f"{HOME}/apps/{self.name}"

    @property
    def conf(self) -> str:
        """The main settings file."""
        return f"{self.root}/etc/{self.name}.conf"

    @property
    def program(self) -> bytes:
        """The application."""
        return APP.replace("NAME", self.name).encode()

    @property
    def required(self) -> bytes:
        """What another team requires."""
        rows = {f"{section}.{key}": value for section, keys in self.settings.items() for key, value in keys.items()}
        rows[f"{self.section}.{self.key}"] = self.wanted
        some = sorted({*sorted(rows)[::3], f"{self.section}.{self.key}"})
        return text([f"{name} {rows[name]}" for name in some])

    @property
    def shown(self) -> bytes:
        """What ``show`` must print in the end: one setting changed, all others as they were."""
        rows = {f"{section}.{key}": value for section, keys in self.settings.items() for key, value in keys.items()}
        rows[f"{self.section}.{self.key}"] = self.wanted
        return text([f"{name} = {rows[name]}" for name in sorted(rows)])


def scene(world: World) -> Scene:
    """Draw the application; blind to the cause."""
    rng = world.scene
    key = rng.choice(KEYS)
    now = rng.randrange(2, 9)
    sections = rng.sample(NOUNS, rng.randrange(3, 6))
    settings: dict[str, dict[str, int]] = {}
    for section in sections:
        others = rng.sample([name for name in KEYS if name != key], rng.randrange(2, 5))
        settings[section] = {name: rng.randrange(1, 200) for name in others}
        # The same key with the same value elsewhere: an edit that does not look at the section breaks something.
        if section == sections[0] or rng.random() < 0.7:
            settings[section][key] = now
    remark = f"# {rng.choice(PEOPLE)}: {sentence(rng)}"
    return Scene(rng.choice(PROJECTS), settings, sections[0], key, now + rng.randrange(1, 60), remark)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"bin/{at.name} verify in {at.root} complains about {at.section}.{at.key}. Change the settings under etc/ "
        "so that it passes. Every other setting has to keep the value that `show` prints for it now, and the "
        "remarks in the files stay. required.conf and the program come from others: don't edit them.",
        f"Please set {at.key} in section {at.section} of ~/apps/{at.name} to {at.wanted}, so that `bin/{at.name} "
        "verify` is content; whatever I do it is not. Nothing else may take another value (compare "
        f"`bin/{at.name} show`), no remark may get lost, and neither etc/required.conf nor the program may be "
        "changed.",
        f"`bin/{at.name} verify` fails in ~/apps/{at.name}: {at.section}.{at.key} must be {at.wanted}. Can you "
        "correct the configuration? Only that one setting should change in effect. Keep the comments, and leave "
        "required.conf and bin/ as they are.",
    )


def _task(world: World, at: Scene, files: Mapping[str, list[str]], oracle: tuple[ActionPlan, ...]) -> Task:
    remarks = " ".join(shlex.quote(line) for lines in files.values() for line in lines if line.startswith("#"))
    goal: tuple[Check, ...] = (
        FileHash(path=f"{at.root}/bin/{at.name}", sha256=sha256(at.program)),
        FileHash(path=f"{at.root}/etc/required.conf", sha256=sha256(at.required)),
        # 1: nothing was missing; 2 would be an error of grep's.
        holds(f"printf '%s\\n' {remarks} | grep -vxFf <(find {at.root}/etc -type f -exec cat {{}} +); test $? -eq 1"),
        holds(f'test "$({at.root}/bin/{at.name} show | sha256sum)" = "{sha256(at.shown)}  -"'),
    )
    complaint = rf"{at.section}\.{at.key} is {at.settings[at.section][at.key]}, must be {at.wanted}"
    verify = f"bin/{at.name} verify"
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=goal,
        files=(
            FileSpec(f"{at.root}/bin/{at.name}", at.program, mode=0o755),
            FileSpec(f"{at.root}/etc/required.conf", at.required),
            *(FileSpec(f"{at.root}/etc/{name}", text(lines)) for name, lines in files.items()),
        ),
        allowed=(f"{at.root}/etc/*.conf", f"{at.root}/etc/conf.d/**", *TOOL_TRACES),
        symptom=(
            act(f"cd {at.root} && {verify}", OutputContains(pattern=complaint, stream="stderr"), exits=1),
        ),
        oracle=(act(f"cd {at.root}"), *oracle, act(verify)),
    )  # fmt: skip


def _written(at: Scene, value: int | None, section: str | None = None) -> list[str]:
    """Return the lines of the sections (of one section), the setting in question having ``value`` (None: left out)."""
    lines: list[str] = []
    for name, keys in at.settings.items():
        if section not in (None, name):
            continue
        lines += ["", f"[{name}]"]
        for key, now in sorted(keys.items()):
            if (name, key) != (at.section, at.key):
                lines.append(f"{key} = {now}")
            elif value is not None:
                lines += [at.remark, f"{key} = {value}"]
    return lines


def _files(world: World, at: Scene, main: list[str], override: list[str] | None = None) -> dict[str, list[str]]:
    """Return the files under etc/: the main one, the included ones (always some), in varying names and order."""
    title = f"# {at.name.capitalize()}: {sentence(world.scene)}"
    name, other = world.scene.sample(NOUNS, 2)
    quiet = _written(at, None, section=list(at.settings)[-1])
    return {
        f"{at.name}.conf": [title, *main, "", "include conf.d/*.conf"],
        f"conf.d/20-{name}.conf": [f"# {sentence(world.scene)}", *quiet],
        f"conf.d/70-{other}.conf": [f"# {sentence(world.scene)}", *(override or [])],
    }


def _wrong_value(world: World) -> Task:
    """The value is wrong where one looks for it; the same key has the same value in other sections."""
    at = scene(world)
    now = at.settings[at.section][at.key]
    files = _files(world, at, _written(at, now))
    edit = f"sed -i '/^\\[{at.section}\\]/,/^\\[/s/^{at.key} = .*/{at.key} = {at.wanted}/' {at.conf}"
    return _task(world, at, files, (act(edit),))


def _written_twice(world: World) -> Task:
    """The value is right where one looks for it, and a second section of that name further down undoes it."""
    at = scene(world)
    again = ["", f"[{at.section}]", f"{at.key} = {at.settings[at.section][at.key]}"]
    files = _files(world, at, [*_written(at, at.wanted), *again])
    edit = f"sed -i '$!N;s/^\\[{at.section}\\]\\n{at.key} = .*$/[{at.section}]/;P;D' {at.conf}"
    return _task(world, at, files, (act(edit),))


def _overridden(world: World) -> Task:
    """The value is right in the main file, and an included one undoes it."""
    at = scene(world)
    again = ["", f"[{at.section}]", f"{at.key} = {at.settings[at.section][at.key]}"]
    files = _files(world, at, _written(at, at.wanted), again)
    edit = f"sed -i '/^{at.key} = /d' {at.root}/etc/conf.d/70-*.conf"
    return _task(world, at, files, (act(edit),))


FAMILY = Family(
    name="config-edit",
    summary="a setting does not take the value that it must have",
    causes={"wrong-value": _wrong_value, "written-twice": _written_twice, "overridden": _overridden},
    tags=("editing",),
)
