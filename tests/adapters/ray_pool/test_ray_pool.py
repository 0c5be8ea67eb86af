"""A pool of real actors: what comes back, and what becomes of what does not."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from contestants import SLEEP, Chance, Killed, Saboteur, Slow, Stillborn, Wrong
from patience import until

from rolf.evaluation.errors import PolicyError
from rolf.evaluation.policy import Policy
from rolf.variant import Variant
from rolf_adapters.ray_pool import Cause, Episode, EpisodePool, Lost, PoolError
from rolf_adapters.ray_pool.player import Player

HORIZON = 12
LINES = [Variant("linegym:LineEnv-v1", {"horizon": HORIZON}, seed) for seed in range(6)]
DOOMED = 2
"""The episode that is lost where one is."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pool() -> Iterator[EpisodePool]:
    """One for all, so that every test starts from what the others left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))  # for Ray's workers
        with EpisodePool(2) as made:
            yield made


@pytest.fixture
def deaths(tmp_path: Path) -> Path:
    folder = tmp_path / "deaths"
    folder.mkdir()
    return folder


def here(policy: Policy, variants: Sequence[Variant]) -> list[Episode]:
    """Play in this process."""
    player = Player()
    player.take(policy)
    played = [player.play(index, variant, 0) for index, variant in enumerate(variants)]
    player.close()
    return [each for each in played if isinstance(each, Episode)]


def same(one: Episode | Lost, other: Episode | Lost) -> bool:
    """Return whether two episodes are equal in every bit."""
    assert isinstance(one, Episode)
    assert isinstance(other, Episode)
    assert one.observations.dtype == np.float32
    assert one.observations.shape == (HORIZON + 1, 632)
    arrays = ("observations", "actions", "rewards")
    values = ("index", "seed", "terminated", "truncated", "kept", "steps")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays) and all(
        getattr(one, name) == getattr(other, name) for name in values
    )


def test_results_are_those_of_one_process_in_the_order_asked_for(pool: EpisodePool) -> None:
    """More actors make it faster and nothing else."""
    alone = here(Chance(), LINES)
    together = pool.play(Chance(), LINES)
    assert len(together) == len(alone) == len(LINES)
    assert all(map(same, together, alone))
    assert [each.seed for each in alone] == [variant.attempt_seed(0) for variant in LINES]
    backwards = pool.play(Chance(), LINES[::-1])
    for there, back in zip(together, reversed(backwards), strict=True):
        assert isinstance(there, Episode)
        assert isinstance(back, Episode)
        assert np.array_equal(there.rewards, back.rewards)
        assert there.kept == back.kept


def test_episodes_are_the_callers_own(pool: EpisodePool) -> None:
    """What Ray shares is read-only and fills its store for as long as it is held."""
    (episode,) = pool.play(Chance(), LINES[:1])
    assert isinstance(episode, Episode)
    assert episode.observations.flags.writeable
    assert episode.info["tick"] == HORIZON
    assert "true_faults" in episode.info  # for whoever analyses; the policy has not seen it
    assert episode.truncated
    assert not episode.terminated


def test_the_policy_travels_once(pool: EpisodePool, tmp_path: Path) -> None:
    """Weights are megabytes; neither an episode nor an actor asks for another copy from this process."""
    pickled = tmp_path / "pickled"
    pool.play(Chance(pickled), LINES)
    assert pickled.read_text() == "x"


def test_a_killed_actor_loses_one_episode_and_is_replaced(pool: EpisodePool, deaths: Path) -> None:
    """kill -9, as the kernel does where memory runs out."""
    whole = pool.play(Chance(), LINES)
    before = set(pool.processes)
    played = pool.play(Killed(deaths, LINES[DOOMED].attempt_seed(0)), LINES)
    lost = played[DOOMED]
    assert isinstance(lost, Lost)
    assert (lost.index, lost.seed, lost.cause) == (DOOMED, LINES[DOOMED].attempt_seed(0), Cause.DIED)
    assert lost.reason
    assert lost.tries == 1
    others = [index for index in range(len(LINES)) if index != DOOMED]
    assert all(same(played[index], whole[index]) for index in others)
    assert len(before - {each for each in pool.processes if psutil.pid_exists(each)}) == 1
    assert until(lambda: all(map(same, pool.play(Chance(), LINES), whole)) and len(pool.processes) == 2)


def test_a_lost_episode_can_be_tried_again(pool: EpisodePool, deaths: Path) -> None:
    """An episode is a function of its seed: the second try is what the first would have been."""
    whole = pool.play(Chance(), LINES)
    twice = pool.play(Killed(deaths, LINES[DOOMED].attempt_seed(0), times=2), LINES, retries=2)
    assert len(list(deaths.iterdir())) == 2
    assert all(map(same, twice, whole))


def test_an_actor_that_was_idle_plays_what_another_has_lost(pool: EpisodePool, deaths: Path) -> None:
    """Fewer episodes than actors: nobody new is needed, and whoever has nothing to do must be told."""
    whole = pool.play(Chance(), LINES)
    assert len(pool.processes) == 2
    (again,) = pool.play(Killed(deaths, LINES[0].attempt_seed(0)), LINES[:1], retries=1)
    assert same(again, whole[0])


def test_tries_come_to_an_end(pool: EpisodePool, deaths: Path) -> None:
    lost = pool.play(Killed(deaths, LINES[DOOMED].attempt_seed(0), times=9), LINES[: DOOMED + 1], retries=1)[DOOMED]
    assert isinstance(lost, Lost)
    assert lost.tries == 2
    assert len(list(deaths.iterdir())) == 2


def test_an_episode_that_is_late_is_lost(pool: EpisodePool) -> None:
    """What hangs would hold up the whole iteration; the others are played meanwhile."""
    with EpisodePool(2, deadline=20.0, cpus=0.0) as hurried:
        late, *rest = hurried.play(Slow(), LINES[:3])
    assert isinstance(late, Lost)
    assert (late.index, late.cause, late.reason) == (0, Cause.LATE, "it took longer than 20 s")
    assert all(isinstance(each, Episode) for each in rest)


def test_a_wrong_policy_is_told(pool: EpisodePool) -> None:
    """An error of the policy's is no loss, or training would go on without anybody learning of it."""
    with pytest.raises(PolicyError, match=r"the policy failed in episode \d \(seed \d+\), step 0: it answered -1"):
        pool.play(Wrong(), LINES)
    assert all(isinstance(each, Episode) for each in pool.play(Chance(), LINES))


