"""How a step, a reward and a diff look on a person's terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from rolf.step import Step

_VISIBLE = {code: f"^{chr(code ^ 64)}" for code in (*range(32), 127) if chr(code) not in "\n\t"}
"""Control characters as `cat -v` shows them: an agent's output must not steer the terminal of the person who looks."""

LINES = 12
"""Lines of output shown of one step; the rest is counted."""

_GOOD_EVENTS = frozenset({"DONE", "WAITING_INPUT"})


def show_prompt(console: Console, cwd: str, command: str) -> None:
    """Print a command as the agent typed it."""
    console.print(Text.assemble((cwd or "~", "bold blue"), ("$ ", "bold"), command.translate(_VISIBLE)))


def show_step(console: Console, step: Step) -> None:
    """Print what a step came to: output, event, checks, reward terms."""
    for output, style in ((step.stdout, ""), (step.stderr, "red")):
        if output:
            console.print(shortened(output, style))
    console.print(_verdict(step))
    for check, passed in step.checks:
        mark = Text("    ✓ ", style="green") if passed else Text("    ✗ ", style="red")
        console.print(mark.append(check, style="dim"))


def shortened(output: str, style: str = "") -> Text:
    """Return the first lines of an output as they are: nothing in it is taken for markup or colour."""
    lines = output.replace("\r\n", "\n").rstrip("\n").translate(_VISIBLE).split("\n")
    text = Text("\n".join(lines[:LINES]), style=style)
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


def diff_table(changes: Sequence[Sequence[str | None]], limit: int = 15) -> RenderableType:
    """Return what differs from the initial state as a table."""
    if not changes:
        return Text("nothing differs from the initial state", style="dim")
    table = Table("change", "path", "before", "after", box=None, pad_edge=False, header_style="dim")
    for path, kind, before, after in changes[:limit]:
        table.add_row(Text(str(kind)), Text(str(path)), Text(before or ""), Text(after or ""))
    if len(changes) > limit:
        table.add_row("…", f"and {len(changes) - limit} more", "", "")
    return table
