"""Lint: what is wrong with a task folder, told from its files alone, before anything is built or played."""

from termgym.lint.finding import RULES, Finding, Rule, Severity
from termgym.lint.linting import lint_folder

__all__ = ["RULES", "Finding", "Rule", "Severity", "lint_folder"]
