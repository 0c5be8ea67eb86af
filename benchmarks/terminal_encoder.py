"""Read what real terminals print with the terminal encoder and without it, and print how well each is understood.

    python benchmarks/terminal_encoder.py [--model tiny|smollm2] [--steps N] [--seeds N] [--json FILE]

Real `ps u`, `ls -l` and `df` in `TermEnv-v1`, laid out as the trainer lays them out, each with a question that one row
of the table answers: who owns a process, who owns a file, how many blocks of a place are used. A model learns to say
the text and the answer, with the encoder and without, in the same steps on the same batches. It is then asked about
tables that it never saw: processes, files and numbers are others. Told are the perplexity of the tables, the share of
questions that a greedy answer gets right, and the differences with intervals over the tables.

``tiny`` is trained from nothing (0.84 million weights); of SmolLM2 the two upper layers and the encoder learn. Needs
root, for the processes and files belong to several users, and runs the commands as an ordinary one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rolf.interface.layouts import layout
from rolf.statistics import paired_difference
from rolf_adapters.ppo.language import tiny
from rolf_adapters.ppo.language.encoder import TerminalEncoder
from rolf_adapters.ppo.language.policy import LanguagePolicy, padded
from rolf_adapters.ppo.language.template import Template
from termgym.env import TermEnv

USERS = ("root", "daemon", "games", "man", "mail", "news", "www-data", "nobody")
ROWS = 4
"""Of a table."""
ALIVE = 16
"""Processes that there are at once; others take their places after some tables."""
KINDS = ("ps", "ls", "df")


class Text(NamedTuple):
    """What a terminal printed, a question and its answer."""

    kind: str
    shown: str
    question: str
    answer: str


class Row(NamedTuple):
    """A text as tokens."""

    ids: list[int]
    table: tuple[int, int]
    """First and behind the last token of what was printed."""
    answer: int
    """First token of the answer; it reaches to the end."""


# ---- real tables


class Terminal:
    """A terminal that sees the machine's processes and files.

    Args:
        backend: Of `TermEnv`.
    """

    def __init__(self, backend: str) -> None:
        self.env = TermEnv(backend=backend, max_steps=2**31 - 1)
        self.env.reset(seed=0)

    def show(self, command: str) -> str:
        """Return what the trainer would say of a command."""
        observation, _, _, _, info = self.env.step(json.dumps({"command": command}))
        return layout("transcript")(self.env.told(observation, info), command)


@contextmanager
def processes(draw: random.Random) -> Iterator[dict[int, str]]:
    """Yield the ids of processes and who they belong to."""
    started = {}
    try:
        for _ in range(ALIVE):
            user = draw.choice(USERS)
            argv = ("sleep", str(draw.randrange(600, 90_000)))
            group = subprocess.run(("id", "-g", user), capture_output=True, text=True, check=True).stdout
            each = subprocess.Popen(argv, user=user, group=int(group), extra_groups=[], cwd="/")
            started[each] = user
        yield {each.pid: user for each, user in started.items()}
    finally:
        for each in started:
            each.kill()
            each.wait()


def tables_of_processes(terminal: Terminal, draw: random.Random, count: int) -> Iterator[Text]:
    """Yield tables of ``ps u``."""
    while count > 0:
        with processes(draw) as owners:
            for _ in range(min(count, 16)):
                count -= 1
                shown = draw.sample(sorted(owners), ROWS)
                asked = draw.choice(shown)
                text = terminal.show(f"ps u -p {','.join(map(str, shown))}")
                yield Text("ps", text, f"who owns pid {asked}?", owners[asked])


def tables_of_files(terminal: Terminal, draw: random.Random, count: int) -> Iterator[Text]:
    """Yield tables of ``ls -l``."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    for _ in range(count):
        with tempfile.TemporaryDirectory() as place:
            os.chmod(place, 0o755)
            owners = {}
            for _ in range(ROWS):
                name = "".join(draw.choices(letters, k=4)) + draw.choice((".txt", ".log", ".csv"))
                owners[name] = draw.choice(USERS)
                file = Path(place, name)
                with file.open("wb") as opened:
                    opened.truncate(draw.randrange(10 ** draw.randrange(1, 7)))
                uid = int(subprocess.run(("id", "-u", owners[name]), capture_output=True, check=True).stdout)
                os.chown(file, uid, 0)
            asked = draw.choice(sorted(owners))
            yield Text("ls", terminal.show(f"ls -l {place}"), f"who owns {asked}?", owners[asked])


