"""Abilities: what a policy's episodes say of it, beyond one number.

Adaptivity is what becomes of it while a physical parameter grows, robustness what is left over all intensities of
disturbance, attribution what its failures come from. All of it is made of result rows and the labels of the split's
variants; no environment is asked.
"""

from rolf.abilities.curves import Adaptivity, Point, Reading, adaptivity, parameters
from rolf.abilities.failures import Attribution, attribution
from rolf.abilities.grades import Cell, Graded, Robustness, robustness
from rolf.abilities.tables import groups, matrix

__all__ = [
    "Adaptivity",
    "Attribution",
    "Cell",
    "Graded",
    "Point",
    "Reading",
    "Robustness",
    "adaptivity",
    "attribution",
    "groups",
    "matrix",
    "parameters",
    "robustness",
]
