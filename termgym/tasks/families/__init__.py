"""The procedural families, one file each."""

from termgym.tasks.families import config_edit, env_inactive, git_dirty_pull, nohup_job, permission_denied, port_in_use
from termgym.tasks.family import Family

FAMILIES: tuple[Family, ...] = (
    config_edit.FAMILY,
    env_inactive.FAMILY,
    git_dirty_pull.FAMILY,
    nohup_job.FAMILY,
    permission_denied.FAMILY,
    port_in_use.FAMILY,
)