def tables_of_places(terminal: Terminal, draw: random.Random, count: int) -> Iterator[Text]:
    """Yield tables of ``df``; places are filled before each."""
    places = ("/tmp", "/dev/shm", "/home/agent", "/srv")
    for _ in range(count):
        for place in places:
            terminal.show(f"head -c {draw.randrange(10 ** draw.randrange(4, 8))} /dev/zero > {place}/filled")
        text = terminal.show(f"df {' '.join(places)}")
        rows = [line.split() for line in text.splitlines() if line.count("%") == 1]
        used = {row[-1]: row[2] for row in rows if row[2].isdigit()}
        asked = draw.choice(sorted(used))
        yield Text("df", text, f"how many blocks of {asked} are used?", used[asked])


def texts(seed: str, count: int) -> list[Text]:
    """Return that many texts of each kind."""
    draw = random.Random(seed)
    bare, jailed = Terminal("local-unsafe"), Terminal("local")
    try:
        makers = (
            (tables_of_processes, bare),
            (tables_of_files, bare),
            (tables_of_places, jailed),
        )
        return [text for make, terminal in makers for text in make(terminal, draw, count)]
    finally:
        bare.env.close()
        jailed.env.close()


# ---- learning


def tokens(text: Text, template: Template) -> Row:
    """Return a text as the trainer would put it to the model, with the answer."""
    begin = template.begin("", f"{text.shown}\n\n{text.question}")
    table = template.text(text.shown)
    at = next(place for place in range(len(begin)) if begin[place : place + len(table) - 2] == table[:-2])
    answer = (*template.text(text.answer), template.end)
    return Row([*begin, *answer], (at, at + len(table) - 2), len(begin))


def losses(policy: LanguagePolicy, rows: Sequence[Row]) -> tuple[list[Tensor], list[bool]]:
    """Return the loss of each token of each row behind the first, and whether the likeliest answer is the right one."""
    ids = padded([row.ids for row in rows])
    logps = policy.logits(policy.read(ids).hidden[:, :-1]).log_softmax(-1)
    found = -logps.gather(-1, ids[:, 1:, None])[..., 0]
    right = logps.argmax(-1) == ids[:, 1:]
    parts = [each[: len(row.ids) - 1] for each, row in zip(found, rows, strict=True)]
    return parts, [bool(each[row.answer - 1 : len(row.ids) - 1].all()) for each, row in zip(right, rows, strict=True)]


def learn(policy: LanguagePolicy, rows: Sequence[Row], steps: int, batch: int, rate: float, seed: int) -> float:
    """Teach a policy texts and answers; return the processor time of a step [s]."""
    trained = [each for name, each in policy.trained() if not name.startswith("critic.")]
    optimiser = torch.optim.AdamW(trained, rate, weight_decay=0.0)
    draw = random.Random(seed)
    began = process_time()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 10, 2 * (steps - step) / steps)
        part = draw.sample(list(rows), batch)
        told, _ = losses(policy, part)
        answers = [each[row.answer - 1 :] for each, row in zip(told, part, strict=True)]
        optimiser.zero_grad(set_to_none=True)
        (torch.cat(told).mean() + torch.cat(answers).mean()).backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
    return (process_time() - began) / steps


class Understood(NamedTuple):
    """How well texts are understood, one entry a text."""

    table: list[float]
    """Mean loss of the tokens that were printed [nats]."""
    right: list[float]
    """1 where the answer is right."""


def understood(policy: LanguagePolicy, rows: Sequence[Row], batch: int) -> Understood:
    """Return how well a policy understands texts."""
    tables: list[float] = []
    right: list[float] = []
    with torch.inference_mode():
        for begin in range(0, len(rows), batch):
            part = rows[begin : begin + batch]
            told, good = losses(policy, part)
            for each, row in zip(told, part, strict=True):
                tables.append(float(each[row.table[0] - 1 : row.table[1] - 1].mean()))
            right += map(float, good)
    return Understood(tables, right)


