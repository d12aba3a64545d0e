"""Time: interval algebra, time expressions, and what a question says about time. Imports nothing else of everwhen.

`resolve` and `constraint` are loaded when they are first used: importing this package loads the interval algebra
only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everwhen_time.interval import (
    Duration,
    Grain,
    Interval,
    Relation,
    describe,
    explain,
    format_duration,
    format_interval,
    parse_duration,
    parse_interval,
)

if TYPE_CHECKING:
    from everwhen_time.constraints import Constraint, constraint
    from everwhen_time.cycles import Recurrence
    from everwhen_time.meaning import Conventions
    from everwhen_time.resolver import TimeRef, resolve

__all__ = [
    "Constraint",
    "Conventions",
    "Duration",
    "Grain",
    "Interval",
    "Recurrence",
    "Relation",
    "TimeRef",
    "constraint",
    "describe",
    "explain",
    "format_duration",
    "format_interval",
    "parse_duration",
    "parse_interval",
    "resolve",
]

_HOMES = {
    "constraints": ("Constraint", "constraint"),
    "meaning": ("Conventions",),
    "cycles": ("Recurrence",),
    "resolver": ("TimeRef", "resolve"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
