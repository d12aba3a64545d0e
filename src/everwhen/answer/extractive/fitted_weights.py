"""The fitted numbers of answers without a model: `training/fit_extractive.py`, `training/fit_newer_reply.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def fitted() -> Mapping[str, Any]:
    """How sure an answer is and from when it is given, and when a later reply replaces an earlier one."""
    held: Mapping[str, Any] = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return held
