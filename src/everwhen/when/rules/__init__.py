"""The English grammar: one file per idea, each a `RuleBook`; together they are `english()`."""

from __future__ import annotations

from functools import cache

from everwhen.when.chart import RuleBook


@cache
def english() -> RuleBook:
    """Every English rule, compiled at first use."""
    from everwhen.when.rules import (
        amounts,
        anchored,
        bounds,
        clocks,
        dates,
        hours,
        named,
        parts,
        recurring,
        relative,
        told,
    )

    return RuleBook().extended(
        amounts.book,
        dates.book,
        named.book,
        relative.book,
        parts.book,
        anchored.book,
        bounds.book,
        clocks.book,
        hours.book,
        recurring.book,
        told.book,
    )
