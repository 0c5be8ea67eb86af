"""Subject: the environment under check, how it is made again, and how a person would write that down."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

from rolf.difference import difference
from rolf.registration import registered
from rolf.variant import Variant

AnyEnv = gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any]
EnvLike = str | tuple[str, Mapping[str, Any]] | Variant | Callable[[], AnyEnv]
"""What a check takes: an id, an id with the arguments of ``gymnasium.make``, a variant, or a function that makes it."""


class Code(NamedTuple):
    """Python that makes something."""

    imports: tuple[str, ...]
    """Lines that come first."""
    expression: str


@dataclass(frozen=True)
class Registered:
    """Makes an environment that Gymnasium knows by its id, in this process or another."""

    variant: Variant
    spec: EnvSpec
    """What the id stands for; another process may not have registered it."""

    @classmethod
    def of(cls, variant: Variant) -> Registered:
        """Return the maker of a variant.

        Raises:
            gymnasium.error.Error: the environment is not known here.
            ModuleNotFoundError: its package is not installed.
        """
        return cls(variant, registered(variant.env_id))

    def __call__(self) -> gymnasium.Env[Any, Any]:
        """Make it, without Gymnasium's passive checker: that warns where a check wants to name the fault."""
        if ":" not in self.variant.env_id:  # a module that registers it would warn of its being there
            gymnasium.registry.setdefault(self.spec.id, self.spec)
        return self.variant.make(disable_env_checker=True)

    def code(self) -> Code:
        """Return the same as Python."""
        if self.variant.wrappers:
            plain = arguments_code({"plain": self.variant.as_json()})
            made = f"Variant.from_json({plain.expression.removeprefix(', plain=')}).make(disable_env_checker=True)"
            return Code(("from rolf.variant import Variant", *plain.imports), made)
        given = arguments_code(self.variant.kwargs)
        made = f"gymnasium.make({self.variant.env_id!r}{given.expression}, disable_env_checker=True)"
        return Code(("import gymnasium", *given.imports), made)


@dataclass(frozen=True)
class Subject:
    """What is under check."""

    name: str
    make: Callable[[], AnyEnv]
    """Makes a fresh one."""
    code: Code
    """The same as Python."""

    @classmethod
    def of(cls, env: EnvLike) -> Subject:
        """Return the subject that a check was given.

        Raises:
            TypeError: it is neither an id, nor an id with arguments, nor a variant, nor a function.
            gymnasium.error.Error: its id is not known here.
            ModuleNotFoundError: its package is not installed.
        """
        if isinstance(env, str):
            env = Variant(env)
        elif isinstance(env, tuple) and len(env) == 2 and isinstance(env[0], str) and isinstance(env[1], Mapping):
            env = Variant(env[0], dict(env[1]))
        if isinstance(env, Variant):
            maker = Registered.of(env)
            return cls(env.env_id, maker, maker.code())
        if isinstance(env, (gymnasium.Env, VectorEnv)) or not callable(env):
            raise TypeError(
                f"got {env!r:.80} of type {type(env).__name__}; give an id, (id, kwargs), a rolf.variant.Variant, or a "
                "function that makes the environment: checks make it several times"
            )
        return cls(_described(env), env, _code_of(env))


def _described(make: Callable[..., Any]) -> str:
    if isinstance(make, functools.partial):
        return _described(make.func)
    name = getattr(make, "__qualname__", type(make).__name__)
    return f"{getattr(make, '__module__', '')}.{name}"


def _code_of(make: Callable[..., Any]) -> Code:
    """Return Python that calls a function, as far as it has a name that others can import."""
    if isinstance(make, functools.partial) and _importable(make.func) and _is_literal([make.args, make.keywords]):
        arguments = [*map(repr, make.args), *(f"{name}={value!r}" for name, value in make.keywords.items())]
        inner = _code_of(make.func)
        return Code(inner.imports, f"{inner.expression.removesuffix('()')}({', '.join(arguments)})")
    if _importable(make):
        root = make.__qualname__.partition(".")[0]
        return Code((f"from {make.__module__} import {root}",), f"{make.__qualname__}()")
    code = getattr(make, "__code__", None)
    where = f" of {code.co_filename}, line {code.co_firstlineno}" if code is not None else ""
    name = getattr(make, "__name__", "make_env")
    name = name if name.isidentifier() else "make_env"
    return Code((f"# {name}: the function{where} that the check was given",), f"{name}()")


def _importable(make: Callable[..., Any]) -> bool:
    module, name = getattr(make, "__module__", None), getattr(make, "__qualname__", "<")
    if not isinstance(module, str) or module == "__main__" or "<" in name:
        return False
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is make


def arguments_code(settings: Mapping[str, Any]) -> Code:
    """Return keyword arguments as Python, each after a comma; of what cannot be written down a remark says what it was.

    Example:
        >>> arguments_code({"steps": 3, "by": object})
        Code(imports=("# by: what was given is <class 'object'>",), expression=', steps=3, by=...')
    """
    remarks = tuple(
        f"# {name}: what was given is {value!r:.100}" for name, value in settings.items() if not _is_literal(value)
    )
    told = {name: repr(value) if _is_literal(value) else "..." for name, value in settings.items()}
    return Code(remarks, "".join(f", {name}={value}" for name, value in told.items()))


def _is_literal(value: Any) -> bool:
    try:
        return difference("", ast.literal_eval(repr(value)), value) is None
    except (ValueError, SyntaxError):
        return False
