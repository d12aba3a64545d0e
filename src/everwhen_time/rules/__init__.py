"""The English grammar: one file per idea, each a `RuleBook`; together they are `english()`."""

from __future__ import annotations

from functools import cache

from everwhen_time.parser import RuleBook


@cache
def english() -> RuleBook:
    """Every English rule, compiled at first use."""
    from everwhen_time.rules import (
        amounts,
        anaphoric,
        anchored,
        bounds,
        clocks,
        dates,
        hours,
        parts,
        recurring,
        relative,
    )

    ideas = (amounts, dates, relative, parts, anchored, bounds, clocks, hours, recurring, anaphoric)
    return RuleBook().extended(*(idea.book for idea in ideas))
