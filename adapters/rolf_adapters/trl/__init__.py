"""TRL: environments for ``GRPOTrainer(environment_factory=…)``: classes whose methods are tools (extra ``trl``).

Nothing here imports TRL, which takes the class as it is: its public methods are what the model may call, with types and
docstrings that become the tools' schemas; ``reset`` gets a row of the data set, ``get_reward`` pays at the end.
`TerminalTools` is the one for a terminal; `tools_of` makes one for any environment that has tools.
"""

from rolf_adapters.trl.made import tools_of
from rolf_adapters.trl.rollout import OverError, Rollout, rows
from rolf_adapters.trl.terminal import TerminalTools

__all__ = ["OverError", "Rollout", "TerminalTools", "rows", "tools_of"]
