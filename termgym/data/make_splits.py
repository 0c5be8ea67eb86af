"""Write ``splits.csv`` anew from the rule: ``python -m termgym.data.make_splits``.

Needed when a family joins, leaves or changes. After a release the tasks of a split stay: then ``VERSION`` of
``termgym.splits`` rises first.
"""

from __future__ import annotations

from pathlib import Path

from termgym.splits import SETS, Row, assigned, content_digest, digest, named
from termgym.tasks.registry import causes, families


def content() -> str:
    """Return the file as the rule gives it."""
    parts = assigned({family: causes(family) for family in families()})
    lines = [",".join(Row._fields)]
    lines += [",".join((family, cause, part, content_digest(family, cause))) for (family, cause), part in parts.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file, and print what tests/termgym/test_splits.py must expect of each set."""
    Path(__file__).with_name("splits.csv").write_text(content())
    for name in SETS:
        print(f'    "{name}": ({len(named(name))}, "{digest(name)}"),')


if __name__ == "__main__":
    main()
