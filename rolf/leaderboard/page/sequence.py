"""Other episodes as the page shows them: what was done when, what it was worth, what the environment tells of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rolf.evaluation.narration import Deed, Narration, Narrator
from rolf.evaluation.recording import Recorded
from rolf.exhibit import Block, Chart, Charts, Figures, Prose, Table
from rolf.leaderboard.page.text import title

STEPS = 5_000
"""Steps shown of an episode."""
LANES = 12
"""Kinds of actions that have a line of their own; the others share one."""
FACTS = 60
"""Figures shown of what the last step told."""
ROWS = 200
"""Rows shown of a table."""


def sequence_view(recorded: Recorded, environment: object) -> dict[str, Any]:
    """Return an episode as plain data.

    Args:
        recorded: The episode.
        environment: The module that offers what it was played in; None: it is not installed here.
    """
    actions = [_own(action) for action in recorded.actions]
    narration, note = _narrated(recorded, actions, environment)
    lanes = _lanes(narration.deeds)
    words: dict[str, int] = {}
    steps = []
    for deed in narration.deeds[:STEPS]:
        lane = lanes.get(deed.lane, len(lanes) - 1) if deed.lane else -1
        steps.append([lane, words.setdefault(title(deed.words, 120), len(words))])
    return {
        "kind": "sequence",
        "lanes": list(lanes),
        "words": list(words),
        "steps": steps,
        "steps_left_out": max(0, len(actions) - STEPS),
        "rewards": [float(reward) for reward in recorded.ending.rewards[:STEPS]],
        "blocks": [shown for block in narration.blocks if (shown := _block(block))],
        "facts": _facts(recorded.ending.info)[:FACTS],
        "note": note,
        "state_digest": recorded.state_digest,
    }


def _own(action: Any) -> Any:
    return action[0] if isinstance(action, Sequence) and not isinstance(action, str) and len(action) == 1 else action


def _narrated(recorded: Recorded, actions: Sequence[Any], environment: object) -> tuple[Narration, str]:
    """Return what the environment tells of an episode, or the bare actions and why it tells nothing."""
    if recorded.seed is None:
        return _bare(actions), "it has no seed, so that it cannot be done again"
    if environment is None:
        return _bare(actions), f"{title(recorded.env_id)} is not installed where this page was made"
    if not isinstance(environment, Narrator):
        return _bare(actions), ""
    try:
        return environment.narrate(recorded.variant, recorded.seed, actions), ""
    except ValueError as error:
        return _bare(actions), f"it cannot be told: {title(error, 300)}"


def _bare(actions: Iterable[Any]) -> Narration:
    plain = [json.dumps(action) for action in actions]
    few = len(set(plain)) <= LANES
    return Narration(tuple(Deed(text if few else "action", text) for text in plain))


def _lanes(deeds: Iterable[Deed]) -> dict[str, int]:
    """Return the lanes in the order in which they are first used."""
    names = list(dict.fromkeys(deed.lane for deed in deeds if deed.lane))
    kept = names if len(names) <= LANES else [*names[: LANES - 1], "other"]
    return {title(name, 24): number for number, name in enumerate(kept)}


def _block(block: Block) -> dict[str, Any] | None:
    """Return a block as plain data; pictures have no place in a page that loads none."""
    match block:
        case Prose():
            return {"type": "prose", "text": title(block.text, 2_000)}
        case Figures():
            figures = [[title(each.value), title(each.label), title(each.note)] for each in block.figures]
            return {"type": "figures", "figures": figures}
        case Table():
            rows = [[title(cell, 120) for cell in row] for row in block.rows[:ROWS]]
            shown = {"title": title(block.title, 200), "headings": [title(each) for each in block.headings]}
            left = max(0, len(block.rows) - ROWS)
            return {"type": "table", **shown, "numbers": sorted(block.numbers), "rows": rows, "left_out": left}
        case Charts():
            return {"type": "charts", "charts": [_chart(each) for each in block.charts]}
        case _:
            return None


def _chart(chart: Chart) -> dict[str, Any]:
    return {
        "title": title(chart.title),
        "across": title(chart.across),
        "series": [{"name": title(each.name), "points": each.points[:STEPS]} for each in chart.series],
        "least": chart.least,
        "most": chart.most,
    }


def _facts(info: Mapping[str, Any], inside: str = "") -> list[list[str]]:
    """Return the figures and words of an info, those one level deeper included; arrays are left out."""
    facts = []
    for key, value in info.items():
        name = title(f"{inside}{key}")
        if isinstance(value, Mapping) and not inside:
            facts += _facts(value, f"{key}: ")
        elif isinstance(value, bool):
            facts.append([name, "yes" if value else "no"])
        elif isinstance(value, float):
            facts.append([name, f"{value:.6g}"])
        elif isinstance(value, (str, int)):
            facts.append([name, title(str(value), 120)])
    return facts
