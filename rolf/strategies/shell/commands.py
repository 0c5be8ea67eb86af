"""Shell commands that may be run on a machine one wants to keep."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from rolf.strategies.shell.compound import DEPTH, statement
from rolf.strategies.shell.simple import Place
from rolf.strategies.shell.words import Text, single

FILES = ("a", "b", "c", "two words", "-n", "naïve ☕")
DIRECTORIES = ("d", "e")


def shell_commands(
    directory: str | None = None,
    *,
    files: Sequence[str] = FILES,
    directories: Sequence[str] = DIRECTORIES,
    persistent: bool = True,
) -> st.SearchStrategy[str]:
    """Return commands for bash (5.1 or newer) that do no harm.

    They hold builtins, small programs of coreutils, pipes, redirections, quoting of every kind, variables, arrays,
    arithmetic, here-documents, conditions, loops, functions, subshells, jobs and signals to them, traps, exit codes.
    The promise, for a directory that holds files, directories and links to what lies in it:

    * *Nothing outside is touched.* Every name of a file is relative and without ``..``, or ``/dev/null``; programs are
      started by name from ``PATH``.
    * *It ends*, in a fraction of a second: no loop without a bound, no recursion, no reading of the terminal, no sleep
      that lasts, no job left behind.
    * *It stays small*: at most 27 simple commands run, one after the other but for pipes. They write 64 KiB at most,
      and read 64 bytes of a file, so that repetition adds and never doubles; only a directory of many names is listed
      in full.
    * *No stranger gets a signal*: only a job that was started in the same breath, and the subshell itself.
    * *The same again does the same*: what is printed to each of the two streams, the exit code, and what lies in the
      directory follow from the directory, the user's rights, the variables ``v0`` to ``v2`` and the locale; no time, no
      process id, no race. So two shells can be compared.

    It shrinks to ``true``.

    Args:
        directory: Where commands run: each goes there first. None: where the shell stands.
        files: Names of files that they make, change and remove; relative, without ``..``.
        directories: Names of directories, likewise.
        persistent: Whether variables and functions may outlive a command; if not, each runs in a subshell.

    Raises:
        ValueError: a name leads out of the directory, or there is none.

    Example::

        @given(st.lists(shell_commands("/tmp/sandbox"), max_size=5))
        def test_the_shell_survives(commands):
            with Shell() as shell:
                for command in commands:
                    shell.run(command)
                assert shell.run("echo alive").stdout == "alive\\n"
    """
    for kind, names in (("files", files), ("directories", directories)):
        for name in names or [""]:
            _must_stay_inside(kind, name)
    command = statement(Place(tuple(files), tuple(directories)), DEPTH)
    if directory is not None:
        inside = single(directory if directory.startswith("/") else f"./{directory}")
        command = command.map(lambda text: f"cd -- {inside} && {{ {text}; }}")
    return command if persistent else _in_subshell(command)


def _in_subshell(command: Text) -> Text:
    return command.map(lambda text: text if text == "true" else f"( {text} )")


def _must_stay_inside(kind: str, name: str) -> None:
    parts = name.split("/")
    if {"", ".", ".."} & set(parts) or "\0" in name:
        raise ValueError(f"{kind} holds {name!r}; give relative names without '..', one at least")
