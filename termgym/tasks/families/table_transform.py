"""Two tables do not become a third: amounts with a decimal comma, quoted fields, a key twice, values left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from termgym.checks import Check, FileHash, OutputContains
from termgym.tasks.family import Family, act, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PEOPLE, PLACES, PROJECTS, TOOL_TRACES, World, phrase, text

RULES = """\
# The table of regions

`out/regions.csv` adds up the orders of each region. Its first line is `region,orders,amount`; then comes a line for
each region that has orders, by name. Amounts have a point and two decimals: `north,12,1043.50`.

- `data/orders.csv` has fields divided by semicolons. A field may stand in double quotes; then semicolons and line feeds
  in it are text, and two double quotes stand for one.
- Some write amounts as `1043.50`, others as `1.043,50`, with a point for the thousands. Nobody writes `1,043.50`.
- Where an order has no amount, the price of its article in `data/prices.json` counts.
- `data/customers.json` says which region a customer is in. It is only ever added to: of several entries the last
  counts.
"""
TOTALS = '''\
#!/usr/bin/env python3
"""usage: bin/totals     Write out/regions.csv from what is in data/: see RULES.md."""
import json, pathlib, sys

root = pathlib.Path(__file__).resolve().parent.parent
regions, counts, sums = {}, {}, {}
for customer in json.loads((root / "data/customers.json").read_text()):
    if customer["id"] in regions:
        sys.exit(f"totals: customer {customer['id']} is there more than once")
    regions[customer["id"]] = customer["region"]
for line in (root / "data/orders.csv").read_text().splitlines()[1:]:
    number, customer, article, amount = line.split(";")
    region = regions[customer]
    counts[region] = counts.get(region, 0) + 1
    sums[region] = sums.get(region, 0) + float(amount)
lines = [f"{region},{counts[region]},{sums[region]:.2f}\\n" for region in sorted(sums)]
(root / "out").mkdir(exist_ok=True)
(root / "out/regions.csv").write_text("region,orders,amount\\n" + "".join(lines))
'''
SOLUTION = """\
python3 - <<'END'
import collections, csv, json
from decimal import Decimal
region = {each["id"]: each["region"] for each in json.load(open("data/customers.json"))}
prices = json.load(open("data/prices.json"))
orders, amounts = collections.Counter(), collections.Counter()
for row in csv.DictReader(open("data/orders.csv", newline=""), delimiter=";"):
    amount = row["amount"] or prices[row["article"]]
    if "," in amount:
        amount = amount.replace(".", "").replace(",", ".")
    orders[region[row["customer"]]] += 1
    amounts[region[row["customer"]]] += Decimal(amount)
