"""Performance: have a policy itself play again what it is said to have played, and compare what it does.

The policy's code runs here, with the rights of whoever asks: only a maintainer who trusts it does this.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rolf.evaluation.batch import play_block
from rolf.evaluation.evaluable import Batched
from rolf.evaluation.loading import check_policy, describe, find_policy, load, plays_blocks
from rolf.evaluation.origin import origin
from rolf.evaluation.policy import Policy, Start
from rolf.evaluation.recording import Recorded
from rolf.evaluation.single import Played, play
from rolf.leaderboard.evidence import episodes
from rolf.leaderboard.problem import Problems, quoted
from rolf.leaderboard.submission import Row
from rolf.leaderboard.validation import Validation
from rolf.variant import Variant


class Reseeded:
    """A policy that is given other random numbers: one that is deterministic does the same with them.

    Args:
        policy: Who acts.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def begin(self, start: Start) -> None:
        """See ``Policy.begin``."""
        self._policy.begin(replace(start, seed=start.seed ^ 1, attempt=start.attempt + 1))

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """See ``Policy.act``."""
        return self._policy.act(observation, info)


def performed(looked: Validation, policy: str, arguments: Mapping[str, Any], variants: int) -> int:
    """Have a policy play episodes of a valid submission again; return how many it was asked for.

    Args:
        looked: The submission.
        policy: NAME or MODULE:OBJECT.
        arguments: What it is made with.
        variants: How many variants, chosen at random, an attempt at each.

    Raises:
        ValueError: it did something else; says where.
        PolicyError: it cannot be made, or raised an error.
        EvaluationError: an environment raised an error.
    """
    assert looked.contest is not None
    assert looked.submission is not None
    split = looked.contest.split
    draw = random.Random(os.urandom(16))
    counted = [row for row in looked.rows if not row.fault]
    picked = draw.sample(counted, min(variants, len(counted)))
    spec = find_policy(policy, {variant.env_id for variant in split.variants}, arguments)
    player = load(spec)
    check_policy(player, spec, {variant.env_id for variant in split.variants})
    declared, said = describe(player, spec), looked.submission.policy
    for key in ("privileged", "deterministic"):
        if getattr(declared, key) != getattr(said, key):
            raise ValueError(
                f"{policy!r} declares {key} = {getattr(declared, key)}, its submission {getattr(said, key)}"
            )
    problems = Problems()
    with tempfile.TemporaryDirectory() as folder:
        for (_, row), recorded in episodes(looked.folder, list(enumerate(picked)), problems):
            variant, path = split.variants[row.index], Path(folder) / "again.jsonl.gz"
            _compare(row, recorded, _again(player, variant, row, path, said.privileged), "")
            if said.deterministic and not plays_blocks(player, variant.env_id):
                again = _again(Reseeded(player), variant, row, path, said.privileged)
                _compare(row, recorded, again, " when given other random numbers, though it is declared deterministic")
    for problem in problems:
        raise ValueError(str(problem))
    return len(picked)


def _again(player: Any, variant: Variant, row: Row, path: Path, privileged: bool) -> Played:
    where = f"variant {row.index}, attempt {row.attempt}"
    if plays_blocks(player, variant.env_id):
        environment = origin(variant.env_id)
        assert isinstance(environment, Batched)
        return play_block(environment, player, [variant], [row.seed], path, where)[0]
    return play(variant, row.attempt, player, privileged=privileged, path=path, where=where)


def _compare(row: Row, recorded: Recorded, played: Played, when: str) -> None:
    """Compare what a policy does with what was recorded; what it sees may differ, as clocks do."""
    where, again = f"variant {row.index} ({row.variant}), attempt {row.attempt}", played.recorded
    if again is None or played.fault:
        raise ValueError(f"{where}: the machine failed: {played.fault}; try again")
    wrong = f"{where}: the policy did something else{when}"
    advice = "the submission does not come from this policy as it is here"
    for step, (was, done) in enumerate(zip_longest(recorded.actions, again.actions)):
        if was != done:
            raise ValueError(f"{wrong}: at step {step} {quoted(done)}, recorded is {quoted(was)}; {advice}")
    if list(recorded.ending.rewards) != list(again.ending.rewards):
        raise ValueError(f"{where}: the same actions came to other rewards{when}; {advice}")
