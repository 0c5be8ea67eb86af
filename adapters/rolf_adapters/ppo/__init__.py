"""PPO over many turns: agents that learn in environments of any kind (extra ``ppo``).

What learns is a `Learner` (``learner.py``). Two come along: ``language/`` trains a causal language model that acts by
writing, turn after turn; ``vector/`` trains a network on thousands of environments with observations of a fixed size.
Both are made of the same parts: returns and advantages (``credit.py``), losses (``losses.py``), segments of an episode
with a clip range of their own (``segments.py``), the causal trajectory buffer (``rolf_adapters.buffer``). ``train.py``
is the loop round a learner: ``rolf train CONFIG.yaml``.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(f"the trainer needs torch ({error}): pip install 'rolf[ppo]'") from error

__all__: list[str] = []
