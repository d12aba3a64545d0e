"""The environment of the processes that a bench starts."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1]


def with_benches() -> dict[str, str]:
    """This process's variables, with which any interpreter finds `everwhen_bench`."""
    paths = (str(FOLDER), os.environ.get("PYTHONPATH"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
