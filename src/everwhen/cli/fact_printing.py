"""Facts for people: a table, or bars on a line of time; as files: JSON for programs, CSV for spreadsheets."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from everwhen.cli.safe_printing import local, printable, styled, table, time_bar
from everwhen.errors import UsageError
from everwhen.types.decay import old_in_words
from everwhen.types.jsonable import jsonable

if TYPE_CHECKING:
    from everwhen.api.memory import Memory
    from everwhen.cli.app import GlobalOptions
    from everwhen.types import Fact

COLUMNS = (
    "id", "version", "subject", "predicate", "object", "valid_from", "valid_to", "grain", "recorded_at",
    "superseded_at", "confidence", "origin", "status", "domain", "support", "confirmed_at", "sources", "reason",
)  # fmt: skip
NARROWEST, WIDEST = 20, 60
"""Columns of a bar."""
LEAST_WORDS, MOST_WORDS = 12, 36
DATES = 27
"""Columns of the dates behind a bar, and of the gaps."""
_RISKY = ("=", "+", "-", "@", "\t", "\r")


def tell(here: GlobalOptions, memory: Memory, fact: Fact) -> None:
    """What became of one fact, and what is to be said of it."""
    if here.printed(fact):
        return
    show(here, memory, [fact], versions=fact.status != "believed")
    if fact.note:
        here.say(fact.note)


def show(
    here: GlobalOptions,
    memory: Memory,
    found: Sequence[Fact],
    now: datetime | None = None,
    *,
    versions: bool = False,
) -> None:
    """Facts as a table."""
    if here.printed(found):
        return
    if not found:
        here.say("nothing is known of that")
        return
    zone, moment = here.zone_of(memory), now or datetime.now(UTC)
    listed = table()
    for name in ("fact", "from", "to", "sure"):
        listed.add_column(name, no_wrap=name != "fact", overflow="fold")
    for fact in found:
        # The id has a line of its own: with it the table would be wider than a terminal.
        about = f"\n  {fact.id}"
        if versions:
            about += f"\n  {fact.status}, recorded {_day(fact.recorded_at, zone)}"
        own = fact.zone or zone
        ends = _day(fact.valid_to, own) if fact.valid_to else ""
        old = old_in_words(fact, memory.facts.confidence_at(fact, moment), moment)
        words = styled(fact.text, (f"\n  {old}" if old else "", "yellow"), (about, "dim"))
        listed.add_row(words, _day(fact.valid_from, own), ends, f"{fact.confidence:.2f}")
    here.console.print(listed)


def draw(here: GlobalOptions, found: Sequence[Fact], zone: str, now: datetime) -> None:
    """A bar for each fact on one line of time; one that has not ended runs to the edge, with an arrow."""
    if not found:
        here.say("nothing is known of that")
        return
    earliest = min(found, key=lambda fact: fact.valid_from)
    first = earliest.valid_from
    last = max(now, *(side for fact in found for side in (fact.valid_from, fact.valid_to) if side))
    width = max(NARROWEST, min(WIDEST, here.console.width - 50))
    room = here.console.width - width - DATES
    bars = table(header=False)
    bars.add_column("what", no_wrap=True, max_width=max(LEAST_WORDS, min(MOST_WORDS, room)))
    bars.add_column("bar", no_wrap=True, width=width)
    bars.add_column("when", no_wrap=True)
    begins, ends = _day(first, earliest.zone or zone), _day(last, zone)
    bars.add_row("", styled(f"{begins}{ends:>{width - len(begins)}}", style="dim"), "")
    predicate = ""
    for fact in sorted(found, key=lambda one: (one.predicate, one.valid_from)):
        if fact.predicate != predicate:
            predicate = fact.predicate
            bars.add_row(styled(predicate, style="bold"), "", "")
        style = "green" if fact.valid.contains(now) else "yellow" if fact.valid_from > now else "cyan"
        bar = styled(time_bar(fact.valid_from, fact.valid_to, first, last, width), style=style)
        own = fact.zone or zone
        until = _day(fact.valid_to, own) if fact.valid_to else "now on"
        dates = styled(f"{_day(fact.valid_from, own)} – {until}", style="dim")
        bars.add_row(f"  {printable(fact.object)}", bar, dates)
    here.console.print(bars)


def _day(instant: datetime, zone: str) -> str:
    return f"{local(instant, zone):%Y-%m-%d}"


def write(facts: Iterable[Fact], path: Path, format: str | None) -> int:
    """Write facts as they come, without holding them all; how many there were."""
    chosen = format or ("csv" if path.suffix.lower() == ".csv" else "json")
    if chosen not in ("json", "csv"):
        raise UsageError(f"unknown format '{chosen}'; use json or csv")
    writer = _write_json if chosen == "json" else _write_csv
    if str(path) == "-":
        return writer(facts, sys.stdout)
    with path.open("w", encoding="utf-8", newline="") as file:
        return writer(facts, file)


def _write_json(facts: Iterable[Fact], file: IO[str]) -> int:
    """A JSON array, an element a line."""
    count = 0
    file.write("[")
    for count, fact in enumerate(facts, start=1):
        file.write(("," if count > 1 else "") + "\n" + json.dumps(jsonable(fact), ensure_ascii=False))
    file.write("\n]\n")
    return count


def _write_csv(facts: Iterable[Fact], file: IO[str]) -> int:
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    count = 0
    for fact in facts:
        count += 1
        valid = {"valid_from": jsonable(fact.valid_from), "valid_to": jsonable(fact.valid_to)}
        sources = " ".join(fact.sources)
        values = {**jsonable(fact), **valid, "grain": fact.valid.grain, "sources": sources}
        writer.writerow([_cell(values[name]) for name in COLUMNS])
    return count


def _cell(value: Any) -> Any:
    """A spreadsheet must not take a remembered text for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_RISKY) else value
