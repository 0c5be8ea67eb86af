"""Loading: make the policy that ``--policy`` names, shipped with an environment or somebody's own."""

from __future__ import annotations

import hashlib
import inspect
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from rolf.evaluation.errors import NoPolicyError, PolicyError
from rolf.evaluation.evaluable import Batched
from rolf.evaluation.origin import origin
from rolf.evaluation.policy import PolicyEntry


@dataclass(frozen=True, slots=True)
class Spec:
    """How to make a policy; plain data, so that every process makes its own."""

    text: str
    """What ``--policy`` was given."""
    target: str
    """``module:object``"""
    args: Mapping[str, Any] = field(default_factory=dict)
    entry: PolicyEntry | None = None
    """Of a policy that comes with an environment."""

    @property
    def name(self) -> str:
        """What it is called unless it says so itself."""
        return self.entry.name if self.entry is not None else self.target.rpartition(":")[2]


@dataclass(frozen=True, slots=True)
class Described:
    """What a policy says of itself."""

    name: str
    description: str
    privileged: bool
    deterministic: bool
    source: str
    """SHA-256 of the file that it is written in; empty where there is none."""


def find_policy(text: str, env_ids: Iterable[str], args: Mapping[str, Any]) -> Spec:
    """Return how to make a policy.

    Args:
        text: ``module:object``, or the name of one that comes with an environment.
        env_ids: The environments that it shall play in.
        args: What the object is called with.

    Raises:
        NoPolicyError: no environment brings one of that name; the message suggests the nearest.
    """
    if ":" in text:
        return Spec(text, text, args)
    known = {name: entry for env_id in env_ids for name, entry in _shipped(env_id).items()}
    if text in known:
        return Spec(text, known[text].spec, args, known[text])
    near = get_close_matches(text, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    brought = f"the split's environment brings {', '.join(known)}" if known else "the split's environment brings none"
    own = (
        f"; one of your own is named module:object{f', and {text}.py lies here' if Path(f'{text}.py').exists() else ''}"
    )
    raise NoPolicyError(f"no policy is named {text!r}{hint}; {brought}{own}")


def _shipped(env_id: str) -> Mapping[str, PolicyEntry]:
    found = origin(env_id)
    return found.policies() if found is not None else {}


def load(spec: Spec) -> Any:
    """Return the policy.

    Raises:
        NoPolicyError: there is none, or it does not take these arguments.
        PolicyError: it cannot be made; says why.
    """
    found = _found(spec)
    if not callable(found) or (_acts(found) and not inspect.isclass(found)):
        if spec.args:
            raise NoPolicyError(
                f"policy {spec.text!r} is an object and takes no --policy-arg; give a class or a function"
            )
        return found
    _check_arguments(found, spec)
    try:
        return found(**spec.args)
    except (Exception, SystemExit) as error:
        raise PolicyError(f"policy {spec.text!r} could not be made: {_reported(error)}") from error


def _found(spec: Spec) -> Any:
    """Return what ``module:object`` names."""
    module_name, _, path = spec.target.partition(":")
    if not module_name or not path:
        raise NoPolicyError(f"policy {spec.text!r} is not written as module:object, such as my_agent:Agent")
    if "" not in sys.path:  # an installed command does not look in the working directory, where the module often lies
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise PolicyError(f"policy {spec.text!r}: its module could not be imported: {_reported(error)}") from error
        where = f"from {Path.cwd()} or among the installed packages"
        named = f"; give the module and not its file: {module_name[:-3]}:{path}" if module_name.endswith(".py") else ""
        raise NoPolicyError(
            f"policy {spec.text!r}: there is no module {error.name!r} to import {where}{named}"
        ) from error
    except (Exception, SystemExit) as error:
        raise PolicyError(f"policy {spec.text!r}: its module could not be imported: {_reported(error)}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            names = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
            near = get_close_matches(part, names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise NoPolicyError(f"policy {spec.text!r}: {module_name!r} has no {part!r}{hint}")
        found = getattr(found, part)
    return found


def _check_arguments(maker: Any, spec: Spec) -> None:
    try:
        signature = inspect.signature(maker)
    except ValueError:  # of something written in C; the call itself will say what is wrong
        return
    try:
        signature.bind(**spec.args)
    except TypeError as error:
        takes = (
            ", ".join(str(each.replace(annotation=each.empty)) for each in signature.parameters.values()) or "nothing"
        )
        raise NoPolicyError(f"policy {spec.text!r}: {error}; it takes {takes}; give --policy-arg NAME=VALUE") from error


def _acts(player: Any) -> bool:
    return callable(getattr(player, "begin", None)) and callable(getattr(player, "act", None))


def check_policy(player: Any, spec: Spec, env_ids: Iterable[str]) -> None:
    """See that a policy can act in environments.

    Raises:
        NoPolicyError: it cannot.
    """
    for env_id in env_ids:
        if not _acts(player) and not plays_blocks(player, env_id):
            raise NoPolicyError(
                f"policy {spec.text!r} is {player!r:.80}, which has no begin(start) and act(observation, info), as "
                "rolf.evaluation.policy.Policy wants them"
            )
        if not plays_blocks(player, env_id):
            _check_act(player.act, spec)


def _check_act(act: Any, spec: Spec) -> None:
    """See that it takes one observation: what is written for many episodes does not, and forgot to say what it is."""
    try:
        signature = inspect.signature(act)
    except ValueError:  # of something written in C; the call itself will say what is wrong
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        wrong = f"policy {spec.text!r}: its act takes {signature}, expected (observation, info)"
        known = "one for many episodes at once declares the attributes that its environment knows it by"
        raise NoPolicyError(f"{wrong}; {known}, see docs/how-to/evaluate-a-policy.md") from error


def plays_blocks(player: Any, env_id: str) -> bool:
    """Return whether a policy is played in blocks of episodes by an environment."""
    found = origin(env_id)
    return isinstance(found, Batched) and found.plays(player)


def describe(player: Any, spec: Spec) -> Described:
    """Return what a policy says of itself, or what the environment that brings it says.

    Raises:
        PolicyError: an attribute is of the wrong kind.
    """
    entry = spec.entry
    says: dict[str, Any] = {
        "name": getattr(player, "name", spec.name) if entry is None else entry.name,
        "description": getattr(player, "description", "") if entry is None else entry.summary,
        "privileged": getattr(player, "privileged", False) if entry is None else entry.privileged,
        "deterministic": getattr(player, "deterministic", False) if entry is None else entry.deterministic,
    }
    for key, kind in (("name", str), ("description", str), ("privileged", bool), ("deterministic", bool)):
        if not isinstance(says[key], kind):
            expected = "text" if kind is str else "True or False"
            raise PolicyError(f"policy {spec.text!r} declares {key} = {says[key]!r:.60}; expected {expected}")
    return Described(**says, source=_source(spec))


def _source(spec: Spec) -> str:
    """Return the digest of the file that a policy is written in."""
    module = sys.modules[spec.target.partition(":")[0]]
    path = getattr(module, "__file__", None)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else ""


def told(error: BaseException, callers: int = 0) -> str:
    """Return an error of somebody's code with the lines that it came from, less those of this package.

    Args:
        error: What was raised.
        callers: Outermost calls that led to somebody's code, and are left out.
    """
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__)[callers:] if Path(frame.filename).parent != _HERE
    ]
    frames = [frame for frame in frames if not frame.filename.startswith("<frozen")]
    return f"{type(error).__name__}: {error}\n{''.join(traceback.format_list(frames[-8:]))}".rstrip()


def _reported(error: BaseException) -> str:
    """Return the same with what to do where somebody's code misses a package."""
    if not isinstance(error, ModuleNotFoundError):
        return told(error)
    return f"{told(error)}\ninstall what brings {error.name!r} beside rolf, for {sys.executable}"


_HERE = Path(__file__).parent
