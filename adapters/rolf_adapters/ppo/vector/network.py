"""Network: the State-Action Fusion encoder with its actor and critic, for a plain vector and for entities."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolf_adapters.ppo.vector.heads import head, sharpen
from rolf_adapters.ppo.vector.layout import Block, Layout, check_fits
from rolf_adapters.ppo.vector.settings import Policy

FAR = 10.0
"""Normalised numbers are cut to this."""


class Seen(NamedTuple):
    """What the network is shown of some rows."""

    features: Tensor
    """(n, size + traces) as `rolf_adapters.ppo.vector.features` has them, not normalised"""
    words: Tensor
    """(n, words) 0 or 1"""
    time: Tensor
    """(n,) steps since the episode began"""
    previous: Tensor
    """(n, parts) the action before, counted from 1; 0: none, as at the beginning of an episode"""
    allowed: Tensor
    """(n, actions) which are possible"""


class Size(NamedTuple):
    """How large things are."""

    observation: int
    features: int
    words: int
    parts: tuple[int, ...]
    """Actions of each part of an action: one for ``Discrete``, several for ``MultiDiscrete``."""


class Context(nn.Module):  # type: ignore[misc] # see heads.py
    """What is fused with the observation: the previous action's embedding, the time, and words."""

    def __init__(self, size: Size, policy: Policy) -> None:
        super().__init__()
        self.period = policy.period
        self.embeddings = nn.ModuleList(nn.Embedding(count + 1, policy.action_width) for count in size.parts)
        self.size = policy.action_width * len(size.parts) + (2 if policy.period else 0) + size.words

    def forward(self, seen: Seen) -> list[Tensor]:
        """Return the pieces, (n, …) each."""
        pieces = [each(seen.previous[:, part]) for part, each in enumerate(self.embeddings)]
        if self.period:
            angle = seen.time * (2 * math.pi / self.period)
            pieces += [torch.sin(angle)[:, None], torch.cos(angle)[:, None]]
        return [*pieces, seen.words.to(seen.features.dtype)]


class Network(nn.Module):  # type: ignore[misc] # see heads.py
    """An actor and a critic.

    Args:
        size: Of what it is shown and what it decides.
        policy: How it is made.
        layout: Of the observation and the actions; None: plain.

    Raises:
        ValueError: the layout names what such observations or actions do not have.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, size: Size, policy: Policy, layout: Layout | None) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("mean", torch.zeros(size.features))
        self.register_buffer("scale", torch.ones(size.features))
        self.body: nn.Module = Plain(size, policy) if layout is None else Entities(size, policy, layout)

    def normalise_by(self, mean: Tensor, scale: Tensor) -> None:
        """Subtract this from features, and multiply by that: (size + traces,) each."""
        self.mean.copy_(mean)
        self.scale.copy_(scale)

    def forward(self, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return the logits of all actions (n, actions), unmasked, and the values (n,)."""
        logits, values = self.body(seen, self.normalised(seen.features))
        return logits, values

    @property
    def groups(self) -> Tensor | None:
        """The group of each action, (actions,); None: they are in none. See `choice.likeliest`."""
        found: Tensor | None = getattr(self.body, "groups", None)
        return found

    def sharpen(self, factor: float) -> None:
        """Multiply all logits by a factor from now on."""
        for each in self.body.heads():
            sharpen(each, factor)

    def normalised(self, features: Tensor) -> Tensor:
        """Return features with the mean taken away, in their usual spreads, cut where they are far from it."""
        return ((features - self.mean) * self.scale).clamp(-FAR, FAR)


def _layers(*widths: int) -> nn.Sequential:
    """Return linear layers, each but the last with an unbounded activation after it."""
    made: list[nn.Module] = []
    for before, after in pairwise(widths):
        made += [nn.Linear(before, after), nn.GELU()]
    return nn.Sequential(*made)


class Plain(nn.Module):  # type: ignore[misc] # see heads.py
    """For one vector: actor and critic apart."""

    def __init__(self, size: Size, policy: Policy) -> None:
        super().__init__()
        self.context = Context(size, policy)
        inputs = size.features + self.context.size
        self.actor = _layers(inputs, policy.width, policy.width)
        self.head = head(policy.head, policy.width, sum(size.parts))
        self.critic = nn.Sequential(_layers(inputs, policy.width, policy.width), nn.Linear(policy.width, 1))

    def heads(self) -> tuple[nn.Module, ...]:
        """Return the last layers of the actor."""
        return (self.head,)

    def forward(self, seen: Seen, normal: Tensor) -> tuple[Tensor, Tensor]:
        """See `Network.forward`."""
        fused = torch.cat([normal, *self.context(seen)], dim=1)
        return self.head(self.actor(fused)), self.critic(fused)[:, 0]


