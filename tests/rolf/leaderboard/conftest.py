"""Submissions that were really evaluated, made once; tests that change one get a copy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rolf.evaluation.evaluate import evaluate
from rolf.evaluation.loading import find_policy
from rolf.leaderboard.contest import Contests
from rolf.leaderboard.validation import Validation, validate
from rolf.splitting import find_split, from_json
from rolf.variant import Split


def lake(name: str, *, slippery: bool, variants: int = 4, attempts: int = 3) -> dict[str, Any]:
    """Return a split file of FrozenLake, which no entry point knows: the environment of a stranger."""
    return {
        "format": "rolf-split/1",
        "name": name,
        "attempts": attempts,
        "limits": {"max_steps": 100},
        "pinned": not slippery,
        "variants": [
            {
                "env_id": "gymnasium:FrozenLake-v1",
                "kwargs": {"is_slippery": slippery},
                "seed": seed,
                "name": f"lake {seed}",
            }
            for seed in range(variants)
        ],
        "labels": [{"cluster": f"lake {seed // 2}", "family": f"family {seed % 2}"} for seed in range(variants)],
    }


SPLITS = {
    "slippery": lake("lake/slippery", slippery=True),
    "still": lake("lake/still", slippery=False),
}


@pytest.fixture(scope="session")
def split_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("splits")
    for name, plain in SPLITS.items():
        (folder / f"{name}.json").write_text(json.dumps(plain))
    return {name: folder / f"{name}.json" for name in SPLITS}


@pytest.fixture(scope="session")
def contests() -> Contests:
    return Contests([from_json(plain) for plain in SPLITS.values()])


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Split, str, int | None], Path]:
    """Evaluate a policy on a split, once a session; the folder must not be changed."""
    made: dict[tuple[str, str, int | None], Path] = {}

    def evaluated(split: Split, policy: str, attempts: int | None = None) -> Path:
        key = split.digest, policy, attempts
        if key not in made:
            out = tmp_path_factory.mktemp("board") / policy.rpartition(":")[2].lower()
            spec = find_policy(policy, {variant.env_id for variant in split.variants}, {})
            evaluate(split, spec, out, attempts=attempts)
            made[key] = out
        return made[key]

    return evaluated


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """Copy a submission into a folder of this test's."""

    def copied(folder: Path, name: str = "") -> Path:
        return Path(shutil.copytree(folder, tmp_path / (name or folder.name)))

    return copied


@pytest.fixture
def steps(evaluated: Any, copied: Any) -> Path:
    """A submission whose trajectories hold every step: a wanderer on slippery lakes."""
    split = from_json(SPLITS["slippery"])
    return copied(evaluated(split, "lake_policies:Wanderer"))


@pytest.fixture
def blocks(evaluated: Any, copied: Any) -> Path:
    """A submission whose trajectories hold actions, many a file: production lines."""
    return copied(evaluated(find_split("line-v1/iid[:2]"), "random"))


@pytest.fixture
def lakes(evaluated: Any, copied: Any, contests: Contests) -> Path:
    """A board's folder: three policies on the same still lakes, one of them told the truth."""
    split = contests("lake/still").split
    for policy in ("Seer", "Walker", "Wanderer"):
        copied(evaluated(split, f"lake_policies:{policy}"), f"board/{policy.lower()}")
    return Path(copied(evaluated(split, "lake_policies:Walker"), "board/walker-again")).parent


@pytest.fixture
def look(contests: Contests) -> Callable[..., Validation]:
    """Validate, with the splits of these tests known."""

    def look(folder: Path, **settings: Any) -> Validation:
        return validate(folder, find=contests, **settings)

    return look
