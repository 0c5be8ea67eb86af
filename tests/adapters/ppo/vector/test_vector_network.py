"""The network looks at what it says it looks at."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor

import linegym
from linegym.actions import COMMANDS
from linegym.plant import Crew, Order, Panel
from linegym.templates import TEMPLATES
from rolf_adapters.ppo.vector.choice import chance_of, drawn, likeliest, log_chances, uncertainty
from rolf_adapters.ppo.vector.features import Features
from rolf_adapters.ppo.vector.heads import UnitHead, head, sharpen
from rolf_adapters.ppo.vector.layout import Block, Layout, Pointer
from rolf_adapters.ppo.vector.learner import network_for
from rolf_adapters.ppo.vector.line import CLAIM, DOWN, RUNNING, layout
from rolf_adapters.ppo.vector.network import Network, Seen, Size
from rolf_adapters.ppo.vector.settings import Policy

LINE = Policy(width=16, layout="line", period=200.0, head="linear")


def shown(rows: int = 3) -> Seen:
    """What a network sees of real lines after a while of random orders."""
    envs = gym.make_vec("linegym:LineEnv-v1", num_envs=rows, variants="fit", autoreset_mode="Disabled")
    seen, infos = envs.reset(seed=0)
    features = Features(rows, 632, layout())
    found = features.begin(seen, np.ones(rows, np.bool_), infos)
    drawing = np.random.default_rng(0)
    for _ in range(60):
        actions = (drawing.random((rows, 545)) * infos["action_mask"]).argmax(axis=1)
        seen, *_, infos = envs.step(actions)
        found = features.see(seen)
    envs.close()
    previous = (actions + 1)[:, None]
    arrays = found, features.words.copy(), features.time.copy(), previous, infos["action_mask"] == 1
    return Seen(*map(torch.from_numpy, arrays))


def test_the_layout_of_the_line_is_what_its_documentation_says() -> None:
    """The adapter may not import the line, so what it knows of it is written down a second time."""
    made, spec = layout(), linegym.LineEnv().obs_spec
    assert made.entities * made.size == next(each.index for each in spec if each.name == "technician[0].state")
    for number, name in ((0, "value[0]"), (8, "scan"), (9, "cycle"), (13, "panel"), (14, "order")):
        assert spec[24 * 7 + number].name == f"station[7].{name}"
    assert spec[CLAIM].name == "station[0].claim"
    assert spec[made.size * 3 + made.present].name == "station[3].scan"
    assert (RUNNING, DOWN) == (Panel.RUNNING, Panel.DOWN)
    levels = {spec[number].name: count for number, count in (*made.levels, *made.rest_levels)}
    assert levels["station[0].panel"] == len(Panel)
    assert levels["station[0].order"] == len(Order)
    assert levels["technician[5].state"] == len(Crew)
    assert {spec[pointer.column].name.partition(".")[2] for pointer in made.pointers} == {"at", "to"}
    words = {word for template in TEMPLATES for word in template.name.split("/")}
    assert words == set(made.vocabulary)


def test_actions_are_about_the_station_that_the_head_means() -> None:
    network = network_for(632, (545,), LINE, 0)
    order = network.body.order
    assert sorted(order) == list(range(545))
    for station in range(24):
        of_it = COMMANDS[order[22 * station : 22 * (station + 1)]]
        assert (of_it[:, 1] == station).all()
        assert {*of_it[:, 0].tolist()} == {1, 2, 4, 5, 6}
    assert {*COMMANDS[order[22 * 24 :]][:, 0].tolist()} == {0, 3}


def test_two_stations_exchanged_are_two_actions_exchanged() -> None:
    """What is learned of one station holds of all, but for the number that tells where in the line it is."""
    network = network_for(632, (545,), LINE, 0)
    network.sharpen(100.0)
    with torch.no_grad():
        network.body.first.weight[:, -1] = 0
    seen = shown()
    features = seen.features.clone()
    a, b = 2, 5
    size = len(features[0][632:]) // 24
    for first, width in ((0, 24), (632, size)):
        one, other = (
            slice(first + a * width, first + (a + 1) * width),
            slice(first + b * width, first + (b + 1) * width),
        )
        features[:, one], features[:, other] = seen.features[:, other], seen.features[:, one]
    for pointer in layout().pointers:
        named = torch.round(seen.features[:, pointer.column] * 24) - pointer.offset
        swapped = torch.where(named == a, b, torch.where(named == b, a, named))
        features[:, pointer.column] = (swapped + pointer.offset) / 24
    moved = torch.tensor(network.body.order)
    moved[22 * a : 22 * (a + 1)], moved[22 * b : 22 * (b + 1)] = (
        moved[22 * b : 22 * (b + 1)].clone(),
        moved[22 * a : 22 * (a + 1)].clone(),
    )
    exchange = torch.empty(545, dtype=torch.int64)
    exchange[torch.tensor(network.body.order)] = moved
    # The previous action and the technicians' features of the whole stay as they were: only pointers differ there.
    columns = torch.tensor([pointer.column for pointer in layout().pointers])
    with torch.no_grad():
        others = torch.tensor(network.body.others)
        network.body.fused[0].weight[:, : len(others)][:, torch.isin(others, columns)] = 0
        logits, values = network(seen)
        again, worth = network(Seen(features, seen.words, seen.time, seen.previous, seen.allowed[:, exchange]))
    assert torch.allclose(again, logits[:, exchange], atol=1e-4)
    assert torch.allclose(values, worth, atol=1e-5)
    assert not torch.allclose(again, logits, atol=1e-2)


def test_stations_that_are_not_there_have_no_part_in_the_whole() -> None:
    network = network_for(632, (545,), LINE, 0)
    seen, absent = shown(2), 23
    assert (seen.features[:, 24 * absent : 24 * (absent + 1)] == 0).all()
    features = seen.features.clone()
    features[:, 24 * absent] = 7.0
    with torch.no_grad():
        logits, values = network(seen)
        again, worth = network(seen._replace(features=features))
    assert torch.equal(values, worth)
    elsewhere = torch.ones(545, dtype=torch.bool)
    elsewhere[torch.tensor(network.body.order[22 * absent : 22 * (absent + 1)])] = False
    assert torch.equal(logits[:, elsewhere], again[:, elsewhere])


@pytest.mark.parametrize("part", ["features", "words", "time", "previous", "allowed"])
def test_everything_that_is_shown_counts(part: str) -> None:
    network = network_for(632, (545,), LINE, 0)
    seen = shown()
    changed: dict[str, Tensor] = {
        "features": seen.features + 0.1,
        "words": 1 - seen.words,
        "time": seen.time + 40,
        "previous": (seen.previous + 1) % 545,
        "allowed": ~seen.allowed,
    }
    with torch.no_grad():
        assert not torch.equal(network(seen)[0], network(seen._replace(**{part: changed[part]}))[0])


def test_normalisation_takes_mean_and_spread_away_and_cuts_what_is_far() -> None:
    network: Network = network_for(2, (3,), Policy(), 0)
    network.normalise_by(torch.tensor([1.0, -2.0]), torch.tensor([2.0, 0.5]))
    found = network.normalised(torch.tensor([[1.5, 0.0], [1e6, -1e6]]))
    assert found.tolist() == [[1.0, 1.0], [10.0, -10.0]]


def test_a_unit_heads_rows_are_directions_in_the_positive_orthant() -> None:
    made = UnitHead(6, 4)
    with torch.no_grad():
        made.raw[0] = torch.tensor([-30.0, 0.0, 3.0, -3.0, 5.0, 1.0])
        made.heat.fill_(1.0)
    weight = made.weight()
    assert (weight >= 0).all()
    assert torch.allclose(weight.norm(dim=1), torch.ones(4))
    features = torch.randn(5, 6)
    assert torch.allclose(made(features), features @ weight.T * torch.e, atol=1e-5)
    made(features).sum().backward()
    assert made.heat.grad is not None
    assert made.raw.grad is not None


@pytest.mark.parametrize("kind", ["unit", "linear"])
def test_sharpening_multiplies_logits(kind: str) -> None:
    made, features = head(kind, 6, 4), torch.randn(5, 6)
    before = made(features)
    sharpen(made, 3.0)
    assert torch.allclose(made(features), 3 * before, atol=1e-4)


def test_blocks_of_actions_that_overlap_are_refused() -> None:
    wrong = Layout(entities=2, size=1, present=0, actions=(Block(first=0, size=2), Block(first=3, size=1)))
    with pytest.raises(ValueError, match="overlap or go beyond the 6"):
        network_for(2, (6,), Policy(layout=wrong), 0)


FULL: dict[str, Any] = {
    "entities": 2, "size": 3, "present": 0, "levels": ((1, 4), (2, 2)), "rest_levels": ((6, 3), (7, 2)),
    "pointers": (Pointer(column=7, scale=2.0),), "actions": (Block(first=0, size=2),), "traced": ((0, -1), (1, 2)),
    "gains": (0.5,),
}  # fmt: skip
EMPTY: dict[str, Any] = {"levels": (), "rest_levels": (), "pointers": (), "actions": (), "traced": (), "gains": ()}
LEFT_OUT: list[dict[str, Any]] = [
    {},
    *({key: ()} for key in EMPTY if key not in ("levels", "traced")),
    {"levels": (), "traced": ((0, -1),)},
    {"traced": (), "gains": (0.5,)},
    EMPTY,
    {"levels": ((0, 2), (1, 4), (2, 2))},
    {"entities": 1, "size": 8, "rest_levels": ()},
]


@pytest.mark.parametrize("kind", ["unit", "linear"])
@pytest.mark.parametrize("more", LEFT_OUT, ids=lambda more: ", ".join(more) or "none")
def test_a_layout_may_leave_out_what_it_likes(more: dict[str, Any], kind: str) -> None:
    """And its actions may all be of entities, as the four here where a block is named."""
    layout = Layout(**{**FULL, **more})
    features = Features(3, 8, layout)
    drawing = np.random.default_rng(0)
    found = features.begin(drawing.random((3, 8), np.float32), np.ones(3, np.bool_), {})
    found = features.see(drawing.random((3, 8), np.float32))
    network = network_for(8, (4,), Policy(layout=layout, width=8, head=kind), 0)
    network.sharpen(2.0)
    arrays = found, features.words, features.time, np.ones((3, 1), np.int64), np.ones((3, 4), np.bool_)
    logits, values = network(Seen(*map(torch.from_numpy, arrays)))
    (logits.sum() + values.sum()).backward()
    assert logits.shape == (3, 4)
    assert torch.isfinite(logits).all()
    assert torch.isfinite(values).all()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"present": 3}, "present names number 3; an entity has those from 0 to 2"),
        ({"levels": ((-1, 4),), "traced": ()}, "levels names number -1; an entity has those from 0 to 2"),
        ({"traced": ((3, -1),)}, "traced names number 3; an entity has those from 0 to 2"),
        ({"levels": ()}, "traced names level 2 of number 1, of which levels has none; name another, or trace the"),
        ({"traced": ((1, 4),)}, "traced names level 4 of number 1, of which levels has 0 to 3; name another"),
        ({"rest_levels": ((6, 0),)}, "rest_levels says that number 6 takes 0 values; give 1 or more"),
        ({"first": 3}, "entities=2 of size=3 from first=3 on take 9 numbers, and observations have 8"),
        ({"rest_levels": ((8, 2),)}, "the layout's rest_levels name column 8; an observation has 0 to 7"),
        ({"pointers": (Pointer(column=9, scale=1.0),)}, "the layout's pointers name column 9; an observation has 0 to"),
        ({"together": ((2, 3),)}, "together names 3 actions from 2 on; there are those from 0 to 3"),
    ],
)
def test_a_layout_that_names_what_there_is_not_is_refused(more: dict[str, Any], said: str) -> None:
    """As it is made where that can be known by then; else as the network is."""
    with pytest.raises(ValueError, match=re.escape(said)):
        network_for(8, (4,), Policy(layout=Layout(**{**FULL, **more})), 0)


def test_a_size_that_forgets_what_a_layout_adds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the layout adds 4 numbers to the 8 .* and there are 8 features; .* be 12"):
        Network(Size(8, 8, 0, (4,)), Policy(), Layout(**FULL))


def test_chances_add_up_to_one_in_each_part_and_are_drawn_as_they_say() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, 0.5, 0.0]]).repeat(4000, 1)
    allowed = torch.tensor([[True, True, False, True, True]]).repeat(4000, 1)
    chances = log_chances(logits, allowed, (3, 2))
    assert torch.allclose(chances[:, :3].exp().sum(dim=1), torch.ones(4000))
    assert torch.allclose(chances[:, 3:].exp().sum(dim=1), torch.ones(4000))
    actions = drawn(chances, (3, 2), torch.Generator().manual_seed(0))
    shares = torch.bincount(actions[:, 0], minlength=3) / 4000
    assert torch.allclose(shares, torch.tensor([0.2689, 0.7311, 0.0]), atol=0.03)
    assert likeliest(chances, (3, 2))[0].tolist() == [1, 0]
    first = chances[0, 1] + chances[0, 3]
    assert torch.isclose(chance_of(chances[:1], torch.tensor([[1, 0]]), (3, 2))[0], first)
    by_hand = -sum(float(p) * float(p.log()) for p in chances[0].exp() if p > 0)
    assert uncertainty(chances)[0].item() == pytest.approx(by_hand, abs=1e-5)


def test_the_likeliest_decision_counts_before_its_details() -> None:
    """Two claims of .3 about one alarm are an answer of .6, though to wait has .4."""
    chances = torch.tensor([[0.4, 0.3, 0.25, 0.05], [0.9, 0.02, 0.03, 0.05]]).log()
    groups = torch.tensor([0, 1, 1, 2])
    assert likeliest(chances, (4,), groups)[:, 0].tolist() == [1, 0]
    assert likeliest(chances, (4,))[:, 0].tolist() == [0, 0]


def test_groups_are_a_verb_and_a_station_or_all_parts() -> None:
    groups = network_for(632, (545,), LINE, 0).groups
    assert groups is not None
    of_pair = {(verb, station): groups[number].item() for number, (verb, station, _) in enumerate(COMMANDS.tolist())}
    assert len(set(of_pair.values())) == len(of_pair) == int(groups.max()) + 1
    again = [of_pair[verb, station] for verb, station, _ in COMMANDS.tolist()]
    assert again == groups.tolist()
