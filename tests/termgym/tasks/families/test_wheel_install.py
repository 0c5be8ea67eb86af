"""Packages from a wheelhouse: what must count as installed, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.wheel_install import scene
from termgym.tasks.world import World

SEED = 2
PIP = "sed 's|--require-hashes -r .*|{wanted}|; s|^cd .*||' install > /tmp/pip; bash /tmp/pip"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("wheel-install", "", SEED))
    task = make_task(f"wheel-install/{cause}", SEED)
    rebuilt = next(path for path in at.mirror if path.endswith(at.culprit.file()) and not path.startswith(at.home))
    names = {
        "right": at.right, "rebuilt": f"/srv/mirror/{rebuilt}", "file": at.culprit.file(), "name": at.culprit.name,
        "module": at.culprit.module, "other": at.other.version, "version": at.culprit.version,
        "app": at.app,
    }  # fmt: skip
    repair = task.oracle[1].command
    return attempt(task, f"cd {at.root}", *(word.replace("ORACLE", repair).format(**names) for word in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("other-machine", ("mv wheels/{module}-*.whl wheels/{file}; ./install",)),
        ("other-machine", ("cp {right} wheels/; cd .venv/lib/python3*/site-packages",
                           "for wheel in $OLDPWD/wheels/*py3-none-any.whl; do python3 -m zipfile -e $wheel .; done")),
        ("other-version", ("sed -i '/^{name}=/d' requirements.txt; sed -i '/{module}/d' {app}; ./install",)),
        ("other-version", ("cp {rebuilt} wheels; sed -i 's/ --hash.*//; s/--require-hashes//' requirements.txt install",
                           "./install")),
        ("damaged", ("cp {rebuilt} wheels; sed -i \"s/^{name}==.*/{name}=={version} "
                     "--hash=sha256:$(sha256sum < {rebuilt} | cut -d' ' -f1)/\" requirements.txt; ./install",)),
        ("damaged", ("cp {rebuilt} wheels/", PIP.format(wanted="--no-deps wheels/*.whl"))),
        ("damaged", ("mv {right} wheels/; ./install",)),
        ("settings", ("ORACLE; ./install; echo >> {app}",)),
        ("settings", ("ORACLE; ./install; echo >> .venv/lib/python3*/site-packages/{module}.py",)),
        ("settings", ("ORACLE; ./install; cp .venv/lib/python3*/site-packages/{module}.py /tmp/extra.py",
                      "mv /tmp/extra.py .venv/lib/python3*/site-packages/")),
        ("settings", ("ORACLE; ./install; echo >> requirements.txt",)),
        ("settings", ("ORACLE; ./install; rm .venv/bin/python3",)),
        ("settings", ("ORACLE; ./install; sed -i 's/-q//' install",)),
    ],
)  # fmt: skip
def test_what_was_not_reviewed_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Another name, another hash, no hash, no pip, or the house's mirror emptied."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("other-machine", (PIP.format(wanted="--find-links /srv/mirror/$(basename $(dirname {right})) --require-hashes "
                                             "-r requirements.txt"),)),
        ("damaged", ("cp {right} /tmp; rm -r .venv; python3 -m venv --without-pip .venv; cp /tmp/{file} wheels",
                     "./install")),
        ("settings", ("PIP_CONFIG_FILE=/dev/null ./install",)),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """What is in the environment counts: from another directory, in a new environment, past the settings."""
    assert _play(attempt, cause, commands)
