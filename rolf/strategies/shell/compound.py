"""Compound commands: lists, pipes, conditions, loops, functions, subshells, jobs.

What is said in `simple` holds for them too, by how they are put together:

* No form runs more than three commands of the level below, so `DEPTH` levels run at most 3 ** `DEPTH` simple ones.
* Loops go over a list that is written down, or count to at most `TURNS` by a counter that belongs to their depth, and
  nest at most `LOOPS` deep.
* A function is called where it is defined and calls none, so none calls itself.
* A job is waited for where it is started. A signal goes to a job that certainly still runs, or to the subshell itself.
* What leaves, sets options or traps does it in a subshell. Jobs do so too, with messages to nowhere: they name
  process ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from rolf.strategies.shell.simple import FILTERS, Place, filled, simple
from rolf.strategies.shell.words import LITERAL_WORDS, WORDS, Text, joined

DEPTH = 3
"""Levels of commands within commands."""
TURNS = 3
"""Most rounds of a loop."""
LOOPS = 2
"""Loops within each other."""
SIGNALS = ("TERM", "KILL", "USR1", "9")
TRAPPED = ("USR1", "USR2", "TERM")
_turns = st.integers(0, TURNS).map(str)
_filters = st.sampled_from(FILTERS)
_statuses = st.integers(0, 255).map(str)


def statement(place: Place, depth: int, loops: int = LOOPS) -> Text:
    """Return commands that hold others, so many levels deep at most.

    Args:
        place: The names that may be touched.
        depth: Levels below this one.
        loops: How many loops may still be within each other.
    """
    return _statement(place, depth, loops) if depth else simple(place)


@st.composite
def _statement(draw: st.DrawFn, place: Place, depth: int, loops: int) -> str:
    # A function that draws, and no strategy put together from strategies: Hypothesis tells those in full where one
    # fails, and this one, in full, would take megabytes.
    return draw(_forms(place, depth, loops))


@cache
def _forms(place: Place, depth: int, loops: int) -> Text:
    inner = statement(place, depth - 1, loops)
    found = [*_lists(inner, place), *_branches(inner, place, depth), *_pipes(inner, place), *_apart(inner, place)]
    if loops:
        found += _loops(statement(place, depth - 1, loops - 1), depth)
    return st.one_of(st.just("true"), simple(place), *found)


def _lists(inner: Text, place: Place) -> Sequence[Text]:
    return (
        st.lists(inner, min_size=2, max_size=3).map("; ".join),
        filled("{one} && {other}", one=simple(place), other=inner),
        filled("{one} || {other}", one=simple(place), other=inner),
        filled("{{ {one}; }} && {{ {two}; }} || {three}", one=inner, two=inner, three=simple(place)),
        filled("! {{ {one}; }}", one=inner),
        filled('{one}; echo "$?"', one=inner),
    )


def _branches(inner: Text, place: Place, depth: int) -> Sequence[Text]:
    return (
        filled("if {one}; then {two}; else {three}; fi", one=simple(place), two=inner, three=inner),
        filled(
            "case {word} in {pattern}) {one};; *) {two};; esac", word=WORDS, pattern=LITERAL_WORDS, one=inner, two=inner
        ),
        filled("f{depth}() {{ {one}; return {status}; }}; f{depth} {words}", depth=st.just(str(depth)), one=inner,
               status=_statuses, words=joined(WORDS)),
    )  # fmt: skip


def _pipes(inner: Text, place: Place) -> Sequence[Text]:
    filters = st.lists(_filters, min_size=1, max_size=3).map(" | ".join)
    return (
        filled("{one} | {filters}", one=simple(place), filters=filters),
        filled("{{ {one}; }} | {filters}", one=inner, filters=filters),
        # The file is opened before the first of the pipe starts, which may read it.
        filled("{{ {{ {one}; }} | {filters}; }} > {file}", one=inner, filters=filters, file=place.file),
        filled("{{ {one}; }} > {file}", one=inner, file=place.file),
        filled("{{ {one}; }} >> {file} 2> /dev/null", one=inner, file=place.file),
        # Two streams in one file: of a pipe, who writes first is chance.
        filled("{{ {one}; }} > {file} 2>&1", one=simple(place), file=place.file),
        filled("{{ {one}; }} 2> /dev/null", one=inner),
        filled("{{ {one}; }} < {file}", one=simple(place), file=place.file),
        filled('echo "$( {one} )"', one=simple(place)),  # the blanks: a subshell would make it "$((", arithmetic
        filled('( {one}; echo "${{PIPESTATUS[@]}}" )', one=filled("{one} | cat", one=simple(place))),
    )


def _apart(inner: Text, place: Place) -> Sequence[Text]:
    """Return what happens in a shell of its own."""
    return (
        filled("( {one} )", one=inner),
        filled("( cd -- {directory} && {{ {one}; }} )", directory=place.directory, one=inner),
        filled("( {one}; exit {status} )", one=inner, status=_statuses),
        filled("( set -e; {one}; {two} )", one=inner, two=inner),
        filled("( set -o pipefail; false | {one} )", one=_filters),
        filled('( set -- {words}; echo "$#" "$1"; shift && {one} )', words=joined(WORDS, 1), one=inner),
        filled("( exec 3> {file}; echo {words} >&3; exec 3>&- )", file=place.file, words=joined(WORDS)),
        filled("( trap 'echo left' EXIT; {one}; exit {status} )", one=inner, status=_statuses),
        filled("( trap 'echo caught' {signal}; kill -s {signal} \"$BASHPID\"; {one} )",
               signal=st.sampled_from(TRAPPED), one=inner),
        filled('( {{ {one}; }} & wait "$!" ) 2> /dev/null', one=inner),
        filled('( sleep 0.01 & {one}; wait "$!" ) 2> /dev/null', one=simple(place)),
        filled('( sleep 1 & kill -{signal} "$!"; wait "$!" ) 2> /dev/null', signal=st.sampled_from(SIGNALS)),
    )  # fmt: skip


def _loops(inner: Text, depth: int) -> Sequence[Text]:
    """Return loops whose counters no other loop, within them or around, touches."""
    counter = st.just(f"i{depth}")
    words = joined(LITERAL_WORDS, 0, TURNS)
    return (
        filled("for {i} in {words}; do {one}; done", i=counter, words=words, one=inner),
        filled("for {i} in {words}; do echo \"${i}\"; {one}; done", i=counter, words=words, one=inner),
        filled("for (({i} = 0; {i} < {turns}; {i}++)); do {one}; done", i=counter, turns=_turns, one=inner),
        filled('{i}=0; while [ "${i}" -lt {turns} ]; do {one}; {i}=$(({i} + 1)); done', i=counter, turns=_turns,
               one=inner),
        filled('{i}=0; until [ "${i}" -ge {turns} ]; do {one}; {i}=$(({i} + 1)); done', i=counter, turns=_turns,
               one=inner),
        filled("for {i} in {words}; do {one}; break; done", i=counter, words=words, one=inner),
        filled('( for {i} in {words}; do [ -z "${i}" ] && continue; {one}; done )', i=counter, words=words, one=inner),
    )  # fmt: skip
