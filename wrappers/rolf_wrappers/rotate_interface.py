"""RotateInterface: one environment through ever other interfaces, so that the task is learned and not the harness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from rolf.interface import Call, CallError, Choice, Interface, Role, Section, Tool, catalogue, namings
from rolf.interface import layouts as layouting
from rolf.interface import prompts as prompting
from rolf.interface.choosing import chosen
from rolf.interface.style import ANSWER_LIMIT
from rolf.interface.subsets import SUBSETS
from rolf.text_space import UnicodeText
from rolf_wrappers.calls import account, world_of
from rolf_wrappers.conversation import LIMIT, Conversation
from rolf_wrappers.streams import Streams

AXES = {"styles": "style", "prompts": "prompt", "layouts": "layout", "names": "names", "subsets": "subset"}
"""What is drawn, by the argument that says what from."""
_SETS = {
    "styles": (catalogue.TRAINING, catalogue.HELD_OUT),
    "prompts": (prompting.TRAINING, prompting.HELD_OUT),
    "layouts": (layouting.TRAINING, layouting.HELD_OUT),
    "names": (namings.TRAINING, namings.HELD_OUT),
    "subsets": (tuple(SUBSETS), ()),
}
"""What each may be drawn from: in training, and held out."""
_DEFAULTS = {
    **dict.fromkeys(("styles", "prompts", "layouts", "names"), "training"),
    "subsets": ["all"],
    "every": "episode",
    "history": False,
}
SYSTEM_LIMIT = 1 << 17
"""Longest description of an interface [characters]."""
EXPANSION = 6
"""Characters that a layout makes of one at most: JSON writes a control character as six."""
ROOM = 1 << 16
"""Longest message beside the environment's own text [characters]."""

Names = str | Sequence[str]


