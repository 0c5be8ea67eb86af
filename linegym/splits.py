"""Named sets of variants: the 10 245 of the benchmark, what of them is for training, what is held out and why.

All choices are by SHA-256 of names, so nobody could prefer anything, and every list comes in the order of such a hash:
its beginning is a sample of it.

* ``unseen-template`` (1 245): 83 templates with all that belongs to them. Does it work in a plant never seen?
* ``extrapolation`` (1 800): intensity 5 of the other 600. Does it work when it is worse than ever seen?
* ``iid`` (200): of what is left, 16 or 17 of each family and intensity. Does it work on more of the same?
* ``train`` (7 000): the rest. ``validation`` (350) is a part of it, for the choice of models; ``fit`` (6 650) is
  train without it. ``held-out`` (3 245) is the first three together.

Outside the count: ``clean`` (683, no family above its nuisance level), ``combination`` (2 732: each template with two
families or all three at intensity 3), ``sweep`` (1 826: the unseen templates, each family from 0 to 7, for curves).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import cache

from linegym.errors import VariantError, did_you_mean
from linegym.perturbations import BENCHMARK, INTENSITIES
from linegym.templates import TEMPLATES, Template
from linegym.topologies import TOPOLOGIES
from linegym.variants import Variant, benchmark

UNSEEN = 83
"""Templates that no training meets."""
IID = 200
VALIDATION = 350
COMBINED = 3
"""Intensity of the families in a combination."""


def _order(purpose: str, name: str) -> int:
    """Return where ``name`` comes in the order of its hash."""
    return int.from_bytes(hashlib.sha256(f"linegym-v1/{purpose}/{name}".encode()).digest()[:8], "big")


def _cell(variant: Variant) -> tuple[str, int]:
    """Return the family and intensity of a variant of the benchmark."""
    family, intensity = variant.id.partition("+")[2].split(":")
    return family, int(intensity)


def _shuffled(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
    def key(variant: Variant) -> int:
        family, intensity = _cell(variant)
        return _order("iid", f"{variant.template.name}/{family}/{intensity}")

    return tuple(sorted(variants, key=key))


@cache
def unseen() -> frozenset[Template]:
    """Return the 83 templates: as many of each topology as its share (largest remainder), first by hash."""
    shares = {
        topology: UNSEEN * count / len(TEMPLATES) for topology, count in Counter(t.topology for t in TEMPLATES).items()
    }
    seats = {topology: int(share) for topology, share in shares.items()}
    rest = UNSEEN - sum(seats.values())
    for topology in sorted(TOPOLOGIES, key=lambda topology: seats[topology] - shares[topology])[:rest]:
        seats[topology] += 1
    chosen = set[Template]()
    for topology in TOPOLOGIES:
        candidates = [template for template in TEMPLATES if template.topology == topology]
        chosen.update(sorted(candidates, key=lambda template: _order("unseen", template.name))[: seats[topology]])
    return frozenset(chosen)


def _unseen_in_order() -> tuple[Template, ...]:
    return tuple(template for template in TEMPLATES if template in unseen())


def seen() -> tuple[Template, ...]:
    """Return the other 600, in the order of the rule."""
    return tuple(template for template in TEMPLATES if template not in unseen())


@cache
def _iid() -> frozenset[Variant]:
    cells = defaultdict(list)
    for variant in _shuffled(benchmark(seen(), BENCHMARK[:-1])):
        cells[_cell(variant)].append(variant)
    chosen = set[Variant]()
    for number, cell in enumerate(sorted(cells)):
        chosen.update(cells[cell][: IID // len(cells) + (number < IID % len(cells))])
    return frozenset(chosen)


def _train() -> tuple[Variant, ...]:
    return tuple(variant for variant in _shuffled(benchmark(seen(), BENCHMARK[:-1])) if variant not in _iid())


def _held_out() -> tuple[Variant, ...]:
    return named("unseen-template") + named("extrapolation") + named("iid")


def _validation() -> tuple[Variant, ...]:
    return tuple(sorted(named("train"), key=lambda variant: _order("validation", variant.id))[:VALIDATION])


def _fit() -> tuple[Variant, ...]:
    left_out = frozenset(named("validation"))
    return tuple(variant for variant in named("train") if variant not in left_out)


def _combination() -> tuple[Variant, ...]:
    corners = [(a, b, c) for a in (0, COMBINED) for b in (0, COMBINED) for c in (0, COMBINED) if (a, b, c).count(0) < 2]
    made = (Variant(template, *corner) for template in TEMPLATES for corner in corners)
    return tuple(sorted(made, key=lambda variant: _order("combination", variant.id)))


def _clean() -> tuple[Variant, ...]:
    made = (Variant(template) for template in TEMPLATES)
    return tuple(sorted(made, key=lambda variant: _order("clean", variant.id)))


def _sweep() -> tuple[Variant, ...]:
    made = {*benchmark(_unseen_in_order(), range(1, INTENSITIES)), *map(Variant, _unseen_in_order())}
    return tuple(sorted(made, key=lambda variant: _order("sweep", variant.id)))


SETS: Mapping[str, Callable[[], tuple[Variant, ...]]] = {
    "train": _train,
    "validation": _validation,
    "fit": _fit,
    "held-out": _held_out,
    "unseen-template": lambda: _shuffled(benchmark(_unseen_in_order(), BENCHMARK)),
    "extrapolation": lambda: _shuffled(benchmark(seen(), BENCHMARK[-1:])),
    "iid": lambda: _shuffled(tuple(_iid())),
    "all": lambda: _shuffled(benchmark(TEMPLATES, BENCHMARK)),
    "combination": _combination,
    "clean": _clean,
    "sweep": _sweep,
}
"""What makes each set."""


@cache
def named(name: str) -> tuple[Variant, ...]:
    """Return the variants of the set of that name.

    Raises:
        VariantError: no set has it.
    """
    if name not in SETS:
        raise VariantError(
            f"no set of variants is named {name!r}{did_you_mean(name, SETS)}; sets are {', '.join(SETS)}"
        )
    return SETS[name]()


def digest(name: str) -> str:
    """Return the SHA-256 of a set's ids, a line each, in order."""
    return hashlib.sha256("\n".join(variant.id for variant in named(name)).encode()).hexdigest()
