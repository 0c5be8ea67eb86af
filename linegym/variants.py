"""Variants: a template under perturbations of chosen intensities; and how they are split.

683 templates × 3 families × 5 intensities are the 10 245 variants of the benchmark: one family at an intensity, the
other two at their nuisance level 0. 3 245 are held out for three different questions, 7 000 are for training; the
rule is in ``split``. Which random numbers an episode gets depends on the *content* of its variant, so that variants
can be added without changing any.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linegym import layout
from linegym.errors import PerturbationError, VariantError, did_you_mean
from linegym.perturbations import (
    INTENSITIES,
    LoadPerturbation,
    NetworkPerturbation,
    Perturbations,
    SensorPerturbation,
)
from linegym.templates import CustomTemplate, Template, template

_KINDS: Mapping[str, type] = {
    "sensor": SensorPerturbation,
    "network": NetworkPerturbation,
    "load": LoadPerturbation,
}
FAMILIES = tuple(_KINDS)
"""What can be perturbed, in the order of an id."""

Levels = tuple[int | SensorPerturbation, int | NetworkPerturbation, int | LoadPerturbation]


class Rows(NamedTuple):
    """A variant as the kernel reads it."""

    whole: NDArray[np.int32]  # (T_ROW,)
    real: NDArray[np.float64]  # (G_ROW,)
    perturbations: NDArray[np.float64]  # (V_ROW,)


@dataclass(frozen=True)
class Variant:
    """A line and what disturbs it: everything about an episode but its seed.

    A family is given as an intensity from 0 to 7, or as parameters of your own.
    """

    template: Template | CustomTemplate
    sensor: int | SensorPerturbation = 0
    network: int | NetworkPerturbation = 0
    load: int | LoadPerturbation = 0
    drawn_as: int | None = None
    """Take the random numbers of the variant with this uid, not its own: see ``without``."""

    def __post_init__(self) -> None:
        if not isinstance(self.template, Template | CustomTemplate):
            raise VariantError(
                f"template = {self.template!r}, expected a Template or CustomTemplate; "
                "linegym.template(name) finds one, linegym.variant(id) a whole variant"
            )
        for family, kind in _KINDS.items():
            value = getattr(self, family)
            if not isinstance(value, kind):
                object.__setattr__(self, family, _intensity(family, value, kind))
        if self.drawn_as is not None and not 0 <= self.drawn_as < 2**64:
            raise VariantError(f"drawn_as = {self.drawn_as!r}, expected the uid of a variant, 0 … 2**64 - 1")

    @property
    def levels(self) -> Levels:
        """The three families, as given."""
        return self.sensor, self.network, self.load

    @cached_property
    def id(self) -> str:
        """``"serial/thermocouple/profinet/bearing+sensor:3"``; what is at level 0 goes without saying."""
        parts = [self.template.name]
        for name, value in zip(FAMILIES, self.levels, strict=True):
            if not isinstance(value, int):
                parts.append(f"{name}:custom-{hashlib.sha256(repr(value).encode()).hexdigest()[:8]}")
            elif value:
                parts.append(f"{name}:{value}")
        if self.drawn_as is not None:
            parts.append(f"{_AS}:{self.drawn_as:016x}")
        return "+".join(parts)

    def without(self, *families: str) -> Variant:
        """Return this variant with these families at their nuisance level, and the *same* random numbers.

        Each mechanism draws from a stream of its own, so all else happens as it did: the difference between the two
        runs of one seed is what the families did, exactly.

        Raises:
            VariantError: a name is no family's.
        """
        for family in families:
            _known_family(family)
        return replace(self, drawn_as=self.uid, **dict.fromkeys(families, 0))  # type: ignore[arg-type] # names are checked

    @property
    def perturbations(self) -> Perturbations:
        """What disturbs this line, its protocol's pace included."""
        return _perturbations(self.levels, self.template.delay_factor)

    def row(self, target: float | None = None) -> NDArray[np.float64]:  # (V_ROW,)
        """Return the perturbations as the kernel reads them.

        Args:
            target: Output that success needs [parts]; None: ``linegym.scores.target``, 0.9 of the oracle's.
        """
        row = _row(self.levels, self.template.delay_factor).copy()
        row[layout.V_TARGET] = _target(self) if target is None else target
        return row

    def rows(self, target: float | None = None) -> Rows:
        """Return all that the kernel reads of this variant; see ``row``."""
        return Rows(*self.template.plant().rows(), self.row(target))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content: plant and perturbations, without names and without the output needed."""
        plant = bytes.fromhex(self.template.plant().digest)
        return hashlib.sha256(b"linegym-v1/variant/" + plant + self.row(0.0)[: layout.V_TARGET].tobytes()).hexdigest()

    @cached_property
    def uid(self) -> int:
        """The variant's part in an episode's key: the digest's first eight bytes, little end first."""
        if self.drawn_as is not None:
            return self.drawn_as
        return int.from_bytes(bytes.fromhex(self.digest[:16]), "little")

    def __str__(self) -> str:
        return self.id


