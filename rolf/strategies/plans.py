"""Plans: the texts that ``TermEnv-v1`` takes for actions, and those that it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from rolf.strategies.file_trees import file_names
from rolf.strategies.shell.commands import shell_commands

Text = st.SearchStrategy[str]
Fields = dict[str, Any]

# What a plan may hold: the JSON Schema of termgym.plan_schema().
LONGEST_TIMEOUT = 3600.0
"""[s]"""
KEYS = ("Enter", "C-c", "C-d", "Esc", "Tab", "Up", "q", "y", "C-z", " ", "yes\n", "x")
STREAMS = ("stdout", "stderr")
PATHS = ("a", "d/a", "./two words", "~/a", "~", "/etc/passwd", "nowhere")
HARMLESS_CHECKS = ("true", "false", "[ -e a ]", "test -d d", "echo x", "cat < /dev/null")
_ATOMS = st.one_of(
    st.sampled_from([".", "\\d", "\\w+", "[a-z]", "[^x]*", "(?:a|b)", "(?i:x)", "^", "$", "\\b", "x{1,3}", ".*?"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).map(re.escape),
)
_PATTERNS = st.lists(_ATOMS, min_size=1, max_size=3).map("".join)
_NEGATE = st.booleans()


def plans(
    commands: Text | None = None,
    *,
    valid: bool = True,
    timeouts: st.SearchStrategy[float] | None = None,
    keys: bool = True,
    submit: bool = True,
) -> st.SearchStrategy[str]:
    """Return actions of ``TermEnv-v1``: plans of all fields, keystrokes, submissions, as JSON text.

    It shrinks to ``{"submit": true}``, without submissions to ``{"command": "true"}``.

    Args:
        commands: What plans run; None: `shell_commands`, which do no harm and do the same again.
        valid: Whether every text is a plan. If not, about every third is none: no JSON, a key missing or unknown, a
            value of a wrong type or out of range, a pattern that is none.
        timeouts: How long plans may take [s]; None: 10 and more, so that no harmless command meets its end.
        keys: Whether there are keystrokes.
        submit: Whether there are submissions.

    Example::

        @given(st.lists(plans(), max_size=8))
        def test_an_agent_can_do_anything(texts):
            env.reset(seed=0)
            for text in texts:
                *_, terminated, truncated, info = env.step(text)
                if terminated or truncated:
                    break
    """
    times = timeouts if timeouts is not None else st.one_of(st.sampled_from([60.0, 10]), st.floats(10, LONGEST_TIMEOUT))
    kinds = [_plan(shell_commands() if commands is None else commands, times)]
    if keys:
        kinds.append(_keys(times))
    if submit:
        kinds.append(st.just({"submit": True}))
    right = st.one_of(kinds)
    texts = _written(right)
    return texts if valid else st.one_of(texts, texts, malformed_plans(right))


def _plan(commands: Text, times: st.SearchStrategy[float]) -> st.SearchStrategy[Fields]:
    exchange = st.fixed_dictionaries({"expect": _PATTERNS, "send": st.sampled_from(["", "y\n", "no", "x" * 50])})
    return st.fixed_dictionaries(
        {"command": commands},
        optional={
            "timeout": times,
            "idle_timeout": st.one_of(st.none(), times),
            "expected_exit_code": st.one_of(st.none(), st.integers(0, 255)),
            "validation_steps": st.lists(validation_steps(), max_size=3),
            "dialogue": st.lists(exchange, max_size=3),
        },
    )


def _keys(times: st.SearchStrategy[float]) -> st.SearchStrategy[Fields]:
    return st.fixed_dictionaries({"keys": st.sampled_from(KEYS)}, optional={"timeout": times})


def validation_steps() -> st.SearchStrategy[Fields]:
    """Return checks of every type as plain data."""
    path = st.one_of(st.sampled_from(PATHS), file_names())
    text = path.map(lambda name: name.encode("utf-8", "replace").decode())  # JSON holds no half surrogates
    kinds: Mapping[str, tuple[Fields, Fields]] = {
        "file_exists": ({"path": text}, {"kind": st.sampled_from(["any", "file", "dir", "symlink"])}),
        "file_absent": ({"path": text}, {}),
        "text_in_file": ({"path": text, "pattern": _PATTERNS}, {"negate": _NEGATE}),
        "file_sha256": ({"path": text, "sha256": st.text("0123456789abcdef", min_size=64, max_size=64)}, {}),
        "file_mode": ({"path": text, "mode": st.sampled_from(["644", "0755", "0000", "4755", "1777"])}, {}),
        "link_target": ({"path": text, "target": text}, {}),
        "process_running": ({"pattern": _PATTERNS}, {"negate": _NEGATE}),
        "port_open": ({"port": st.integers(1, 65535)}, {"negate": _NEGATE}),
        "variable": ({"name": st.sampled_from(["HOME", "PATH", "v0", "nothing"])}, {"pattern": _PATTERNS}),
        "command": (
            {"command": st.sampled_from(HARMLESS_CHECKS)},
            {
                "exit_code": st.integers(0, 255),
                "pattern": st.one_of(st.none(), _PATTERNS),
                "timeout": st.floats(5, 120),
            },
        ),
        "output": ({"pattern": _PATTERNS}, {"stream": st.sampled_from(STREAMS)}),
    }
    return st.one_of(
        [
            st.fixed_dictionaries({"type": st.just(kind), **needed}, optional=optional)
            for kind, (needed, optional) in kinds.items()
        ]
    )


def _written(fields: st.SearchStrategy[Fields]) -> Text:
    """Return fields as JSON, in more than one hand."""
    styles: st.SearchStrategy[Fields] = st.sampled_from(
        [{}, {"indent": 1}, {"ensure_ascii": False}, {"sort_keys": True}]
    )
    return st.tuples(fields, styles).map(lambda drawn: json.dumps(drawn[0], **drawn[1]))


# ---- what is no plan

_NO_JSON = ("", "ls -la", "{", '{"command": "ls"} and more', "[]", "null", "1", '"ls"', "{}", '{"command": "a\nb"}')
_WRONG: Mapping[str, tuple[Any, ...]] = {
    "timeout": (0, -1, 3601, "60", True, None, [], float("nan"), float("inf")),
    "command": (None, 5, True, [], {}),
    "idle_timeout": (0, -0.5, "1", False),
    "expected_exit_code": (-1, 256, 0.5, "0", True),
    "validation_steps": (
        {},
        "true",
        [{}],
        [{"type": "file_there", "path": "a"}],
        [{"type": "file_exists"}],
        [{"type": "file_exists", "path": ""}],
        [{"type": "file_exists", "path": "a\0"}],
        [{"type": "output", "pattern": "(a"}],
        [{"type": "port_open", "port": 0}],
        [{"type": "file_mode", "path": "a", "mode": "rw"}],
        [{"type": "file_absent", "path": "a"}] * 33,
    ),
    "dialogue": ({}, [{}], [{"expect": "x"}], [{"expect": "*", "send": "y"}], [["x", "y"]]),
    "keys": ("", None, 1, "q"),
    "submit": (False, "true", 1, True),
    "timout": (60,),
}
"""Values that no plan with a command may hold, the two of another action among them."""


def malformed_plans(right: st.SearchStrategy[Fields]) -> Text:
    """Return texts that are no actions, most of them an action with one fault."""
    wrong = st.sampled_from([(name, value) for name, values in _WRONG.items() for value in values])

    def spoilt(drawn: tuple[Fields, tuple[str, Any]]) -> str:
        return json.dumps({**drawn[0], drawn[1][0]: drawn[1][1]})

    def cut(text: str) -> str:
        return text[:-1]

    plan = right.filter(lambda fields: "command" in fields)
    breaking: list[Callable[[str], str]] = [cut, "{} {{}}".format, lambda text: f"```json\n{text}\n```"]
    half_a_pair = st.just('{"command": "\ud800"}')
    return st.one_of(
        st.sampled_from(_NO_JSON),
        st.tuples(plan, wrong).map(spoilt),
        st.tuples(st.sampled_from(breaking), _written(right)).map(lambda drawn: drawn[0](drawn[1])),
        half_a_pair,
    )
