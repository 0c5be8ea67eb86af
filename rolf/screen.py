"""How a step, a reward and a diff look on a person's terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from rolf.step import Step

_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n\r\x1b"} | {127: "\u2421"}
"""Control characters -> their pictures: an agent's output must not steer the terminal of the person who looks."""

LINES = 12
"""Lines of output shown of one step; the rest is counted."""

_GOOD_EVENTS = frozenset({"DONE", "WAITING_INPUT"})


def show_prompt(console: Console, cwd: str, command: str) -> None:
    """Print a command as the agent typed it."""
    console.print(Text.assemble((cwd or "~", "bold blue"), ("$ ", "bold"), as_seen(command)))


def show_step(console: Console, step: Step, *, goal: bool = True) -> None:
    """Print what a step came to: output, event, reward terms, why a rule cost something, checks.

    Args:
        goal: Whether the goal's checks are shown beside the plan's own.
    """
    for output, style in ((step.stdout, ""), (step.stderr, "red")):
        if output:
            console.print(shortened(output, style))
    console.print(_verdict(step))
    for reason in step.charges:
        console.print(Text(f"    {reason}", style="yellow"))
    show_checks(console, step.checks if goal else step.own_checks)


def show_checks(console: Console, checks: Sequence[tuple[str, bool]]) -> None:
    """Print checks, one a line, with whether each holds."""
    for check, passed in checks:
        mark = Text("    ✓ ", style="green") if passed else Text("    ✗ ", style="red")
        console.print(mark.append(check, style="dim"), no_wrap=True, overflow="ellipsis")


def as_seen(output: str, style: str = "") -> Text:
    """Return an output as it would stand on a terminal: colours kept, what moves the cursor or rings left out."""
    text = Text.from_ansi(output.replace("\r\n", "\n").rstrip("\n").translate(_PICTURES), style=style)
    # What Rich did not take for a sequence it would pass on: ESC c resets a terminal.
    text.plain = text.plain.replace("\x1b", "\u241b")
    return text


def shortened(output: str, style: str = "") -> Text:
    """Return the first lines of an output."""
    lines = as_seen(output, style).split("\n")
    text = Text("\n").join(lines[:LINES])
    if len(lines) > LINES:
        text.append(f"\n… {len(lines) - LINES} more lines", style="dim")
    return text


def _verdict(step: Step) -> Text:
    line = Text("  → ", style="dim").append(step.event, style="green" if step.event in _GOOD_EVENTS else "yellow")
    if step.exit_code >= 0:
        line.append(f"  exit {step.exit_code}", style="dim")
    line.append(f"  reward {step.reward:+.3f}", style="bold")
    terms = [f"{name} {value:+.3f}" for name, value in step.terms.items() if value]
    return line.append(f"  ({', '.join(terms) if terms else 'all terms 0'})", style="dim")


def show_diff(console: Console, changes: Sequence[Sequence[str | None]], limit: int = 15) -> None:
    """Print what differs from the initial state, one change a line."""
    if not changes:
        console.print(Text("nothing differs from the initial state", style="dim"))
    for path, kind, before, after in changes[:limit]:
        line = Text(f"{kind:9}", style="yellow").append_text(as_seen(str(path), "default"))
        if before and after:
            line.append(f"  {before} → {after}", style="dim")
        console.print(line, soft_wrap=True)
    if len(changes) > limit:
        console.print(Text(f"… and {len(changes) - limit} more", style="dim"))
