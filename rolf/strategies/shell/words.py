"""Words: what stands for one argument of a command, written in every way that bash knows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

Text = st.SearchStrategy[str]

LITERALS = (
    "x",
    "hello",
    "two words",
    "",
    "-n",
    "--",
    "*",
    "$HOME",
    "`id`",
    "$(id)",
    "it's",
    '"',
    "\\",
    "a;b",
    "a && b",
    "> a",
    "!",
    "#",
    "~",
    "{1..3}",
    "naïve ☕",
    "one\ntwo",
    "\t",
    "/",
    "..",
)
"""Words that do something if a quote is forgotten."""
VARIABLES = ("v0", "v1", "v2")
"""All variables that are ever set or read, but for the counters of loops and what a loop goes over."""
EXPANSIONS = (
    '"$v0"',
    "$v1",
    '"${v0:-unset}"',
    '"${#v1}"',
    '"${v2%x*}"',
    '"${v0^^}"',
    '"${v1//x/y}"',
    '"${v2:1:3}"',
    '"$#"',
    "$((1 + 2 * 3))",
    "$((7 / 2))",
    "{1..3}",
    "a{b,c}d",
    '"$(echo inner)"',
    '"$(printf %s x | wc -c)"',
    "`echo old`",
    '"${v0:+set}"',
)
"""What bash puts something else into the place of. Never a name of a file, and nothing that a variable keeps."""
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t"}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:+@%-")


def single(text: str) -> str:
    """Return a text in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def double(text: str) -> str:
    """Return a text in double quotes."""
    if "!" in text:  # which an interactive bash would look up in its history, backslash or not
        return single(text)
    return '"' + "".join(f"\\{character}" if character in '\\"$`' else character for character in text) + '"'


def ansi(text: str) -> str:
    """Return a text in bash's ``$'…'``."""
    return "$'" + "".join(_ESCAPES.get(character, character) for character in text) + "'"


def backslashed(text: str) -> str:
    """Return a text with a backslash before each character that needs it."""
    if not text or "\n" in text:  # a backslash takes a line feed away
        return single(text)
    return "".join(character if character in _PLAIN else f"\\{character}" for character in text)


def bare(text: str) -> str:
    """Return a text as it is if it needs no quotes, else in single quotes."""
    return text if text and frozenset(text) <= _PLAIN else single(text)


QUOTINGS = (bare, single, double, ansi, backslashed)


def quoted(texts: Text) -> Text:
    """Return texts as words of bash that are nothing but them."""
    return st.builds(lambda quote, text: quote(text), st.sampled_from(QUOTINGS), texts)


def literals() -> Text:
    """Return texts for words, hostile ones and any without control characters."""
    anything = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
    return st.one_of(st.sampled_from(LITERALS), anything)


@st.composite
def _literal_word(draw: st.DrawFn) -> str:
    return draw(_LITERALS)


@st.composite
def _word(draw: st.DrawFn) -> str:
    return draw(_ANY)


_LITERALS = quoted(literals())
_ANY = st.one_of(_LITERALS, st.sampled_from(EXPANSIONS))
LITERAL_WORDS = _literal_word()
"""Words that are what they say."""
WORDS = _word()
"""Any words but names of files."""
NUMBERS = st.integers(0, 9).map(str)


def paths(names: Sequence[str]) -> Text:
    """Return names of files as words; one that could be an option begins with ``./``."""
    return quoted(st.sampled_from([f"./{name}" if name.startswith(("-", "~")) else name for name in names]))


def joined(words: Text, least: int = 0, most: int = 3) -> Text:
    """Return several words with a blank between."""
    return st.lists(words, min_size=least, max_size=most).map(" ".join)
