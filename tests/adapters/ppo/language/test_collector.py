"""Episodes in real terminals: what comes of them, and what becomes of those whose machine fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from file_tasks import tiny

from rolf.interface import Call
from rolf.variant import Variant
from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.language import collector as collecting
from rolf_adapters.ppo.language.collector import Collected, Collector, Speaker
from rolf_adapters.ppo.language.conversation import Conversation
from rolf_adapters.ppo.language.demonstrations import NoDemonstration, demonstrated, demonstrator
from rolf_adapters.ppo.language.grammar import Grammar
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.pool import Lost, Pool, Seen
from rolf_adapters.ppo.language.problems import Problem, Problems
from rolf_adapters.ppo.language.settings import Environment, Reward, Rollout, Speech
from rolf_adapters.ppo.language.template import Template

ENV_ID = "file_tasks:FileTasks-v0"
TERMINAL = Environment(id=ENV_ID, evaluation={"part": "test"})
ORACLE, IDLE = "termgym.policies.oracle:Oracle", "termgym.policies.idle:Idle"


@pytest.fixture(scope="module", name="pool")
def a_pool() -> Iterator[Pool]:
    pool = Pool(3)
    yield pool
    pool.close()


@pytest.fixture(scope="module", name="policy")
def a_policy() -> LanguagePolicy:
    return LanguagePolicy(tiny(seed=2)[0])


def collector(policy: LanguagePolicy, pool: Pool, *, reward: Reward | None = None, **rollout: Any) -> Collector:
    _, words = tiny(seed=2)
    settings = Rollout(**{"turns": 2, "tokens": 16, "window": 400, "speech": Speech(system=""), **rollout})
    template = Template(words, system=False)
    grammar = Grammar(words, policy.vocabulary, template.end) if settings.speech.grammar else None
    return Collector(Speaker(policy, template, grammar, settings, reward or Reward()), pool)


def problems(count: int) -> list[Problem]:
    return Problems(TERMINAL).draw(count, "test", seed=5)


def play(made: Collector, count: int, problems_: list[Problem] | None = None) -> Collected:
    draws = [np.random.default_rng(index) for index in range(count)]
    return made.play(problems_ or problems(count), draws, version=3)


def test_episodes_are_told_turn_by_turn(policy: LanguagePolicy, pool: Pool) -> None:
    """Lengths agree, the context grows by appending, and rewards add up to the return."""
    reward = Reward(per_turn=-0.25, malformed=-1.0)
    done = play(collector(policy, pool, reward=reward), 5)
    assert len(done.played) == 5
    assert done.faults == []
    for episode in done.played:
        assert 1 <= len(episode.turns) <= 2
        row = episode.row()
        assert len(row.ids) == len(row.chosen) == len(row.logps) == episode.tokens
        malformed = sum(turn.malformed for turn in episode.turns)
        paid = -0.25 * len(episode.turns) - malformed + episode.success
        assert episode.rewards.sum() == pytest.approx(paid)
        last = episode.turns[-1]
        assert (last.terminated, last.truncated) == (episode.success, not episode.success)
        assert episode.label in ("write", "mkdir", "delete", "move", "two")
        assert {turn.version for turn in episode.turns} == {3}


def test_what_is_drawn_does_not_depend_on_how_many_play_at_once(policy: LanguagePolicy, pool: Pool) -> None:
    """One environment, or three, or two in threads: the same answers, and so the same training."""
    three = play(collector(policy, pool), 4)
    for other in (Pool(1), Pool(2, threads=2)):
        try:
            again = play(collector(policy, other), 4)
        finally:
            other.close()
            other.close()
        for first, second in zip(three.played, again.played, strict=True):
            assert [turn.said.ids for turn in first.turns] == [turn.said.ids for turn in second.turns]
            assert [turn.prompt_ids for turn in first.turns] == [turn.prompt_ids for turn in second.turns]


def test_a_step_limit_may_be_a_part_of_the_task(policy: LanguagePolicy, pool: Pool) -> None:
    """Then nothing is to be expected beyond it; otherwise the critic says what is."""
    ends = play(collector(policy, pool, reward=Reward(limit_ends=True)), 3)
    assert all(episode.terminated and episode.final == 0.0 for episode in ends.played)
    bias = policy.critic.worth.bias
    bias.data.fill_(0.5)
    cut = play(collector(policy, pool), 3)
    bias.data.zero_()
    assert [episode.final for episode in cut.played] == [0.0 if episode.success else 0.5 for episode in cut.played]


@pytest.mark.parametrize("grammar", [True, False])
def test_what_a_cut_episode_is_worth_is_asked_where_values_are_learned(
    policy: LanguagePolicy, pool: Pool, monkeypatch: pytest.MonkeyPatch, grammar: bool
) -> None:
    """That is before the first token that is chosen: with a grammar an answer begins with some that are not."""
    asked: list[list[int]] = []

    def noted(_: LanguagePolicy, contexts: list[list[int]], *, rows: int) -> list[float]:
        asked.extend(contexts)
        return [float(rows)] * len(contexts)

    said = Speech(system="", grammar=grammar)
    monkeypatch.setattr(collecting, "valued", noted)
    play(collector(policy, pool, turns=1, speech=said), 4)
    beyond = play(collector(policy, pool, turns=2, speech=said), 4).played
    expected = []
    for first, second in (episode.turns for episode in beyond if len(episode.turns) == 2):
        forced = second.said.ids[: int(second.said.chosen.argmax())]
        assert bool(forced) == grammar
        expected.append([*first.prompt_ids, *first.said.ids, *second.prompt_ids, *forced])
    assert expected
    assert sorted(asked[: len(expected)]) == sorted(expected)


def test_free_answers_are_mostly_no_calls(policy: LanguagePolicy, pool: Pool) -> None:
    """Without a grammar an untrained model writes nonsense; it is told so, and takes a step."""
    made = collector(policy, pool, speech=Speech(system="", grammar=False))
    done = play(made, 2)
    turns = [turn for episode in done.played for turn in episode.turns]
    assert all(turn.malformed for turn in turns)
    assert all(turn.said.allowed is None for turn in turns)


def test_a_context_that_is_full_cuts_the_episode(policy: LanguagePolicy, pool: Pool) -> None:
    """It does not go on with a context from which something was taken."""
    longest = max(len(episode.turns[0].prompt_ids) for episode in play(collector(policy, pool), 3).played)
    done = play(collector(policy, pool, window=longest + 16), 3)
    assert {len(episode.turns) for episode in done.played} == {1}


def test_an_episode_that_begins_too_long_is_left_out(policy: LanguagePolicy, pool: Pool) -> None:
    """The others are played as they would be without it."""
    whole = play(collector(policy, pool), 6)
    lengths = [len(episode.turns[0].prompt_ids) for episode in whole.played]
    longest = max(lengths)
    done = play(collector(policy, pool, window=longest + 15, turns=1), 6)
    assert done.too_long == [longest] * lengths.count(longest)
    assert done.faults == []
    assert [episode is None for episode in done.episodes] == [length == longest for length in lengths]
    for one, other in zip(whole.played, done.episodes, strict=True):
        assert other is None or other.turns[0].said.ids == one.turns[0].said.ids
    none = play(collector(policy, pool, window=17), 3)
    assert (none.played, len(none.too_long)) == ([], 3)


class Breaking(Pool):
    """A pool in which somebody kills a machine in the middle of the first episode that is stepped."""

    killed = 0

    def step(self, place: int, action: Any) -> Seen | Lost:
        if not self.killed:
            self.killed += 1
            world: Any = self.env(place).unwrapped
            world.episode._sandbox.close()
        return super().step(place, action)


def test_an_episode_whose_machine_dies_is_dropped(policy: LanguagePolicy) -> None:
    """It is nobody's fault: no reward of 0 is learned from it, it is counted, and its place plays on."""
    pool = Breaking(2)
    try:
        done = play(collector(policy, pool), 4)
        assert pool.killed == 1
        assert len(done.faults) == 1
        assert sum(episode is None for episode in done.episodes) == 1
        assert len(done.played) == 3
    finally:
        pool.close()


