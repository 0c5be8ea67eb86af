"""Which segment a shell command is of, by the programs that it would run: a rule over the plan, for terminals.

Each program is of a segment, and the command of the furthest of them, as the phase of a production line is that of its
furthest work order: ``apt-get install jq && jq . a.json > b.json`` executes, for it writes a file. The tables below are
the rule. A program that none of them names executes: what is not known to look only is taken for work.

The grammar is tree-sitter's. It needs time that grows with the square of some texts, so a text too long is not read:
who writes that much writes a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from tree_sitter import Node

from rolf.shell_grammar import parse, readable
from rolf_adapters.ppo.segment import Segment

READ_LIMIT = 8_192
"""Longest text that is read [bytes]."""
DEPTH_LIMIT = 4
"""How deep a script in a script is read."""
IDENTIFY, ASSESS, DISPATCH, EXECUTE = Segment


def _named(segment: Segment, names: str) -> dict[str, Segment]:
    return dict.fromkeys(names.split(), segment)


def _counted(count: int, names: str) -> dict[str, int]:
    return dict.fromkeys(names.split(), count)


PROGRAMS: Mapping[str, Segment] = {
    **_named(
        IDENTIFY,
        "ls dir cat tac head tail less more find fd locate grep egrep fgrep rg ag awk gawk mawk sed wc "
        "stat file tree pwd cd pushd popd echo printf printenv set ps pstree top htop pgrep pidof df du "
        "free uptime uname hostname whoami id groups who w date which whereis type man help info history "
        "git ss netstat lsof fuser ip ifconfig journalctl dmesg last sort uniq cut tr nl column paste join "
        "comm fold rev xxd od hexdump strings readlink realpath basename dirname jq yq lsblk lscpu lsmod "
        "nproc getfacl getfattr lsattr systemctl service apt-cache dpkg-query locale env sleep true "
        ": wait jobs alias seq tput clear base64 zcat zgrep bzcat xzcat getconf ulimit time return exit",
    ),
    **_named(
        ASSESS,
        "test [ [[ false diff cmp sdiff md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum "
        "sum pytest tox shellcheck mypy ruff flake8 pylint visudo nginx apachectl apache2ctl sshd "
        "named-checkconf named-checkzone xmllint jsonlint yamllint ping nc ncat telnet dig host nslookup "
        "getent curl expr fsck logrotate openssl",
    ),
    **_named(
        DISPATCH,
        "apt apt-get aptitude dpkg snap yum dnf rpm apk pacman pip pip3 pipx uv conda npm yarn pnpm gem "
        "cargo go kill pkill killall renice crontab at chmod chown chgrp setfacl setfattr chattr umask "
        "useradd usermod userdel groupadd groupmod groupdel adduser addgroup gpasswd passwd ssh-keygen "
        "ssh-add ssh-agent export declare source . mount umount modprobe sysctl update-alternatives "
        "supervisorctl initctl update-rc.d loginctl hostnamectl timedatectl disown bg fg trap virtualenv",
    ),
}
"""What a program is for, unless a subcommand or an option of it says otherwise."""
SUBCOMMANDS: Mapping[str, Mapping[str, Segment]] = {
    "git": {
        **_named(ASSESS, "fsck check-ignore check-attr verify-commit verify-tag"),
        **_named(
            EXECUTE,
            "add am apply branch checkout cherry-pick clean clone commit config fetch gc init merge mv "
            "pull push rebase reset restore revert rm sparse-checkout stash submodule switch tag "
            "update-index worktree",
        ),
        **dict.fromkeys(("remote add", "remote set-url", "remote remove", "remote rename"), EXECUTE),
    },
    "systemctl": {
        **_named(ASSESS, "is-active is-enabled is-failed"),
        **_named(
            DISPATCH, "start stop restart reload try-restart enable disable mask unmask daemon-reload kill isolate"
        ),
    },
    "service": _named(DISPATCH, "start stop restart reload force-reload"),
    "apt": _named(IDENTIFY, "list show search policy depends rdepends"),
    "snap": _named(IDENTIFY, "list info find"),
    "pip": {**_named(IDENTIFY, "list show freeze index config"), **_named(ASSESS, "check")},
    "npm": {
        **_named(IDENTIFY, "ls list view outdated"),
        **_named(ASSESS, "test t audit"),
        **_named(EXECUTE, "run exec"),
    },
    "cargo": {**_named(ASSESS, "test check clippy"), **_named(EXECUTE, "build run")},
    "go": {
        **_named(IDENTIFY, "env list version"),
        **_named(ASSESS, "test vet"),
        **_named(EXECUTE, "build run generate"),
    },
    "make": _named(ASSESS, "test check lint"),
    "openssl": _named(EXECUTE, "req genrsa genpkey ca"),
    "ip": _named(EXECUTE, "add del delete set flush"),
}
"""What a program's first arguments that are no options, one or two, say that it is for."""
LISTS = frozenset({"branch", "tag", "config", "submodule"})
"""What git only lists where nothing is named after it."""
SECOND = frozenset({"service", "ip"})
"""Programs whose second argument says it: ``service NAME start``."""
OPTIONS: Mapping[str, Mapping[str, Segment]] = {
    "sed": _named(EXECUTE, "-i --in-place"),
    "sort": _named(EXECUTE, "-o --output"),
    "find": _named(EXECUTE, "-delete -fprint -fprintf -fls"),
    "curl": _named(EXECUTE, "-o -O -d -X -T -F --output --data --request --upload-file --remote-name"),
    "kill": {**_named(ASSESS, "-0"), **_named(IDENTIFY, "-l -L")},
    "crontab": _named(IDENTIFY, "-l"),
    "dpkg": _named(IDENTIFY, "-l -L -s -S --list --listfiles --status --search"),
    "rpm": _named(IDENTIFY, "-q --query"),
    "tar": {**_named(IDENTIFY, "-t --list"), **_named(ASSESS, "-d --diff --compare")},
    "unzip": {**_named(IDENTIFY, "-l -v"), **_named(ASSESS, "-t")},
    "gzip": {**_named(IDENTIFY, "-l"), **_named(ASSESS, "-t")},
    "bash": _named(ASSESS, "-n"),
    "sh": _named(ASSESS, "-n"),
    "fsck": _named(EXECUTE, "-y -a -p"),
    "logrotate": _named(EXECUTE, "-f --force"),
    "ssh-keygen": _named(IDENTIFY, "-l"),
}
"""Options that say what a program is for; a single letter may stand in a cluster: ``sed -ni``."""
SAME = {"pip3": "pip", "apt-get": "apt", "aptitude": "apt", "gsed": "sed", "gunzip": "gzip", "dash": "sh", "zsh": "sh"}
MODULES: Mapping[str, Segment] = _named(ASSESS, "pytest unittest doctest py_compile compileall json.tool mypy ruff")
"""What ``python -m`` is for."""
LAUNCHERS: Mapping[str, int] = {
    **_counted(0, "sudo doas env nohup nice ionice setsid stdbuf command builtin exec xargs time strace"),
    **_counted(1, "timeout flock chroot"),
}
"""Programs that start another one, and how many words of their own come before it."""
VALUED: Mapping[str, frozenset[str]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-D"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n", "-p"}),
    "timeout": frozenset({"-s", "-k"}),
    "xargs": frozenset({"-n", "-I", "-P", "-d", "-L", "-s", "-a", "-E"}),
    "env": frozenset({"-u", "-C"}),
    "strace": frozenset({"-e", "-o", "-p", "-s"}),
    "exec": frozenset({"-a"}),
    "git": frozenset({"-C", "-c"}),
    "make": frozenset({"-C", "-f"}),
}
"""Options whose value is the next word."""
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh"})
PYTHONS = frozenset({"python", "python3", "python2"})
ASKING = frozenset({"--version", "--help", "-V"})
HARMLESS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/")
"""Where output may go without a file being written."""


