"""Segment: the four parts of a job, in the order in which they come; an episode goes through them again and again."""

from __future__ import annotations

from enum import IntEnum


class Segment(IntEnum):
    """What a step is for."""

    IDENTIFY = 0
    """Find out what is wrong: looks that change nothing."""
    ASSESS = 1
    """Make sure of it, and choose: checks, inspections, parts."""
    DISPATCH = 2
    """Bring there what the work needs: people, packages, services, rights."""
    EXECUTE = 3
    """Do the work, and say that it is done."""


CLIPS = (0.15, 0.08, 0.25, 0.12)
"""How far from 1 the ratio of probabilities may gain anything, by segment; from the mission."""
