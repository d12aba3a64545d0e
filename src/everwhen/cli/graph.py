"""`events`, `entities`, `graph`: the event calendar and the memory graph in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.recall_commands import AsOf, Between, KnownAt, Limit, both_times, newest
from everwhen.cli.safe_printing import printable, spoken_of
from everwhen.when.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from rich.tree import Tree

    from everwhen.types import Entity, Event

MARKS = {"happened": "●", "ongoing": "◐", "planned": "○", "hypothetical": "?", "negated": "✗"}


@app.command()
def events(
    here: GlobalOptions,
    about: Annotated[str | None, typer.Argument(help="A topic [everything].")] = None,
    between: Between = None,
    subject: Annotated[str | None, typer.Option(help="Who did it.")] = None,
    verb: Annotated[str | None, typer.Option(help="What was done, such as 'move'.")] = None,
    status: Annotated[
        str | None, typer.Option(help="happened, ongoing, planned, hypothetical or negated.")
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = None,
) -> None:
    """The event calendar: who did what, and when."""
    with here.open() as memory:
        clock = here.clock(memory)
        then = both_times(clock, as_of, known_at)
        found = newest(memory.events(about, clock.window(between), subject, verb, status, **then), limit)
    if here.printed(found):
        return
    if not found:
        here.console.print("no such event")
        return
    show_calendar(here, found)


def show_calendar(here: GlobalOptions, found: Sequence[Event]) -> None:
    """Events as a person reads them: when, whether, what; inferred times in brackets."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("when", no_wrap=True)
    table.add_column("status")
    table.add_column("what")
    for event in found:
        when = spoken_of(event.occurred, event.zone)
        style = "dim" if event.inferred or event.status in ("hypothetical", "negated") else ""
        table.add_row(
            Text(f"({when})" if event.inferred else when, style="dim" if event.inferred else "green"),
            Text(MARKS[event.status], style="cyan"),
            Text(printable(event.title), style=style),
        )
    here.console.print(table)
    show_legend(here, MARKS, {MARKS[event.status] for event in found})


def show_legend(here: GlobalOptions, marks: Mapping[str, str], used: Set[str]) -> None:
    """What the marks mean that stand above."""
    legend = "  ".join(f"{mark} {name}" for name, mark in marks.items() if mark in used)
    here.console.print(legend, style="dim")


@app.command()
def entities(
    here: GlobalOptions,
    merge: Annotated[
        tuple[str, str] | None, typer.Option(help="Two names that are one; the first stays.")
    ] = None,
    split: Annotated[
        tuple[str, str] | None, typer.Option(help="An entity, and a name of it that is another.")
    ] = None,
    rename: Annotated[tuple[str, str] | None, typer.Option(help="An entity and its new name.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last merge, split or rename.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Names at the most [all].")
    ] = None,
) -> None:
    """Everyone and everything that has a name; who is who."""
    with here.open() as memory:
        if merge:
            memory.merge_entities(*merge)
        if split:
            memory.split_entity(split[0], [split[1]])
        if rename:
            memory.rename_entity(*rename)
        undone = memory.undo_entities() if undo else None
        found = memory.entities(**both_times(here.clock(memory), as_of, known_at))[:limit]
    if here.printed(found):
        return
    if undo:
        here.console.print(f"took back: {undone}" if undone else "nothing to take back")
    from rich.table import Table

    table = Table("name", "type", "also", "turns", "first", "last", box=None, pad_edge=False)
    for one in found:
        table.add_row(
            printable(one.name),
            one.type.lower(),
            printable(", ".join(one.aliases)),
            str(one.mentions),
            _day(one, "first"),
            _day(one, "last"),
        )
    here.console.print(table)


@app.command()
def graph(
    here: GlobalOptions,
    name: Annotated[str, typer.Argument(help="Who or what.")],
    limit: Annotated[int, typer.Option("--limit", "-n", help="Events at the most.")] = 12,
) -> None:
    """One entity: its events, and whom it is mentioned with."""
    with here.open() as memory:
        entity = memory.entity(name)
        about = [event for event in memory.events() if _concerns(event, entity)]
        others = memory.seen_with(entity.id)
        tree = None if here.json else _tree(entity, about[-limit:], others[:limit])
    if here.json:
        here.print(
            {"entity": entity, "events": about, "with": [{"name": who, "times": n} for who, n in others]}
        )
    else:
        here.console.print(tree)


def _tree(entity: Entity, about: Sequence[Event], others: Sequence[tuple[str, int]]) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    about_it = f" ({entity.type.lower()}{printable(also)}), {entity.mentions} turns"
    tree = Tree(Text.assemble((printable(entity.name), "bold"), about_it))
    happened = tree.add("events")
    for event in about:
        when = spoken_of(event.occurred, event.zone)
        leaf = happened.add(Text.assemble((when, "green"), f" {MARKS[event.status]} {printable(event.text)}"))
        for turn in event.turns:
            leaf.add(Text(f"turn {printable(turn)}", "dim"))
    together = tree.add("mentioned with")
    for who, times in others:
        together.add(Text.assemble(printable(who), (f" {times} times", "dim")))
    return tree


def _concerns(event: Event, entity: Entity) -> bool:
    names = {entity.name.lower(), *(alias.lower() for alias in entity.aliases)}
    words = f"{event.subject} {event.object} {event.text}".lower()
    return any(name in words for name in names)


def _day(entity: Entity, side: str) -> str:
    instant = entity.first if side == "first" else entity.last
    return f"{instant.astimezone(zone_of('UTC')):%Y-%m-%d}" if instant else "-"
