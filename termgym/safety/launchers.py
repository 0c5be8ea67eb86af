"""What programs that start other programs do to a command line: ``sudo -u x timeout 5 rm`` runs ``rm``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class _Launcher(NamedTuple):
    """How a launcher's own words are told from the command it starts."""

    valued: frozenset[str]
    """Options whose value is the next word."""
    leading: int = 0
    """Words of its own before the command (the ``5`` of ``timeout 5``)."""
    elevates: bool = False
    """Whether the command runs with more rights."""


def _launcher(valued: str = "", leading: int = 0, *, elevates: bool = False) -> _Launcher:
    return _Launcher(frozenset(valued.split()), leading, elevates)


# Options from each program's manual page (coreutils 9, sudo 1.9, util-linux 2.38, findutils 4.9).
LAUNCHERS: Mapping[str, _Launcher] = {
    "sudo": _launcher(
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --close-from", elevates=True
    ),
    "doas": _launcher("-u -C", elevates=True),
    "pkexec": _launcher("--user", elevates=True),
    "env": _launcher("-u -C --unset --chdir"),
    "nohup": _launcher(),
    "timeout": _launcher("-s -k --signal --kill-after", leading=1),
    "nice": _launcher("-n --adjustment"),
    "ionice": _launcher("-c -n -p --class --classdata"),
    "chrt": _launcher("", leading=1),
    "taskset": _launcher("", leading=1),
    "setsid": _launcher(),
    "stdbuf": _launcher("-i -o -e --input --output --error"),
    "time": _launcher("-f -o --format --output"),
    "command": _launcher(),
    "builtin": _launcher(),
    "exec": _launcher("-a"),
    "coproc": _launcher(),
    "!": _launcher(),
    "flock": _launcher("-w -E --timeout --conflict-exit-code", leading=1),
    "chroot": _launcher("--userspec --groups", leading=1, elevates=True),
    "unshare": _launcher("-S -G -R -w --root --wd --setuid --setgid"),
    "setarch": _launcher("", leading=1),
    "faketime": _launcher("-f", leading=1),
    "strace": _launcher("-e -o -p -s -u -E"),
    "busybox": _launcher(),
    "xargs": _launcher("-n -I -P -d -L -s -a -E --max-args --replace --max-procs --delimiter --arg-file"),
}
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash", "rbash", "mksh"})
INTERPRETERS = frozenset({"python", "python2", "python3", "perl", "ruby", "node", "php", "lua"})
_ASKS_ONLY: Mapping[str, frozenset[str]] = {
    "sudo": frozenset({"-l", "-ll", "-v", "-V", "-K", "-k", "--list", "--validate", "--version", "--help"}),
    "command": frozenset({"-v", "-V"}),
}
"""Options with which a launcher only answers a question."""


class Launched(NamedTuple):
    """A command without what started it."""

    argv: tuple[str, ...]
    """The command's own words; empty if a launcher was given none."""
    through: tuple[str, ...]
    """Names of the launchers, outermost first."""
    elevated: bool


def program(word: str) -> str:
    """Return the name that a program's path ends in: ``/bin/rm`` is ``rm``."""
    return word.rsplit("/", 1)[-1]


def launched(argv: Sequence[str]) -> Launched:
    """Return a command without its launchers; one that only asks its launcher something stays as it is."""
    words, through, elevated = tuple(argv), [], False
    while words and (launcher := LAUNCHERS.get(name := program(words[0]))):
        rest, options = _after_options(words[1:], launcher.valued)
        if not options.isdisjoint(_ASKS_ONLY.get(name, ())):
            break
        rest = rest[launcher.leading :]
        while name in ("sudo", "env", "doas") and rest and "=" in rest[0] and not rest[0].startswith("="):
            rest = rest[1:]
        if not rest:
            break
        through.append(name)
        elevated = elevated or launcher.elevates
        words = rest
    return Launched(words, tuple(through), elevated)


def _after_options(words: tuple[str, ...], valued: frozenset[str]) -> tuple[tuple[str, ...], set[str]]:
    """Return the words after a launcher's options, and the options."""
    options: set[str] = set()
    index = 0
    while index < len(words) and words[index].startswith("-"):
        word = words[index]
        index += 1
        if word == "--":
            break
        options.add(word)
        if word in valued:
            index += 1
    return words[index:], options


def shell_script(args: Sequence[str]) -> tuple[str | None, bool]:
    """Return what a shell is told to run by ``-c``, and whether it reads commands from its standard input instead."""
    index = 0
    while index < len(args) and args[index][:1] in ("-", "+") and args[index] not in ("-", "--"):
        option = args[index]
        index += 1
        if not option.startswith("--") and "c" in option[1:]:
            while index < len(args) and args[index].startswith("-"):  # bash -c -e 'script'
                index += 1
            return (args[index] if index < len(args) else None), False
        if option in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            index += 1
        if not option.startswith("--") and "s" in option[1:]:
            return None, True
    return None, index >= len(args) or args[index] in ("-", "/dev/stdin")
