"""How episodes are put together has no effect on what is learned."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
import torch
from file_tasks import tiny

from rolf_adapters.ppo.language.batches import CALL, Sample, bucketed, likelihoods, sample
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.report import of_update
from rolf_adapters.ppo.language.settings import Reward, Training
from rolf_adapters.ppo.language.turns import Episode, Said, Turn
from rolf_adapters.ppo.language.update import imitated, updated
from rolf_adapters.ppo.learner import Diverged

WORDS = 377


def episode(seed: int, turns: int) -> Episode:
    """Return one with random tokens, half of them forced, under masks that let half of all tokens through."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(turns):
        count = int(rng.integers(2, 7))
        ids = tuple(int(each) for each in rng.integers(0, WORDS, count))
        chosen = rng.random(count) < 0.5
        chosen[0] = True
        bits = rng.random((count, 12 * 32)) < 0.5
        bits[np.arange(count), list(ids)] = True
        allowed = np.packbits(bits, axis=1, bitorder="little").view(np.int32)
        logps = np.where(chosen, np.log(rng.uniform(0.002, 0.01, count)), 0).astype(np.float32)
        said = Said(ids, logps, chosen, rng.normal(size=count).astype(np.float32), allowed)
        prompt = tuple(int(each) for each in rng.integers(0, WORDS, int(rng.integers(3, 20))))
        last = number == turns - 1
        made.append(
            Turn(prompt, said, float(rng.normal()), last and seed % 2 == 0, last and seed % 2 == 1, 0, seed % 4)
        )
    return Episode(tuple(made), final=0.7)


def samples(count: int = 7) -> list[Sample]:
    found = [sample(episode(seed, 1 + seed % 3), Reward()) for seed in range(count)]
    return [each for each in found if each is not None]


def learned(training: Training, data: Sequence[Sample]) -> tuple[LanguagePolicy, dict[str, float]]:
    """Return a policy after an update."""
    policy = LanguagePolicy(tiny(seed=1)[0])
    optimiser = torch.optim.SGD([each for _, each in policy.trained()], lr=0.1)
    figures = updated(policy, optimiser, data, training, seed=0, iteration=0)
    return policy, figures.steps[0]


def test_groups_hold_rows_of_similar_length_within_a_budget() -> None:
    """Padding is computed for nothing; every row is in one group."""
    lengths = [5, 100, 7, 90, 6, 300, 8]
    groups = bucketed(lengths, 200)
    assert sorted(index for group in groups for index in group) == list(range(7))
    assert [sorted(lengths[index] for index in group) for group in groups] == [[300], [90, 100], [5, 6, 7, 8]]
    assert bucketed([], 10) == []


def test_one_long_row_does_not_make_all_long() -> None:
    """Each group takes the time of its longest row; many small groups take time too, for each is a call."""
    assert bucketed([50, 1000, *[50] * 20], 100_000) == [[1], [0, *range(2, 22)]]
    assert bucketed([50, 51, 52], 100_000) == [[2, 1, 0]]


@pytest.mark.parametrize("seed", range(5))
def test_no_other_groups_of_neighbours_take_less(seed: int) -> None:
    """Against every way there is to cut eight rows into groups."""
    rng = np.random.default_rng(seed)
    lengths, budget = rng.integers(1, 400, 8).tolist(), int(rng.integers(400, 1500))

    def taken(groups: Sequence[Sequence[int]]) -> int:
        sizes = [len(group) * max(lengths[index] for index in group) for group in groups]
        fits = all(size <= budget or len(group) == 1 for size, group in zip(sizes, groups, strict=True))
        return sum(sizes) + CALL * len(groups) if fits else 10**9

    order = sorted(range(8), key=lambda index: -lengths[index])
    cuts = [[0, *some, 8] for count in range(8) for some in combinations(range(1, 8), count)]
    ways = [[order[begin:end] for begin, end in pairwise(each)] for each in cuts]
    assert taken(bucketed(lengths, budget)) == min(map(taken, ways)) < 10**9


@pytest.mark.parametrize("clipping", ["plain", "segmented"])
def test_micro_batches_have_no_effect(clipping: str) -> None:
    """One row at a time, or all together: the same step, the same figures."""
    together, first = learned(Training(iterations=1, epochs=1, clipping=clipping, entropy=0.01), samples())
    apart, second = learned(Training(iterations=1, epochs=1, clipping=clipping, entropy=0.01, budget=16), samples())
    for (name, one), (_, other) in zip(together.trained(), apart.trained(), strict=True):
        assert torch.allclose(one, other, atol=2e-6), name
    assert first == pytest.approx(second, abs=1e-5)


