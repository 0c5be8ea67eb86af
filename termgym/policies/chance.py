"""Chance: ordinary commands on what it comes across, drawn at random. What success by luck looks like."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

from rolf.evaluation.policy import Start
from termgym.plan import ActionPlan, Keys, Submit
from termgym.policies.hand import Hand, asked, seen
from termgym.policies.places import enter, shell_path, words

COMMANDS = (
    "ls -AF {}",
    "cat {}",
    "head -n 20 {}",
    "cd {}",
    "file {}",
    "chmod u+rwx {}",
    "mkdir -p {}",
    "touch {}",
    "rm -f {}",
    "cp -r {0} {0}.old",
    "mv {0} {0}.old",
    "bash {}",
    "git status",
    "git pull",
    "git stash",
    "make",
    "ps -e -o comm=",
    "grep -rn error .",
    "pkill -f {}",
    "tar -xf {}",
)
"""What it draws from; ``{}`` is a name that was in the instruction or on the screen. None shows a clock: what it prints
can be had again."""
TIMEOUT = 5.0
"""Of a command [s]."""
SUBMITS = 0.05
"""Probability that it says it is done [per step]."""
_NAME = re.compile(r"[~\w./+-]*[\w/][\w.+-]*")
NAMES = 200
"""Names that it remembers: the latest."""


class Chance:
    """Draw a command and a name for it, whatever the output says."""

    def begin(self, start: Start) -> None:
        """See ``rolf.evaluation.policy.Policy.begin``."""
        self._hand = Hand(start)
        self._random = random.Random(start.seed)
        self._words = words(asked(start.observation))
        self._names = [*self._words.paths, *(command for command in self._words.commands if " " not in command)]
        self._entered = False

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """See ``rolf.evaluation.policy.Policy.act``."""
        if info.get("event") == "WAITING_INPUT":
            return self._hand.written(Keys(keys=self._random.choice(("Enter", "y", "C-c")), timeout=TIMEOUT))
        if not self._entered:
            self._entered = True
            return self._run(f"{enter(self._words.paths)}; ls")
        if self._random.random() < SUBMITS:
            return self._hand.written(Submit())
        # A name is a word of letters, digits and what paths are made of: anything else could not be quoted for all.
        self._names = [*self._names, *_NAME.findall(seen(observation)[-4_000:])][-NAMES:]
        name = self._random.choice(self._names or ["."])
        drawn = self._random.choice((*COMMANDS, *self._words.commands))
        return self._run(drawn.format(shell_path(name)) if drawn in COMMANDS else drawn)

    def _run(self, command: str) -> str:
        return self._hand.written(ActionPlan(command=command, timeout=TIMEOUT, expected_exit_code=None))
