"""The procedural families, one file each."""

from termgym.tasks.families import (
    archive_restore,
    config_edit,
    env_inactive,
    git_dirty_pull,
    log_forensics,
    nohup_job,
    permission_denied,
    port_in_use,
)
from termgym.tasks.family import Family

FAMILIES: tuple[Family, ...] = (
    archive_restore.FAMILY,
    config_edit.FAMILY,
    env_inactive.FAMILY,
    git_dirty_pull.FAMILY,
    log_forensics.FAMILY,
    nohup_job.FAMILY,
    permission_denied.FAMILY,
    port_in_use.FAMILY,
)
