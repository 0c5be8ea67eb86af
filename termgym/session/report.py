"""What is typed to the shell for one command, and what comes back on the report pipe.

A step is one line on the command socket. It runs the agent's command, verbatim, in ``eval`` at top level (so that
``declare``, ``break`` and ``return`` behave, and syntax errors stay inside), and reports. A second line asks for the
report once more if the first was unwound (^C, ``${x?}``, ``set -u``) and came to none of its own; when that can be
seen from outside it is sent only then. The redirection of ``eval`` gives the command the terminal as its input. Our
descriptors are close-on-exec (closing them for each command took half of the shell's time), so programs see none of
them, and ``exec`` and ``exit`` show at once as end of file on the report pipe.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

LINE_LIMIT = 1500  # longer commands go through the memfd: bash takes longer over each byte of a line [bytes]
VALUE_LIMIT = 4096  # of a watched variable [characters]
# Errors to their own pty; then close-on-exec for 240 to 243, which bash has no command for: it gives the flag to its
# own saved copies (10 to 13 while the redirections of an ``eval`` last), and to duplicates of such descriptors.
OPENING = (
    b"exec 2>&243; set +o history +H; history -c; unset HISTFILE MAILCHECK; PS1='\\[\\]' PS2=; export -n PS1; "
    b"eval 'exec 250>&10 251<&11 252<&12 253<&13' 240>&- 241<&- 242>&- 243>&-; "
    b"exec 240>&250 241<&251 242<&252 243<&253 250>&- 251<&- 252<&- 253<&-\n"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Report(NamedTuple):
    """What the shell says about itself after a command."""

    status: int
    flags: bytes
    """``$-``"""
    noisy: bool
    """Whether bash may write to the terminal of its own accord between two commands: prompts, traces, job notices."""
    prompt: bytes
    """The prompt as bash prints it."""
    variables: Mapping[str, str]
    """The watched variables that are set."""
    text: bytes
    """As it came, without its nonce."""


class Wire:
    """Builds the lines and reads the reports of one shell."""

    __slots__ = ("_fenced", "_plain", "_plain_end", "watch")

    def __init__(self, watch: Sequence[str]) -> None:
        for name in watch:
            if not _NAME.fullmatch(name):
                raise ValueError(f"watch: {name!r} is not a shell variable's name; allowed are letters, digits and _")
        self.watch = tuple(watch)
        # Everything quoted: IFS may be anything. ``${x+…}`` throughout: ``set -u`` may be on. Every command carries the
        # nonce (@), for the sake of ``set -x``.
        values = "".join(f' "${{{name}+=${{{name}:0:{VALUE_LIMIT}}}}}"' for name in watch)
        form = r"%s\0%s\0%s\0" + r"%s\0" * len(watch)
        fields = f' "$-" "${{PROMPT_COMMAND+c}}${{!+j}}" "${{PS1:+${{PS1@P}}}}"{values} >&240'
        self._plain = b"\\builtin printf '"
        self._plain_end = rf""" %s {form}' "$?"{fields}""".encode()
        # What bash writes of its own accord may be there by the time the report is read: a noisy shell marks on both
        # screens where the command's own output ends.
        marks = "".join(rf"\builtin printf '\036@\036' >&{fd}; " for fd in (242, 243))
        self._fenced = rf"""\builtin printf '@ %s' "$?" >&240; {marks}\builtin printf ' @ {form}'{fields}""".encode()

    def opening(self, nonce: bytes) -> bytes:
        """Return the first lines for a new shell."""
        return OPENING + self._plain + nonce + self._plain_end + b"\n"

    def environment(self, nonce: bytes) -> bytes:
        """Return a line that reports the exported variables as a child sees them."""
        start = b"\\builtin printf '%b\\0' >&240; /usr/bin/env -0 >&240; " % nonce[::-1]
        return start + self._plain + nonce + self._plain_end + b"\n"

    def again(self, nonce: bytes, last: Report) -> bytes:
        """Return the line that asks for the report of a command whose line was unwound.

        Does no harm otherwise: ``$?`` is 0 then, after a line that has reported and after one that never ran (swallowed
        by a ``read`` in PROMPT_COMMAND), which must not pass for one that did.
        """
        return b"case %b$? in %b0) ;; *) %b;; esac\n" % (nonce, nonce, self._report(nonce, last))

    def _report(self, nonce: bytes, last: Report) -> bytes:
        return self._fenced.replace(b"@", nonce, 4) if last.noisy else self._plain + nonce + self._plain_end

    def command(self, command: bytes, nonce: bytes, last: Report, script_fd: int) -> bytes:
        """Return the line that runs a command and reports; a long command is put into the memfd.

        Args:
            last: the report before, to carry ``$?`` over and to mark our own lines where the shell traces.
        """
        report = self._report(nonce, last)
        command = command.replace(b"\0", b"")  # as bash does with its input
        if _may_exit_on_error(command, last.flags):
            # ``! true`` and ``false && x`` do not end a shell under ``set -e``; an ``eval`` that returns their status
            # would: report inside, and return the report's status. What is unfinished would swallow the report.
            command += b"\n" + report
        if len(command) <= LINE_LIMIT:
            run = b"\\builtin eval $'%b'" % _quoted(_prefix(last, nonce) + command, last.flags)
        else:
            _fill(script_fd, command)
            take = b"\\builtin mapfile -d '' -t -u 241 __tg; "
            run = b'%b\\builtin eval "\\builtin unset -v __tg; %b${__tg}"' % (take, _prefix(last, nonce))
        return b"%b <&242; %b\n" % (run, report)

    def parse(self, inbox: bytes, nonce: bytes, last: Report) -> Report | None:
        """Return the report with this nonce, or None if it is not complete; whatever else is in the pipe is ignored.

        Args:
            last: returned again if the shell says the same of itself.
        """
        start = inbox.find(nonce)
        if start < 0:
            return None
        text = inbox[start + len(nonce) :].replace(nonce, b"")
        if text == last.text:
            return last
        fields = text.split(b"\0", 3 + len(self.watch))
        if len(fields) < 4 + len(self.watch):
            return None
        words = fields[0].split()
        flags, prompt = words[-1], fields[2]
        noisy = bool(fields[1] or prompt) or b"x" in flags or b"v" in flags
        values = zip(self.watch, fields[3:-1], strict=True)
        variables = {name: value[1:].decode("utf-8", "replace") for name, value in values if value}
        return Report(int(words[0]), flags, noisy, prompt, variables, text)


