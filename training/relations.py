"""The package's table of relations, also where the package is not installed: the environment of the training."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "src"))

from everwhen.types.facts import Relation, asked_of, relations

__all__ = ["Relation", "asked_of", "relations"]
