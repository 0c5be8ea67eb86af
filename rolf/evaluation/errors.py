"""What can go wrong with an evaluation, other than the machine.

EvaluationError         it cannot go on, or not begin
├── PolicyError         the policy cannot be made, raised an error, or acted outside of the action space
│   └── NoPolicyError   what was given names no policy that could play here
└── FolderError         the results cannot be written where they shall be
"""

from __future__ import annotations


class EvaluationError(RuntimeError):
    """It cannot go on, or not begin."""


class PolicyError(EvaluationError):
    """The policy cannot be made, raised an error, or acted outside of the action space."""


class NoPolicyError(PolicyError):
    """What was given names no policy that could play here."""


class FolderError(EvaluationError):
    """The results cannot be written where they shall be."""
