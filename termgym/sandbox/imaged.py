"""An image as a request to the supervisor tells of it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from termgym.image.image import Image


def imaged(image: Image | None, *, network: bool) -> dict[str, Any]:
    """Return the fields of a start on an image; without one, that there is none."""
    if image is None:
        return {"image": None}
    told = {
        "id": image.id,
        "layers": list(image.layers),
        "env": dict(image.env),
        "workdir": image.workdir,
        "user": image.user,
    }
    key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    return {"image": told, "network": network, "key": f"image {key}"}
