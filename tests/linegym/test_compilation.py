"""What the compiler makes of the kernel: the same numbers on every CPU, kept on disk, never stale."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from golden_lines import FILE, ROWS, STEPS

import linegym
from linegym.errors import ArgumentError

SHARED = FILE.parent
FUSED = re.compile(r"\bv?fn?m(?:add|sub)\w*|\bfml[as]\b")
"""Fused multiply-adds of x86 and ARM."""
LIBM = re.compile(
    r"\b_?_?(?:svml_)?(?:a?(?:sin|cos|tan)h?|a?sincos|atan2|exp|exp2|expm1|log|log2|log10|log1p|pow|powi|fmod|cbrt|hypot"
    r"|erfc?|[lt]gamma|remainder|rint|nearbyint|round)(?:f|df|sf|[248])?\d?\b"
)
"""What a mathematical library or the compiler's own would be called by; the square root is exact everywhere."""
FLAGS = re.compile(r"= f(?:add|sub|mul|div|neg|rem|cmp|ptrunc|pext) (?:fast|reassoc|nnan|ninf|nsz|arcp|contract|afn)\b")
"""Of an operation that the compiler may do otherwise than it is written."""
LIMIT = 300.0
"""For a process that compiles, on a machine that is busy [s]."""


def environment(package: Path | None = None, **variables: str) -> dict[str, str]:
    """Return the environment of a process that takes linegym from a folder, by Numba's own rules for its cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    path = [str(each) for each in (package, SHARED) if each]
    return {**kept, "PYTHONPATH": os.pathsep.join(path), "PYTHONSAFEPATH": "1", **variables}


def run(arguments: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run Python to its end."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False, **settings
    )


def copied_package(home: Path) -> Path:
    """Return a folder with a copy of the package, without anything compiled."""
    source = Path(linegym.__file__).parent
    shutil.copytree(source, home / "linegym", ignore=shutil.ignore_patterns("__pycache__"))
    return home


def recorded() -> dict[str, str]:
    """Return the golden digests of the standard lines."""
    episodes = json.loads(FILE.read_text())["episodes"]
    return {name.rpartition("/")[0]: digest for name, digest in episodes.items() if name.endswith("/possible")}


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of a process that compiled."""

    told: dict[str, Any]
    errors: str
    out: Path


@dataclass(frozen=True, slots=True)
class Cold:
    """Two processes that began at once with one empty cache."""

    package: Path
    host: Compiled
    generic: Compiled


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Cold:
    """Compile for this CPU and for any, at once, into one cache: the package's own."""
    package = copied_package(tmp_path_factory.mktemp("package"))
    started = []
    for variables in ({}, {"NUMBA_CPU_NAME": "generic"}):
        out = tmp_path_factory.mktemp("out")
        command = [sys.executable, str(SHARED / "line_compiled.py"), str(out), str(ROWS), str(STEPS)]
        process = subprocess.Popen(command, env=environment(package, **variables), stdout=-1, stderr=-1, text=True)
        started.append((process, out))
    ended = []
    for process, out in started:
        told, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, errors
        ended.append(Compiled(json.loads(told), errors, out))
    return Cold(package, *ended)


pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_processes_that_start_cold_at_once_both_work(cold: Cold) -> None:
    """The first run on a cluster is a hundred processes; each has its numbers, whoever wrote what to the disk."""
    for each in (cold.host, cold.generic):
        assert each.told["home"] == str(cold.package)
        assert each.told["misses"] == 3
        assert each.told["digests"] == recorded()


def test_any_cpu_gives_the_same_numbers(cold: Cold) -> None:
    """Compiled for this CPU and for the oldest of its kind, which has neither AVX nor fused operations."""
    assert cold.generic.told["digests"] == cold.host.told["digests"]
    host, generic = ((each.out / "step.asm").read_text() for each in (cold.host, cold.generic))
    assert "sqrtsd" in generic
    assert host != generic


@pytest.mark.parametrize("entry", ["step", "step_many", "reset"])
def test_nothing_is_fused_reordered_or_left_to_a_library(cold: Cold, entry: str) -> None:
    """A fused multiply-add rounds once instead of twice; a library's sine is another on the next machine."""
    assembly, code = ((cold.host.out / f"{entry}.{kind}").read_text() for kind in ("asm", "ll"))
    assert re.search(r"\bv?mulsd\b|\bfmul\b", assembly), "this is not the kernel"
    assert FUSED.findall(assembly) == []
    assert LIBM.findall(assembly) == []
    declared = re.findall(r"^declare .*?@([\w.]+)\(", code, re.MULTILINE)
    assert declared
    assert [name for name in declared if LIBM.search(name.replace(".", " ")) or ".fma" in name or ".fmul" in name] == []
    assert FLAGS.findall(code) == []


def test_the_patterns_find_what_they_look_for() -> None:
    """A check that cannot fail is none."""
    for fused in ("vfmadd231sd %xmm0", "vfnmsub132pd", "fmadd d0", "fmla v0"):
        assert FUSED.search(fused), fused
    for called in ("$sin,", "callq exp", "$__svml_log4,", "pow", "fmodf", "__powidf2", "$sincos"):
        assert LIBM.search(called), called
    assert FLAGS.search("%.5 = fmul fast double %a, %b")
    assert not LIBM.search("$sqrt,")


