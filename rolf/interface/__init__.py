"""Interfaces between a policy's text and an environment's actions: tools, and the styles of calling them."""

from rolf.interface.call import Call, CallError
from rolf.interface.catalogue import HELD_OUT, TRAINING, style
from rolf.interface.interface import Choice, Interface
from rolf.interface.section import Role, Section
from rolf.interface.style import Style
from rolf.interface.tool import Alias, Nothing, Parameters, Tool, narrowed, renamed
from rolf.interface.tooled import Tooled, in_style

__all__ = [
    "HELD_OUT",
    "TRAINING",
    "Alias",
    "Call",
    "CallError",
    "Choice",
    "Interface",
    "Nothing",
    "Parameters",
    "Role",
    "Section",
    "Style",
    "Tool",
    "Tooled",
    "in_style",
    "narrowed",
    "renamed",
    "style",
]
