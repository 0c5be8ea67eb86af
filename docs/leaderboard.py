"""Write docs/reference/leaderboard.md from a board: `rolf board render submissions --json board.json`, then this.

python docs/leaderboard.py board.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "reference" / "leaderboard.md"
HEAD = """# The leaderboard

Where the policies stand that come with rolf. `python benchmarks/baselines.py` plays them, and
`rolf board render submissions --html board.html` makes the page with profiles, curves, pairs and episodes. This summary
is written by `python docs/leaderboard.py`. Put your own submission beside them:
[enter the leaderboard](../how-to/enter-the-leaderboard.md).

Every figure is a mean with its 95 % interval for *new* variants of the same kind
([what that means](../explanation/statistics.md)). `name[:N]` is the first N variants of a split: they come in the
order of a hash, so the first ones are a sample. References are told the truth, or look it up, and have no place.
"""


def main() -> None:
    """Write the page."""
    board = json.loads(Path(sys.argv[1]).read_text())
    if board["refused"]:
        raise SystemExit(f"the board has refused {board['refused']!r:.300}; mend or remove that first")
    splits = sorted(board["splits"], key=lambda split: split["split"])
    PAGE.write_text(HEAD + "".join(map(_split, splits)))


def _split(split: dict[str, Any]) -> str:
    every = split["attempts"]
    lines = [
        f"\n## {split['split']}\n",
        f"{split['variants']:,} variants in {split['clusters']:,} clusters; digest `{split['digest'][:16]}`.\n",
        f"| place | policy | score | success | all of {every} succeed | behind the first |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_entry(entry, every) for entry in split["entries"]]
    lost = [f"{entry['policy']['name']} {entry['malformed']:.0%}" for entry in split["entries"] if entry["malformed"]]
    lines += [f"\nSteps whose answer was no valid call: {', '.join(lost)}."] if lost else []
    return "\n".join(lines) + "\n"


def _entry(entry: dict[str, Any], attempts: int) -> str:
    rank = entry["rank"]
    place = "reference" if not rank else str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"
    chance = next((each["all"] for each in entry["chances"] if each["attempts"] == attempts), None)
    behind = entry["leader"]["difference"] if entry["leader"] else None
    cells = (place, entry["policy"]["name"], *map(_estimate, (entry["score"], entry["success"], chance, behind)))
    return f"| {' | '.join(cells)} |"


def _estimate(found: dict[str, Any] | None) -> str:
    if found is None:
        return "–"
    if found["low"] is None:
        return f"{found['value']:.3f}"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


if __name__ == "__main__":
    main()
