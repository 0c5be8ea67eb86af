"""A variant is its content: ids are read back, and the same content has the same random numbers under any name."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linegym import layout
from linegym.errors import PerturbationError, VariantError
from linegym.perturbations import LoadPerturbation, NetworkPerturbation, SensorPerturbation
from linegym.templates import DELAY_FACTOR, TEMPLATES, CustomTemplate, template
from linegym.variants import FAMILIES, Variant, benchmark, run_seeds, variant

NAME = "serial/thermocouple/profinet/bearing"
PLAIN = Variant(template(NAME))
UIDS = [10371384878225619802, 17407957166358254571]

levels = st.integers(0, 7)


@given(st.sampled_from(TEMPLATES), levels, levels, levels)
def test_ids_are_read_back(made: object, sensor: int, network: int, load: int) -> None:
    """What a log says can be run again."""
    original = Variant(made, sensor, network, load)  # type: ignore[arg-type]
    again = variant(original.id)
    assert again == original
    assert (again.id, again.uid) == (original.id, original.uid)


def test_ids_look_as_documented() -> None:
    """No suffix for what is at its nuisance level; families in one order."""
    assert variant(NAME).id == NAME
    assert variant(f"{NAME}+sensor:0").id == NAME
    assert variant(f"{NAME}+sensor:3").id == f"{NAME}+sensor:3"
    assert variant(f"{NAME}+load:4+sensor:2").id == f"{NAME}+sensor:2+load:4"
    assert str(variant(f"{NAME}+network:1")) == f"{NAME}+network:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("serial/thermocouple/profinet/baering", "did you mean 'serial/thermocouple/profinet/bearing'"),
        (f"{NAME}+sensors:3", "no family is named 'sensors'; did you mean 'sensor'"),
        (f"{NAME}+sensor:8", "sensor:8 is not an intensity 0 … 7"),
        (f"{NAME}+sensor:-1", "sensor:-1 is not"),
        (f"{NAME}+sensor:³", "sensor:³ is not"),
        (f"{NAME}+sensor", "sensor: is not"),
        (f"{NAME}+", "no family is named ''"),
        (f"{NAME}+load:1+load:2", "load is there twice"),
        (f"{NAME}+as:xyz", "as:xyz is not a uid in hexadecimal"),
        (f"{NAME}+as:{'f' * 17}", "is not a uid in hexadecimal"),
        (f" {NAME}", "did you mean"),
        ("", "no template is named ''"),
        (7, "7 is no variant's id; expected text like 'serial/"),
    ],
)
def test_other_text_is_refused(text: str, message: str) -> None:
    """Says what is wrong with it and what is near."""
    with pytest.raises(VariantError, match=message):
        variant(text)


@pytest.mark.parametrize("intensity", [-1, 8, 2.0, True, "3", None, NetworkPerturbation()])
def test_other_intensities_are_refused(intensity: object) -> None:
    """By family, with what is allowed."""
    with pytest.raises(PerturbationError, match=r"sensor = .*expected an intensity 0 … 7 or a SensorPerturbation"):
        Variant(PLAIN.template, sensor=intensity)  # type: ignore[arg-type]


def test_a_name_is_no_template() -> None:
    """The likeliest mistake is told how to go on."""
    with pytest.raises(VariantError, match=r"linegym\.template\(name\) finds one"):
        Variant(NAME)  # type: ignore[arg-type]


def test_numpy_integers_are_intensities() -> None:
    """And leave no trace in the id, nor in the hash."""
    assert Variant(PLAIN.template, sensor=np.int32(3)) == Variant(PLAIN.template, sensor=3)
    assert hash(Variant(PLAIN.template, sensor=np.int32(3))) == hash(Variant(PLAIN.template, sensor=3))
    assert Variant(PLAIN.template, sensor=np.int32(3)).id.endswith("+sensor:3")


def test_content_keys_the_randomness_not_the_name() -> None:
    """The same line under a name of your own, with the same parameters written out, has the same episodes."""
    factor = DELAY_FACTOR["profinet"]
    own = CustomTemplate("mine", PLAIN.template.plant(), delay_factor=factor)
    written = Variant(own, SensorPerturbation.at(0), NetworkPerturbation.at(0), LoadPerturbation.at(0))
    assert written.uid == PLAIN.uid
    assert written.digest == PLAIN.digest
    assert written.id != PLAIN.id


def test_the_output_that_success_needs_keys_nothing() -> None:
    """To raise the bar must not change the episode."""
    assert PLAIN.row(400.0)[layout.V_TARGET] == 400
    assert PLAIN.row(0.0)[layout.V_TARGET] == 0
    assert (PLAIN.row(400.0)[: layout.V_TARGET] == PLAIN.row()[: layout.V_TARGET]).all()
    assert PLAIN.uid == Variant(PLAIN.template).uid


def test_every_change_of_content_is_another_uid() -> None:
    """Two variants with the same key would share their noise; a benchmark's worth of them do not."""
    corners = [Variant(PLAIN.template, *corner) for corner in product(range(8), repeat=3)]
    assert len({each.uid for each in corners}) == 8**3
    assert len({each.uid for each in benchmark(TEMPLATES[::5], range(1, 6))}) == len(TEMPLATES[::5]) * 15
    assert all(0 <= each.uid < 2**64 for each in corners)


