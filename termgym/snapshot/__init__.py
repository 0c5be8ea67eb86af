"""Snapshots: put a tree back as it was, and say what changed."""

from termgym.snapshot.change import Change, ChangeKind
from termgym.snapshot.copying import copy_tree, freeze_times
from termgym.snapshot.digest import tree_digest
from termgym.snapshot.opening import BACKENDS, open_snapshot, probe
from termgym.snapshot.protocol import Snapshot

__all__ = [
    "BACKENDS",
    "Change",
    "ChangeKind",
    "Snapshot",
    "copy_tree",
    "freeze_times",
    "open_snapshot",
    "probe",
    "tree_digest",
]
