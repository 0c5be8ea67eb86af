"""What is held out is really held out, and nobody chose it."""

from __future__ import annotations

from collections import Counter, defaultdict

import gymnasium as gym
import pytest

from termgym import assignment, splits
from termgym.data import make_splits
from termgym.errors import UnknownTask
from termgym.splits import HELD_OUT, LEFT, SETS, WORLDS, assigned, causes, digest, named, rows
from termgym.tasks import causes as causes_of
from termgym.tasks import families, make_task
from termgym.tasks.digest import task_digest

LISTS = {  # number and digest of each set: one that changes is another benchmark
    "train": (1100, "267ed57922d9c4c0a4f20d2e9a6a8bd46369c48b7a350b698f736f9b8d01b2cc"),
    "validation": (550, "705291f87631dca7ca006765d8a1a1406d7a429b17b36cd4c97fb42a2e71b690"),
    "unseen-family": (230, "00cb3fb902b716d8d687d5d76de39c89f839641569e375e1d9ad4ce08a8daaf1"),
    "unseen-cause": (180, "a9f6e7d469f9f8c649e42bf746b7751af128a0380ae2726e1769cd9d67f13998"),
    "unseen-world": (550, "501272aed8c19e3ac06c5ab52f40eff5bba3ac7f529635695f03d29fb8b2f18b"),
}
HELD = ("validation", "unseen-family", "unseen-cause", "unseen-world")


def cause(task: str) -> str:
    return task.partition("@")[0]


def family(task: str) -> str:
    return task.partition("/")[0]


def world(task: str) -> int:
    return int(task.partition("@")[2])


@pytest.mark.parametrize("name", SETS)
def test_sets_never_change(name: str) -> None:
    """Results are compared over years by their names. If a family was meant to change: make_splits, and LISTS anew."""
    assert (len(named(name)), digest(name)) == LISTS[name]
    assert len(set(named(name))) == len(named(name))


def test_the_file_is_what_the_rule_says_of_the_families_as_they_are() -> None:
    """A family that changed without a word would make old results look comparable."""
    path = make_splits.Path(make_splits.__file__).with_name("splits.csv")
    assert path.read_text() == make_splits.content()


def test_every_cause_is_in_one_part() -> None:
    assert Counter((row.family, row.cause) for row in rows()) == Counter(
        (each, one) for each in families() for one in causes_of(each)
    )
    parts = [task for name in ("train", "unseen-family", "unseen-cause") for task in {*map(cause, named(name))}]
    assert len(parts) == len(set(parts)) == len(rows())


def test_an_unseen_family_is_nowhere_else() -> None:
    """A quarter of them, with all their causes."""
    unseen = {family(task) for task in named("unseen-family")}
    assert len(unseen) == len(families()) // 4
    others = {family(task) for name in SETS if name != "unseen-family" for task in named(name)}
    assert unseen.isdisjoint(others)
    assert unseen | others == set(families())
    assert {cause(task) for task in named("unseen-family")} == {
        f"{each}/{one}" for each in unseen for one in causes_of(each)
    }


def test_an_unseen_cause_is_one_among_several_that_were_seen() -> None:
    """Telling it from two known ones is the question."""
    seen = defaultdict(set)
    for task in named("train"):
        seen[family(task)].add(cause(task))
    held = {cause(task) for task in named("unseen-cause")}
    assert len({family(task) for task in held}) == len(held)
    for task in held:
        assert task not in seen[family(task)]
        assert len(seen[family(task)]) >= LEFT
    without = set(seen) - {family(task) for task in held}
    assert all(len(causes_of(each)) <= LEFT for each in without)


def test_no_training_draws_a_world_that_is_held_out() -> None:
    """Not the list, and not `reset`, which draws below WORLD_SEEDS."""
    assert assignment.WORLD_SEEDS == HELD_OUT
    assert max(map(world, named("train"))) < HELD_OUT
    for name in HELD:
        assert min(map(world, named(name))) >= HELD_OUT
        assert len({world(task) for task in named(name)}) == WORLDS
    assert {*map(world, named("validation"))}.isdisjoint(map(world, named("unseen-world")))
    assert {*map(cause, named("validation"))} == {*map(cause, named("unseen-world"))} == {*map(cause, named("train"))}


def test_nothing_held_out_has_the_content_of_something_trained_on() -> None:
    """Names can differ where worlds do not; digests of the content cannot lie."""
    trained = {task_digest(make_task(name)) for name in named("train")}
    assert len(trained) == len(named("train"))
    for held in HELD:
        contents = [task_digest(make_task(name)) for name in named(held)]
        assert trained.isdisjoint(contents), held
        assert len(set(contents)) == len(contents)


def test_the_beginning_of_a_list_is_a_sample_of_it() -> None:
    """Who plays 100 of them meets most families, not one of them a hundred times."""
    met = {family(task) for task in named("train")[:100]}
    assert len(met) >= 0.9 * len({family(task) for task in named("train")})


def test_the_rule_is_blind_to_order_and_to_all_but_names() -> None:
    """What comes first in a file has no part in it."""
    known = {each: tuple(causes_of(each)) for each in families()}
    turned = {each: known[each][::-1] for each in reversed(list(known))}
    assert assigned(turned) == assigned(known)


def test_a_set_can_be_played() -> None:
    env = gym.make("termgym:TermEnv-v1", tasks=causes("train"))
    env.reset(seed=0)
    assert cause(env.unwrapped.task.id) in causes("train")
    assert world(env.unwrapped.task.id) < HELD_OUT
    env.close()


def test_another_name_is_refused() -> None:
    """With what is near and what there is."""
    with pytest.raises(UnknownTask, match=r"'unseen-famly'; did you mean 'unseen-family'\?; sets are train, "):
        named("unseen-famly")
    with pytest.raises(UnknownTask, match="no set of tasks is named 'tain'"):
        digest("tain")
    with pytest.raises(UnknownTask, match="parts are train, unseen-cause, unseen-family"):
        causes("unseen-world")
    assert splits.VERSION == "term-v1"
