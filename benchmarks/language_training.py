"""Time an iteration of rolf's multi-turn PPO beside one of TRL's GRPO, in real terminals, and print the ratio.

    python benchmarks/language_training.py [--episodes N] [--turns N] [--tokens N] [--rounds N] [--json FILE]
        [--model MODULE:FUNCTION --layers N]

Both train the same model from the same weights (0.84 million, Qwen3's architecture, shown some solutions first) on the
same tasks: so many files are to be written, one a command. Both have as many episodes an iteration, as many terminals,
as many answers an episode, as long ones at most, the same texts, temperature 1, and one pass and one step of AdamW in
32-bit floats, in one process and one thread, turn by turn; nothing is logged, kept, evaluated or checkpointed in the
gradient, and there is no reference model. What is compared is the tokens with a loss, as each side's own masks have
them, for a second of processor time: of this process, and with the terminals' processes below it.

What remains different. PPO trains a critic, and asks it at every token; GRPO has none, and plays each task eight times
instead. PPO runs all calls; TRL ends an episode with an answer whose call is not run, so it runs one command fewer. An
answer that is no call ends TRL's episode; in PPO's it is a turn. A grammar, which TRL has with vLLM only, leaves tokens
that nothing was chosen at; those have no loss, so that there are fewer to count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import warnings
from contextlib import ExitStack, closing
from pathlib import Path
from time import process_time
from typing import Any

import gymnasium
import torch
from language_sides import Ours, Theirs, Work, ours, settings, theirs
from language_terminal import ENV, TASKS, Terminal, task

from rolf_adapters.ppo.language import tiny
from rolf_adapters.ppo.language.learner import LanguageLearner
from rolf_adapters.ppo.language.loading import loaded

ROWS = {
    "trained": "tokens with a loss",
    "passed": "tokens forward and backward",
    "answers": "answers",
    "generation": "generation and texts [s]",
    "environment": "environment [s]",
    "update": "update [s]",
    "own": "together [s]",
    "terminals": "processes below [s]",
    "trained rate": "tokens with a loss a second",
    "passed rate": "tokens a second",
    "whole rate": "with a loss, processes below too",
}
"""What the table shows, and how it is called there; seconds are of processor time."""


def begun(given: argparse.Namespace) -> tuple[Any, Any]:
    """Return the model that both begin from, which mostly writes calls, and its tokenizer."""
    if given.model == "tiny":
        known = [task(number, given.turns) for number in range(TASKS)]
        answers = [f'{{"command": "{plan.command}"}}' for each in known for plan in each.oracle]
        told = [each.instruction for each in known]
        words = tiny.tokenizer([*told, *answers, "[exit_code 0, event DONE]\n/home/agent$ "])
        model = tiny.model(words)
    else:
        model, words = loaded(given.model, 0)
        words.chat_template = tiny.CHATML
    warm = {
        "policy": "termgym.policies.oracle:Oracle",
        "episodes": given.shown,
        "epochs": given.epochs,
        "batch": 8,
        "learning_rate": 1e-3 if given.model == "tiny" else 1e-4,
    }
    learner = LanguageLearner(settings(given, grammar=False, warm=warm), model, words)
    try:
        learner.iterate(0)
    finally:
        learner.close()
    return model, words


def measured(given: argparse.Namespace) -> dict[str, list[Work]]:
    """Return the iterations of each side."""
    model, words = begun(given)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        free, held = (
            stack.enter_context(closing(ours(given, model, words, grammar=grammar))) for grammar in (False, True)
        )
        sides: dict[str, Ours | Theirs] = {
            "ours": free,
            "TRL GRPO": theirs(given, model, words, folder),
            "ours, with a grammar": held,
        }
        works: dict[str, list[Work]] = {name: [] for name in sides}
        for number in range(given.rounds + 1):  # the first warms up
            for name, side in sides.items():
                work = side.iteration(number)
                if number:
                    works[name].append(work)
        return works


def rates(work: Work) -> dict[str, float]:
    """Return an iteration's figures."""
    return {
        **work._asdict(),
        "trained rate": work.trained / work.own,
        "passed rate": work.passed / work.own,
        "whole rate": work.trained / (work.own + work.terminals),
    }


def show(figures: dict[str, dict[str, float]], ratios: dict[str, dict[str, float]]) -> None:
    """Print the medians of each side, and how ours are to TRL's."""
    print(f"{'':<34}" + "".join(f"{side:>22}" for side in figures))
    for name, label in ROWS.items():
        digits = 2 if label.endswith("[s]") else 0
        print(f"{label:<34}" + "".join(f"{each[name]:>22.{digits}f}" for each in figures.values()))
    for name, by_side in ratios.items():
        print(f"{ROWS[name]}, over TRL GRPO: " + "; ".join(f"{side} {ratio:.2f}" for side, ratio in by_side.items()))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=32, help="a multiple of 8; three times as many terminals")
    parser.add_argument("--turns", type=int, default=2, help="answers of an episode, and files to be written in it")
    parser.add_argument("--tokens", type=int, default=32, help="of the longest answer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default="tiny", help="rolf_adapters.ppo.language.smollm2:model, or a folder")
    parser.add_argument("--layers", type=int, help="how many of the upper ones learn, on both sides; all")
    parser.add_argument("--shown", type=int, default=48, help="solutions that the model is shown before")
    parser.add_argument("--epochs", type=int, default=15, help="times that it is shown them")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    torch.set_num_threads(1)
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"  # it warns that environment_factory may change
    warnings.simplefilter("ignore", FutureWarning)  # of transformers, to TRL
    gymnasium.register(ENV, Terminal)
    rounds = {side: [rates(work) for work in works] for side, works in measured(given).items()}
    figures = {
        side: {name: statistics.median(each[name] for each in some) for name in some[0]}
        for side, some in rounds.items()
    }
    ratios = {
        name: {side: each[name] / figures["TRL GRPO"][name] for side, each in figures.items() if side != "TRL GRPO"}
        for name in ("trained rate", "passed rate", "whole rate")
    }
    show(figures, ratios)
    print(f"[{process_time():.0f} s of this process in all]")
    if given.json:
        given.json.write_text(json.dumps({"figures": figures, "ratios": ratios, "rounds": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
