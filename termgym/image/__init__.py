"""Images: whole root filesystems for tasks that bring a Dockerfile, built without a daemon."""

from termgym.image.image import Image
from termgym.image.recipe import Recipe

__all__ = ["Image", "Recipe"]
