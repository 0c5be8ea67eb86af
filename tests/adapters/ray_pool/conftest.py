"""Makes the policies of this folder known by name, here and, as Ray hands the path on, in its workers."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
