"""Hypothesis strategies and a ready state machine for people who test environments and agents.

Wants Hypothesis: ``pip install 'rolf[test]'``. How to use it: docs/how-to/property-based-tests.md.
"""

from __future__ import annotations

try:
    from rolf.strategies.actions import actions
    from rolf.strategies.file_trees import file_names, file_trees
    from rolf.strategies.line import line_actions, line_variants, perturbations
    from rolf.strategies.machine import EnvStateMachine
    from rolf.strategies.mutation import (
        BreakLink,
        ChangeMode,
        Create,
        Link,
        Mutation,
        Remove,
        Rename,
        Replace,
        Resize,
        Touch,
        Write,
    )
    from rolf.strategies.mutations import Edits, mutations
    from rolf.strategies.plans import plans
    from rolf.strategies.seeds import seeds
    from rolf.strategies.shell.commands import shell_commands
    from rolf.strategies.tree import Directory, File, HardLink, Symlink, Tree, TreeChange, changes, read_tree
    from rolf.strategies.variants import variants
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ImportError(f"rolf.strategies needs Hypothesis ({error}); pip install 'rolf[test]'") from error

__all__ = [
    "BreakLink",
    "ChangeMode",
    "Create",
    "Directory",
    "Edits",
    "EnvStateMachine",
    "File",
    "HardLink",
    "Link",
    "Mutation",
    "Remove",
    "Rename",
    "Replace",
    "Resize",
    "Symlink",
    "Touch",
    "Tree",
    "TreeChange",
    "Write",
    "actions",
    "changes",
    "file_names",
    "file_trees",
    "line_actions",
    "line_variants",
    "mutations",
    "perturbations",
    "plans",
    "read_tree",
    "seeds",
    "shell_commands",
    "variants",
]
