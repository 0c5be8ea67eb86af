"""Variables: ``${NAME}`` and ``${NAME:-default}`` in a task folder's tables of variables.

Harbor fills them from the host's environment. A folder comes from strangers, and the host's environment holds secrets:
so it gets a variable of the host only from whoever asks for it by name, and what it did not get is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Only a value that is nothing but a template is one; anything else is text (harbor 0.26.0, utils/env.py).
TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}", re.DOTALL)


def filled(variables: Mapping[str, str], host: Mapping[str, str], table: str, notes: list[str]) -> dict[str, str]:
    """Return variables with their templates filled; one that has neither value nor default is left out, and told.

    Args:
        variables: As the folder has them.
        host: What it may know of the host.
        table: Where they stand, for the notes.
        notes: Where it is told.
    """
    found: dict[str, str] = {}
    for name, value in variables.items():
        template = TEMPLATE.fullmatch(value)
        if template is None:
            found[name] = value
        elif template[1] in host:
            found[name] = host[template[1]]
        elif template[2] is not None:
            found[name] = template[2]
            notes.append(f"[{table}] {name}: the host's {template[1]} was not offered, so its default is taken")
        else:
            notes.append(
                f"[{table}] {name}: the host's {template[1]} was not offered, so it is not set; "
                f"give it with read_folder(path, host_env={{{template[1]!r}: …}})"
            )
    return found
