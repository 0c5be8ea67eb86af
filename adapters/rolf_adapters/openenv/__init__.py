"""OpenEnv: environments behind a server that OpenEnv's clients speak to, and a client (extra ``openenv``).

    python -m rolf_adapters.openenv termgym:TermEnv-v1 --port 8000 --sessions 32

Each connection to ``/ws`` has an environment of its own. Actions are calls of the environment's tools, observations
what a policy is told, so every environment that has tools (`rolf.interface.Tooled`) can be served.
"""

try:
    import openenv.core as _openenv  # noqa: F401
except ImportError as error:
    raise ImportError(f"serving environments needs openenv ({error}): pip install 'rolf[openenv]'") from error

from rolf_adapters.openenv.client import EpisodeClient
from rolf_adapters.openenv.errors import DeadlineError, FaultError, NotResetError, SessionError
from rolf_adapters.openenv.folder import write_folder
from rolf_adapters.openenv.messages import Told, ToolCall, Whereabouts
from rolf_adapters.openenv.server import app, serve
from rolf_adapters.openenv.session import Session

__all__ = [
    "DeadlineError",
    "EpisodeClient",
    "FaultError",
    "NotResetError",
    "Session",
    "SessionError",
    "Told",
    "ToolCall",
    "Whereabouts",
    "app",
    "serve",
    "write_folder",
]
