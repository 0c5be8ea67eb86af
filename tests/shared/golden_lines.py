"""Golden digests: what the same variants, seeds and actions gave when this version of the environment was made.

    python tests/shared/golden_lines.py      # write tests/shared/LineEnv-v1.json anew

A digest that moves means that somebody's results cannot be reproduced: raise the environment's version, or find the
bug.
"""

from __future__ import annotations

import hashlib
import json
from itertools import groupby
from pathlib import Path

import numpy as np
from line_traces import chosen, standard, trace_kernel

from linegym.actions import COMMANDS
from linegym.batch import Batch
from linegym.templates import TEMPLATES
from linegym.topologies import TOPOLOGIES
from linegym.variants import FAMILIES, Variant

FILE = Path(__file__).with_name("LineEnv-v1.json")
INTENSITIES = (1, 3, 5)
HORIZON, TICKS_PER_STEP, TAKEN = 200, 4, 64
"""In as many steps, the end of an episode and some of the next."""
SEED = 7
ROWS, STEPS = 12, 100
"""Of the standard lines: few enough for the reference and the uncompiled kernel."""

Group = tuple[str, str]
"""Topology and family."""


def variants() -> list[tuple[Group, Variant]]:
    """Return 683 templates under each family at three intensities, group by group."""
    return [
        ((topology, family), Variant(template, **{family: intensity}))
        for topology in TOPOLOGIES
        for family in FAMILIES
        for template in TEMPLATES
        if template.topology == topology
        for intensity in INTENSITIES
    ]


def measure(*, masked: bool, threads: int = 1) -> dict[str, str]:
    """Return a digest of each group: all that was seen, told and paid in every step, and all that was left."""
    groups = variants()
    count = len(groups)
    batch = Batch([variant for _, variant in groups], horizon=HORIZON, ticks_per_step=TICKS_PER_STEP, threads=threads)
    batch.reset(np.full(count, SEED, np.uint64))
    slices, start = {}, 0
    for group, members in groupby(group for group, _ in groups):
        slices[group] = slice(start, start := start + len(list(members)))
    digests = {group: hashlib.sha256() for group in slices}
    for step in range(TAKEN + 1):
        for group, rows in slices.items():
            for array in (batch.observations, batch.rewards, batch.truncated, batch.masks, batch.facts):
                digests[group].update(array[rows])
        if step < TAKEN:
            masks = batch.masks if masked else None
            actions = chosen(np.arange(count), batch.facts[:, 0], batch.facts[:, 1], masks)
            batch.step(COMMANDS[actions][:, None])
    for group, rows in slices.items():
        for row in range(rows.start, rows.stop):
            saved = batch.save(row)
            digests[group].update(saved.short + saved.whole + saved.real)
    played = "possible" if masked else "any"
    return {f"{topology}/{family}/{played}": digests[topology, family].hexdigest() for topology, family in slices}


def measure_rows() -> dict[str, str]:
    """Return a digest of each episode of the standard lines, under actions of both kinds."""
    kinds = {"possible": True, "any": False}
    return {
        f"{name}/{kind}": digest
        for kind, masked in kinds.items()
        for name, digest in trace_kernel(standard(ROWS), STEPS, masked=masked).items()
    }


if __name__ == "__main__":
    found = {"groups": measure(masked=True) | measure(masked=False), "episodes": measure_rows()}
    FILE.write_text(json.dumps(found, indent=1) + "\n")
