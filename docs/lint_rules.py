"""Write reference/lint-rules.md from the rules themselves; a test sees that it is up to date."""

from __future__ import annotations

from pathlib import Path

from termgym.lint import RULES, Severity

PAGE = Path(__file__).parent / "reference" / "lint-rules.md"
HEAD = """\
# Lint rules

What `rolf tasks lint PATH` and `rolf tasks validate PATH` look for in a task folder, told from its files alone.
Written by `python docs/lint_rules.py` from the rules themselves.

An *error* makes a task invalid. A *warning* is about a task that measures something else on some day or some machine. A
*note* is about a habit that better tasks do not have. With `--strict` the command takes warnings for errors.

Who knows `harbor lint` (0.26) finds most of its rules here: `agent-image-test-leak` is `tests-in-image` and
`solution-in-image`, found by what `COPY` really takes (`.dockerignore`, globs and all) and not by its words;
`unpinned-image` lets a tag that stays pass, where Harbor wants a digest; `unpinned-python-dependency` is
`unpinned-python`; `verifier-runtime-install` and `verifier-network-download` are `verifier-network`;
`invalid-task-config` and `invalid-task-files` are `unreadable`; `unknown-config-field` is `unknown-field`.
"""


def text() -> str:
    """Return the page."""
    parts = [HEAD]
    for severity in Severity:
        parts.append(f"\n## {severity.value.capitalize()}s\n\n| rule | what is wrong | what to do |\n|---|---|---|\n")
        held = [(name, rule) for name, rule in RULES.items() if rule.severity is severity]
        parts += [f"| `{name}` | {rule.summary} | {rule.advice} |\n" for name, rule in held]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text())
