"""Simple commands: builtins and small programs with their arguments.

Each ends by itself, at once, whatever lies in the directory; reads at most `READ` bytes of a file, and never the
terminal; keeps at most so many in a variable, so that nothing doubles from command to command; names no file but those
it is given. A filter reads all of its input, or the command before it could die of a closed pipe, sometimes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from hypothesis import strategies as st

from rolf.strategies.shell.words import LITERAL_WORDS, NUMBERS, VARIABLES, WORDS, Text, joined, paths, single

READ = 64
"""Of a file, by one command [bytes]."""
MODES = ("644", "600", "755", "444", "u+x", "go-rwx", "a=r")
PATTERNS = ("x", "^a", "o$", ".", "[0-9]", "nothing at all")
FILTERS = (
    "cat",
    "sort",
    "sort -r",
    "uniq",
    "uniq -c",
    "wc -l",
    "wc -c",
    "tr a-z A-Z",
    "tr -d x",
    "cut -c 1-3",
    "sed s/x/y/",
    "sed -n 1p",
    "tail -n 1",
    "nl",
    'while read -r line; do echo "<$line>"; done',
    '(read -r first; echo "first=$first"; cat > /dev/null)',
)
STATUSES = ("false", ":", "! true", "test x", "[ -z x ]", "(( 0 ))", "(( 1 + 1 ))", "[[ abc == a* ]]")
_variables = st.sampled_from(VARIABLES)


@dataclass(frozen=True)
class Place:
    """The names that commands may touch, all relative to where they run."""

    files: tuple[str, ...]
    directories: tuple[str, ...]

    @cached_property
    def file(self) -> Text:
        """Names of files, one in a directory among them, as words."""
        return paths([*self.files, *(f"{each}/{self.files[0]}" for each in self.directories)])

    @cached_property
    def directory(self) -> Text:
        """Names of directories as words."""
        return paths(self.directories)

    @cached_property
    def anything(self) -> Text:
        """Names of either as words."""
        return st.one_of(self.file, self.directory)

    @cached_property
    def target(self) -> Text:
        """What a symbolic link may say: names in the directory where it lies."""
        return paths([*self.files, *self.directories])


def filled(template: str, **parts: Text) -> Text:
    """Return a text with other texts in its gaps."""
    return st.fixed_dictionaries(parts).map(lambda drawn: template.format_map(drawn))


def simple(place: Place) -> Text:
    """Return simple commands; the simplest is ``true``."""
    return _simple(place)


@st.composite
def _simple(draw: st.DrawFn, place: Place) -> str:
    return draw(_forms(place))


@cache
def _forms(place: Place) -> Text:
    # The simplest first, in one choice: what takes fewer choices counts as simpler.
    return st.one_of(
        st.just("true"), st.sampled_from(STATUSES), *_printing(), *_setting(place), *_reading(place), *_changing(place)
    )


def _printing() -> Sequence[Text]:
    return (
        filled("echo {words}", words=joined(WORDS)),
        filled("printf '%s\\n' {words}", words=joined(WORDS)),
        filled("printf '%d|%5s|%q\\n' {number} {words}", number=NUMBERS, words=joined(LITERAL_WORDS, 2, 2)),
        filled("echo {words} >&2", words=joined(WORDS)),
        filled("[[ x{left} == x{right} ]]", left=WORDS, right=LITERAL_WORDS),
        filled("[ {left} -lt {right} ]", left=NUMBERS, right=NUMBERS),
        filled("cat <<< {word}", word=WORDS),
        st.lists(st.sampled_from(["text", "$v0", "`id`", ""]), max_size=3).map(
            lambda lines: "{ cat << 'EOF'\n" + "".join(f"{line}\n" for line in lines) + "EOF\n}"
        ),
        filled("type -t {name}", name=st.sampled_from(["cd", "cat", "if", "nothing-of-this-name"])),
        # Bash does not wait for what is in <( ) unless it is told to.
        st.sampled_from(['{ cat <(echo one); wait "$!"; }', "nothing-of-this-name", "shift 9", "unset -f nothing"]),
    )


def _setting(place: Place) -> Sequence[Text]:
    """What goes into a variable is short and holds no variable: else two could double each other."""
    return (
        filled("{name}={word}", name=_variables, word=LITERAL_WORDS),
        filled("export {name}={word}", name=_variables, word=LITERAL_WORDS),
        filled("{name}=$(({number} * {other}))", name=_variables, number=NUMBERS, other=NUMBERS),
        filled("unset -v {name}", name=_variables),
        filled(f"read -r -N {READ} {{name}} < {{file}}", name=_variables, file=place.file),
        filled(f"read -r -n {READ} {{name}} {{other}} <<< {{word}}", name=_variables, other=_variables, word=WORDS),
        filled(f"{{name}}=$(head -c {READ} -- {{file}} | tr -d '\\0')", name=_variables, file=place.file),
        filled("printf -v {name} %s {word}", name=_variables, word=LITERAL_WORDS),
        filled('list=({words}); echo "${{#list[@]}}" "${{list[@]}}"', words=joined(LITERAL_WORDS)),
        filled("{name}={word} eval 'echo \"${name}\"'", name=_variables, word=LITERAL_WORDS),
    )


def _reading(place: Place) -> Sequence[Text]:
    return (
        filled(f"head -c {READ} -- {{file}}", file=place.file),
        filled(f"tail -c {READ} -- {{file}}", file=place.file),
        filled("wc -c < {file}", file=place.file),
        filled("grep -c -e {pattern} -- {file}", pattern=st.sampled_from(PATTERNS).map(single), file=place.file),
        filled("cmp -s -- {file} {other}", file=place.file, other=place.file),
        filled("[ -{test} {path} ]", test=st.sampled_from("edfLrswx"), path=place.anything),
        filled("readlink -- {file}", file=place.file),
        filled("ls -1 -d -- {path}", path=place.anything),
        st.sampled_from(["ls -1 -A", "echo *", 'for each in *; do echo "$each"; done']),
    )


def _changing(place: Place) -> Sequence[Text]:
    return (
        filled("echo {words} > {file}", words=joined(WORDS), file=place.file),
        filled("echo {words} >> {file}", words=joined(WORDS), file=place.file),
        filled(f"head -c {READ} -- {{file}} > {{other}}", file=place.file, other=place.file),
        filled("touch -- {file}", file=place.file),
        filled("mkdir -p -- {directory}", directory=place.directory),
        filled("mkdir -- {directory}", directory=place.directory),
        filled("rmdir -- {directory}", directory=place.directory),
        filled("rm -f -- {file}", file=place.file),
        filled("rm -rf -- {path}", path=place.anything),
        filled("mv -f -- {path} {other}", path=place.anything, other=place.anything),
        filled("ln -f -- {file} {other}", file=place.file, other=place.file),
        filled("ln -s -f -n -- {target} {file}", target=place.target, file=place.file),
        filled("chmod {mode} -- {file}", mode=st.sampled_from(MODES), file=place.file),
        filled("truncate -s {number} -- {file}", number=NUMBERS, file=place.file),
        filled("( umask 077; touch -- {file} )", file=place.file),
    )
