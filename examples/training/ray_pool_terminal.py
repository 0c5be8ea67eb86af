"""Play terminal tasks in Ray's actors, one of which is killed; nothing is lost. Prints how many were solved."""

import argparse
import os
import signal
from collections.abc import Mapping
from typing import Any

from rolf.evaluation.policy import Start
from rolf.variant import Variant
from rolf_adapters.ray_pool import EpisodePool, Lost

SETTINGS = {"task": "link-structure", "reward": "success"}


class Oracle:
    """Types what solves the task; kills its own process in the first try at one of them."""

    privileged = True

    def __init__(self, victim: int, mark: str) -> None:
        self.victim, self.mark = victim, mark

    def begin(self, start: Start) -> None:
        if start.variant.seed == self.victim and not os.path.exists(self.mark):
            with open(self.mark, "w"):
                os.kill(os.getpid(), signal.SIGKILL)
        world: Any = start.env.unwrapped
        self.answers = [plan.model_dump_json() for plan in world.task.oracle] + ['{"submit": true}']

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:  # noqa: ARG002 - it knows the way
        return self.answers.pop(0)


def main(episodes: int, actors: int) -> int:
    variants = [Variant("termgym:TermEnv-v1", SETTINGS, seed) for seed in range(episodes)]
    with EpisodePool(actors, deadline=300) as pool:
        played = pool.play(Oracle(victim=1, mark=os.path.abspath("killed")), variants, retries=1)
    for each in played:
        print(each if isinstance(each, Lost) else f"{each.index}: {each.steps} steps, {each.info['success']}")
    return sum(not isinstance(each, Lost) and bool(each.info["success"]) for each in played)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--actors", type=int, default=2)
    print(main(**vars(parser.parse_args())))