@lru_cache(maxsize=4_096)
def of_command(text: str) -> Segment:
    """Return the segment of a shell command; of one that runs nothing, `Segment.IDENTIFY`.

    Never raises, whatever the text is.
    """
    return _of_text(text, 0)


def _of_text(text: str, depth: int) -> Segment:
    raw = readable(text)
    if len(raw) > READ_LIMIT or depth > DEPTH_LIMIT:
        return EXECUTE
    furthest = IDENTIFY
    waiting = [parse(raw).root_node]
    # No recursion: a hostile text nests deeper than Python's stack. And nothing is further than EXECUTE: scripts within
    # scripts, each of which would be read as often as there are ways to it, end at the first that is too deep.
    while waiting and furthest < EXECUTE:
        node = waiting.pop()
        waiting.extend(node.children)
        furthest = max(furthest, _of_node(node, depth))
    return furthest


def _of_node(node: Node, depth: int) -> Segment:
    match node.type:
        case "command":
            return _of_words(tuple(_words(node)), depth)
        case "test_command":
            return ASSESS
        case "declaration_command":
            return DISPATCH
        case "function_definition":
            return EXECUTE
        case "file_redirect":
            operator = next((child.type for child in node.children if not child.is_named), "")
            to = _text(node.children[-1])
            harmless = not operator.startswith((">", "&>")) or to.isdecimal() or to.startswith(HARMLESS) or to == "-"
            return IDENTIFY if harmless else EXECUTE
        case _:
            return IDENTIFY


