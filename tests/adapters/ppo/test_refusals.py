"""What a configuration gets wrong is said in a line; of a slip in somebody's program the traceback stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from file_tasks import tiny
from gymnasium.envs.classic_control import CartPoleEnv

from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.reading import ConfigError
from rolf_adapters.ppo.refusals import REFUSALS, refused
from rolf_adapters.ppo.train import train

CART: Mapping[str, Any] = {
    "experiment": {"kind": "vector"},
    "environment": {"id": "CartPole-v1"},
    "rollout": {"rows": 2, "steps": 8, "statistics": 8, "evaluation_rows": 1},
    "training": {"iterations": 1},
    "logging": {"tensorboard": False},
}
TERMINAL: Mapping[str, Any] = {
    "experiment": {"kind": "language"},
    "environment": {"id": "file_tasks:FileTasks-v0"},
    "rollout": {"episodes": 2, "environments": 1, "turns": 1, "tokens": 4, "window": 256, "evaluation": 1,
                "speech": {"system": ""}},
    "policy": {"model": "file_tasks:tiny"},
    "training": {"iterations": 1},
    "logging": {"tensorboard": False},
}  # fmt: skip


class Mine(CartPoleEnv):
    """Somebody's environment.

    Args:
        length: Of the pole.
    """

    closed = 0
    """How often any of them was closed."""

    def __init__(self, length: Any = 1.0) -> None:
        super().__init__()
        if length == "long":
            raise TypeError("length='long' must be a number")
        self.length = length / 2

    def close(self) -> None:
        Mine.closed += 1
        super().close()


class Steered(Mine):
    """One whose actions the vector learner cannot give."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,))


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    gymnasium.register("Mine-v0", Mine, disable_env_checker=True)
    gymnasium.register("Steered-v0", Steered, disable_env_checker=True)


def in_numpy() -> None:
    np.zeros(2) + np.zeros(3)


def missing_key() -> None:
    {"a": 1}["b"]


def explicit() -> None:
    raise KeyError("there is no split 'x'")


def again() -> None:
    try:
        missing_key()
    except KeyError as error:
        raise ValueError("there is no such thing") from error


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (explicit, True),
        (again, True),
        (in_numpy, False),
        (missing_key, False),
        (lambda: len(None), False),
        (lambda: gymnasium.make("NoSuch-v0"), True),
        (lambda: gymnasium.make("Mine-v0", lenght=1.0), True),
        (lambda: gymnasium.make("Mine-v0", length="long"), True),
        (lambda: gymnasium.make("Mine-v0", length="short"), False),
        (lambda: checked({}), True),
    ],
)
def test_a_refusal_is_told_from_a_slip(act: Callable[[], Any], expected: bool) -> None:
    """Somebody has written `raise`, or a call did not fit; all else came up where nobody expected it."""
    with pytest.raises(REFUSALS) as caught:
        act()
    assert refused(caught.value) is expected


def trained(plain: Mapping[str, Any], out: Path, **environment: Any) -> None:
    train(checked({**plain, "environment": {**plain["environment"], **environment}}), out)


