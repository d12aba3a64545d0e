"""The steps of `training/` import each other by plain names, as they do when they run as scripts."""

from __future__ import annotations

import sys
from pathlib import Path

TRAINING = str(Path(__file__).parents[2] / "training")
if TRAINING not in sys.path:
    sys.path.insert(0, TRAINING)
