"""Compile the production line in a process of its own, and say what came of it; for the tests of compiling.

    python tests/shared/line_compiled.py OUT ROWS STEPS

Writes assembly and LLVM code of each entry point that was compiled into the folder OUT, and prints as JSON which
package that was, how often the disk had what was wanted, and the digests of the standard lines.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from line_traces import standard, trace_kernel

import linegym
from linegym.kernel.batch import reset_rows, step_parallel, step_serial

ENTRIES = {"step": step_serial, "step_many": step_parallel, "reset": reset_rows}


def main(out: Path, rows: int, steps: int) -> None:
    """See above."""
    linegym.warmup(threads=2)
    digests = trace_kernel(standard(rows), steps)
    hits, misses = 0, 0
    for name, entry in ENTRIES.items():
        hits += sum(entry.stats.cache_hits.values())
        misses += sum(entry.stats.cache_misses.values())
        if entry.stats.cache_misses:  # what came from the disk cannot be looked into
            (out / f"{name}.asm").write_text("\n".join(entry.inspect_asm().values()))
            (out / f"{name}.ll").write_text("\n".join(entry.inspect_llvm().values()))
    home = str(Path(linegym.__file__).parents[1])
    print(json.dumps({"home": home, "hits": hits, "misses": misses, "digests": digests}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
