"""Commands about banks, entities and facts that are no single operation, and `time resolve`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.printing import progress_of, size, spoken_of, styled
from everwhen.errors import UsageError
from everwhen.types.jsonable import jsonable

if TYPE_CHECKING:
    from rich.tree import Tree

    from everwhen.types import Entity, Event, Fact

COLUMNS = (
    "id", "version", "subject", "predicate", "object", "valid_from", "valid_to", "grain", "recorded_at",
    "superseded_at", "confidence", "origin", "status", "domain", "support", "confirmed_at", "sources", "reason",
)  # fmt: skip


_RISKY = ("=", "+", "-", "@", "\t", "\r")


@app.command("list")
def list_banks(here: GlobalOptions) -> None:
    """The banks in the home folder, or in the database."""
    from everwhen.store.files.home import home_folder

    kept = here.banks()
    found = {name: kept.size(name) for name in kept.names()}
    if here.printed([{"bank": name, "bytes": bytes_} for name, bytes_ in found.items()]):
        return
    for name, bytes_ in found.items():
        here.say(f"{name}  {size(bytes_)}")
    if not found:
        where = "the database" if here.store else home_folder(here.home)
        here.say(f"no bank in {where}; `everwhen add TEXT` makes one")


@app.command()
def salvage(
    here: GlobalOptions,
    file: Annotated[Path, Argument(metavar="OUT.jsonl", help="The file to write; - is standard output.")],
) -> None:
    """Write every turn that can be read in a damaged bank, as JSON lines that `import` takes."""
    from everwhen.api.memory import Memory

    bank = here.bank or "default"
    count = Memory.salvage(file, here.home, bank)
    if not here.printed({"bank": bank, "turns": count, "file": file}) and str(file) != "-":
        here.say(
            f"{count:,} turns of bank {bank} can be read, and are in {file}; "
            f"`everwhen import {file} --bank NAME` makes a new bank of them"
        )


@app.command()
def restore(
    here: GlobalOptions,
    file: Annotated[Path, Argument(help="What `backup` wrote.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Take the place of a bank that is there.")] = False,
) -> None:
    """Bring a bank back from a backup. What was forgotten since then stays forgotten."""
    from everwhen.api.memory import Memory

    bank = here.bank or "default"
    turns = Memory.restore(file, here.home, bank, overwrite=overwrite)
    here.report({"bank": bank, "file": file, "turns": turns}, f"bank {bank} is restored: {turns:,} turns")


@app.command()
def move(
    here: GlobalOptions,
    to: Annotated[str, Option("--to", help="The home folder, or postgresql://…, that gets the banks.")],
    banks: Annotated[
        list[str] | None, Argument(metavar="BANK…", help="The banks [--bank, else all].", show_default=False)
    ] = None,
    source: Annotated[
        str | None,
        Option("--from", help="The home or database that has them [--store, --home].", show_default=False),
    ] = None,
    delete_source: Annotated[
        bool, Option("--delete-source", help="Delete each bank at the source once its copy is verified.")
    ] = False,
) -> None:
    """Copy banks to another home or database.

    Each record is verified. After an interruption the same command goes on.
    """
    from everwhen.store.banks import banks_at
    from everwhen.store.files.home import home_folder, is_address
    from everwhen.upkeep.transfer import move_bank

    ours, theirs = (
        where if is_address(where) else str(home_folder(where).resolve())
        for where in (source or here.store or str(here.home or ""), to)
    )
    if ours == theirs:
        raise UsageError(f"{to} is where the banks are already; name another home (--to)")
    kept, target = banks_at(ours), banks_at(theirs)
    moved = []
    with progress_of(here) as report:
        for name in banks or ([here.bank] if here.bank else kept.names()):

            def tick(done: int, total: int, name: str = name) -> None:
                report(f"{name} (records)", done, total)

            moved.append(move_bank(kept, target, name, delete_source=delete_source, progress=tick))
    if here.printed(moved):
        return
    for one in moved:
        how = "was there already" if one.was_there else "is moved"
        deleted = ", and deleted at the source" if one.deleted else ""
        here.say(f"bank {one.bank} {how}: {sum(one.records.values()):,} records, verified{deleted}")
    if not moved:
        here.say(f"no bank in {ours}")


@app.command()
def zone(
    here: GlobalOptions,
    name: Annotated[
        str | None, Argument(help="Europe/Lisbon, +05:30, …; without it the zone is only shown.")
    ] = None,
) -> None:
    """The zone in which a bank counts days.

    It is that of questions, and of messages that come without one; what was read before stays as it was read.
    """
    with here.open(zone=name) as memory:
        found = {"bank": memory.bank, "zone": memory.zone}
        if not here.printed(found):
            here.say(f"bank {memory.bank} counts days in {memory.zone}")


@app.command()
def resolve(
    here: GlobalOptions,
    expression: Annotated[str, Argument(help='Such as "the weekend after next", or a whole sentence.')],
    at: Annotated[str | None, Option(help="When it is said: ISO 8601 or an expression [now].")] = None,
    tense: Annotated[str | None, Option(help="past or future, where the words leave it open.")] = None,
    day_first: Annotated[bool, Option("--day-first", help="3/4 is the third of April.")] = False,
) -> None:
    """The interval that a time expression means.

    Exit code 3 when there is no time in it.
    """
    from everwhen.errors import NotFound, UsageError
    from everwhen.types.times import TimeReader, known_zone
    from everwhen_time import explain
    from everwhen_time import resolve as resolved

    zone = known_zone(here.zone or "UTC")
    if tense not in (None, "past", "future"):
        raise UsageError(f"unknown tense '{tense}'; use past or future")
    found = resolved(expression, TimeReader(zone, at).now, zone, tense, day_first=day_first)  # type: ignore[arg-type]
    if here.printed(found):
        return
    if not found:
        raise NotFound(f"there is no time expression in '{expression}'; write one such as 'last Friday'")
    for one in found:
        here.say((one.text, "bold"), f"  {explain(one.interval, zone)}")
        rule = str(one.recurrence) if one.recurrence else str(one.duration) if one.duration else ""
        details = [f"{one.kind}, grain {one.grain}, confidence {one.confidence:.2f}", rule]
        details.append("rules: " + " → ".join(one.rule))
        here.remark("\n".join(f"  {line}" for line in details if line))


@app.command()
def graph(
    here: GlobalOptions,
    name: Annotated[str, Argument(help="Who or what.")],
    limit: Annotated[int, Option("--limit", "-n", help="Events at the most.")] = 12,
) -> None:
    """One entity: its events, and whom it is mentioned with."""
    with here.open() as memory:
        entity = memory.entity(name)
        about = [event for event in memory.events() if _concerns(event, entity)]
        others = memory.seen_with(entity.id)
    together = [{"name": who, "times": n} for who, n in others]
    if not here.printed({"entity": entity, "events": about, "with": together}):
        here.console.print(_entity_tree(entity, about[-limit:], others[:limit]))


def _concerns(event: Event, entity: Entity) -> bool:
    names = {entity.name.lower(), *(alias.lower() for alias in entity.aliases)}
    words = f"{event.subject} {event.object} {event.text}".lower()
    return any(name in words for name in names)


def _entity_tree(entity: Entity, about: Sequence[Event], others: Sequence[tuple[str, int]]) -> Tree:
    from rich.tree import Tree

    from everwhen.cli.renderers import MARKS

    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    tree = Tree(styled((entity.name, "bold"), f" ({entity.type.lower()}{also}), {entity.mentions} turns"))
    happened = tree.add("events")
    for event in about:
        when = spoken_of(event.occurred, event.zone), "green"
        leaf = happened.add(styled(when, f" {MARKS[event.status]} {event.text}"))
        for turn in event.turns:
            leaf.add(styled(f"turn {turn}", style="dim"))
    together = tree.add("mentioned with")
    for who, times in others:
        together.add(styled(who, (f" {times} times", "dim")))
    return tree


@app.command()
def timeline(
    here: GlobalOptions,
    subject: Annotated[str, Argument(help="Who or what it is about.")],
    now: Annotated[str | None, Option(metavar="TIME", help="The moment asked about. Default: now.")] = None,
) -> None:
    """Draw what held from when to when, as bars."""
    from everwhen.cli.renderers import draw_facts

    with here.reading() as (memory, clock):
        found = memory.facts.about(subject)
        if not here.printed(found):
            draw_facts(here, found, memory.zone, clock.last(now, "now") or datetime.now(UTC))


@app.command("export-facts")
def export_facts(
    here: GlobalOptions,
    path: Annotated[Path, Argument(help="A .json or .csv file, or - for standard output.")],
    format: Annotated[str | None, Option(help="json or csv [by the file's name].")] = None,
) -> None:
    """Write every version of every fact, as JSON or CSV."""
    with here.open() as memory:
        count = write(memory.facts.versions(), path, format)
    if str(path) != "-":
        here.report({"versions": count, "path": path}, f"{count} versions written to {path}")


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
