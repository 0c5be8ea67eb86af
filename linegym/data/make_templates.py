"""Write ``templates.csv`` anew from the rule: ``python -m linegym.data.make_templates``."""

from __future__ import annotations

import hashlib
from pathlib import Path

from linegym.templates import rule


def content() -> bytes:
    """Return the file as the rule gives it."""
    lines = ["topology,sensor,protocol,fault"]
    lines += [",".join((made.topology, made.sensor, made.protocol, made.fault)) for made in rule()]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write the file, and print the digest that ``linegym.templates`` must expect."""
    Path(__file__).with_name("templates.csv").write_bytes(content())
    print(hashlib.sha256(content()).hexdigest())


if __name__ == "__main__":
    main()