def _words(command: Node) -> Iterator[str]:
    for child in command.children:
        if child.type not in ("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect"):
            yield _text(child)


def _text(node: Node) -> str:
    said = (node.text or b"").decode(errors="replace")
    return said[1:-1] if len(said) > 1 and said[0] == said[-1] and said[0] in "'\"" else said


def _of_words(words: Sequence[str], depth: int) -> Segment:
    words = _started(words)
    if not words:
        return IDENTIFY
    name, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if len(rest) == 1 and rest[0] in ASKING:
        return IDENTIFY
    if name in SHELLS and (script := _after(rest, "-c")) is not None:
        return _of_text(script, depth + 1)
    if name == "eval":
        return _of_text(" ".join(rest), depth + 1)
    if name in PYTHONS and (module := _after(rest, "-m")) is not None:
        return MODULES.get(module, EXECUTE) if module != "pip" else _of_words(rest[rest.index("pip") :], depth)
    if name == "find":
        return max(_of_program(name, rest), *(_of_words(each, depth) for each in _executed(rest)), IDENTIFY)
    return _of_program(name, rest)


def _of_program(name: str, rest: Sequence[str]) -> Segment:
    name = SAME.get(name, name)
    if "--dry-run" in rest or "--check" in rest:
        return ASSESS
    told = [segment for option, segment in OPTIONS.get(name, {}).items() if _has(name, rest, option)]
    plain = _arguments(name, rest)[name in SECOND :]
    if not (name == "git" and len(plain) == 1 and plain[0] in LISTS):
        known = SUBCOMMANDS.get(name, {})
        told += [known[words] for words in (" ".join(plain[:2]), *plain[:1]) if words in known][:1]
    return max(told) if told else PROGRAMS.get(name, EXECUTE)


def _arguments(name: str, rest: Sequence[str]) -> list[str]:
    """Return a program's words less its options and their values."""
    valued, found, skip = VALUED.get(name, frozenset()), [], False
    for word in rest:
        if not skip and not word.startswith("-"):
            found.append(word)
        skip = not skip and word in valued
    return found


def _started(words: Sequence[str]) -> Sequence[str]:
    """Return a command without the programs that only start it."""
    while words and (name := words[0].rsplit("/", 1)[-1]) in LAUNCHERS and len(words) > 1:
        valued, at = VALUED.get(name, frozenset()), 1
        while at < len(words) and (words[at].startswith("-") or (name in ("sudo", "env") and "=" in words[at])):
            at += 2 if words[at] in valued else 1
        left = words[at + LAUNCHERS[name] :]
        if not left:
            return words[:1]
        words = left
    return words


def _has(name: str, rest: Sequence[str], option: str) -> bool:
    if len(option) != 2:
        return any(word == option or word.startswith(f"{option}=") for word in rest)
    cluster = [word for word in rest if word.startswith("-") and not word.startswith("--")]
    if name == "tar" and rest and not rest[0].startswith("-"):
        cluster.append(f"-{rest[0]}")  # tar xf: its first word is options
    return any(option[1] in word[1:] for word in cluster)


def _after(rest: Sequence[str], option: str) -> str | None:
    """Return the word after an option."""
    return next((rest[at + 1] for at, word in enumerate(rest[:-1]) if word == option), None)


def _executed(rest: Sequence[str]) -> list[Sequence[str]]:
    """Return the commands that ``find`` runs, each up to the next one: in one another they would double the work."""
    places = [at for at, word in enumerate(rest) if word in ("-exec", "-execdir", "-ok", "-okdir")]
    return [rest[at + 1 : following] for at, following in pairwise([*places, len(rest)])]