def test_uids_never_change() -> None:
    """They are part of every episode's key: another value is another version of the environment."""
    assert [PLAIN.uid, variant(f"{NAME}+sensor:3").uid] == UIDS


def test_a_protocol_sets_the_networks_pace() -> None:
    """Otherwise a fifth of the templates' names would mean nothing."""
    rows = {each.protocol: Variant(each, network=3).row() for each in TEMPLATES}
    plain = NetworkPerturbation.at(3)
    for protocol, factor in DELAY_FACTOR.items():
        assert rows[protocol][layout.V_RTT] == plain.rtt * factor
        assert rows[protocol][layout.V_LATENCY] == plain.latency * factor
    assert len({row[layout.V_EXP_LATENCY] for row in rows.values()}) == len(DELAY_FACTOR)


def test_rows_are_copies() -> None:
    """What a batch writes into its rows must not reach the next batch."""
    PLAIN.row()[:] = 9
    PLAIN.rows().whole[:] = 9
    PLAIN.rows().real[:] = 9
    assert PLAIN.row()[layout.V_SINE] == SensorPerturbation.at(0).sine
    assert PLAIN.rows().whole[layout.T_CYCLE] == PLAIN.template.plant().stations[0].cycle
    shapes = [(layout.T_ROW,), (layout.G_ROW,), (layout.V_ROW,)]
    assert [(row.dtype, row.shape) for row in PLAIN.rows()] == list(
        zip((np.int32, np.float64, np.float64), shapes, strict=True)
    )


def test_parameters_of_your_own_show_in_the_id() -> None:
    """Different parameters, different ids; the same, the same."""
    strange = Variant(PLAIN.template, sensor=SensorPerturbation(sine=0.5), load=2)
    other = Variant(PLAIN.template, sensor=SensorPerturbation(sine=0.6), load=2)
    assert strange.id.startswith(f"{NAME}+sensor:custom-")
    assert strange.id.endswith("+load:2")
    assert strange.id == Variant(PLAIN.template, sensor=SensorPerturbation(sine=0.5), load=2).id != other.id


def test_a_counterfactual_takes_the_random_numbers_of_its_original() -> None:
    """Without the family, with everything else, and to be run again from its id."""
    original = variant(f"{NAME}+sensor:4+load:2")
    calm = original.without("sensor")
    assert calm.uid == original.uid
    assert calm.levels == (0, 0, 2)
    assert calm.digest == variant(f"{NAME}+load:2").digest
    assert variant(calm.id) == calm
    assert calm.without("load").uid == original.uid
    assert original.without().levels == original.levels
    with pytest.raises(VariantError, match="no family is named 'sensors'; did you mean 'sensor'"):
        original.without("sensors")


def test_variants_travel() -> None:
    """To another process, with everything they are."""
    assert pickle.loads(pickle.dumps(PLAIN)).uid == PLAIN.uid


def test_runs_share_no_seed() -> None:
    """Gymnasium's seed + i gives neighbouring runs nearly the same episodes."""
    runs = [run_seeds(run, 7000) for run in range(5)]
    assert all(seeds.dtype == np.uint64 and seeds.shape == (7000,) for seeds in runs)
    assert len(np.unique(np.concatenate(runs))) == 35_000
    assert run_seeds(2**31 - 1, 3).tolist() == [(2**31 - 1 << 32) + i for i in range(3)]


@pytest.mark.parametrize(("run", "number"), [(-1, 3), (2**31, 3), (0, -1), (0.5, 3)])
def test_runs_out_of_range_are_refused(run: int, number: int) -> None:
    """Beyond, two runs would meet."""
    with pytest.raises(VariantError, match=r"(run|number) = .*expected a whole number, 0 … 2\*\*"):
        run_seeds(run, number)


def test_families_are_those_of_the_benchmark() -> None:
    """In the order of ids, rows and documentation."""
    assert FAMILIES == ("sensor", "network", "load")
