"""A Python environment does not become active: it is missing, broken, unreadable, was moved, or is shadowed on PATH."""

from __future__ import annotations

import re
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains, VariableSet
from termgym.plan import ActionPlan
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, sentence, text

TOOL = b"""\
#!/bin/bash
# The interpreter of the reports in ~/tools: the system's, whatever environment is active.
PATH=/usr/local/bin:/usr/bin:/bin exec python3 "$@"
"""


@dataclass(frozen=True)
class Scene:
    """A project that is worked on in its own virtual environment."""

    project: str
    place: str
    package: str
    about: str
    pager: str

    @property
    def root(self) -> str:
        """The project's directory."""
        return f"{HOME}/{self.place}/{self.project}"

    @property
    def settings(self) -> str:
        """The person's own settings, which env.sh reads."""
        return f"{HOME}/.config/{self.project}/paths.sh"

    @property
    def env_sh(self) -> bytes:
        """What a person sources to work on the project."""
        return text(
            (
                f"# Work on {self.project}:  . ./env.sh",
                f'. "{self.root}/.venv/bin/activate" || return',
                f'if [ -r "{self.settings}" ]; then . "{self.settings}"; fi',
                "hash -r",
            )
        )

    @property
    def module(self) -> bytes:
        """The program that only the environment can import."""
        return text(
            (
                f'"""{self.about}"""',
                "import sys",
                "if sys.prefix == sys.base_prefix:",
                f'    sys.exit("{self.package}: not running in the environment of {self.project}")',
                f'print("{self.package} ready")',
            )
        )


def scene(world: World) -> Scene:
    """Draw the project; blind to the cause."""
    rng = world.scene
    package = f"{rng.choice(NOUNS)}_{rng.choice(NOUNS)}"
    return Scene(rng.choice(PROJECTS), rng.choice(PLACES), package, sentence(rng), rng.choice(("cat", "less", "more")))


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"After `. ./env.sh` in {at.root}, `python -m {at.package}` should say '{at.package} ready'; it does not. "
        "Make the project's environment .venv work again (the README says how it is made) and leave this shell "
        "with it active. env.sh and src/ stay as they are. ~/tools/bin has to stay on the PATH, and what is in "
        "it belongs to others.",
        f"I can't get into the environment of ~/{at.place}/{at.project}: I source env.sh there and `python -m "
        f"{at.package}` does not run in .venv. Repair that for good, without editing env.sh or src/, and activate "
        "it in this shell. My ~/tools/bin must stay as it is and stay on the PATH.",
        f"Please repair the Python environment of {at.project} ({at.root}). What should work in a new shell: `. "
        f"./env.sh && python -m {at.package}`. Do not touch env.sh, src/ or ~/tools; ~/tools/bin is on my PATH on "
        "purpose. When you are done the shell here should have the environment active.",
    )


