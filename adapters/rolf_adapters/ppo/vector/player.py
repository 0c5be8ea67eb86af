"""Player: what was learned, as a policy that ``rolf eval`` plays.

``rolf eval --split line-v1/iid --policy rolf_adapters.ppo.vector.player:player --policy-arg run=runs/line``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rolf.evaluation.policy import Start
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.vector.choice import likeliest, log_chances
from rolf_adapters.ppo.vector.features import Features
from rolf_adapters.ppo.vector.infos import mask
from rolf_adapters.ppo.vector.keeping import check, named
from rolf_adapters.ppo.vector.latest import latest
from rolf_adapters.ppo.vector.learner import layout_of, network_for
from rolf_adapters.ppo.vector.making import Spaces, spaces_in
from rolf_adapters.ppo.vector.network import Network, Seen
from rolf_adapters.ppo.vector.settings import Settings

Answer = Callable[[Seen], tuple[Tensor, Tensor | None]]
"""Returns logits of actions (n, actions), and the groups of `rolf_adapters.ppo.vector.choice.likeliest`."""


class Player:
    """Takes the likeliest action, in one environment at a time.

    A policy that was trained on steps of several ticks (``ticks_per_step``), or to wait after its decisions
    (``rollout.waits``), decides as often where a step is one tick, and takes the first action, which does nothing,
    between its decisions.

    Args:
        settings: Of the training.
        answering: Makes what answers for spaces like these.
        name: What the board calls it.
    """

    privileged = False
    deterministic = True

    def __init__(self, settings: Settings, answering: Callable[[Spaces], Answer], name: str = "ppo") -> None:
        self.name = name
        imitated = settings.training.imitation.teacher
        self.description = "an actor-critic trained by PPO" + (f", after imitating {imitated}" if imitated else "")
        self.settings = settings
        self._step_length = int(settings.environment.kwargs.get("ticks_per_step", 1))
        self.every = self._step_length * (1 + settings.rollout.waits)
        """Ticks from one decision to the next."""
        self._answering = answering
        self._answer: Answer | None = None
        self._layout = layout_of(settings.policy)
        self._spaces = Spaces(0, (), True, 0)
        self._features = Features(1, 0, None)
        self._previous = np.zeros((1, 1), np.int64)
        self._step = 0

    def begin(self, start: Start) -> None:
        """See `rolf.evaluation.policy.Policy.begin`.

        Raises:
            TypeError: the environment's spaces are of a kind that was not trained on.
            ValueError: the network was trained on other spaces.
        """
        spaces = spaces_in(start.env.observation_space, start.env.action_space, start.variant.env_id)
        if self._answer is None or spaces != self._spaces:
            self._answer = self._answering(spaces)
        self._spaces = spaces
        self._features = Features(1, self._spaces.observation, self._layout)
        self._previous = np.zeros((1, len(self._spaces.parts)), np.int64)
        self._step = 0

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """See `rolf.evaluation.policy.Policy.act`."""
        step, self._step = self._step, self._step + 1
        seen = np.asarray(observation, np.float32)[None]
        if step % self.every:
            if step % self._step_length == 0:
                self._features.take_in(seen)
            return self._spaces.first if self._spaces.discrete else np.zeros(len(self._spaces.parts), np.int64)
        shown = self._features.see(seen) if step else self._features.begin(seen, np.ones(1, np.bool_), info)
        chosen = self._chosen(shown, info)
        self._previous = chosen + 1
        return int(chosen[0, 0]) + self._spaces.first if self._spaces.discrete else chosen[0]

    def _chosen(self, shown: np.ndarray[Any, Any], info: Mapping[str, Any]) -> np.ndarray[Any, Any]:
        assert self._answer is not None
        allowed = mask(info, self.settings.environment.mask, sum(self._spaces.parts))
        arrays = shown, self._features.words, self._features.time, self._previous, allowed[None]
        with torch.inference_mode():
            seen = Seen(*map(torch.from_numpy, arrays))
            logits, groups = self._answer(seen)
            chances = log_chances(logits, seen.allowed, self._spaces.parts)
            found: np.ndarray[Any, Any] = likeliest(chances, self._spaces.parts, groups).numpy()
        return found


def answering(settings: Settings, state: State) -> Callable[[Spaces], Answer]:
    """Return what makes a network answer that has become what a state says; see `restored` for what that raises."""

    def made(spaces: Spaces) -> Answer:
        network = restored(settings, state, spaces)
        return lambda seen: (network(seen)[0], network.groups)

    return made


def restored(settings: Settings, state: State, spaces: Spaces) -> Network:
    """Return the network that a state holds.

    Raises:
        ValueError: it is one for other spaces, or of other settings.
    """
    network = network_for(spaces.observation, spaces.parts, settings.policy, 0)
    check(state, network)
    network.load_state_dict(named(state, "network"))
    network.eval()
    return network


def player(run: str, name: str = "ppo") -> Player:
    """Return the player of a training's latest checkpoint.

    Args:
        run: The folder that ``rolf train`` wrote.
        name: What the board calls it.

    Raises:
        ValueError: there is no checkpoint, or it is another kind of learner's.
    """
    torch.set_num_threads(1)
    settings, found = latest(run)
    return Player(settings, answering(settings, found.state), name)
