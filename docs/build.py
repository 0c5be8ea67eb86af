"""Build the reference from the docstrings; run by `make docs` with warnings as errors."""

from __future__ import annotations

import os
import pkgutil
import shutil
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path

import pdoc

PACKAGES = ("rolf", "termgym", "linegym", "rolf_wrappers", "rolf_adapters")
PREBUILT = '"_isPrebuiltIndex"'
OUTPUT = Path(__file__).parent / "reference" / "api"


def modules() -> list[str]:
    """Return every public module that can be imported here."""
    return [name for name in _public() if name not in elsewhere()]


@cache
def elsewhere() -> tuple[str, ...]:
    """Return what needs an extra that the extra `dev` does not bring; its docstrings are read where they lie.

    Raises:
        ImportError: something is missing that names no extra.
    """
    told = []
    for name in _public():
        try:
            import_module(name)
        except ImportError as error:
            if "pip install 'rolf[" not in str(error):
                raise
            told.append(name)
    return tuple(told)


@cache
def _public() -> tuple[str, ...]:
    names = list(PACKAGES)
    for package in PACKAGES:
        names += [found.name for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}.")]
    return tuple(name for name in names if not any(part.startswith("_") for part in name.split(".")))


def unseen(names: list[str]) -> list[str]:
    """Return the modules that pdoc must be told of: it passes over those of a package whose ``__all__`` lacks them."""
    told = []
    for name in names:
        package, _, module = name.rpartition(".")
        public = getattr(import_module(package), "__all__", [module]) if package else []
        if package and module not in public:
            told.append(name)
    return told


def load_lazy_names() -> None:
    """Put what modules load on first use (``__getattr__``) where pdoc looks for it."""
    for module in map(import_module, modules()):
        for name in getattr(module, "__all__", ()):
            vars(module).setdefault(name, getattr(module, name))


def main() -> None:
    """Write one HTML page a module and fail if one has none."""
    # pdoc looks a NamedTuple's annotations up where collections.namedtuple made the class, and finds no name there.
    warnings.filterwarnings("ignore", r"Error parsing type annotation .*\.__init__\. Import of", UserWarning)
    # Nor is a constant a secret because somebody has the same PATH; the one that is read from there is a path.
    os.environ["PDOC_DISPLAY_ENV_VARS"] = "1"
    load_lazy_names()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    pdoc.render.configure(docformat="google", show_source=False)
    left_out = [f"!{name}" for name in elsewhere()]
    pdoc.pdoc(*PACKAGES, *unseen(modules()), *left_out, output_directory=OUTPUT)
    missing = [name for name in modules() if not (OUTPUT / f"{name.replace('.', '/')}.html").exists()]
    if missing:
        raise SystemExit(f"no page in {OUTPUT} for {', '.join(missing)}")
    if shutil.which("node") and PREBUILT not in (OUTPUT / "search.js").read_text():
        # A word of thousands of letters, in the value of a constant, is more than Node's stack holds.
        raise SystemExit("the search index could not be made beforehand; pdoc says above why: mend what it meets")
    print(f"{len(list(OUTPUT.rglob('*.html')))} pages in {OUTPUT}")


if __name__ == "__main__":
    main()