class Late(Pool):
    """A pool in whose second step a command runs past its time-out."""

    taken = 0

    def step(self, place: int, action: Any) -> Seen | Lost:
        self.taken += 1
        if self.taken == 2:
            world: Any = self.env(place).unwrapped
            action = world.action_of(Call("run", {"command": "sleep 60", "timeout": 0.3}))
        return super().step(place, action)


def test_a_command_that_ran_past_its_time_out_is_noted(policy: LanguagePolicy) -> None:
    """A policy that waits for nothing takes hours, and nobody would see why."""
    pool = Late(1)
    try:
        done = play(collector(policy, pool), 2)
    finally:
        pool.close()
    late = [turn.timeout for episode in done.played for turn in episode.turns]
    assert late.index(True) == 1
    assert sum(late) == 1


def test_an_environment_without_tools_is_refused(policy: LanguagePolicy) -> None:
    """A model's text would be no action of it."""
    pool = Pool(1)
    try:
        with pytest.raises(TypeError, match="has no tools"):
            play(collector(policy, pool), 1, [Problem(Variant("CartPole-v1"), 0)])
    finally:
        pool.close()


def test_demonstrations_are_what_the_oracle_would_write(policy: LanguagePolicy, pool: Pool) -> None:
    """The answers, and the tokens that end them, are what is learned; not one token of the prompts."""
    _, words = tiny(seed=2)
    template = Template(words, system=False)
    rollout = Rollout(turns=2, tokens=16, window=400, speech=Speech(system=""))
    shown = demonstrated(demonstrator(ORACLE, ENV_ID), problems(6), pool, template, rollout)
    assert len(shown) == 6
    for each in shown:
        answers = words.decode(each.ids[each.places]).split("<|im_end|>")
        assert answers[-1] == ""
        assert all(answer.startswith('{"command": "') for answer in answers[:-1])
        text = words.decode(each.ids)
        assert text.startswith("<|im_start|>user\n")
        assert text.endswith("<|im_end|>")
    assert {len(words.decode(each.ids[each.places]).split("<|im_end|>")) for each in shown} == {2, 3}
    with pytest.raises(NoDemonstration, match=r"solves none of 2 episodes.*does not offer submit"):
        demonstrated(demonstrator(IDLE, ENV_ID), problems(2), pool, template, rollout)