@pytest.mark.parametrize(
    ("plain", "environment", "said"),
    [
        (CART, {"id": "Pendulum-v1"}, "Pendulum-v1 has actions Box.*the vector learner wants Discrete"),
        (CART, {"kwargs": {"lenght": 1}}, "unexpected keyword argument 'lenght'"),
        (CART, {"id": "Mine-v0", "kwargs": {"length": "long"}}, "length='long' must be a number"),
        (CART, {"kwargs": {"num_envs": 3}}, "environment.kwargs has 'num_envs', which is set by the trainer"),
        (CART, {"test_split": "fit"}, "CartPole-v1 brings no splits; leave environment.test_split='fit' out"),
        (CART, {"score": "linegym.scores"}, "environment.score 'linegym.scores' is not written as module:object"),
        (
            CART,
            {"score": "linegym.scores:NEEDED"},
            "environment.score 'linegym.scores:NEEDED' makes 0.9; it must make a",
        ),
        (
            CART,
            {"score": "linegym.scores:score"},
            "environment.score .* missing a required argument.* can be made without",
        ),
        (CART, {"id": "linegym:LineEnv-v1", "kwargs": {"tick_per_step": 5}}, "did you mean 'ticks_per_step'"),
        (TERMINAL, {"kwargs": {"frist": 1}}, "TermEnv has no argument 'frist'"),
        (TERMINAL, {"evaluation": {"frist": 1}}, "TermEnv has no argument 'frist'"),
        (TERMINAL, {"id": "termgym:TermEnv-v1", "kwargs": {"taks": "x"}}, "TermEnv has no argument 'taks'"),
        (TERMINAL, {"id": "NoSuch-v0"}, "NoSuch"),
    ],
)
def test_what_an_environment_is_asked_for_in_vain_is_said_in_a_line(
    plain: Mapping[str, Any], environment: Mapping[str, Any], said: str, tmp_path: Path
) -> None:
    """Before anything is played, and no folder is left."""
    with pytest.raises(ConfigError, match=f"^the learner cannot be made: .*{said}"):
        trained(plain, tmp_path / "run", **environment)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"training": {"iterations": 2, "imitation": {"teacher": "os:sep"}}}, "teacher 'os:sep' is '/', which has"),
        ({"policy": {"layout": {"entities": 1, "size": 4, "present": 0, "senses": "linegym.senses:sneses"}}},
         "policy.layout.senses 'linegym.senses:sneses': 'linegym.senses' has no 'sneses'"),
        ({"policy": {"layout": {"entities": 2, "size": 4, "present": 0}}}, "entities=2 of size=4 from first=0 on take"),
    ],
)  # fmt: skip
def test_what_is_named_in_vain_is_said_in_a_line(more: Mapping[str, Any], said: str, tmp_path: Path) -> None:
    """Whatever it is only needed for later."""
    with pytest.raises(ConfigError, match=f"^the learner cannot be made: .*{said}"):
        trained({**CART, **more}, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_slip_in_an_environment_keeps_its_traceback(tmp_path: Path) -> None:
    """Which line of it is wrong is what its author wants to know."""
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        trained(CART, tmp_path / "run", id="Mine-v0", kwargs={"length": "short"})
    cause = caught.value.__cause__
    assert cause is not None
    assert "self.length = length / 2" in str(caught.getrepr(style="long"))
    assert caught.value.__notes__ == ["while the learner of the training was made"]


def test_environments_of_a_learner_that_cannot_be_made_are_closed(tmp_path: Path) -> None:
    """Behind one there may be a process."""
    before = Mine.closed
    with pytest.raises(ConfigError, match="Steered-v0 has actions Box"):
        trained(CART, tmp_path / "run", id="Steered-v0")
    assert Mine.closed == before + 2


def model_in(folder: Path) -> Path:
    model, words = tiny(seed=0)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "config.json").unlink(), "is no folder|Unrecognized model"),
        (lambda folder: (folder / "config.json").write_text("{"), "not a valid JSON"),
        (lambda folder: (folder / "model.safetensors").unlink(), "no file named"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"torn"), ""),
    ],
    ids=["no config", "torn config", "no weights", "torn weights"],
)
def test_a_folder_that_holds_no_model_is_said_in_a_line(
    spoil: Callable[[Path], Any], said: str, tmp_path: Path
) -> None:
    """And nothing is fetched in its place."""
    folder = model_in(tmp_path / "model")
    spoil(folder)
    plain = {**TERMINAL, "policy": {"model": str(folder)}}
    with pytest.raises(ConfigError, match=f"policy.model='.*model': .*({said}).*; give a folder that save_pretrained"):
        trained(plain, tmp_path / "run")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("/no/such/model", "is no folder here; give one that save_pretrained wrote"),
        ("modles/mine", "is no folder here"),
        ("file_tasks:tyni", "'file_tasks' has no function 'tyni'"),
        ("file_taks:tiny", "No module named 'file_taks'; write module:function, or the path of a folder"),
    ],
)
def test_a_model_that_is_not_there_is_said_in_a_line(model: str, said: str, tmp_path: Path) -> None:
    """A name with a slip in it is never looked for in the network."""
    with pytest.raises(ConfigError, match=f"policy.model='{model}'.*{said}"):
        trained({**TERMINAL, "policy": {"model": model}}, tmp_path / "run")


def test_a_model_is_read_from_a_folder(tmp_path: Path) -> None:
    """The ordinary case."""
    trained({**TERMINAL, "policy": {"model": str(model_in(tmp_path / "model"))}}, tmp_path / "run")
    assert (tmp_path / "run" / "metrics.jsonl").exists()


def test_a_slip_in_a_module_that_makes_a_model_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module is there; what is not is what it imports itself."""
    (tmp_path / "my_broken_model.py").write_text("import no_such_thing_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_thing_at_all"):
        trained({**TERMINAL, "policy": {"model": "my_broken_model:model"}}, tmp_path / "run")
