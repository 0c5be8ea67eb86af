"""Make the toys of these tests importable: `from toys.trees import build`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