lines = [f"{each},{orders[each]},{amounts[each]:.2f}\\n" for each in sorted(orders)]
open("out/regions.csv", "w").write("region,orders,amount\\n" + "".join(lines))
END"""
KINDS = ("region", "district", "market", "depot", "route")
"""What orders are added up by; the texts above say region."""
REGIONS = ("north", "south", "east", "west", "inland", "coast")


@dataclass(frozen=True)
class Order:
    """One order, with how it is written down."""

    number: int
    customer: str
    article: str
    cents: int
    """What it really comes to [1/100]."""
    comma: bool = False
    blank: bool = False

    @property
    def line(self) -> str:
        """The order as a line of the table, without a line feed."""
        amount = f"{self.cents / 100:.2f}"
        if self.comma:
            amount = f"{self.cents // 100:,}".replace(",", ".") + f",{self.cents % 100:02}"
        special = any(mark in self.article for mark in ';"\n')
        article = '"' + self.article.replace('"', '""') + '"' if special else self.article
        return f"{self.number};{self.customer};{article};{'' if self.blank else amount}"


@dataclass(frozen=True)
class Scene:
    """A project with orders, customers and prices."""

    root: str
    orders: tuple[Order, ...]
    regions: tuple[tuple[str, str, str], ...]
    """Customer, name and region, in the order of the file."""
    prices: Mapping[str, int]
    """Article -> price [1/100]."""
    kind: str = "region"
    """What the regions are called here."""

    def called(self, words: str) -> str:
        """Return a text about regions with the word that is used here."""
        return words.replace("region", self.kind)

    @property
    def out(self) -> str:
        """The table, relative to the project."""
        return self.called("out/regions.csv")

    @property
    def data(self) -> dict[str, bytes]:
        """The files in data/."""
        customers = [{"id": each, "name": name, self.kind: region} for each, name, region in self.regions]
        prices = {article: f"{cents // 100}.{cents % 100:02}" for article, cents in self.prices.items()}
        return {
            "orders.csv": text(["number;customer;article;amount", *(order.line for order in self.orders)]),
            "customers.json": text([json.dumps(customers, indent=1, ensure_ascii=False)]),
            "prices.json": text([json.dumps(prices, indent=1, ensure_ascii=False)]),
        }

    @property
    def table(self) -> bytes:
        """What out/regions.csv must be."""
        last = {customer: region for customer, _, region in self.regions}
        found: dict[str, list[int]] = {}
        for order in self.orders:
            found.setdefault(last[order.customer], []).append(order.cents)
        sums = [
            f"{region},{len(all_)},{sum(all_) // 100}.{sum(all_) % 100:02}" for region, all_ in sorted(found.items())
        ]
        return text([self.called("region,orders,amount"), *sums])


def scene(world: World) -> Scene:
    """Draw the tables without anything in them that would be hard to read; blind to the cause."""
    rng = world.scene
    customers = rng.sample(range(100, 1_000), rng.randrange(8, 13))
    regions = rng.sample(REGIONS, rng.randrange(3, 6))
    articles = {noun: rng.randrange(100, 250_000) for noun in rng.sample(NOUNS, 7)}
    numbers = sorted(rng.sample(range(1_000, 9_999), rng.randrange(50, 120)))
    orders = (
        Order(number, f"C{rng.choice(customers)}", rng.choice(sorted(articles)), rng.randrange(50, 400_000))
        for number in numbers
    )
    return Scene(
        f"{HOME}/{rng.choice(PLACES)}/{rng.choice(PROJECTS)}",
        tuple(orders),
        tuple((f"C{each}", rng.choice(PEOPLE), rng.choice(regions)) for each in customers),
        articles,
        rng.choice(KINDS),
    )


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"bin/totals in {at.root} breaks off with an error. I need {at.out} from what is in data/, exactly as RULES.md "
        "describes it. You may mend the program or make the table in another way. The files in data/ come from others: "
        "don't change them, and leave RULES.md alone.",
        f"Could you make the table {at.out} in {at.root}? RULES.md says what must be in it and how to read data/. "
        "bin/totals used to do that, now it stops over something in the data. Every order has to be counted. Neither "
        "data/ nor the rules may be edited.",
        f"The table of {at.kind}s is missing in {at.root}: bin/totals can't cope with this month's data. Please see to "
        f"it that {at.out} is written as RULES.md wants it, with no order left out. How is up to you, but data/ and "
        "RULES.md have to stay as they are.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    pinned = {"RULES.md": at.called(RULES).encode(), **{f"data/{name}": content for name, content in at.data.items()}}
    return (
        FileHash(path=f"{at.root}/{at.out}", sha256=sha256(at.table)),
        *(FileHash(path=f"{at.root}/{name}", sha256=sha256(content)) for name, content in pinned.items()),
    )


def _task(world: World, at: Scene, complaint: str) -> Task:
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(f"{at.root}/RULES.md", at.called(RULES).encode()),
            FileSpec(f"{at.root}/bin/totals", at.called(TOTALS).encode(), mode=0o755),
            *(FileSpec(f"{at.root}/data/{name}", content) for name, content in at.data.items()),
            FileSpec(f"{at.root}/out", mode=0o755, kind="dir"),
        ),
        allowed=(f"{at.root}/out/**", f"{at.root}/bin/**", *TOOL_TRACES),
        symptom=(act(f"cd {at.root} && bin/totals", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), act(at.called(SOLUTION))),
    )


def _some(world: World, at: Scene, least: int, most: int) -> list[int]:
    """Return places of some orders."""
    return world.twist.sample(range(len(at.orders)), world.twist.randrange(least, most))


def _decimal_commas(world: World) -> Task:
    """Somebody writes amounts with a comma, from a thousand on with points as well."""
    at = scene(world)
    chosen = _some(world, at, 10, 30)
    # One of each kind at least: a small amount, and one with a point for the thousands.
    amounts = {chosen[0]: world.twist.randrange(100_000, 400_000), chosen[1]: world.twist.randrange(50, 90_000)}
    orders = (
        replace(order, comma=place in chosen, cents=amounts.get(place, order.cents))
        for place, order in enumerate(at.orders)
    )
    return _task(world, replace(at, orders=tuple(orders)), "could not convert string to float: '[0-9.]+,")


def _quoted_fields(world: World) -> Task:
    """Some articles have semicolons, line feeds or quotes in their names."""
    at, rng = scene(world), world.twist
    forms = ("{};small", "{}\n{}", '"{}";{}', "{};;\n{}", '{} 2";9')
    chosen = _some(world, at, 5, 16)
    names = {place: rng.choice(forms).format(*rng.sample(NOUNS, 2)) for place in chosen}
    names[chosen[0]] = forms[0].format(rng.choice(NOUNS))
    orders = (replace(order, article=names.get(place, order.article)) for place, order in enumerate(at.orders))
    return _task(world, replace(at, orders=tuple(orders)), "values to unpack")


def _double_keys(world: World) -> Task:
    """Some customers have moved: they are in the file again, further down, in another region."""
    at, rng = scene(world), world.twist
    busy = sorted({order.customer for order in at.orders})
    regions = sorted({region for _, _, region in at.regions} | {rng.choice(REGIONS)} | {"abroad"})
    moved: list[tuple[str, str, str]] = []
    for customer, name, region in at.regions:
        if customer in busy and (rng.random() < 0.3 or customer == busy[0]):
            moved.append((customer, name, rng.choice([other for other in regions if other != region])))
    return _task(world, replace(at, regions=(*at.regions, *moved)), "is there more than once")


def _missing_amounts(world: World) -> Task:
    """Some orders have no amount: the price of the article counts."""
    at = scene(world)
    chosen = _some(world, at, 6, 20)
    orders = (
        replace(order, blank=True, cents=at.prices[order.article]) if place in chosen else order
        for place, order in enumerate(at.orders)
    )
    return _task(world, replace(at, orders=tuple(orders)), "could not convert string to float: ''")


FAMILY = Family(
    name="table-transform",
    summary="a program that joins two tables stops over something in the data",
    causes={
        "decimal-commas": _decimal_commas,
        "quoted-fields": _quoted_fields,
        "double-keys": _double_keys,
        "missing-amounts": _missing_amounts,
    },
    tags=("data", "csv", "json"),
)