def _intensity(family: str, value: object, kind: type) -> int:
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not number or value not in range(INTENSITIES):
        raise PerturbationError(
            f"{family} = {value!r}, expected an intensity 0 … {INTENSITIES - 1} or a {kind.__name__}"
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


@cache
def _perturbations(levels: Levels, delay_factor: float) -> Perturbations:
    sensor, network, load = levels
    return Perturbations(
        SensorPerturbation.at(sensor) if isinstance(sensor, int) else sensor,
        (NetworkPerturbation.at(network) if isinstance(network, int) else network).over(delay_factor),
        LoadPerturbation.at(load) if isinstance(load, int) else load,
    )


def _target(variant: Variant) -> float:
    from linegym.scores import target  # which needs this module

    return target(variant)


@cache
def _row(levels: Levels, delay_factor: float) -> NDArray[np.float64]:
    return _perturbations(levels, delay_factor).row(0.0).astype("<f8")


def variant(text: str) -> Variant:
    """Return the variant of an id: ``"TEMPLATE"``, ``"TEMPLATE+sensor:3"``, ``"TEMPLATE+sensor:2+load:4"``.

    Raises:
        VariantError: the text names none; says what is nearest.
    """
    if not isinstance(text, str):
        raise VariantError(f"{text!r} is no variant's id; expected text like {EXAMPLE!r}")
    name, *parts = text.split("+")
    levels: dict[str, int] = {}
    for part in parts:
        family, _, value = part.partition(":")
        if family in levels:
            raise VariantError(f"{text!r}: {family} is there twice; {_EXPECTED}")
        if family == _AS:
            levels[family] = _read(text, family, value, 16, _UID)
            continue
        _known_family(family, text)
        levels[family] = _read(text, family, value, 10, range(INTENSITIES))
    drawn_as = levels.pop(_AS, None)
    return Variant(template(name), **levels, drawn_as=drawn_as)


def _known_family(family: str, text: str | None = None) -> None:
    if family not in FAMILIES:
        where = "" if text is None else f"{text!r}: "
        raise VariantError(f"{where}no family is named {family!r}{did_you_mean(family, FAMILIES)}; {_EXPECTED}")


def _read(text: str, part: str, value: str, radix: int, allowed: range) -> int:
    digits = value.isascii() and value.isalnum() and value == value.lower()
    try:
        number = int(value, radix) if digits else -1
    except ValueError:
        number = -1
    if number not in allowed:
        expected = "a uid in hexadecimal" if part == _AS else f"an intensity 0 … {INTENSITIES - 1}"
        raise VariantError(f"{text!r}: {part}:{value} is not {expected}")
    return number


_AS = "as"
"""What announces the uid of the variant whose random numbers are taken."""
_UID = range(2**64)
EXAMPLE = "serial/thermocouple/profinet/bearing+sensor:3"
_EXPECTED = f"families are {', '.join(FAMILIES)}, an id looks like {EXAMPLE!r}"


def run_seeds(run: int, number: int) -> NDArray[np.uint64]:  # (number,)
    """Return the seeds of a training run: ``run * 2**32``, and one more for each row.

    Gymnasium gives row ``i`` of a vector environment the seed ``seed + i``, so that runs 0 and 1 share all seeds but
    one. These do not meet. Evaluation needs no care at all: ``evaluation=True`` draws from a namespace of its own, in
    which no training seed can reach an episode.
    """
    for name, value, limit in (("run", run, 31), ("number", number, 32)):
        if not isinstance(value, int | np.integer) or not 0 <= value < 2**limit:
            raise VariantError(f"{name} = {value!r}, expected a whole number, 0 … 2**{limit} - 1")
    return np.uint64(int(run) << 32) + np.arange(number, dtype=np.uint64)


def benchmark(templates: Iterable[Template], intensities: Iterable[int]) -> tuple[Variant, ...]:
    """Return each template with one family at each of the intensities, in that order."""
    return tuple(
        Variant(template, **{family: intensity})
        for template in templates
        for family in FAMILIES
        for intensity in intensities
    )


def split(name: str) -> tuple[Variant, ...]:
    """Return the variants of a named set; see ``linegym.splits``.

    Raises:
        VariantError: no set has that name.
    """
    from linegym.splits import named  # which needs this module

    return named(name)
