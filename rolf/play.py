"""A person in the agent's chair: lines in, what the agent would get back out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

import gymnasium
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from rolf.interrupt import Interrupts
from rolf.screen import show_checks, show_diff, show_prompt, show_step
from rolf.step import Step, tell

ENV_ID = "termgym:TermEnv-v1"


class Play:
    """One environment and the conversation with it; use as a context manager."""

    def __init__(self, task: str, *, seed: int, backend: str, reward: str) -> None:
        self._task = task
        self._seed = seed
        self._console = Console(highlight=False)
        self._talk = Console(stderr=True, highlight=False, style="dim")
        self._env: gymnasium.Env[Any, Any] = gymnasium.make(ENV_ID, task=task, backend=backend, reward=reward)
        self._world: Any = self._env.unwrapped
        self._observation: dict[str, Any] = {}
        self._saved: Any = None
        self._return = 0.0
        self._over = False
        self._interrupts = Interrupts(self._type_interrupt)
        self._shell: Any = None
        self._latest: Step | None = None
        self._held: int | None = None
        self._explained = False
        self._verbs: dict[str, Callable[[str], None]] = {
            "keys": self._keys,
            "submit": self._submit,
            "plan": self._plan,
            "task": self._instruction,
            "goal": self._goal,
            "diff": self._diff,
            "save": self._save,
            "restore": self._restore,
            "reset": self._reset,
            "help": self._help,
        }

    def __enter__(self) -> Self:
        self._reset("")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._env.close()

    def run(self) -> None:
        """Talk until ``:quit`` or the end of the input."""
        self._talk.print("A line is a command, ^C interrupts it; :help lists what else there is, :quit ends.")
        if not sys.stdin.isatty():  # a script that is interrupted ends
            self._converse(line.rstrip("\n") for line in sys.stdin)
            return
        with self._interrupts:
            self._converse(self._typed_lines())

    def _converse(self, lines: Iterator[str]) -> None:
        for line in lines:
            verb, _, rest = line[1:].partition(" ") if line.startswith(":") else ("", "", "")
            if verb == "quit":
                return
            if verb in self._verbs:
                self._verbs[verb](rest)
            elif verb.isalpha():
                self._talk.print(Text(f"no {line.split()[0]!r} here; there are {self._verb_list()}"))
            elif line.strip():
                self._act(line, json.dumps({"command": line}))

    def _typed_lines(self) -> Iterator[str]:
        import readline  # noqa: F401 # importing it gives input() its history and editing

        while True:
            try:
                with self._interrupts.raised():
                    line = input(f"{self._observation['cwd']}{'# over ' if self._over else '$ '}")
            except EOFError:
                return
            except KeyboardInterrupt:
                self._talk.print()  # the line is dropped, as a shell does
                continue
            yield line

    def _type_interrupt(self) -> None:
        """Type ^C at the command that runs; called in a signal handler, amid a step."""
        self._shell.interrupt()

    def _act(self, said: str, action: str) -> None:
        """Take one step and show what came of it."""
        if self._over:
            self._talk.print("the episode is over; :reset begins another, :quit ends")
            return
        if not sys.stdin.isatty():
            show_prompt(self._console, self._observation["cwd"], said)
        before, begun = self._observation, time.perf_counter()
        self._shell = self._world.episode.session
        with self._interrupts.passed_on():
            self._observation, reward, terminated, truncated, info = self._env.step(action)
        seconds = time.perf_counter() - begun
        self._return += float(reward)
        step = self._latest = tell(said, before, self._observation, float(reward), info, seconds)
        show_step(self._console, step, goal=False)
        self._show_progress(step)
        self._explain_forecasts(step)
        if info["event"] == "WAITING_INPUT":
            self._talk.print("the program waits: `:keys TEXT Enter` types into it, another command ends it first")
        if terminated or truncated:
            self._over = True
            self._finish(bool(info["success"]), truncated)

    def _show_progress(self, step: Step) -> None:
        """Say how much of the goal holds when that has changed."""
        held = sum(passed for _, passed in step.goal)
        if step.goal and held != self._held:
            self._held = held
            self._console.print(Text(f"  goal: {held} of {len(self._world.task.goal)} hold", style="cyan"))

    def _explain_forecasts(self, step: Step) -> None:
        """Say once why an ordinary command costs something."""
        if step.terms.get("plan_quality") and not self._explained and not step.command.startswith(":"):
            self._explained = True
            self._talk.print("plan_quality: a plain line forecasts exit code 0, and a forecast that fails costs")
            self._talk.print('`:plan {"command": "false", "expected_exit_code": 1}` makes another; null makes none')

    def _finish(self, success: bool, truncated: bool) -> None:
        said = "goal reached" if success else "out of steps or time" if truncated else "goal not reached"
        self._console.print(Text(f"episode over: {said}, return {self._return:+.3f}", style="bold"))
        self._diff("")

    def _keys(self, rest: str) -> None:
        if not rest.strip():
            self._talk.print("usage: `:keys TEXT [KEY]...`, e.g. `:keys y Enter` or `:keys C-c`")
            return
        self._act(f":keys {rest}", json.dumps({"keys": rest}))

    def _submit(self, _: str) -> None:
        self._act(":submit", json.dumps({"submit": True}))

    def _plan(self, rest: str) -> None:
        """Any action as it is, valid or not: the environment answers."""
        self._act(f":plan {rest}", rest)

    def _instruction(self, _: str) -> None:
        text = self._observation["instruction"] or "There is no goal; look around."
        self._console.print(Panel(Text(text), title=f"{self._task}  seed {self._seed}", expand=False))

    def _goal(self, _: str) -> None:
        checks = len(self._world.task.goal)
        known = self._latest.goal if self._latest is not None else ()
        show_checks(self._console, known)
        if not checks:
            self._console.print("there is no goal here")
        elif len(known) < checks:
            reason = "they are looked at after each step" if not known else "they are once these hold"
            self._console.print(Text(f"    {checks - len(known)} of {checks} checks not looked at yet: {reason}"))

    def _diff(self, _: str) -> None:
        show_diff(self._console, self._world.diff())

    def _save(self, _: str) -> None:
        try:
            self._saved = self._world.save()
        except RuntimeError as error:  # after the end, or while a program waits: the message says so
            self._talk.print(Text(str(error)))
            return
        self._talk.print("saved: files, working directory and exported variables; :restore puts them back")

    def _restore(self, _: str) -> None:
        if self._saved is None:
            self._talk.print("nothing is saved yet; :save first")
            return
        self._observation, _ = self._world.restore(self._saved)
        self._over = False
        self._talk.print("restored; programs that were running are gone")

    def _reset(self, rest: str) -> None:
        if rest:
            if not rest.strip().isdigit():
                self._talk.print(Text(f"{rest!r} is no seed; :reset takes a whole number of zero or more, or nothing"))
                return
            self._seed = int(rest)
        self._observation, _ = self._env.reset(seed=self._seed)
        self._return, self._over, self._saved = 0.0, False, None
        self._latest = self._held = None
        self._instruction("")

    def _help(self, _: str) -> None:
        for line in (
            ":keys TEXT     type into the program that waits, e.g. `:keys y Enter` or `:keys C-c`",
            ":plan JSON     any action as it is",
            ":goal          what is checked, and what of it holds",
            ":submit        say that you are done",
            ":diff          what differs from the initial state",
            ":save          keep files, working directory and exported variables",
            ":restore       put back what was kept",
            ":reset [SEED]  begin again, in another world if a seed is given",
            ":task          show the instruction again",
            ":quit          end",
        ):
            self._talk.print(Text(line))

    def _verb_list(self) -> str:
        return ", ".join(f":{verb}" for verb in (*self._verbs, "quit"))