def test_a_process_without_a_demonstration_learns_from_the_others(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few problems one may have none that is solved; that ends nothing."""
    monkeypatch.setattr(parallel, "gathered", lambda mine: [mine, 3])
    rollout = Rollout(turns=2, tokens=16, window=400, speech=Speech(system=""))
    template = Template(tiny(seed=2)[1], system=False)
    assert demonstrated(demonstrator(IDLE, ENV_ID), problems(2), pool, template, rollout) == []
    few = demonstrated(demonstrator("oracle", "termgym:TermEnv-v1"), [], pool, template, rollout)
    assert few == [], "nor does a share without a single episode keep its environment's policies from being found"


def test_an_interface_that_rotates_is_spoken_too(pool: Pool) -> None:
    """Under the wrapper the model reads and writes what it brings, and its own words are actions."""
    wrapper = {
        "name": "RotateInterface",
        "entry_point": "rolf_wrappers.rotate_interface:RotateInterface",
        "kwargs": {"styles": ["json-plan", "react"]},
    }
    environment = Environment(id=TERMINAL.id, wrappers=(wrapper,))
    _, words = tiny(seed=2)
    template = Template(words)
    styles = set()
    for problem in Problems(environment).draw(6, "styles", seed=0):
        seen = pool.reset(0, problem)
        assert isinstance(seen, Seen)
        talk = Conversation(pool.env(0), template, Speech())
        context = words.decode(talk.begin(seen.observation, seen.info))
        assert seen.observation["system"] in context
        style = talk.interface.choice.style
        assert (talk.schema() is not None) == (style == "json-plan")
        assert talk.action("nonsense") == "nonsense"
        assert talk.malformed == 1
        styles.add(style)
    assert styles == {"json-plan", "react"}
