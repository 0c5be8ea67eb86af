"""Can the causes be told apart at all? A linear probe on what the agent sees, for each family and intensity.

If a straight cut through the observation names the fault class, the benchmark is about acting on it; if not even the
strongest intensity costs the probe anything, the perturbation does not perturb. So the audit asks for a slope: balanced
accuracy from 0.9 at intensity 1 down to between 0.5 and 0.7 at 5, by 0.04 to 0.12 a step, in every family.

The runs are supervised: a foreman who knows each fault lets it stand for a while, so that it can be seen, and then has
it mended. Each station with a fault of some age gives a sample, and as many sound stations; templates of the test are
not those of the training.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P
from linegym.batch import Batch
from linegym.variants import Variant

STAND = 60
"""Ticks that the foreman lets a fault stand."""
YOUNG = 15
"""Ticks before which a fault gives no sample."""
EVERY = 6
"""Ticks between two samples."""
WINDOW = 16
"""Ticks of the probe's window."""
PASSES = 80
"""Iterations of the probe's fit: further ones change its accuracy by less than the choice of templates does."""
MOST = 7_000
"""Samples to learn from."""

QUANTITIES = len(P.Quantity)
Features = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Samples:
    """What the probe learns from or is tested on."""

    features: Features
    """(samples, features)"""
    classes: NDArray[np.int64]
    """(samples,) ``plant.Fault``"""


def _stations(batch: Batch) -> Features:
    """Return the station part of the observations: (n, 24, 24)."""
    return batch.observations[:, : L.SEEN_CREW].reshape(batch.n, P.STATIONS, L.SEEN_STRIDE).astype(np.float64)


def _by_quantity(seen: Features, quantities: NDArray[np.int64]) -> Features:
    """Return the numbers of each station with its channels put at the place of what they measure.

    Args:
        seen: (n, 24, 24)
        quantities: (n, 3) what each channel of a line measures

    Returns:
        (n, 24, features): value and spread of each quantity, which is the primary one, its value, spread and size,
        then the rest.
    """
    n = len(seen)
    placed = np.zeros((n, P.STATIONS, 3 * QUANTITIES))
    rows = np.arange(n)
    for k in range(P.CHANNELS):
        placed[rows, :, quantities[:, k]] = seen[:, :, k]
        placed[rows, :, QUANTITIES + quantities[:, k]] = seen[:, :, 3 + k]
    placed[rows, :, 2 * QUANTITIES + quantities[:, 0]] = 1.0
    return np.concatenate([placed, seen[:, :, [0, 3, *range(6, 14)]], np.abs(seen[:, :, :1])], axis=2)


