"""everwhen: memory that knows when. The public names, nothing else."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everwhen.agents.wrapping.clients import wrap
    from everwhen.api.client import AsyncClient, Client
    from everwhen.api.memory import AsyncMemory, Memory
    from everwhen.errors import (
        Damaged,
        EverwhenError,
        ModelError,
        NotFound,
        Refused,
        Unavailable,
        UsageError,
    )
    from everwhen.settings import Settings
    from everwhen.types import (
        Added,
        Answer,
        Citation,
        Comparison,
        Conflict,
        Consolidated,
        Context,
        Entity,
        Entry,
        Event,
        Evidence,
        Fact,
        Finding,
        Hit,
        Message,
        Node,
        Proposal,
        Recall,
        Recalled,
        Receipt,
        Session,
        StaleFact,
        Statement,
        Stats,
        TimeAnswer,
        Turn,
    )
    from everwhen.types.recall import Recipe
    from everwhen_time import Interval

__version__ = "0.1.0"

# onnxruntime would write an id of this machine into the cache folder and report to its makers: everwhen is offline.
# Read when it is first imported; set to 0 it is as its makers would have it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

# Loaded when first asked for: a command that only prints its help must not wait for NumPy.
_HOMES = {
    "everwhen.api.client": ("AsyncClient", "Client"),
    "everwhen.errors": (
        "Damaged", "EverwhenError", "ModelError", "NotFound", "Refused", "Unavailable", "UsageError",
    ),
    "everwhen.api.memory": ("AsyncMemory", "Memory"),
    "everwhen.agents.wrapping.clients": ("wrap",),
    "everwhen.settings": ("Settings",),
    "everwhen.types.recall": ("Recipe",),
    "everwhen_time": ("Interval",),
}  # fmt: skip
"""Where the names are that are not of `everwhen.types`."""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Added", "Answer", "AsyncClient", "AsyncMemory", "Citation", "Client", "Comparison", "Conflict",
    "Consolidated", "Context", "Damaged", "Entity", "Entry", "Event", "EverwhenError", "Evidence", "Fact",
    "Finding", "Hit", "Interval", "Memory", "Message", "ModelError", "Node", "NotFound", "Proposal", "Recall",
    "Recalled", "Receipt", "Recipe", "Refused", "Session", "Settings", "StaleFact", "Statement", "Stats", "TimeAnswer",
    "Turn", "Unavailable", "UsageError", "wrap",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'everwhen' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF.get(name, "everwhen.types")), name)


def __dir__() -> list[str]:
    return __all__