class RotateInterface(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Let a policy read and write text, in a style, wording, layout and vocabulary that change.

    Observations are ``{"system": …, "message": …}``: what holds for the whole episode (purpose, tools, how to call
    them), and what is new. The first message has the task. An action is the text of one call; a policy that thinks in
    the environment's own actions writes it with ``rolf.interface.in_style``. Text that is no call still takes a step,
    the one that the environment has for it, and the next message says what was wrong.

    ``info["interface"]`` tells, in text, what was drawn for the answer to come (``style``, ``prompt``, ``layout``,
    ``names``, ``subset``) and what was read: ``tool`` and ``arguments`` (JSON), or the fault of what was
    ``malformed``. Everything is drawn from a generator of its own, the axes apart: fixing one leaves the others as
    they were.

    Works on every environment that is ``rolf.interface.Tooled``. There is no vector version;
    ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> from rolf.interface import Call
        >>> env = RotateInterface(gym.make("linegym:LineEnv-v1"), styles=["react"], names=["own"])
        >>> observation, info = env.reset(seed=7)
        >>> info["interface"]["style"], info["interface"]["names"]
        ('react', 'own')
        >>> print(env.written(Call("dispatch", {"technician": 0, "station": 3}), thought="It is the bearing."))
        Thought: It is the bearing.
        Action: dispatch
        Action Input: {"technician": 0, "station": 3}
        >>> env.step("Please send somebody.")[4]["interface"]["malformed"][:38]
        "the answer has no line 'Action: NAME' "

    Args:
        env: The environment.
        styles: How calls are described, written and read: ``"training"``, ``"held-out"``, or names
            (``rolf.interface.TRAINING``, ``HELD_OUT``).
        prompts: Wordings of what the policy is told first (``rolf.interface.prompts``).
        layouts: How observations are laid out (``rolf.interface.layouts``).
        names: What tools and parameters are called (``rolf.interface.namings``).
        subsets: How many of the tools are offered (``rolf.interface.subsets``); a task stays solvable with each.
        every: When an interface is drawn: ``"episode"`` or ``"step"``; then every message says how to answer it.
        history: Whether a message tells the whole episode so far, for policies that remember nothing.

    Raises:
        TypeError: the environment has no tools.
        LookupError: a name is none.
        ValueError: a set of names is none.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        *,
        styles: Names = "training",
        prompts: Names = "training",
        layouts: Names = "training",
        names: Names = "training",
        subsets: Names = ("all",),
        every: str = "episode",
        history: bool = False,
    ) -> None:
        given = {"styles": styles, "prompts": prompts, "layouts": layouts, "names": names, "subsets": subsets}
        plain: dict[str, Any] = {axes: each if isinstance(each, str) else list(each) for axes, each in given.items()}
        plain |= {"every": every, "history": history}
        # What a variant leaves out its recordings leave out too: then the two are equal, and can be compared.
        recorded = {name: value for name, value in plain.items() if value != _DEFAULTS[name]}
        RecordConstructorArgs.__init__(self, **recorded)
        gym.Wrapper.__init__(self, env)
        self._world = world_of(env)
        if every not in ("episode", "step"):
            raise ValueError(f"every={every!r}; give 'episode' or 'step'")
        # What is worth trying there (rolf.checks) would be no text here.
        self.metadata = {key: value for key, value in env.metadata.items() if key != "actions"}
        self._choices = {axis: chosen(axes, given[axes], *_SETS[axes]) for axes, axis in AXES.items()}
        self._every_step = every == "step"
        self._history = history
        self._conversation: Conversation | None = None
        self.streams = Streams(self, "", tuple(AXES.values()))
        self._interface: Interface | None = None
        self._made: dict[tuple[Choice, tuple[Tool, ...]], Interface] = {}
        self.action_space = UnicodeText(ANSWER_LIMIT)
        self.observation_space = spaces.Dict(
            {"message": UnicodeText(self._longest_message()), "system": UnicodeText(SYSTEM_LIMIT)}
        )

    @property
    def interface(self) -> Interface:
        """The interface that the policy has now.

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        if self._interface is None:
            raise gym.error.ResetNeeded("no episode has begun, so no interface was drawn; call reset() first")
        return self._interface

    def written(self, call: Call, thought: str = "") -> str:
        """Return the action that makes a call, given under the environment's own names, in the present interface.

        Raises:
            CallError: the interface does not offer it, or the call is not allowed.
        """
        return self.interface.write(call, thought)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and draw an interface."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.streams.restart(self.env, seed)
        self._draw()
        self._conversation = Conversation() if self._history else None
        return self._shown(observation, info, _NOTHING)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Read the call, and take it as a step; where there is none, take the step that stands for that."""
        done = self._read(action)
        taken = self._world.malformed(done.fault) if done.call is None else self._world.action_of(done.call)
        observation, reward, terminated, truncated, info = self.env.step(taken)
        if self._conversation is not None:
            self._conversation.answered(action)
        if self._every_step:
            self._draw()
        shown, told = self._shown(observation, info, done)
        return shown, reward, terminated, truncated, told

    def _draw(self) -> None:
        drawn = {axis: names[int(self.streams[axis].integers(len(names)))] for axis, names in self._choices.items()}
        key = (Choice(**drawn), self._world.tools)
        if key not in self._made:
            self._made[key] = Interface(*key, self._world.purpose)
        self._interface = self._made[key]

    def _read(self, text: str) -> _Done:
        interface = self.interface
        try:
            call = interface.read(text)
        except CallError as error:
            return _Done(None, str(error), "")
        return _Done(call, "", interface.did(call))

    def _shown(self, observation: Any, info: Mapping[str, Any], done: _Done) -> tuple[dict[str, str], dict[str, Any]]:
        """Return an observation and what is known of it as the policy sees them."""
        interface = self.interface
        sections = self._world.told(observation, info)
        # Where the environment itself tells the fault, it is told once.
        if done.fault and not any(done.fault in str(section.value) for section in sections):
            sections = (Section("error", done.fault, Role.OUTPUT), *sections)
        message = interface.message(sections, done.did)
        if self._every_step:
            message = f"{message}\n\n{interface.instructions}"
        if self._conversation is not None:
            message = self._conversation.told(message)
        told = {**interface.choice.as_json(), **account(done.call, done.fault)}
        return {"message": message, "system": interface.system}, {**info, "interface": told}

    def _longest_message(self) -> int:
        one = EXPANSION * sum(_lengths(self.env.observation_space)) + ROOM + SYSTEM_LIMIT * self._every_step
        return 2 * one + LIMIT if self._history else one


class _Done(NamedTuple):
    """What became of a policy's text."""

    call: Call | None
    fault: str
    """Why it is no call; empty: it is one."""
    did: str
    """What it does, in short."""


_NOTHING = _Done(None, "", "")


def _lengths(space: gym.Space[Any]) -> Iterator[int]:
    """Yield the longest length of every text in a space."""
    if isinstance(space, spaces.Text):
        yield space.max_length
    elif isinstance(space, spaces.Dict):
        for each in space.values():
            yield from _lengths(each)
    elif isinstance(space, spaces.Tuple):
        for each in space:
            yield from _lengths(each)