def fence(nonce: bytes) -> bytes:
    """Return what a fenced report leaves on both screens."""
    return b"\x1e%b\x1e" % nonce


def exported_variables(inbox: bytes, nonce: bytes) -> dict[str, str]:
    """Return what ``Wire.environment`` reported, without what bash makes anew in every shell."""
    listing = inbox[inbox.index(nonce[::-1]) + len(nonce) + 1 : inbox.rindex(nonce)]
    return parse_environment(listing)


def parse_environment(listing: bytes) -> dict[str, str]:
    """Return the variables of a NUL-separated listing but ``_``, ``SHLVL`` and exported functions."""
    pairs = (os.fsdecode(entry).partition("=") for entry in listing.split(b"\0") if entry)
    return {name: value for name, _, value in pairs if _NAME.fullmatch(name) and name not in ("_", "SHLVL")}


def without_traces(errors: bytes, nonces: Sequence[bytes], status: int) -> bytes:
    """Return a stream without the lines that ``set -x`` and ``set -v`` print about our own part of a step.

    Args:
        nonces: of this step and the one before, whose tail may still have been on its way.
        status: the ``$?`` that was carried over, whose ``return`` is traced too.
    """
    return b"".join(untraced(errors.splitlines(keepends=True), nonces, status))


def untraced(lines: Iterable[bytes], nonces: Sequence[bytes], status: int) -> Iterator[bytes]:
    """Return lines as ``without_traces`` does."""
    after_carry = False
    for line in lines:
        if any(nonce in line for nonce in nonces):
            after_carry = b"unset -f " in line
            if ours := _OUR_TRACE.search(line):
                yield line[: ours.start()]  # what the agent's program wrote without a newline
        elif not (after_carry and line.rstrip().endswith(b"return %d" % status)):
            yield line[1:] if line.startswith(b"++") else line  # ``eval`` adds a level
            after_carry = False


def without_prompt(output: bytes, prompt: bytes) -> bytes:
    """Return what was written between two commands without the prompts around it."""
    if not prompt:
        return output
    while output.startswith(prompt):
        output = output[len(prompt) :]
    while output.endswith(prompt):
        output = output[: -len(prompt)]
    return output


_OUR_TRACE = re.compile(rb"\++ (?:\\?builtin|eval|printf|case|:|t[0-9a-f]{16}|unset|mapfile) ?|\\builtin |case t")


def _prefix(last: Report, nonce: bytes) -> bytes:
    """Return what sets ``$?`` back, on the command's own first line.

    After a report ``$?`` is 0, so nothing is needed then. The function has the nonce for its name and unsets itself, so
    that the agent neither finds nor can spoil it; ``&&`` exempts it from ``set -e`` and the ERR trap. Under ``set -x``
    every line of ours carries the nonce, by which it is taken out again.
    """
    if last.status:
        leave = b"%b(){ \\builtin unset -f %b; \\builtin return %d; }; " % (nonce, nonce, last.status)
        return leave + b"%b && : %b; " % (nonce, nonce)
    return b": %b; " % nonce if b"x" in last.flags else b""


def _may_exit_on_error(command: bytes, flags: bytes) -> bool:
    """Return whether ``set -e`` is on or may be turned on by the command, and lines may be added after it."""
    on = b"e" in flags or b"set -" in command or b"errexit" in command
    return on and b"<<" not in command and not command.rstrip(b"\n").endswith(b"\\")


def _quoted(text: bytes, flags: bytes) -> bytes:
    """Return the inside of ``$'…'``."""
    text = text.replace(b"\\", b"\\\\").replace(b"'", b"\\'").replace(b"\n", b"\\n")
    return text.replace(b"!", b"\\041") if b"H" in flags else text


def _fill(script_fd: int, text: bytes) -> None:
    """Make the memfd hold a text, and stand at its start."""
    os.ftruncate(script_fd, 0)
    rest, offset = memoryview(text), 0
    while offset < len(rest):
        offset += os.pwrite(script_fd, rest[offset:], offset)
    os.lseek(script_fd, 0, os.SEEK_SET)