def test_compiling_is_said_once_and_not_done_again(cold: Cold) -> None:
    """Half a minute of silence looks like a hang; once it is done it is quick, and silent."""
    assert cold.host.errors.count("compiling the production line") == 1
    again = run(
        [str(SHARED / "line_compiled.py"), str(cold.host.out), str(ROWS), str(STEPS)], env=environment(cold.package)
    )
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert (told["hits"], told["misses"]) == (3, 0)
    assert told["digests"] == recorded()
    assert again.stderr == ""


def test_uncompiled_gives_the_same_numbers() -> None:
    """A second opinion for nothing: the same source, run by Python."""
    done = run(
        ["-W", "ignore", str(SHARED / "line_traces.py"), str(ROWS), str(STEPS)],
        env=environment(NUMBA_DISABLE_JIT="1"),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == recorded()


# ---- the cache

BEGIN = """
import numpy as np
from linegym.batch import Batch
from linegym.variants import split
batch = Batch(split("train")[:1])
batch.reset(np.zeros(1, np.uint64))
print(batch.observations[0, -2])
"""
"""Compiles what begins an episode and no more: a quarter of the whole."""


def test_an_edit_anywhere_is_noticed_and_a_kill_harms_nothing(cold: Cold, tmp_path: Path) -> None:
    """Numba looks at one file alone; and a process that is killed leaves half of what it wanted to keep."""
    shutil.copytree(cold.package / "linegym", tmp_path / "linegym")
    before = run(["-c", BEGIN], env=environment(tmp_path))
    assert (before.returncode, before.stderr) == (0, "")

    callee = tmp_path / "linegym" / "kernel" / "observe.py"
    text, stamp = callee.read_text(), callee.stat()
    edited = text.replace("stations / 24.0", "stations / 48.0")
    assert edited != text
    callee.write_text(edited)
    os.utime(callee, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    kept = tmp_path / "linegym" / "kernel" / "__pycache__"
    indices = set(kept.glob("*.nbi"))
    with subprocess.Popen([sys.executable, "-c", BEGIN], env=environment(tmp_path), stdout=-1, stderr=-1) as process:
        deadline = time.monotonic() + LIMIT
        while set(kept.glob("*.nbi")) == indices and time.monotonic() < deadline:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.001)
        process.send_signal(signal.SIGKILL)

    after = run(["-c", BEGIN], env=environment(tmp_path))
    assert after.returncode == 0, after.stderr
    assert float(after.stdout) == float(before.stdout) / 2


WHERE = """
from linegym.kernel.batch import step_serial
print(step_serial.stats.cache_path)
"""


def test_a_package_that_cannot_be_written_keeps_it_in_the_users_cache(tmp_path: Path) -> None:
    """Installed by an administrator; or in a container, where not even the user has a home."""
    package = copied_package(tmp_path)
    (package / "linegym" / "kernel" / "__pycache__").write_text("no directory: root could write into any other")
    home = tmp_path / "home"
    user = run(["-c", WHERE], env=environment(package, HOME=str(home), XDG_CACHE_HOME=str(home / ".cache")))
    assert (user.returncode, user.stderr) == (0, "")
    assert Path(user.stdout.strip()).is_relative_to(home)
    nowhere = run(["-c", WHERE], env=environment(package, HOME="/dev/null", XDG_CACHE_HOME="/dev/null"))
    assert nowhere.returncode == 0, nowhere.stderr
    assert nowhere.stderr.count("export NUMBA_CACHE_DIR=") == 1
    named = environment(package, HOME="/dev/null", XDG_CACHE_HOME="/dev/null", NUMBA_CACHE_DIR=str(tmp_path / "kept"))
    chosen = run(["-c", WHERE], env=named)
    assert (chosen.returncode, chosen.stderr) == (0, "")
    assert Path(chosen.stdout.strip()).is_relative_to(tmp_path / "kept")


# ---- forks

FORK = """
import os
from line_traces import HORIZON, standard, trace
from linegym.batch import Batch
lines = standard(256)
def play(threads):
    return trace(Batch([line.variant for line in lines], horizon=HORIZON, threads=threads), {3: lines[3]}, 5)
once = play(2), play(1)
child = os.fork()
if not child:
    os._exit(0 if (play(2), play(1)) == once else 1)
print(os.waitpid(child, 0)[1], once[0] == once[1])
"""


def test_a_forked_process_goes_on_with_one_thread(cold: Cold) -> None:
    """GNU OpenMP would end it: no loader of data or runner of workers forks in vain."""
    done = run(["-c", FORK], env=environment(cold.package))
    assert (done.returncode, done.stdout) == (0, "0 True\n"), done.stderr
    assert done.stderr.count("steps with one") == 1


# ---- warming up


def test_warmup_leaves_nothing_to_compile(cold: Cold) -> None:
    """What is done in an image or before a hundred processes start."""
    done = run(["-m", "linegym", "warmup"], env=environment(cold.package))
    assert (done.returncode, done.stderr) == (0, "")
    assert "is ready" in done.stdout


@pytest.mark.parametrize("bad", [0, -1, 2.0, True, "2"])
def test_warmup_refuses_what_is_no_number_of_threads(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=re.escape(repr(bad))):
        linegym.warmup(bad)


@pytest.mark.parametrize("arguments", [[], ["warm"], ["warmup", "--threads", "0"], ["warmup", "--threads", "x"]])
def test_command_refuses_what_it_does_not_know(arguments: list[str]) -> None:
    """With 2, as every command does."""
    done = run(["-m", "linegym", *arguments], env=environment())
    assert done.returncode == 2
    assert "usage: python -m linegym" in done.stderr
