"""Play every policy that comes with an environment on every split, and make the board that `rolf board` shows.

    python benchmarks/baselines.py [--only "line-v1/*"] [--first 40] [--jobs 2] [--attribute] [--out submissions]

Stopped, it goes on from where it was. A policy that goes the same way at every attempt is given one where the split
pins the world too; the others get as many as the split wants. All of it takes hours; --first takes the
beginning of each split, which is a sample of it. --attribute asks what failures come from where the environment can
tell, which plays each failed episode eight times more.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path

from rolf.evaluation.evaluable import Attributable, Evaluable
from rolf.evaluation.evaluate import evaluate
from rolf.evaluation.loading import find_policy
from rolf.evaluation.origin import origins
from rolf.splitting import find_split

UNIONS = ("line-v1/all", "line-v1/held-out", "line-v1/fit")
"""Splits that hold nothing but others."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="splits, as a pattern")
    parser.add_argument("--policies", default="*", help="policies, as a pattern")
    parser.add_argument("--first", type=int, help="variants of each split")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--attribute", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("submissions"))
    given = parser.parse_args()
    played = [
        _played(env_id, environment, entry.name, given)
        for env_id, environment in origins().items()
        for entry in environment.splits()
        if fnmatch(entry.name, given.only) and entry.name not in UNIONS
    ]
    return 0 if all(played) else 1


def _played(env_id: str, environment: Evaluable, name: str, given: argparse.Namespace) -> bool:
    """Play the policies on one split; return whether all results are valid."""
    split = find_split(name if given.first is None else f"{name}[:{given.first}]")
    valid = True
    for policy, entry in environment.policies().items():
        if not fnmatch(policy, given.policies):
            continue
        outcome = evaluate(
            split,
            find_policy(policy, [env_id], {}),
            given.out / f"{split.name.replace('/', '--')}--{policy}".translate({ord(c): None for c in "[:]"}),
            attempts=1 if entry.deterministic and split.pinned else None,
            jobs=given.jobs,
            attribute=given.attribute and isinstance(environment, Attributable),
        )
        summary = outcome.submission["summary"]
        print(f"{split.name:<32}{policy:<18}{summary}", flush=True)
        valid &= outcome.valid
    return valid


if __name__ == "__main__":
    sys.exit(main())
