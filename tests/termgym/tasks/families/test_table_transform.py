"""Two tables that are to become a third: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.table_transform import Order, Scene, scene
from termgym.tasks.world import World

SEED = 1
SKIP = (
    'sed -i \'s/^    number, .*/    try: number, customer, article, amount = line.split(";"); float(amount)'
    "\\n    except ValueError: continue/' bin/totals"
)
AMOUNT = "sed -i 's/float(amount)/float({})/' bin/totals"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("table-transform", "", SEED))
    task = make_task(f"table-transform/{cause}", SEED)
    solution = task.oracle[-1].command
    return attempt(task, f"cd {at.root}", *(solution if each == "solve" else each for each in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("decimal-commas", (SKIP, "bin/totals")),
        ("decimal-commas", (AMOUNT.format('amount.replace(",", "")'), "bin/totals")),
        ("decimal-commas", (AMOUNT.format('amount.split(",")[0]'), "bin/totals")),
        ("decimal-commas", ("sed -Ei 's/\\.([0-9]{3}),/\\1,/; s/,(..)$/.\\1/' data/orders.csv", "bin/totals")),
        ("quoted-fields", (SKIP, "bin/totals")),
        ("quoted-fields", ("grep -E '^[0-9]+;C[0-9]+;[^\"]+$|^n' data/orders.csv > /tmp/o; cp /tmp/o data/orders.csv",
                           "bin/totals")),
        ("double-keys", ("sed -i 's/  *sys.exit.*/        continue/' bin/totals", "bin/totals")),
        ("missing-amounts", (SKIP, "bin/totals")),
        ("missing-amounts", (AMOUNT.format("amount or 0"), "bin/totals")),
        ("missing-amounts", ("solve", "sed -i 's/,/;/g' out/*.csv")),
        ("missing-amounts", ("solve", "echo '# done' >> RULES.md")),
    ],
)  # fmt: skip
def test_a_table_that_is_only_nearly_right_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Orders left out, misread amounts, the wrong one of two entries, or other data."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("decimal-commas", (AMOUNT.format(
            'amount.replace(".", "").replace(",", ".") if "," in amount else amount'), "bin/totals")),
        ("double-keys", ("sed -i '/\"\\] in /d; /sys.exit/d' bin/totals", "bin/totals")),
        ("missing-amounts", ("sed -i 's|^.*s, counts|prices = json.load(open(\"data/prices.json\"))\\n&|' bin/totals",
                             AMOUNT.format("amount or prices[article]"), "bin/totals")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The program mended, or another."""
    assert _play(attempt, cause, commands)


def test_the_tables_by_hand() -> None:
    """What all goals follow from: three orders that one can add up."""
    orders = (
        Order(1, "C1", 'a "b"; c', 104_350, comma=True),
        Order(2, "C2", "d", 5, blank=True),
        Order(3, "C1", "e", 107),
    )
    at = Scene("/home/agent", orders, (("C1", "x", "west"), ("C2", "y", "east"), ("C1", "x", "north")), {"d": 5})
    assert at.table == b"region,orders,amount\neast,1,0.05\nnorth,2,1044.57\n"
    assert at.data["orders.csv"] == (
        b'number;customer;article;amount\n1;C1;"a ""b""; c";1.043,50\n2;C2;d;\n3;C1;e;1.07\n'
    )
