"""Evaluate a policy of your own on variants of your own; stop half-way and go on. Prints the mean score."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rolf.evaluation.evaluate import Advance, evaluate
from rolf.evaluation.loading import find_policy
from rolf.evaluation.policy import Start
from rolf.splitting import from_json

ENV_ID = "gymnasium:CartPole-v1"
SPLIT = {
    "format": "rolf-split/1",
    "name": "poles",
    "attempts": 2,
    "variants": [{"env_id": ENV_ID, "kwargs": {"max_episode_steps": steps}, "seed": 0} for steps in (50, 100, 150)],
}


class Balance:
    """Pushes to the side that the pole is falling to."""

    name = "balance"

    def begin(self, start: Start) -> None:
        """Nothing is remembered from one episode to the next."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:  # noqa: ARG002 - it needs none of it
        return int(observation[2] + observation[3] > 0)


def stop_half_way(advance: Advance) -> None:
    if advance.new and advance.new[0].index == 1:
        raise KeyboardInterrupt


def main(variants: int) -> float:
    split = from_json(SPLIT).first(variants)
    policy = find_policy(f"{__name__}:Balance", [ENV_ID], {})
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "balance")
        try:
            evaluate(split, policy, out, report=stop_half_way)
        except KeyboardInterrupt:
            print("stopped; the same call goes on")
        outcome = evaluate(split, policy, out)
        print(f"{outcome.kept} of {len(outcome.episodes)} episodes were there already")
        summary = json.loads((out / "submission.json").read_text())["summary"]
    return float(summary["score"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=3)
    print(main(parser.parse_args().variants))
