"""Validity bars: what held from when to when, drawn in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from everwhen.when.zones import zone_of

if TYPE_CHECKING:
    from everwhen.cli.app import GlobalOptions
    from everwhen.types import Fact

NARROWEST, WIDEST = 20, 60
LEAST_WORDS, MOST_WORDS = 12, 36
DATES = 27
"""Columns of the dates behind a bar, and of the gaps."""


def draw(here: GlobalOptions, facts: Sequence[Fact], zone: str, now: datetime | None = None) -> None:
    """One bar for each fact on a common line of time; one that has not ended runs to the edge, with an arrow."""
    from rich.table import Table
    from rich.text import Text

    from everwhen.cli.safe_printing import printable

    if not facts:
        here.console.print("nothing is known of that")
        return
    moment = now or datetime.now(UTC)
    first = min(fact.valid_from for fact in facts)
    last = max([moment, *(fact.valid_to for fact in facts if fact.valid_to), *(f.valid_from for f in facts)])
    width = max(NARROWEST, min(WIDEST, here.console.width - 50))
    local = zone_of(zone)
    table = Table(box=None, pad_edge=False, show_header=False)
    room = here.console.width - width - DATES
    table.add_column("what", no_wrap=True, max_width=max(LEAST_WORDS, min(MOST_WORDS, room)))
    table.add_column("bar", no_wrap=True, width=width)
    table.add_column("when", no_wrap=True)
    label = f"{first.astimezone(local):%Y-%m-%d}"
    end = f"{last.astimezone(local):%Y-%m-%d}"
    predicate = ""
    table.add_row("", Text(f"{label}{end:>{width - len(label)}}", "dim"), "")
    for fact in sorted(facts, key=lambda one: (one.predicate, one.valid_from)):
        if fact.predicate != predicate:
            predicate = fact.predicate
            table.add_row(Text(printable(predicate), "bold"), "", "")
        style = "green" if fact.valid.contains(moment) else "yellow" if fact.valid_from > moment else "cyan"
        begun = f"{fact.valid_from.astimezone(local):%Y-%m-%d}"
        ended = f"{fact.valid_to.astimezone(local):%Y-%m-%d}" if fact.valid_to else "now on"
        bar = Text(cells(fact, first, last, width), style)
        table.add_row(f"  {printable(fact.object)}", bar, Text(f"{begun} – {ended}", "dim"))
    here.console.print(table)


def cells(fact: Fact, first: datetime, last: datetime, width: int) -> str:
    """The bar of a fact between two instants: every fact has at least one cell."""
    whole = max(last - first, timedelta(microseconds=1))
    begin = min(int((fact.valid_from - first) / whole * width), width - 1)
    if fact.valid_to is None:
        return " " * begin + "█" * (width - begin - 1) + "▶"
    end = max(round((fact.valid_to - first) / whole * width), begin + 1)
    return " " * begin + "█" * (end - begin) + " " * (width - end)
