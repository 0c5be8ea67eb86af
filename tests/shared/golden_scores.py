"""Golden scores: what the shipped policies reach on the first variants of line-v1/iid, mean over its attempts.

    python tests/shared/golden_scores.py      # write tests/shared/line-v1-iid.csv anew

Scores depend on the plant, the perturbations, the baselines, the seeds of attempts and the policies; a number that
moves says that one of them did, and that boards of before and after cannot be compared.
"""

from __future__ import annotations

import csv
from math import fsum
from pathlib import Path

from linegym import catalogue
from linegym.policies import POLICIES, policy

FILE = Path(__file__).with_name("line-v1-iid.csv")
SPLIT, VARIANTS = "line-v1/iid", 20


def measure() -> list[dict[str, str]]:
    """Return a row a variant: its name, and each policy's score with all digits."""
    split = catalogue.split(SPLIT).first(VARIANTS)
    rows = [variant for variant in split.variants for _ in range(split.attempts)]
    seeds = [variant.attempt_seed(attempt) for variant in split.variants for attempt in range(split.attempts)]
    found = [{"variant": variant.name} for variant in split.variants]
    for name in POLICIES:
        runs = catalogue.play(policy(name), rows, seeds)
        scores = [catalogue.measure(variant, run.ending).score for variant, run in zip(rows, runs, strict=True)]
        for place, row in enumerate(found):
            mine = scores[place * split.attempts : (place + 1) * split.attempts]
            row[name] = repr(fsum(mine) / split.attempts)
    return found


if __name__ == "__main__":
    rows = measure()
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
