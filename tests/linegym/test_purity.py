"""What the plant may not call: whatever has a hidden state, and whatever another machine rounds otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import linegym

HOME = Path(linegym.__file__).parent
EVERYWHERE = {"numpy.random", "random", "secrets", "uuid", "time.time", "os.urandom"}
"""States that belong to nobody; a policy has a generator of its own, made from its seed."""
GENERATORS = {"numpy.random.Generator", "numpy.random.default_rng", "random.Random"}
STEP = ("kernel", "reference", "rng.py", "philox.py", "plant.py", "layout.py", "batch.py")
"""What an episode's numbers come from."""
BEFORE = ("perturbations.py", "blueprint.py", "templates.py", "topologies.py", "variants.py", "flow.py", "tables.py")
"""What its parameters come from."""
EXACT = {
    "math": {"sqrt", "inf", "ceil", "floor", "isfinite", "copysign", "gcd"},
    "numpy": {
        *("sqrt", "float64", "float32", "int64", "int32", "int16", "uint64", "uint32", "bool_", "array", "zeros"),
        *("ones", "arange", "asarray", "ascontiguousarray", "frombuffer", "flatnonzero", "vstack", "ndarray"),
        *("integer", "empty", "full", "abs", "generic", "fromstring", "floating", "dtype"),
    },
}
"""What rounds alike on every machine, or does not round."""
FOLDS = {"sum", "dot", "mean", "std", "var", "prod", "matmul", "einsum", "cumsum"}
"""Methods that add in an order of their own."""


def sources(parts: tuple[str, ...]) -> list[Path]:
    return sorted(
        path for part in parts for path in ([HOME / part] if part.endswith(".py") else (HOME / part).glob("*.py"))
    )


def imported(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def named(node: ast.expr, names: dict[str, str]) -> str:
    """Return what an expression such as ``np.random.normal`` is called in full; empty where that is not known."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        owner = named(node.value, names)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def used(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and full name of everything imported that is used."""
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            found = named(node, names)
            if found:
                yield node.lineno, found


def stateful(text: str) -> list[str]:
    """Return the uses of states that belong to nobody."""
    return [
        f"{line}: {name}"
        for line, name in used(ast.parse(text))
        if any(name == bad or name.startswith(f"{bad}.") for bad in EVERYWHERE)
        and name not in {"numpy.random", "random"} | GENERATORS
    ]


def inexact(text: str, *, folds: bool = True) -> list[str]:
    """Return the uses of what may round otherwise elsewhere; ``folds``: the sums of arrays too."""
    tree, wrong = ast.parse(text), []
    for line, name in used(tree):
        module, _, rest = name.partition(".")
        if module in EXACT and rest and rest.partition(".")[0] not in EXACT[module] | {"typing", "random"}:
            wrong.append(f"{line}: {name}")
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if folds and isinstance(called, ast.Attribute) and called.attr in FOLDS:
            wrong.append(f"{node.lineno}: .{called.attr}()")  # type: ignore[attr-defined]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.MatMult) and not _of_two(node):
            wrong.append(f"{node.lineno}: {ast.unparse(node)}")
    return wrong


def _of_two(node: ast.BinOp) -> bool:
    """Return whether this is a power of two, which is exact."""
    return isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Constant) and node.left.value == 2


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.py")), ids=lambda path: str(path.relative_to(HOME)))
def test_no_module_draws_from_a_state_that_belongs_to_nobody(path: Path) -> None:
    """What another library draws, or another thread, must not change an episode."""
    assert stateful(path.read_text()) == []


@pytest.mark.parametrize("path", sources(STEP + BEFORE), ids=lambda path: str(path.relative_to(HOME)))
def test_no_number_of_an_episode_depends_on_the_machine(path: Path) -> None:
    """exp and sin are another on the next machine, and the sum of an array depends on the width of its registers."""
    whole_numbers = path.name == "blueprint.py"  # it sums distances on a grid
    assert inexact(path.read_text(), folds=not whole_numbers) == []


def test_the_checks_find_what_they_look_for() -> None:
    """A check that cannot fail is none."""
    heading = "import random, math\nimport numpy as np\nfrom numpy.random import normal\nfrom math import exp\n"
    for bad in ("np.random.rand()", "random.random()", "normal()", "np.random.seed(1)"):
        assert stateful(heading + bad), bad
    for good in ("np.random.default_rng(1)", "random.Random(1)"):
        assert not stateful(heading + good), good
    for bad in (
        "math.log(2)",
        "exp(1)",
        "np.sin(x)",
        "np.sum(x)",
        "x.sum()",
        "x ** 0.5",
        "x @ y",
        "np.exp2(x)",
        "3.0**-x",
    ):
        assert inexact(heading + bad), bad
    for good in ("math.sqrt(2)", "np.sqrt(x)", "2.0**-32", "2**bits", "np.float64(x)"):
        assert not inexact(heading + good), good
