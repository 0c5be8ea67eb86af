"""The procedural families, one file each."""

from termgym.tasks.families import git_dirty_pull, permission_denied
from termgym.tasks.family import Family

FAMILIES: tuple[Family, ...] = (
    git_dirty_pull.FAMILY,
    permission_denied.FAMILY,
)
