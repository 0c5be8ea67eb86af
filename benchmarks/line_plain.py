"""The plant in plain C, compiled by gcc and called through ctypes: how far is the Numba kernel from it?

``gcc -O3 -ffp-contract=off``: no fused operations, so that state and rewards come out bit for bit as the kernel's.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from enum import IntEnum
from functools import cache
from pathlib import Path

import numpy as np
from line_rows import Rows, digest, empty_state
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P
from linegym.tables import NORMAL, SINE

SOURCES = Path(__file__).parent / "line_plain"
FLAGS = ("-O3", "-ffp-contract=off", "-march=x86-64-v2", "-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC")

ENUMS: dict[type[IntEnum], dict[str, str]] = {
    P.Fault: {"NONE": "NO_FAULT"},
    P.Quantity: {},
    P.Verb: {},
    P.Order: {"NONE": "NO_ORDER"},
    P.Crew: {"REPAIR": "REPAIRING", "INSPECT": "INSPECTING"},
    P.Panel: {},
    P.Stream: {},
}
"""Names that mean one thing in one enumeration and another in the next get a longer one."""


class NoCompiler(Exception):
    """There is no gcc; the message says how to get it."""


def header() -> str:
    """Return plant.h: every number of plant.py and layout.py under its own name."""
    lines = [f"#define FACTS {len(L.FACTS)}"]
    for module in (P, L):
        for name, value in vars(module).items():
            if name.isupper() and not name.startswith("_"):
                lines += _define(name, value)
    for enum, longer in ENUMS.items():
        lines += [f"#define {longer.get(member.name, member.name)} {member.value}" for member in enum]
    return "\n".join(dict.fromkeys(lines)) + "\n"


def _define(name: str, value: object) -> list[str]:
    if isinstance(value, float):
        return [f"#define {name} {value.hex()}"]
    if isinstance(value, int):
        return [f"#define {name} {value}"]
    if isinstance(value, tuple) and all(isinstance(each, float) for each in value):
        return [f"static const double {name}[] = {{{', '.join(each.hex() for each in value)}}};"]
    if isinstance(value, tuple) and all(isinstance(each, int) for each in value):
        return [f"static const int {name}[] = {{{', '.join(map(str, value))}}};"]
    return []


@cache
def library(flags: tuple[str, ...] = FLAGS) -> ctypes.CDLL:
    """Return the compiled twin.

    Raises:
        NoCompiler: there is no gcc.
    """
    if shutil.which("gcc") is None:
        raise NoCompiler("apt-get install gcc")
    with tempfile.TemporaryDirectory(prefix="rolf-line-") as name:
        Path(name, "plant.h").write_text(header())
        made = Path(name, "line.so")
        sources = ["-I", name, "-I", str(SOURCES), str(SOURCES / "batch.c"), "-lm", "-o", str(made)]
        subprocess.run(["gcc", *flags, *sources], check=True)
        loaded = ctypes.CDLL(str(made))
    loaded.batch_touch.restype = ctypes.c_uint64
    return loaded


_POINTERS = (
    *("which", "plants_short", "plants_real", "laws", "uids", "seeds", "keys", "short", "whole", "real"),
    *("observations", "rewards", "truncated", "masks", "facts", "normal", "sine"),
)


class _Struct(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("n", "commands", "horizon", "unused")),
        *((name, ctypes.c_void_p) for name in _POINTERS),
    ]


class PlainC:
    """``Batch`` with the next-step autoreset, in C; the same arrays under the same names."""

    def __init__(self, rows: Rows, *, horizon: int = P.HORIZON, commands: int = 1, masks: bool = True) -> None:
        self._library = library()
        self.rows, n = rows, rows.n
        self.short, self.whole, self.real = empty_state(n)
        self.observations = np.zeros((n, L.SEEN_ROW), np.float32)
        self.rewards = np.zeros(n)
        self.truncated = np.zeros(n, np.bool_)
        self.masks = np.zeros((n, P.ACTIONS), np.bool_)
        self.facts = np.zeros((n, len(L.FACTS)), np.int32)
        self.seeds, self.keys = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
        self.normal, self.sine = np.ascontiguousarray(NORMAL), np.ascontiguousarray(SINE)
        arrays = {name: getattr(self, name) if hasattr(self, name) else getattr(rows, name) for name in _POINTERS}
        pointers = {name: array.ctypes.data for name, array in arrays.items()}
        if not masks:
            pointers["masks"] = None
        self._struct = _Struct(n=n, commands=commands, horizon=horizon, **pointers)

    def reset(self, seeds: NDArray[np.uint64]) -> None:
        self.seeds[:] = seeds
        self.observations[:] = 0
        self.masks[:] = False
        self._library.batch_reset(ctypes.byref(self._struct))

    def step(self, commands: NDArray[np.int32]) -> None:
        commands = np.ascontiguousarray(commands, np.int32)
        self._library.batch_step(ctypes.byref(self._struct), ctypes.c_void_p(commands.ctypes.data))

    def load(self, *state: NDArray[np.generic]) -> None:
        """Go on from a state: the rows of short, whole and real numbers."""
        self.short[:], self.whole[:], self.real[:] = state

    def touch(self) -> None:
        """Read and write the bytes that a step touches; the state is of no use afterwards."""
        self._library.batch_touch(ctypes.byref(self._struct))

    def digest(self) -> str:
        return digest(self.short, self.whole, self.real, self.observations, self.rewards)