def test_each_segment_has_the_clip_range_that_it_is_given() -> None:
    """A narrow one where most samples lie outside of it clips them; the others are as they were."""
    given = {"iterations": 1, "epochs": 1, "clipping": "segmented", "minibatches": 2}
    usual, first = learned(Training(**given), samples())
    same, _ = learned(Training(**given, clips=(0.15, 0.08, 0.25, 0.12)), samples())
    wide, second = learned(Training(**given, clips=(0.999, 0.08, 0.25, 0.12)), samples())
    assert all(torch.equal(one, other) for (_, one), (_, other) in zip(usual.trained(), same.trained(), strict=True))
    assert first["loss"] != second["loss"]
    assert not all(
        torch.equal(one, other) for (_, one), (_, other) in zip(usual.trained(), wide.trained(), strict=True)
    )


@pytest.mark.parametrize(
    ("training", "said"),
    [
        ({"clips": (0.1, 0.1, 0.1, 0.1)}, r"clips=\(0.1.*has no effect with clipping: plain; .* clipping: segmented"),
        ({"clip": 0.1, "clipping": "segmented"}, "clip=0.1 has no effect with clipping: segmented"),
        ({"clips": (0.1, 0.1, 0.0, 0.1), "clipping": "segmented"}, "greater than 0"),
    ],
)
def test_clip_ranges_without_an_effect_are_refused(training: dict[str, Any], said: str) -> None:
    """Nobody shall compare two trainings that are the same."""
    with pytest.raises(ValueError, match=said):
        Training(iterations=1, **training)


def test_what_was_not_chosen_has_no_effect() -> None:
    """A value at a forced token, or the reward's place among tokens, must not reach the update."""
    data = [episode(seed, 2) for seed in range(4)]
    noisy = []
    for each in data:
        turns = []
        for turn in each.turns:
            said = turn.said
            values = np.where(said.chosen, said.values, 100.0).astype(np.float32)
            changed = Said(said.ids, said.logps, said.chosen, values, said.allowed)
            turns.append(Turn(turn.prompt_ids, changed, turn.reward, turn.terminated, turn.truncated, 0, turn.segment))
        noisy.append(Episode(tuple(turns), each.final))
    for one, other in zip(data, noisy, strict=True):
        first, second = sample(one, Reward()), sample(other, Reward())
        assert first is not None
        assert second is not None
        for name in Sample._fields:
            assert np.array_equal(getattr(first, name), getattr(second, name)), name


def test_an_episode_without_a_choice_teaches_nothing() -> None:
    """A grammar may leave one call alone."""
    said = Said((1, 2), np.zeros(2, np.float32), np.zeros(2, np.bool_), np.zeros(2, np.float32))
    assert sample(Episode((Turn((5,), said, 1.0, True, False, 0),)), Reward()) is None


