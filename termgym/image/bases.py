"""Bases: which root filesystem of this machine a name in ``FROM`` stands for."""

from __future__ import annotations

import hashlib

from termgym.image.hostbase import host_layers, system_name
from termgym.image.image import Image
from termgym.image.store import Store


def host_image(store: Store | None = None) -> Image:
    """Return the image of the host's own system directories, called ``host``."""
    store = store or Store()
    layers = tuple(str(layer) for layer in host_layers(store))
    name = layers[-1].rpartition("/")[2]
    return Image(
        id=hashlib.sha256(name.encode()).hexdigest(), layers=layers, notes=(f"host is this machine's {system_name()}",)
    )
