"""``rolf tasks rootfs``: the root filesystems that images of tasks stand on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from rolf.commands.usage import WrongUsage

if TYPE_CHECKING:
    from rolf.environments import Rooted


@click.group("rootfs", short_help="Make root filesystems for tasks' images.")
def rootfs() -> None:
    """Make and list the root filesystems that images of tasks stand on.

    Without any, this machine's own system stands in for every distribution. NAME is what is made: debian-12,
    ubuntu-24.04, python-3.11, or a name of your own with --suite.
    """


@rootfs.command(short_help="Make one by debootstrap.")
@click.argument("name")
@click.option("--suite", default="", help="Release of Debian or Ubuntu, such as bookworm; known for known names.")
@click.option("--include", multiple=True, metavar="PACKAGE", help="Install this package as well; may be given again.")
@click.option("--mirror", default="", help="Where packages come from; else this machine's or the distribution's own.")
def build(name: str, suite: str, include: tuple[str, ...], mirror: str) -> None:
    """Make the root filesystem NAME by debootstrap; one of that name is replaced.

    As root, or as an ordinary user by fakechroot. FROM finds it by its name: debian-12 is debian:12, debian:bookworm
    and debian:bookworm-slim. For another one say so in bases.toml.
    """
    packages = [package for word in include for package in word.split(",") if package]
    try:
        made = _keeper().build_root(
            name, suite=suite, include=packages, mirror=mirror, report=lambda line: click.echo(line, err=True)
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo(made.path)


@rootfs.command("list", short_help="List those that there are.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
def listing(as_json: bool) -> None:
    """List the root filesystems that were made."""
    for root in _keeper().roots():
        row = {"name": root.name, "path": root.path, "about": root.about}
        click.echo(json.dumps(row) if as_json else f"{root.name:<16}{root.about}")


@rootfs.command(short_help="Remove one.")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the root filesystem NAME. Images that stood on it are built anew, on what then stands in for it."""
    try:
        removed = _keeper().remove_root(name)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    if not removed:
        raise WrongUsage(_unknown(name))


@rootfs.command(short_help="Print where one lies.")
@click.argument("name")
def path(name: str) -> None:
    """Print the directory of the root filesystem NAME."""
    found = next((root.path for root in _keeper().roots() if root.name == name), None)
    if found is None:
        raise WrongUsage(_unknown(name))
    click.echo(found)


def _unknown(name: str) -> str:
    names = ", ".join(root.name for root in _keeper().roots()) or "none"
    return f"no root filesystem is called {name!r}; there are: {names} (`rolf tasks rootfs build {name}` makes one)"


def _keeper() -> Rooted:
    """Return the environment whose tasks bring images."""
    from rolf.environments import Rooted, environments

    found = next((each for each in environments().values() if isinstance(each, Rooted)), None)
    if found is None:
        raise click.ClickException("no installed environment has tasks with images")
    return found