# ---- comparing


Maker = Callable[[int], tuple[Any, Any]]


def small(shown: Sequence[Text]) -> Maker:
    """Return what makes models from nothing, with a tokenizer of such texts."""
    words = tiny.tokenizer(f"{text.shown}\n\n{text.question} {text.answer}" for text in shown)
    return lambda seed: (tiny.model(words, seed=seed, window=1024), words)


def smollm2(_shown: Sequence[Text]) -> Maker:
    """Return what loads SmolLM2."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from rolf_adapters.smollm2 import unpacked

    place = unpacked()
    return lambda _seed: (
        AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, local_files_only=True),
        AutoTokenizer.from_pretrained(place, local_files_only=True),
    )


def compared(given: argparse.Namespace, shown: Sequence[Text], held: Sequence[Text]) -> dict[str, Any]:
    """Return how well held-out texts are understood: with the encoder and without, one list a seed."""
    make = (small if given.model == "tiny" else smollm2)(shown)
    layers = None if given.model == "tiny" else 2
    results: dict[str, Any] = {"with": [], "without": [], "seconds": {"with": [], "without": []}}
    for seed in range(given.seeds):
        for name in ("without", "with"):
            model, words = make(seed)
            template = Template(words, system=False)
            rows, asked = ([tokens(text, template) for text in part] for part in (shown, held))
            encoder = TerminalEncoder(model, words, seed=seed) if name == "with" else None
            policy = LanguagePolicy(model, layers=layers, encoder=encoder, seed=seed)
            results["seconds"][name].append(learn(policy, rows, given.steps, given.batch, given.rate, seed))
            results[name].append(understood(policy, asked, given.batch))
            told = results[name][-1]
            print(f"seed {seed}, {name} the encoder: right {np.mean(told.right):.3f}", flush=True)
    return results


def report(results: dict[str, Any], held: Sequence[Text]) -> dict[str, Any]:
    """Print and return the figures of each kind of table."""
    figures: dict[str, Any] = {"seconds": {name: float(np.mean(each)) for name, each in results["seconds"].items()}}
    print(
        "processor time of a step [s]: " + ", ".join(f"{name} {each:.2f}" for name, each in figures["seconds"].items())
    )
    for kind in (*KINDS, "all"):
        chosen = [number for number, text in enumerate(held) if kind in (text.kind, "all")]
        arms = {}
        for name in ("with", "without"):
            arms[name] = [
                np.array([getattr(told, part) for told in results[name]]).T[chosen] for part in Understood._fields
            ]
        told = {}
        for place, part in enumerate(Understood._fields):
            a, b = arms["with"][place], arms["without"][place]
            apart = paired_difference(a, b, bounds=(0.0, 1.0) if part == "right" else None)
            told[part] = {"with": a.mean(), "without": b.mean(), "apart": [apart.estimate, apart.low, apart.high]}
        figures[kind] = told
        tables, right = told["table"], told["right"]
        print(
            f"{kind:>4}: perplexity {np.exp(tables['without']):.3f} -> {np.exp(tables['with']):.3f} "
            f"(loss {said(tables['apart'])}), right {right['without']:.3f} -> {right['with']:.3f} "
            f"({said(right['apart'])}), {len(chosen)} tables"
        )
    return figures


def said(apart: Sequence[float | None]) -> str:
    """Return a difference with its interval."""
    estimate, low, high = (float("nan") if each is None else each for each in apart)
    return f"{estimate:+.3f} [{low:+.3f}, {high:+.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("tiny", "smollm2"), default="tiny")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=200, help="of each kind, to learn from")
    parser.add_argument("--held", type=int, default=60, help="of each kind, that are held out")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if os.getuid() != 0:
        parser.error("it starts processes and makes files of several users, which only root may; run it as root")
    torch.set_num_threads(1)
    shown, held = texts("shown", given.texts), texts("held out", given.held)
    print(f"{held[0].shown}{held[0].question} {held[0].answer}\n")
    figures = report(compared(given, shown, held), held)
    if given.json:
        given.json.write_text(json.dumps({"settings": vars(given) | {"json": None}, **figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