class Entities(nn.Module):  # type: ignore[misc] # see heads.py
    """For entities: one set of weights for all of them, and what they have in common beside it."""

    def __init__(self, size: Size, policy: Policy, layout: Layout) -> None:
        super().__init__()
        check_fits(layout, size.observation, size.features, sum(size.parts))
        self.layout = layout
        self.observation = size.observation
        self.context = Context(size, policy)
        self.order = _order(layout, sum(size.parts))
        self.register_buffer("groups", torch.tensor(_groups(layout, sum(size.parts))), persistent=False)
        self._register(layout, size)
        width = policy.width
        levels, rest_levels = (sum(n for _, n in each) for each in (layout.levels, layout.rest_levels))
        traces = layout.trace_size // layout.entities
        each = len(self.numbers) + levels + traces + len(layout.pointers) + self.kinds + 1
        rest = len(self.others) + rest_levels + self.whole + self.context.size
        self.fused = _layers(rest, width)
        self.first = nn.Linear(each, width)
        self.first_shared = nn.Linear(width, width, bias=False)
        self.second = nn.Linear(width, width)
        self.second_shared = nn.Linear(3 * width, width, bias=False)
        self.about_all = _layers(3 * width, width)
        self.entity_head = head(policy.head, width, self.kinds)
        self.whole_head = head(policy.head, width, self.whole)
        self.critic = nn.Sequential(_layers(3 * width, width), nn.Linear(width, 1))

    def _register(self, layout: Layout, size: Size) -> None:
        """Work out which column goes where."""
        steps = dict(layout.levels)
        self.numbers = [number for number in range(layout.size) if number not in steps]
        last = layout.first + layout.entities * layout.size
        rest_steps = dict(layout.rest_levels)
        outside = [column for column in range(size.observation) if not layout.first <= column < last]
        self.others = [column for column in outside if column not in rest_steps]
        self.kinds = sum(block.size for block in layout.actions)
        self.whole = sum(size.parts) - layout.entities * self.kinds
        for name, values in (
            ("number_columns", self.numbers),
            ("level_columns", [number for number, count in layout.levels for _ in range(count)]),
            ("level_values", [value for _, count in layout.levels for value in range(count)]),
            ("level_steps", [count - 1 for _, count in layout.levels for _ in range(count)]),
            ("other_columns", self.others),
            ("rest_columns", [column for column, count in layout.rest_levels for _ in range(count)]),
            ("rest_values", [value for _, count in layout.rest_levels for value in range(count)]),
            ("rest_steps", [count - 1 for _, count in layout.rest_levels for _ in range(count)]),
            ("pointer_columns", [pointer.column for pointer in layout.pointers]),
            ("pointer_scales", [pointer.scale for pointer in layout.pointers]),
            ("pointer_offsets", [pointer.offset for pointer in layout.pointers]),
            ("actions_out", _inverse(self.order)),
            ("actions_in", self.order),
        ):
            kind = torch.float32 if name == "pointer_scales" else torch.int64  # of no values torch would make floats
            self.register_buffer(name, torch.tensor(values, dtype=kind), persistent=False)

    def heads(self) -> tuple[nn.Module, ...]:
        """Return the last layers of the actor."""
        return self.entity_head, self.whole_head

    def forward(self, seen: Seen, normal: Tensor) -> tuple[Tensor, Tensor]:
        """See `Network.forward`."""
        entities, present, whole = self._inputs(seen, normal)
        shared = self.fused(whole)
        one = functional.gelu(self.first(entities) + self.first_shared(shared)[:, None])
        pooled = torch.cat([shared, *_pooled(one, present)], dim=1)
        two = functional.gelu(self.second(one) + self.second_shared(pooled)[:, None])
        about = torch.cat([shared, *_pooled(two, present)], dim=1)
        of_entities = self.entity_head(two).flatten(1)
        of_whole = self.whole_head(self.about_all(about))
        logits = torch.cat([of_entities, of_whole], dim=1).index_select(1, self.actions_out)
        return logits, self.critic(about)[:, 0]

    def _inputs(self, seen: Seen, normal: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what is told of entities (n, entities, …), which there are (n, entities, 1), and the rest (n, …)."""
        layout = self.layout
        count = layout.entities  # rows are never counted, so that what is exported takes any number of them
        last = layout.first + count * layout.size
        raw = seen.features[:, layout.first : last].reshape(-1, count, layout.size)
        usual = normal[:, layout.first : last].reshape(-1, count, layout.size)
        allowed = seen.allowed.to(normal.dtype).index_select(1, self.actions_in)
        split = count * self.kinds
        places = torch.arange(count, dtype=normal.dtype) / count
        entities = torch.cat(
            [
                usual.index_select(2, self.number_columns),
                _levels(raw.index_select(2, self.level_columns), self.level_steps, self.level_values),
                *_of_each(normal[:, self.observation :], count, layout.trace_size // count),
                self._pointed(seen.features),
                *_of_each(allowed[:, :split], count, self.kinds),
                torch.zeros_like(usual[:, :, :1]) + places[None, :, None],
            ],
            dim=2,
        )
        rest = _levels(seen.features.index_select(1, self.rest_columns), self.rest_steps, self.rest_values)
        others = normal.index_select(1, self.other_columns)
        whole = torch.cat([others, rest, allowed[:, split:], *self.context(seen)], dim=1)
        return entities, (raw[:, :, layout.present, None] != 0).to(normal.dtype), whole

    def _pointed(self, features: Tensor) -> Tensor:  # (n, entities, pointers)
        """Return 1 where a pointer names an entity."""
        named = torch.round(features.index_select(1, self.pointer_columns) * self.pointer_scales) - self.pointer_offsets
        places = torch.arange(self.layout.entities, dtype=features.dtype)
        return (named[:, None, :] == places[None, :, None]).to(features.dtype)


def _pooled(hidden: Tensor, present: Tensor) -> list[Tensor]:
    """Return the mean and the largest over the entities that there are, (n, width) each."""
    there = hidden * present
    mean = there.sum(dim=1) / present.sum(dim=1).clamp(min=1)
    return [mean, (there - 1e3 * (1 - present)).amax(dim=1).clamp(min=-FAR)]


def _of_each(columns: Tensor, entities: int, size: int) -> list[Tensor]:
    """Return columns by entity, (n, entities, size); none where there are none, whose rows torch could not count."""
    return [columns.reshape(-1, entities, size)] if size else []


def _levels(columns: Tensor, steps: Tensor, values: Tensor) -> Tensor:
    """Return 1 where a number is at a level, one column a level."""
    return (torch.round(columns * steps) == values).to(columns.dtype)


def _action(block: Block, entities: int, entity: int, kind: int) -> int:
    """Return the flat action of a kind about an entity."""
    return block.first + (entity * block.size + kind if block.order == "entity" else kind * entities + entity)


def _order(layout: Layout, actions: int) -> list[int]:
    """Return the flat actions in the order of the heads: entity by entity, then those about the whole."""
    of: list[list[int]] = [[] for _ in range(layout.entities)]
    for block in layout.actions:
        for entity in range(layout.entities):
            for kind in range(block.size):
                of[entity].append(_action(block, layout.entities, entity, kind))
    named = [action for each in of for action in each]
    if len(set(named)) != len(named) or (named and max(named) >= actions):
        raise ValueError(
            f"the layout's blocks of actions overlap or go beyond the {actions} that there are: {layout.actions!r}"
        )
    return named + sorted(set(range(actions)) - set(named))


def _groups(layout: Layout, actions: int) -> list[int]:
    """Return the group of each flat action: those of a block about an entity, those of a run, each other one alone."""
    groups = [-1] * actions
    number = 0
    for block in layout.actions:
        for entity in range(layout.entities):
            for kind in range(block.size):
                groups[_action(block, layout.entities, entity, kind)] = number
            number += 1
    for first, count in layout.together:
        groups[first : first + count] = [number] * count
        number += 1
    for action in range(actions):
        if groups[action] < 0:
            groups[action] = number
            number += 1
    return groups


def _inverse(order: list[int]) -> list[int]:
    found = [0] * len(order)
    for place, action in enumerate(order):
        found[action] = place
    return found
