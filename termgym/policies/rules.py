"""Rules: tries what is complained of, reads the error, and does what it usually means. No learning, no look inside.

Written from what git, bash, make, sqlite and the C library say, which is the same everywhere; not from the tasks.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rolf.evaluation.policy import Start
from termgym.plan import ActionPlan, Keys, Submit
from termgym.policies.hand import Hand, asked, seen
from termgym.policies.places import Words, enter, shell_path, words

TIMEOUT = 10.0
"""Of a command [s]."""
ROUNDS = 6
"""Repairs that it tries before it gives up."""


class Rule(NamedTuple):
    """What one kind of message usually means."""

    message: re.Pattern[str]
    repair: str
    """What to run; ``{0}`` is the first group of the message, quoted."""


def _rule(message: str, repair: str) -> Rule:
    return Rule(re.compile(message, re.MULTILINE), repair)


RULES = (
    _rule(r"Unable to create '([^'\n]+\.lock)'", "rm -f {0}"),
    _rule(r"(?:rebase-merge|rebase-apply|middle of (?:a |another )?rebase)", "GIT_EDITOR=true git rebase --continue"),
    _rule(r"(?:not concluded your merge|MERGE_HEAD exists)", "git add -A && git commit -qm merged"),
    _rule(
        r"CONFLICT \(content\): Merge conflict in (\S+)",
        "for f in $(git diff --name-only --diff-filter=U); do sed -i '/^[<=>]\\{7\\}/d' \"$f\"; done; "
        "git commit -qam merged",
    ),
    _rule(r"untracked working tree files would be overwritten[^\n]*\n\s+(\S[^\n]*)", "mv {0} {0}.mine"),
    _rule(
        r"local changes to the following files would be overwritten",
        "git stash && git pull --no-rebase --no-edit; git stash pop",
    ),
    _rule(r"no tracking information", "git branch -u origin/$(git branch --show-current)"),
    _rule(r"not currently on a branch", "git checkout main || git checkout master"),
    _rule(
        r"(?:divergent branches|specify how to reconcile|Not possible to fast-forward)",
        "git pull --no-rebase --no-edit",
    ),
    _rule(r"missing separator", r"sed -i 's/^  */\t/' [Mm]akefile"),
    _rule(
        r"([\w./~-]+): (?:/[^\n]*: bad interpreter|cannot execute: required file not found)", r"sed -i 's/\r$//' {0}"
    ),
    _rule(r"([\w./~-]+): Permission denied", 'chmod u+rwx {0} "$(dirname {0})"'),
    _rule(r"(?:read|open|trust|replace|permission)[^\n]*?((?:/[\w.-]+)+\.(?:key|pem))", "chmod go-rwx {0}"),
    _rule(r"[Aa]ddress (?:is )?already in use", "kill $(lsof -t -i -sTCP:LISTEN | tail -n 1)"),
    _rule(r"No space left on device", r"find . -xdev \( -name '*.tmp' -o -name '*.log' \) -size +1M -delete"),
    _rule(
        r"(?:disk image is malformed|row \d+ missing from index|wrong # of entries in index)",
        'for d in *.db; do sqlite3 "$d" reindex; done',
    ),
    _rule(r"No module named '?[\w.]+'?", "python3 -m venv --without-pip .venv && . .venv/bin/activate"),
    _rule(
        r"(?:not (?:valid )?UTF-8|invalid (?:start|continuation) byte|UnicodeDecodeError)",
        "for f in $(grep -rlaxv '.*' --include='*.txt' --include='*.csv' .); do "
        'iconv -f cp1252 -t utf-8 "$f" > .recoded && cat .recoded > "$f"; rm -f .recoded; done',
    ),
    _rule(
        r"No matching distribution found", "python3 -m pip install --no-index --find-links . --find-links /srv -r *.txt"
    ),
    _rule(r"((?:~|/)?(?:[\w.-]+/)+[\w.-]+/?): No such file or directory", 'mkdir -p "$(dirname {0})"'),
    _rule(r"see (/\S+\.log)", "tail -n 20 {0}"),
)
"""In order: the first that fits and was not tried in vain is tried."""


class Rules:
    """Run what the instruction names; repair by rule what it complains of; run it again."""

    def begin(self, start: Start) -> None:
        """See ``rolf.evaluation.policy.Policy.begin``."""
        self._hand = Hand(start)
        self._words = words(asked(start.observation))
        self._screen = ""
        self._plans = self._work()

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """See ``rolf.evaluation.policy.Policy.act``."""
        if info.get("event") == "WAITING_INPUT":
            return self._hand.written(Keys(keys="C-c", timeout=TIMEOUT))
        self._screen = seen(observation)
        return self._hand.written(next(self._plans, Submit()))

    def _work(self) -> Iterator[ActionPlan]:
        yield _plan(f"{enter(self._words.paths)}; pwd; ls -AF")
        tried: set[str] = set()
        for _ in range(ROUNDS):
            yield _plan(_trial(self._words))
            repair = _repair(self._screen, tried)
            while repair is not None and repair.startswith("tail "):  # it shows more to read, and mends nothing
                tried.add(repair)
                yield _plan(repair)
                repair = _repair(self._screen, tried)
            if repair is None:
                return
            tried.add(repair)
            yield _plan(repair)


def _trial(known: Words) -> str:
    """Return the command that shows what is complained of: what is quoted, or the first program that is named."""
    if known.commands:
        return known.commands[0]
    first = shell_path(known.paths[0]) if known.paths else "."
    return f"[ -f {first} ] && [ -x {first} ] && {first} || ls -AF"


def _repair(screen: str, tried: set[str]) -> str | None:
    """Return what the screen asks for and was not tried yet; None: nothing that the rules know."""
    for rule in RULES:
        for found in rule.message.finditer(screen):
            repair = rule.repair.replace("{0}", shlex.quote(found.group(1))) if found.groups() else rule.repair
            if repair not in tried:
                return repair
    return None


def _plan(command: str) -> ActionPlan:
    return ActionPlan(command=command, timeout=TIMEOUT, expected_exit_code=None)
