"""Reproduction: a program of a few lines that raises as long as a fault is there."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from rolf.checks.subject import Code
from rolf.difference import difference

if TYPE_CHECKING:
    from rolf.checks.player import Player

UNPACKED = "observation, reward, terminated, truncated, info = env.step(action)"
COMPARES = "from rolf.difference import difference"


class Call(NamedTuple):
    """One call of an environment."""

    verb: str
    """``reset``, ``step``, or what else was done."""
    argument: Any
    """The seed; the action; of anything else the Python that does it."""


class Reproduction(NamedTuple):
    """A program in parts."""

    imports: tuple[str, ...]
    lines: tuple[str, ...]

    def text(self) -> str:
        """Return the program."""
        first = sorted(dict.fromkeys(self.imports), key=lambda line: (line[0] == "#", line[:4] == "from", line))
        return "\n".join([*first, "", *self.lines]) + "\n"

    @classmethod
    def of_one(cls, code: Code, player: Player, *ends: str, imports: Iterable[str] = ()) -> Reproduction:
        """Return what does again all that was done to one environment.

        Args:
            code: Makes the environment.
            player: Who did it.
            ends: Lines at the end; none: the last call raises.
            imports: What they need.
        """
        lines = [f"env = {code.expression}", *calls_code(player.calls, player.env.action_space), *ends]
        return cls((*code.imports, *imports), tuple(lines))

    @classmethod
    def of_two(cls, code: Code, left: Player, right: Player, calls: tuple[int, int], name: str) -> Reproduction:
        """Return what plays two environments and compares what they said last.

        Args:
            code: Makes the environments.
            left: Who played one.
            right: Who played the other.
            calls: How many calls of each to do again.
            name: Of what they said, what to compare: ``observation``.
        """
        space = left.env.action_space
        if left is right:
            return cls._of_two_times(code, left, calls, name)
        one, other = (calls_code(player.calls[:n], space) for player, n in zip((left, right), calls, strict=True))
        lines = play_code("play", code, one, name)
        if one == other:
            pair = "play(), play()"
        else:
            lines += play_code("play_otherwise", code, other, name)
            pair = "play(), play_otherwise()"
        return cls((*code.imports, COMPARES), (*lines, *compare_code(name, pair, left.volatile)))

    @classmethod
    def _of_two_times(cls, code: Code, player: Player, calls: tuple[int, int], name: str) -> Reproduction:
        """Return what plays one environment and compares what it said at two times."""
        before, after = player.calls[: calls[0]], player.calls[calls[0] : calls[1]]
        lines = (
            f"env = {code.expression}",
            *calls_code(before, player.env.action_space),
            f"first = copy.deepcopy({name})",
            *calls_code(after, player.env.action_space),
        )
        return cls(
            ("import copy", *code.imports, COMPARES), (*lines, *compare_code(name, f"first, {name}", player.volatile))
        )


def play_code(function: str, code: Code, calls: Sequence[str], name: str) -> list[str]:
    """Return a function that makes an environment, does the calls, and returns one of the last answers."""
    return [
        f"def {function}():",
        *(f"    {line}" for line in (f"env = {code.expression}", *calls, f"return {name}")),
        "",
    ]


def compare_code(name: str, pair: str, volatile: Sequence[str]) -> list[str]:
    """Return the lines that compare two values, but for what may differ."""
    ours = [field for field in volatile if field.partition(".")[0] == name]
    return [
        f"found = difference({name!r}, {pair}{f', {ours!r}' if ours else ''})",
        "assert found is None, found",
    ]


def calls_code(
    calls: Sequence[Call], space: Any, *, before: Sequence[str] = (), after: Sequence[str] = ()
) -> list[str]:
    """Return calls as Python, steps in a row as a loop, with lines before or after each of them."""
    lines: list[str] = []
    for verb, group in groupby(calls, key=lambda call: call.verb):
        if verb == "step":
            actions = actions_code(space, [call.argument for call in group])
            lines += [f"for action in {actions}:", *(f"    {line}" for line in (*before, UNPACKED, *after))]
            continue
        for call in group:
            seed = "" if call.argument is None else f"seed={call.argument}"
            did = f"observation, info = env.reset({seed})" if verb == "reset" else str(call.argument)
            lines += [*before, *did.splitlines(), *after]
    return lines


def actions_code(space: Any, actions: list[Any]) -> str:
    """Return actions as Python: as they are where that can be read back, else as their space writes them."""
    if _read_back(repr(actions), actions):
        return repr(actions)
    written = json.loads(json.dumps(space.to_jsonable(actions)))
    return f"env.action_space.from_jsonable({written!r})"


def _read_back(text: str, value: Any) -> bool:
    try:
        read = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return type(read) is type(value) and difference("", read, value) is None
