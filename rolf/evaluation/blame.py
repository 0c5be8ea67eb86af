"""Blame: an error of the policy's is told as one, with the step that it is of and the lines of its code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rolf.evaluation.errors import PolicyError
from rolf.evaluation.loading import told


@contextmanager
def blamed(when: str) -> Iterator[None]:
    """Make an error of the policy of what is raised in the context, where nothing but the policy is called.

    Args:
        when: Which part of an episode it is, such as ``step 3``; the message begins with it.

    Raises:
        PolicyError: something was raised.
    """
    try:
        yield
    except PolicyError as error:
        raise PolicyError(f"{when}: {error}") from error
    except (Exception, SystemExit) as error:
        callers = 2  # this function and the one that has the context
        raise PolicyError(f"{when}: {told(error, callers)}") from error
