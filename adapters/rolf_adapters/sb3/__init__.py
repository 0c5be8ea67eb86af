"""Stable-Baselines3: vector environments that its algorithms take as they are (extra ``sb3``).

    from rolf_adapters.sb3 import Presentation, make_sb3_env
    from sb3_contrib import MaskablePPO

    model = MaskablePPO("MlpPolicy", make_sb3_env("linegym:LineEnv-v1", 64), n_steps=100)

An environment that steps many rows at once (`RowsVecEnv`) does so here too; others are made row by row, and wrapped so
that SB3 can read them: see `rolf_adapters.presentation.Presentation`.
"""

try:
    import stable_baselines3 as _stable_baselines3  # noqa: F401
except ImportError as error:
    raise ImportError(f"rolf_adapters.sb3 needs Stable-Baselines3 ({error}): pip install 'rolf[sb3]'") from error

from rolf_adapters.presentation import Presentation
from rolf_adapters.sb3.info_mask import InfoMask
from rolf_adapters.sb3.making import make_sb3_env
from rolf_adapters.sb3.presentation import present
from rolf_adapters.sb3.rows import RowsVecEnv

__all__ = ["InfoMask", "Presentation", "RowsVecEnv", "make_sb3_env", "present"]
