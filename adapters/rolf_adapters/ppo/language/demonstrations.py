"""Demonstrations: episodes that another policy plays, as a model would have written them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rolf.evaluation.errors import PolicyError
from rolf.evaluation.loading import check_policy, find_policy, load
from rolf.evaluation.policy import Start
from rolf.interface import CallError
from rolf.variant import policy_seed
from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.language.batches import Sample
from rolf_adapters.ppo.language.conversation import Conversation
from rolf_adapters.ppo.language.pool import Lost, Pool
from rolf_adapters.ppo.language.problems import Problem
from rolf_adapters.ppo.language.settings import Rollout
from rolf_adapters.ppo.language.template import Template
from rolf_adapters.ppo.learner import Halted


class NoDemonstration(Halted):
    """There is nothing to learn from what was shown."""

    resumes = False


def demonstrator(name: str, env_id: str) -> Any:
    """Return the policy that shows how it is done.

    Args:
        name: A policy that comes with the environment, or ``module:object``.
        env_id: Of the environment.

    Raises:
        ValueError: there is no such policy, or it cannot be made, or cannot act; says why.
    """
    try:
        spec = find_policy(name, [env_id], {})
        player = load(spec)
        check_policy(player, spec, [env_id])
    except PolicyError as error:
        raise ValueError(f"training.warm_start.policy={name!r}: {error}") from error
    return player


def demonstrated(
    player: Any, problems: Sequence[Problem], pool: Pool, template: Template, rollout: Rollout
) -> list[Sample]:
    """Return the episodes that a policy solves; of several processes each calls it, with problems of its own.

    Args:
        player: The policy, a `demonstrator`.
        problems: What it is asked to solve.
        pool: Where; one episode after another.
        template: How messages are put to the model.
        rollout: How observations become messages, and how long a context may be.

    Raises:
        NoDemonstration: it solves none within the limits, in no process; some of them may have none.
    """
    found = [_played(player, problem, pool, template, rollout) for problem in problems]
    samples = [each for each in found if isinstance(each, Sample)]
    if not sum(parallel.gathered(len(samples))):
        raise NoDemonstration(
            f"the policy of training.warm_start solves none of {len(problems)} episodes within {rollout.turns} turns "
            f"and a window of {rollout.window} tokens (the last one: {found[-1] if found else 'there is none'}); there "
            "is nothing to imitate: begin anew with a policy that can do it, or with more rollout.turns or a larger "
            "rollout.window, in another --out"
        )
    return samples


def _played(player: Any, problem: Problem, pool: Pool, template: Template, rollout: Rollout) -> Sample | str:
    """Return an episode as one row of tokens, with the answers to be learned, or why it shows nothing."""
    seen = pool.reset(0, problem)
    if isinstance(seen, Lost):
        return seen.reason
    env = pool.env(0)
    talk = Conversation(env, template, rollout.speech)
    start = Start(problem.variant, 0, policy_seed(problem.seed), seen.observation, seen.info, env)
    player.begin(start)
    ids = list(talk.begin(seen.observation, seen.info))
    places: list[int] = []
    for _ in range(rollout.turns):
        try:
            text = talk.written(player.act(seen.observation, seen.info))
        except CallError as error:
            return str(error)
        answer = (*template.text(text), template.end)
        places += range(len(ids), len(ids) + len(answer))
        ids += answer
        seen = pool.step(0, talk.action(text))
        if isinstance(seen, Lost):
            return seen.reason
        if len(ids) > rollout.window:
            return f"it has {len(ids)} tokens and more"
        if seen.terminated or seen.truncated:
            return _sample(ids, places) if seen.info.get("success") else "it ended without success"
        ids += talk.follow(seen.observation, seen.info, ended=True)
    return "it goes on"


def _sample(ids: Sequence[int], places: Sequence[int]) -> Sample:
    count = len(places)
    return Sample(
        np.array(ids, np.int64),
        np.array(places, np.int64),
        logps=np.zeros(count, np.float32),
        advantages=np.zeros(count),
        returns=np.zeros(count),
        values=np.zeros(count, np.float32),
        valued=np.zeros(count, np.bool_),
        segments=np.zeros(count, np.int64),
        allowed=None,
    )
