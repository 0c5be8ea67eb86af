"""Errors of the caller's, in one line."""

from __future__ import annotations

import click


class WrongUsage(click.ClickException):
    """What was asked for does not exist, or cannot be done with what was given."""

    exit_code = 2