def _files(at: Scene, path: str) -> tuple[FileSpec, ...]:
    readme = [
        f"# {at.project}",
        "",
        at.about,
        "",
        "The environment is made with `python3 -m venv --without-pip .venv` here; it finds our code after",
        f"`cp dev/{at.package}.pth .venv/lib/python3*/site-packages/`. Then: `. ./env.sh`.",
    ]
    return (
        FileSpec(f"{at.root}/README.md", text(readme)),
        FileSpec(f"{at.root}/env.sh", at.env_sh),
        FileSpec(f"{at.root}/src/{at.package}.py", at.module),
        FileSpec(f"{at.root}/dev/{at.package}.pth", text([f"{at.root}/src"])),
        FileSpec(at.settings, text([f"export PAGER={at.pager}", f'export PATH="{path}"'])),
        FileSpec(f"{HOME}/tools/bin/python", TOOL, mode=0o755),
        FileSpec(f"{HOME}/tools/README", b"The reports call ~/tools/bin/python. Leave it where it is.\n"),
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    venv = f"{at.root}/.venv"
    real = 'cmp -s "$(command -v python)" "$(PATH=/usr/local/bin:/usr/bin:/bin command -v python3)"'
    return (
        FileHash(path=f"{at.root}/env.sh", sha256=sha256(at.env_sh)),
        FileHash(path=f"{at.root}/src/{at.package}.py", sha256=sha256(at.module)),
        FileHash(path=f"{HOME}/tools/bin/python", sha256=sha256(TOOL)),
        VariableSet(name="VIRTUAL_ENV", pattern=re.escape(venv)),
        VariableSet(name="PATH", pattern=f"(.*:)?{re.escape(venv)}/bin(:.*)?"),
        holds(
            f'cd {at.root} && . ./env.sh && test "$(command -v python)" = {venv}/bin/python && {real} '
            f'&& test "$(python -m {at.package})" = "{at.package} ready" && [[ :$PATH: == *:$HOME/tools/bin:* ]] '
            f"&& python -I -B -c 'import sys; sys.exit(sys.prefix != \"{venv}\" or sys.prefix == sys.base_prefix)' "
            f"&& echo {at.package} to the end",
            pattern=rf"^{at.package} to the end$",  # what is sourced may end the check's shell, with status 0 even
        ),
    )


def _make(at: Scene) -> str:
    return f"python3 -m venv --without-pip .venv && cp dev/{at.package}.pth .venv/lib/python3*/site-packages/"


def _task(at: Scene, world: World, damage: str, complaint: str, oracle: tuple[ActionPlan, ...], path: str = "") -> Task:
    # No required_env: the environment cannot be active before the task is done, and a penalty for each step until
    # then would make giving up at once the best policy.
    try_it = f". ./env.sh && python -m {at.package}"
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=_files(at, path or "$PATH:$HOME/tools/bin"),
        setup=f"set -euo pipefail\ncd {at.root}\n{_make(at)}\n{damage}\n",
        allowed=(f"{at.root}/.venv", f"{at.root}/.venv/**", at.settings, *TOOL_TRACES),
        symptom=(act(f"cd {at.root} && {try_it}", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), *oracle, act(try_it, OutputContains(pattern=f"{at.package} ready"))),
    )


def _missing(world: World) -> Task:
    """There is no environment."""
    at = scene(world)
    return _task(at, world, "rm -rf .venv", "bin/activate: No such file or directory", (act(_make(at)),))


def _dangling(world: World) -> Task:
    """The interpreter that the environment links to is gone."""
    at, old = scene(world), world.twist.choice(("3.6", "3.7", "3.8"))
    damage = f"ln -sfn /usr/bin/python{old} .venv/bin/python3"
    repair = act('ln -sfn "$(PATH=/usr/local/bin:/usr/bin:/bin command -v python3)" .venv/bin/python3')
    return _task(at, world, damage, f"No module named '?{at.package}", (repair,))


def _unreadable(world: World) -> Task:
    """The activate script may not be read, or its directory not be entered."""
    at = scene(world)
    mode, path = world.twist.choice(
        (("000", ".venv/bin/activate"), ("200", ".venv/bin/activate"), ("600", ".venv/bin"))
    )
    repair = act(f"chmod {'755' if mode == '600' else '644'} {path}")
    return _task(at, world, f"chmod {mode} {path}", "bin/activate: Permission denied", (repair,))


def _moved(world: World) -> Task:
    """The environment was made elsewhere and moved here, so its scripts name a place that is gone."""
    at = scene(world)
    before = f"{HOME}/{world.twist.choice(('old', 'attic', 'staging'))}/{at.project}"
    damage = "\n".join(
        (
            f"mkdir -p {before} && mv .venv dev {before}/ && cd {before} && rm -rf .venv",
            _make(at),
            f"mv .venv dev {at.root}/ && rmdir -p --ignore-fail-on-non-empty {before}",
        )
    )
    return _task(at, world, damage, f"No module named '?{at.package}", (act(_make(at)),))


def _shadowed(world: World) -> Task:
    """The person's own settings put another python in front."""
    at = scene(world)
    repair = act(f"sed -i 's|^export PATH=.*|export PATH=\"$PATH:$HOME/tools/bin\"|' {at.settings}")
    return _task(at, world, "", f"No module named '?{at.package}", (repair,), path="$HOME/tools/bin:$PATH")


FAMILY = Family(
    name="env-inactive",
    summary="a project's Python environment does not become active",
    causes={
        "missing": _missing,
        "dangling-interpreter": _dangling,
        "unreadable": _unreadable,
        "moved": _moved,
        "shadowed": _shadowed,
    },
    tags=("python", "environment"),
)
