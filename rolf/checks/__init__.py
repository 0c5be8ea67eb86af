"""Checks: does an environment keep what its users rely on? For any Gymnasium environment, without a test framework.

Every check takes the environment first, in one of four forms: an id, ``"CartPole-v1"`` or ``"termgym:TermEnv-v1"``; an
id and arguments, ``("termgym:TermEnv-v1", {"task": "git-dirty-pull"})``; a `rolf.variant.Variant`; or a function that
makes it, single or vector, wrapped or not. It returns nothing, or raises

- `CheckFailed`, an ``AssertionError`` that names the first difference (episode, step, field, both values), and holds a
  program of a few lines that shows it again;
- `NotApplicable`, where it has nothing to say of the environment, with the reason.

`check_all` runs all that apply and returns a `Report`. What an environment cannot bring about twice it declares in
``metadata["volatile"]``: ``("info.wall_time",)``; actions worth trying, which sampling would not come upon, in
``metadata["actions"]``.

Global generators are put to the same state before each call, so that an environment which draws from them fails
`check_determinism`, which is about that, and not every check.

Example:
    >>> from rolf.checks import check_seeding
    >>> check_seeding("CartPole-v1")
"""

from rolf.checks.aliasing import check_no_aliasing
from rolf.checks.closing import check_close
from rolf.checks.determinism import check_determinism
from rolf.checks.errors import CheckFailed, NotApplicable, Place
from rolf.checks.independence import check_step_independence
from rolf.checks.leaks import check_no_leaks
from rolf.checks.likeness import check_vector_equals_single
from rolf.checks.order import check_step_after_end, check_step_before_reset
from rolf.checks.remaking import check_spec
from rolf.checks.report import CHECKS, Report, Result, State, check_all
from rolf.checks.restoring import check_restore
from rolf.checks.returns import check_returns
from rolf.checks.rewards import check_reward_terms
from rolf.checks.seeding import check_seeding
from rolf.checks.spaces import check_spaces

__all__ = [
    "CHECKS",
    "CheckFailed",
    "NotApplicable",
    "Place",
    "Report",
    "Result",
    "State",
    "check_all",
    "check_close",
    "check_determinism",
    "check_no_aliasing",
    "check_no_leaks",
    "check_restore",
    "check_returns",
    "check_reward_terms",
    "check_seeding",
    "check_spaces",
    "check_spec",
    "check_step_after_end",
    "check_step_before_reset",
    "check_step_independence",
    "check_vector_equals_single",
]
