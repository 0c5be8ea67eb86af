"""Build the reference from the docstrings; run by `make docs` with warnings as errors."""

from __future__ import annotations

import pkgutil
import shutil
from importlib import import_module
from pathlib import Path

import pdoc

PACKAGES = ("rolf", "termgym", "linegym", "rolf_wrappers", "rolf_adapters")
OUTPUT = Path(__file__).parent / "reference" / "api"


def missing_pages() -> list[str]:
    """Return the modules that the reference has no page for."""
    names = list(PACKAGES)
    for package in PACKAGES:
        module = import_module(package)
        names += [found.name for found in pkgutil.walk_packages(module.__path__, f"{package}.")]
    public = [name for name in names if not any(part.startswith("_") for part in name.split("."))]
    return [name for name in public if not list(OUTPUT.glob(f"{name.replace('.', '/')}.html"))]


def main() -> None:
    """Write one HTML page a module and fail if one has none."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    pdoc.render.configure(docformat="google", show_source=False)
    pdoc.pdoc(*PACKAGES, output_directory=OUTPUT)
    missing = missing_pages()
    if missing:
        raise SystemExit(f"no page in {OUTPUT} for {', '.join(missing)}")
    print(f"{len(list(OUTPUT.rglob('*.html')))} pages in {OUTPUT}")


if __name__ == "__main__":
    main()