def _foreman(batch: Batch, age: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return commands (n, 1, 3) that mend a fault that has stood long enough, and dismiss false alarms."""
    faults = batch.faults().astype(np.int64)
    masks, commands = batch.masks, np.zeros((batch.n, 1, 3), np.int32)
    close = masks[:, P.FIRST_CLOSE : P.FIRST_THROTTLE] & (_stations(batch)[:, :, 14] == 1.0)
    claim = np.maximum(faults - 1, 0)
    diagnose = masks[:, P.FIRST_DIAGNOSE : P.FIRST_ORDER].reshape(batch.n, P.STATIONS, P.CLAIMS)
    may = np.take_along_axis(diagnose, claim[:, :, None], 2)[:, :, 0]
    order = _stations(batch)[:, :, 14] == 0.25
    diagnose_now = may & (faults > 0) & (age >= STAND) & ~order
    dismiss = diagnose[:, :, P.CLAIM_DISTURBANCE] & (faults == 0) & (_stations(batch)[:, :, 18] == 1.0)
    dispatch = masks[:, P.FIRST_DISPATCH : P.FIRST_CLOSE].reshape(batch.n, P.TECHNICIANS, P.STATIONS)
    for row in range(batch.n):
        if close[row].any():
            commands[row, 0] = P.Verb.CLOSE, int(close[row].argmax()), 0
        elif dispatch[row].any():
            technician, station = np.unravel_index(int(dispatch[row].argmax()), dispatch[row].shape)
            commands[row, 0] = P.Verb.DISPATCH, station, technician
        elif diagnose_now[row].any():
            faulty = int(diagnose_now[row].argmax())
            commands[row, 0] = P.Verb.DIAGNOSE, faulty, claim[row, faulty]
        elif dismiss[row].any():
            commands[row, 0] = P.Verb.DIAGNOSE, int(dismiss[row].argmax()), P.CLAIM_DISTURBANCE
        else:
            commands[row, 0] = _spare(masks[row], batch.observations[row])
    return commands


def _spare(mask: NDArray[np.bool_], seen: NDArray[np.float32]) -> tuple[int, int, int]:
    """Return an order for a spare part that has run out, or nothing."""
    for part in range(P.PARTS):
        stock = seen[L.SEEN_CREW + 4 * P.TECHNICIANS + 3 * part]
        if stock == 0 and mask[P.FIRST_ORDER + 2 * part]:
            return P.Verb.ORDER, 0, 2 * part
    return P.Verb.NOOP, 0, 0


def collect(variants: Sequence[Variant], seed: int) -> tuple[Samples, NDArray[np.int64]]:
    """Run one supervised shift of each variant.

    Returns:
        The samples, and the row each came from.
    """
    batch = Batch(variants)
    batch.reset(np.arange(seed, seed + batch.n, dtype=np.uint64))
    quantities = np.array([v.template.plant().rows()[0][L.T_QUANTITY : L.T_QUANTITY + P.CHANNELS] for v in variants])
    stations = np.array([v.template.plant().rows()[0][L.T_STATIONS] for v in variants])
    present = np.arange(P.STATIONS)[None] < stations[:, None]
    age = np.zeros((batch.n, P.STATIONS), np.int64)
    window = np.zeros((batch.n, P.STATIONS, 3 * QUANTITIES + 12))
    before = _stations(batch)
    found: list[Features] = []
    classes: list[NDArray[np.int64]] = []
    rows: list[NDArray[np.int64]] = []
    for t in range(P.HORIZON - 1):
        batch.step(_foreman(batch, age))
        faults = batch.faults().astype(np.int64)
        age = np.where(faults > 0, age + 1, 0)
        seen = _stations(batch)
        repeats = (seen[:, :, 0] == before[:, :, 0]) & (seen[:, :, 6] <= before[:, :, 6])
        before = seen
        now = np.concatenate([_by_quantity(seen, quantities.astype(np.int64)), repeats[:, :, None]], axis=2)
        window += (now - window) / WINDOW
        if t % EVERY or t < 2 * WINDOW:
            continue
        untouched = seen[:, :, 14] < 0.5
        chosen = present & untouched & (faults > 0) & (age >= YOUNG)
        sound = present & untouched & (faults == 0) & ((np.arange(P.STATIONS) + t // EVERY) % 24 == 0)
        line = (now * present[:, :, None]).sum(1) / stations[:, None]
        row, station = np.nonzero(chosen | sound)
        here, lately = now[row, station], window[row, station]
        found.append(np.concatenate([here, lately, here - line[row], np.abs(lately)], axis=1))
        classes.append(faults[row, station])
        rows.append(row)
    return Samples(np.concatenate(found), np.concatenate(classes)), np.concatenate(rows)


def probe(train: Samples, test: Samples) -> NDArray[np.float64]:
    """Return the recall of each class by a logistic regression in which each class weighs the same.

    Raises:
        ModuleNotFoundError: scikit-learn is missing.
    """
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("the audit needs scikit-learn: pip install 'rolf[audit]'") from error
    scale = StandardScaler().fit(train.features)
    model = LogisticRegression(class_weight="balanced", max_iter=PASSES, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the probe is one of fixed effort
        model.fit(scale.transform(train.features), train.classes)
    guessed = model.predict(scale.transform(test.features))
    return np.array([(guessed[test.classes == c] == c).mean() for c in np.unique(test.classes)])


def _some(samples: Samples, rows: NDArray[np.bool_]) -> Samples:
    """Return the samples of some rows, at most ``MOST`` of them, evenly spread."""
    chosen = np.flatnonzero(rows)
    chosen = chosen[:: max(1, -(-len(chosen) // MOST))]
    return Samples(samples.features[chosen], samples.classes[chosen])


def identifiability(variants: Sequence[Variant], seed: int = 0) -> float:
    """Return how well a linear probe names the fault class in these variants: balanced accuracy, chance is 1/9.

    A third of the templates is kept for the test.
    """
    samples, rows = collect(variants, seed)
    names = sorted({v.template.name for v in variants})
    held = set(names[::3])
    testing = np.array([v.template.name in held for v in variants])[rows]
    return float(probe(_some(samples, ~testing), Samples(samples.features[testing], samples.classes[testing])).mean())
