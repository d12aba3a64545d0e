"""The English grammar: one file per idea, each a `RuleBook`; together they are `english()`."""

from __future__ import annotations

from functools import cache

from everwhen.when.parser import RuleBook


@cache
def english() -> RuleBook:
    """Every English rule, compiled at first use."""
    from everwhen.when.rules import (
        amounts,
        anaphoric,
        anchored,
        bounds,
        clocks,
        dates,
        holiday_names,
        hours,
        parts,
        recurring,
        relative,
    )

    return RuleBook().extended(
        amounts.book,
        dates.book,
        holiday_names.book,
        relative.book,
        parts.book,
        anchored.book,
        bounds.book,
        clocks.book,
        hours.book,
        recurring.book,
        anaphoric.book,
    )
