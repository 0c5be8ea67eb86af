"""The demo on a terminal, from the first prompt to the page that it leaves behind."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import gymnasium
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from rolf.demo.episode import play
from rolf.demo.exhibition import exhibit
from rolf.demo.measure import ResetCost, Throughput, measure_reset, measure_throughput
from rolf.demo.report import Report, write
from rolf.environments import environments
from rolf.screen import show_diff, show_prompt, show_step
from rolf.step import Step

ENV_ID = "termgym:TermEnv-v1"


def show(task: str, seed: int, shells: int, lines: int, path: Path) -> Path:
    """Play, print and measure; return where the page is.

    Raises:
        LookupError: there is no such task.
        RuntimeError: this machine cannot run an environment at all, or has no room for the page.
    """
    console, talk = Console(highlight=False), Console(stderr=True, highlight=False)
    report = _terminal(task, seed, shells, console, talk)
    sections = [section for each in environments().values() for section in exhibit(each, lines, seed, console, talk)]
    try:
        write(dataclasses.replace(report, sections=sections), path)
    except OSError as error:
        raise RuntimeError(f"the page could not be written to {str(path)!r}: {error.strerror}") from error
    return path


def _terminal(task: str, seed: int, shells: int, console: Console, talk: Console) -> Report:
    """Play an episode in a terminal, and measure what it costs."""
    notes: list[str] = []
    env, observation, settings = _begin(task, seed, talk, notes)
    world: Any = env.unwrapped
    try:
        what = world.task.id
        instruction = observation["instruction"] or "A free shell, without a goal."
        console.print(Panel(Text(instruction), title=f"{ENV_ID}  {what}", expand=False))
        steps = _play(env, observation, console)
        diff = [tuple(change) for change in world.diff()]
        console.print(Text("\nWhat differs from the initial state", style="bold"))
        show_diff(console, diff)
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
    return Report(ENV_ID, what, instruction, steps, bool(world.task.goal), diff, cost, throughput, notes)


def _begin(
    task: str, seed: int, talk: Console, notes: list[str]
) -> tuple[gymnasium.Env[Any, Any], dict[str, Any], dict[str, Any]]:
    """Return an environment, its first observation, and the settings that it needed.

    Where nothing can be isolated it says so and goes on with what is there: a free shell without isolation, in which
    the tasks' own paths do not exist.
    """
    settings: dict[str, Any] = {}
    env = gymnasium.make(ENV_ID, task=task)
    try:
        return env, env.reset(seed=seed)[0], settings
    except RuntimeError as error:
        env.close()
        notes.append(f"a sandbox, so this ran a free shell without isolation. {error}")
    talk.print(Text(f"Missing here: {notes[-1]}", style="yellow"))
    # The demo's commands are our own, so it may run them unisolated; nothing else chooses that by itself.
    settings["backend"] = "local-unsafe"
    env = gymnasium.make(ENV_ID, task="blank", **settings)
    return env, env.reset(seed=seed)[0], settings


def _play(env: gymnasium.Env[Any, Any], observation: dict[str, Any], console: Console) -> list[Step]:
    steps = []
    for step in play(env, observation):
        console.print()
        show_prompt(console, step.cwd, step.command)
        show_step(console, step)
        steps.append(step)
    success = steps[-1].info["success"]
    verdict = Text("\nGoal reached" if success else "\nNo goal reached", style="bold green" if success else "bold")
    console.print(verdict.append(f", return {sum(step.reward for step in steps):+.3f}", style="default"))
    return steps


def _print_figures(console: Console, cost: ResetCost, throughput: Throughput) -> None:
    console.print(Text("\nWhat it costs on this machine", style="bold"))
    console.print(f"whole reset, home of {cost.files:,} files  {cost.reset * 1000:8.1f} ms")
    if cost.rsync is not None:
        said = f"the reset takes {cost.reset / cost.rsync:.2f} of it"
        console.print(f"one rsync of the same files         {cost.rsync * 1000:8.1f} ms   ({said})")
    console.print(f"{throughput.shells:3} shells in one process            {throughput.rate:8,.0f} steps/s")
