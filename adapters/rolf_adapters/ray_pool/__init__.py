"""Episodes in many processes, on one machine or a cluster, through Ray (extra ``ray``).

A call from process to process for every step costs a hundred times what a fast environment's step does. Here whole
episodes are played inside Ray's actors: what travels is a policy, once, and episodes, one at a time.
"""

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError(f"a pool of episodes needs ray ({error}): pip install 'rolf[ray]'") from error

from rolf_adapters.ray_pool.episode import Cause, Episode, Lost
from rolf_adapters.ray_pool.errors import PoolError
from rolf_adapters.ray_pool.local import local_ray
from rolf_adapters.ray_pool.pool import EpisodePool

__all__ = ["Cause", "Episode", "EpisodePool", "Lost", "PoolError", "local_ray"]