def test_actors_that_never_live_are_given_up(pool: EpisodePool) -> None:
    with pytest.raises(PoolError, match="3 actors in a row died before they had played anything"):
        pool.play(Stillborn(), LINES)
    assert all(isinstance(each, Episode) for each in pool.play(Chance(), LINES))


@pytest.mark.parametrize("own", [False, True])
def test_a_lost_terminal_is_told_and_leaves_no_process(pool: EpisodePool, own: bool) -> None:
    """The machine under an episode fails, or its actor dies: one episode each, and the shells go with it."""

    def sleepers() -> list[psutil.Process]:
        return [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", SLEEP]]

    shell = Variant("termgym:TermEnv-v1", {"max_steps": 3}, 0)
    (lost,) = pool.play(Saboteur(own), [shell])
    assert isinstance(lost, Lost)
    assert lost.cause is (Cause.DIED if own else Cause.FAULT)
    assert until(lambda: not sleepers())


def test_a_policy_that_workers_cannot_import_is_told(
    pool: EpisodePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commonest mistake with Ray; its own message is forty lines of a traceback."""
    (tmp_path / "only_here.py").write_text("from contestants import Chance\nclass Local(Chance): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    local = import_module("only_here").Local()
    with pytest.raises(PoolError, match=r"no actor can take the policy: .*No module named.*must be installed, or lie"):
        pool.play(local, LINES)
    assert all(isinstance(each, Episode) for each in pool.play(Chance(), LINES))


def test_what_ray_has_no_room_for_is_refused(pool: EpisodePool) -> None:
    """Ray would wait without a word until somebody adds a machine."""
    with pytest.raises(ValueError, match="3 actors with 1 processors each; Ray has 2: give fewer, or cpus="):
        EpisodePool(3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"actors": 0}, "actors=0; give a whole number, at least one"),
        ({"actors": 1.5}, "actors=1.5; give a whole number, at least one"),
        ({"deadline": 0}, r"deadline=0 \[s\]; give a positive time, or None"),
        ({"deadline": math.nan}, r"deadline=nan \[s\]; give a positive time, or None"),
        ({"cpus": -1}, "cpus=-1 for each actor; give a share of a processor or several"),
        ({"cpus": math.nan}, "cpus=nan for each actor; give a share"),
        ({"cpus": math.inf}, "cpus=inf for each actor; give a share"),
    ],
)
def test_bad_arguments_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EpisodePool(**given)


REFUSED = """
import psutil, ray
from rolf_adapters.ray_pool import EpisodePool, local_ray

kept = []  # the error, and with it what was under way when it was raised
for make in (
    lambda: EpisodePool(cpus=-1),
    lambda: EpisodePool(cpus=0.00001),
    lambda: local_ray(-1).__enter__(),
    lambda: local_ray(1.5).__enter__(),
    lambda: local_ray(1, object_store=5).__enter__(),
):
    try:
        make()
    except ValueError as error:
        kept.append(error)
    print(ray.is_initialized(), len(psutil.wait_procs(psutil.Process().children(recursive=True), timeout=20)[1]))
print(len(kept))
"""


def test_what_is_refused_leaves_no_ray_running() -> None:
    """Ray looks at numbers late: a dozen processes of it are there by then, and the next one that starts meets them."""
    done = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [*["False 0"] * 5, "5"]


LISTENING = """
import os, signal
from rolf_adapters.ray_pool import local_ray

os.environ["RAY_ADDRESS"] = "127.0.0.1:1"  # of a cluster that is not meant
for handler in (lambda number, frame: print("heard"), signal.SIG_DFL):
    signal.signal(signal.SIGTERM, handler)
    with local_ray(1):
        if handler is not signal.SIG_DFL:
            os.kill(os.getpid(), signal.SIGTERM)
    print(signal.getsignal(signal.SIGTERM) is handler)
"""


def test_who_listens_for_sigterm_goes_on_listening() -> None:
    """A training ends after its iteration; Ray's own handler would end it at once, and goes when Ray goes."""
    done = subprocess.run([sys.executable, "-c", LISTENING], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["heard", "True", "True"]


ALONE = """
import pathlib, tempfile
import psutil
from contestants import Chance
from rolf.variant import Variant
from rolf_adapters.ray_pool import EpisodePool

tempfile.tempdir = "/tmp"
before = set(pathlib.Path("/tmp").glob("ray-*"))
pool = EpisodePool(1)
played = pool.play(Chance(), [Variant("linegym:LineEnv-v1", {"horizon": 3}, 0)])
family = psutil.Process().children(recursive=True)
ports = [port for each in (psutil.Process(), *family) for port in each.net_connections()]
found = [port.laddr for port in ports if port.status == "LISTEN"]
(folder,) = set(pathlib.Path("/tmp").glob("ray-*")) - before
outside = {address.ip for address in found} - {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
print(len(played), len(family) > 2, len(found) > 2, outside)
pool.close()
pool.close()
print(len(psutil.wait_procs(family, timeout=20)[1]), folder.exists())
try:
    pool.play(Chance(), [])
except RuntimeError as error:
    print(error)
"""


def test_it_listens_to_this_machine_alone_and_leaves_nothing_behind() -> None:
    """Whoever reaches a port of Ray's runs code; and it has a dozen processes and a folder of sockets."""
    known = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True, env=known)
    assert done.stdout.splitlines() == ["1 True True set()", "0 False", "this pool is closed; make another"]


def test_without_ray_the_extra_is_named() -> None:
    code = "import sys; sys.modules['ray'] = None; import rolf_adapters.ray_pool"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'rolf[ray]'" in done.stderr