def advantages(**reward: Any) -> list[float]:
    """Return those of an episode of two answers of two tokens, all chosen; values 3, 5 and 4, 6, paid 1 and 2."""
    no = np.zeros(2, np.float32)
    answers = [Said((1, 2), no, np.ones(2, np.bool_), np.array(each, np.float32)) for each in ((3, 5), (4, 6))]
    turns = [
        Turn((7,), said, paid, False, last, 0) for said, paid, last in zip(answers, (1, 2), (False, True), strict=True)
    ]
    found = sample(Episode(tuple(turns), final=8.0), Reward(**reward))
    assert found is not None
    return [float(each) for each in found.advantages]


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        # Tokens in a row: 0 + 5 - 3 = 2, 1 + 4 - 5 = 0, 0 + 6 - 4 = 2, 2 + 8 - 6 = 4.
        ({"credit": "token", "trace": 0.0}, [2, 0, 2, 4]),
        ({"credit": "token", "trace": 0.5}, [3, 2, 4, 4]),
        ({"credit": "token", "token_trace": 0.0}, [2, 0, 2, 4]),
        ({"credit": "token", "trace": 0.0, "discount": 0.5}, [2, -2, 2, 0]),
        ({"credit": "token", "trace": 0.0, "token_discount": 0.5}, [-0.5, -2, -1, 0]),
        # Turns are worth 8 and 10, or 3 - 3 + .5 * (4 + 2) and 2 + .5 * 8 with a discount and a trace of 1.
        ({"credit": "bilevel", "trace": 0.5}, [5, 3, 6, 4]),
        ({"credit": "bilevel", "trace": 0.5, "token_trace": 0.5}, [3.5, 3, 4, 4]),
        ({"credit": "bilevel", "trace": 0.5, "token_trace": 0.0, "token_discount": 0.5}, [-0.5, 3, -1, 4]),
        ({"credit": "bilevel", "trace": 1.0, "discount": 0.5}, [1, -1, 2, 0]),
        ({"credit": "turn", "trace": 1.0, "discount": 0.5}, [1, 1, 2, 2]),
    ],
)
def test_every_factor_of_credit_has_an_effect(reward: dict[str, Any], expected: list[float]) -> None:
    """What a configuration says of tokens and turns reaches what is learned."""
    assert advantages(**reward) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        ({"token_discount": 0.9}, "token_discount=0.9 and token_trace=None have no effect with credit: turn"),
        ({"token_trace": 1.0}, "have no effect with credit: turn"),
        ({"credit": "token", "trace": 0.5, "token_trace": 0.9}, "trace=0.5 has no effect beside token_trace=0.9"),
    ],
)
def test_a_factor_without_an_effect_is_refused(reward: dict[str, Any], said: str) -> None:
    """Nobody shall wait for what does not come."""
    with pytest.raises(ValueError, match=said):
        Reward(**reward)
    written_out = Reward(credit="token", token_trace=0.9).model_dump()
    assert Reward(**written_out).over_tokens == 0.9, "a configuration with every default in it is none of these"


def test_a_loss_that_is_no_number_changes_nothing() -> None:
    """The loop goes back to a checkpoint; until then the parameters are those before the step."""
    policy = LanguagePolicy(tiny(seed=1)[0])
    before = {name: each.clone() for name, each in policy.trained()}
    optimiser = torch.optim.AdamW([each for _, each in policy.trained()], lr=0.1)
    data = samples(2)
    data[0].returns[:] = np.nan
    with pytest.raises(Diverged, match="no finite numbers"):
        updated(policy, optimiser, data, Training(iterations=1), seed=0, iteration=0)
    assert all(torch.equal(before[name], each) for name, each in policy.trained())


def test_epochs_stop_where_the_policy_has_gone_too_far() -> None:
    """The episodes say nothing of a policy that is far from the one that played them."""
    policy = LanguagePolicy(tiny(seed=1)[0])
    data = samples()
    played = likelihoods(policy, data, 4096)
    data = [each._replace(logps=logps) for each, logps in zip(data, played, strict=True)]
    optimiser = torch.optim.AdamW([each for _, each in policy.trained()], lr=5e-5)
    training = Training(iterations=1, epochs=9, most_kl=0.01)
    figures = updated(policy, optimiser, data, training, seed=0, iteration=0)
    kl = [step["kl"] for step in figures.steps]
    assert abs(kl[0]) < 1e-6
    assert 2 < len(kl) < 9
    assert max(kl[:-1]) <= 0.01 < kl[-1]
    assert of_update(figures, data)["policy/kl"] == pytest.approx(np.mean(kl)), "of all steps, as of networks"


def test_it_learns_to_say_what_it_is_shown() -> None:
    """Imitation reaches a loss near nothing on a handful of rows."""
    policy = LanguagePolicy(tiny(seed=1)[0])
    optimiser = torch.optim.AdamW([each for _, each in policy.trained()], lr=3e-3, weight_decay=0.0)
    data = [each._replace(allowed=None) for each in samples(3)]
    losses = [imitated(policy, optimiser, data, budget=4096, longest=1.0) for _ in range(25)]
    assert losses[0] > 5.0
    assert losses[-1] < 0.5


def test_what_it_is_shown_is_split_without_effect() -> None:
    """A long row counts by its tokens, in whichever group it is."""
    parameters = []
    for budget in (4096, 16):
        policy = LanguagePolicy(tiny(seed=1)[0])
        optimiser = torch.optim.SGD([each for _, each in policy.trained()], lr=0.1)
        imitated(policy, optimiser, [each._replace(allowed=None) for each in samples()], budget=budget, longest=1e9)
        parameters.append([each.detach() for _, each in policy.trained()])
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(*parameters, strict=True))
