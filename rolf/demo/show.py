"""The demo on a terminal, from the first prompt to the page that it leaves behind."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import gymnasium
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from rolf.demo.episode import play_oracle
from rolf.demo.measure import ResetCost, Throughput, measure_reset, measure_throughput
from rolf.demo.report import Report, write
from rolf.screen import show_diff, show_prompt, show_step
from rolf.step import Step

ENV_ID = "termgym:TermEnv-v1"


def show(task: str, seed: int, shells: int, path: Path) -> Path:
    """Play, print and measure; return where the page is.

    Raises:
        LookupError: there is no such task.
        RuntimeError: this machine cannot run the environment at all.
    """
    console, talk = Console(highlight=False), Console(stderr=True, highlight=False)
    notes: list[str] = []
    env, settings = _make(task, talk, notes)
    try:
        observation, _ = env.reset(seed=seed)
        console.print(Panel(Text(observation["instruction"]), title=f"{ENV_ID}  {task}  seed {seed}", expand=False))
        steps = _play(env, observation, console)
        world: Any = env.unwrapped
        diff = [tuple(change) for change in world.diff()]
        console.print(Text("\nWhat differs from the initial state", style="bold"))
        show_diff(console, diff)
        digest = str(steps[-1].info["state_digest"])
    finally:
        env.close()
    talk.print("\nMeasuring…", style="dim")
    cost = measure_reset(ENV_ID, world.task, **settings)
    throughput = measure_throughput(ENV_ID, shells, task="blank", **settings)
    _print_figures(console, cost, throughput)
    if cost.rsync is None:
        notes.append("rsync, to compare with: sudo apt-get install rsync")
    for note in notes:
        talk.print(Text(f"Missing here: {note}", style="yellow"))
    success = bool(steps[-1].info["success"])
    instruction = observation["instruction"]
    write(Report(ENV_ID, task, instruction, steps, success, diff, digest, cost, throughput, notes), path)
    return path


def _make(task: str, talk: Console, notes: list[str]) -> tuple[gymnasium.Env[Any, Any], dict[str, Any]]:
    """Return the environment and the settings it needed; without bubblewrap say so and go on without isolation."""
    settings: dict[str, Any] = {}
    if shutil.which("bwrap") is None:
        # The demo's commands are our own, so it may run them unisolated; nothing else chooses that by itself.
        notes.append("bubblewrap, so this ran without isolation: sudo apt-get install bubblewrap")
        talk.print(Text(f"Missing here: {notes[-1]}", style="yellow"))
        settings["backend"] = "local-unsafe"
    return gymnasium.make(ENV_ID, task=task, **settings), settings


def _play(env: gymnasium.Env[Any, Any], observation: dict[str, Any], console: Console) -> list[Step]:
    steps = []
    for step in play_oracle(env, observation):
        console.print()
        show_prompt(console, step.cwd, step.command)
        show_step(console, step)
        steps.append(step)
    success = steps[-1].info["success"]
    verdict = Text("\nGoal reached" if success else "\nGoal not reached", style="bold green" if success else "bold red")
    console.print(verdict.append(f", return {sum(step.reward for step in steps):+.3f}", style="default"))
    return steps


def _print_figures(console: Console, cost: ResetCost, throughput: Throughput) -> None:
    console.print(Text("\nWhat it costs on this machine", style="bold"))
    console.print(f"whole reset, home of {cost.files:,} files  {cost.reset * 1000:8.1f} ms")
    if cost.rsync is not None:
        said = f"the reset takes {cost.reset / cost.rsync:.2f} of it"
        console.print(f"one rsync of the same files         {cost.rsync * 1000:8.1f} ms   ({said})")
    console.print(f"{throughput.shells:3} shells in one process            {throughput.rate:8,.0f} steps/s")
