"""Weak: guessing a repair without looking: how far a task gives way to that is its measured difficulty.

What is known: the words of the instruction (the paths and the quoted commands in it) and stock repairs that anybody
would try who has read the titles of the families and nothing else of them: set modes, remove locks, stash and pull,
end what runs, make missing directories, take the newest release. What is not known: what any command prints and how
it ends, which cause it is, what the goal looks at, and which files are somebody's work.

A `guess` is one repair in all places that the instruction names, and then what the instruction quotes. `haphazard` goes
on guessing, on what the guesses before have left.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator, Mapping

_PATH = re.compile(r"(?<![\w`/.])(?:~|\.{0,2})/[\w.@+/-]*[\w/]|(?<![\w/~.-])[\w-]+(?:/[\w.-]+)+")
_QUOTED = re.compile(r"`([^`]+)`")
_WORDS = re.compile(r"(?<![\w/.~-])\./[\w.-]+(?:/[\w.-]+)*")

REPAIRS: Mapping[str, str] = {
    "do as told": "true",
    "set modes": "chmod -R u+rwX . && chmod u+x * bin/* lib/*",
    "close modes": "chmod -R go-rwx . ; chmod 700 . .. ; umask 077",
    "make directories": "mkdir -p run log logs tmp out build data cache var/run",
    "remove locks": "rm -f .git/*.lock *.lock *.pid */*.lock */*.pid .*.lock",
    "stash and pull": "git stash -u && git pull && git stash pop",
    "take back and pull": "git merge --abort; git rebase --abort; git pull --no-rebase --no-edit",
    "commit and pull": "git add -A && git commit -qm work && git pull --no-rebase --no-edit",
    "go on": "git checkout --theirs . ; git add -A ; GIT_EDITOR=true git rebase --continue || git commit -qm merged",
    "upstream": "git checkout -q main || git checkout -q master; git branch -u origin/main; git pull",
    "line ends": r"sed -i 's/\r$//; 1s/^\xef\xbb\xbf//' * bin/* etc/* src/*",
    "interpreter": "sed -i '1s|^#!.*python.*|#!/usr/bin/env python3|; 1s|^#!.*sh.*|#!/bin/bash|' * bin/*",
    "newest release": 'for l in $(find . -maxdepth 2 -type l); do ln -sfn "$(ls -d releases/* | tail -1)" $l; done',
    "broken links": "find . -xtype l -delete",
    "environment": "python3 -m venv --clear --without-pip .venv; source .venv/bin/activate || source venv/bin/activate",
    "wheels": "ls *.whl */*.whl && python3 -m pip install --no-index --find-links . --find-links wheelhouse *.whl",
    "build": "make clean; touch *; make || make -B",
    "tabs": r"sed -i 's/^  */\t/' Makefile; make",
    "unpack": 'for a in $(find . -name "*.tar*" -o -name "*.tgz"); do tar -xf $a; done',
    "database": 'for d in $(find . -name "*.db" -o -name "*.sqlite*"); do sqlite3 $d "reindex; vacuum;"; done',
    "encoding": "for f in *.txt */*.txt *.csv; do iconv -f cp1252 -t utf-8 $f > .new && mv .new $f; done",
    "answers": "for p in ./install* ./setup*; do yes | timeout 2 $p; yes '' | timeout 2 $p; done",
    "in the background": "for p in ./run* ./job* bin/*; do nohup $p > nohup.out 2>&1 < /dev/null & done; sleep 0.2",
    "make room": "find . -name '*.log' -o -name '*.tmp' -o -path '*cache*' -type f | xargs -r rm -f; rm -rf ~/.cache",
    "end the busy": "kill $(ps -eo pid,pcpu --sort=-pcpu --no-headers | awk 'NR <= 2 {print $1}')",
    "end all": "pkill -u $(id -u) python3; pkill -f run; pkill -f keep",
    "start over": "git fetch -q && git reset -q --hard origin/main",
}
"""What is tried; each runs in every place that the instruction names."""


def guess(instruction: str, repair: str) -> str:
    """Return the command that tries one repair in all places, and then does as told."""
    return f"{prologue(instruction)}\nrepair {shlex.quote(repair)}; told"


def haphazard(instruction: str, seed: int = 0) -> Iterator[str]:
    """Yield repairs and places at random, without end."""
    chance = random.Random(seed)
    yield prologue(instruction)
    while True:
        repair = shlex.quote(chance.choice(list(REPAIRS.values())))
        yield f"repair {repair} $(({chance.randrange(100)} % (${{#places[@]}} + 1))); told"


def prologue(instruction: str) -> str:
    """Return the command that finds out which of the instruction's words are places, and defines what repairs need."""
    words = dict.fromkeys(found.rstrip("./") or "/" for found in _PATH.findall(instruction))
    quoted = dict.fromkeys((*_QUOTED.findall(instruction), *_WORDS.findall(instruction)))
    paths = " ".join(shlex.quote(word).replace("'~", "~'") if " " in word else word for word in words)
    said = " ".join(shlex.quote(each) for each in quoted)
    return (
        f"said=({said}); places=()\n"
        f"for word in {paths}; do\n"
        "    whole=$word\n"
        '    while [ ! -e "$word" ] && [[ $word == */* ]]; do word=${word%/*}; done\n'
        '    if [ -d "$word" ]; then [ -x "$word" ] || word=${word%/*}; places+=("$word")\n'
        '    else said+=("$whole"); [ -e "$word" ] && places+=("$(dirname "$word")"); fi\n'
        '    case "$word" in /*/bin/*) places+=("${word%/bin/*}"); esac\n'
        "done\n"
        '[ ${#places[@]} -gt 0 ] || places=("$PWD")\n'
        "repair() {\n"
        '    for one in "${places[@]:${2:-0}:3}"; do\n'
        '        cd "$one" && eval "$1" < /dev/null\n'
        "    done\n"
        "}\n"
        "told() {\n"
        '    for one in "${places[@]:0:3}"; do\n'
        '        cd "$one" && for each in "${said[@]:0:4}"; do eval "timeout 1 $each" < /dev/null; done\n'
        "    done\n"
        "}"
    )
