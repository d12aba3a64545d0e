"""`turns`, `sessions`, `grep`, `events`, `entities`, `graph`: what is remembered, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.recall_commands import AsOf, Between, KnownAt, Limit, both_times, newest
from everwhen.cli.safe_printing import local, printable, spoken_of, styled, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from datetime import datetime

    from rich.tree import Tree

    from everwhen.types import Entity, Event, Turn

MARKS = {"happened": "●", "ongoing": "◐", "planned": "○", "hypothetical": "?", "negated": "✗"}


@app.command()
def turns(
    here: GlobalOptions,
    session: Annotated[str | None, Option(help="Only this conversation.")] = None,
    between: Between = None,
    limit: Limit = None,
) -> None:
    """What was said, in the order of time."""
    with here.reading() as (memory, clock):
        found = newest(memory.turns(session, clock.window(between)), limit)
    if here.printed(found):
        return
    for turn in found:
        here.say((_when(turn), "cyan"), (f" {turn.speaker}: ", "bold"), turn.text, (f"  {turn.id}", "dim"))


@app.command()
def sessions(here: GlobalOptions, limit: Limit = None) -> None:
    """The conversations, oldest first."""
    with here.open() as memory:
        found = newest(memory.sessions(), limit)
    if here.printed(found):
        return
    listed = table("session", "from", "to", "turns", "speakers")
    for one in found:
        days = (f"{local(side, one.zone):%Y-%m-%d}" for side in (one.first, one.last))
        listed.add_row(printable(one.id), *days, str(one.turns), printable(", ".join(one.speakers)))
    here.console.print(listed)


@app.command()
def grep(
    here: GlobalOptions,
    pattern: Annotated[str, Argument(help="Words as they stand, whatever the case.")],
    regex: Annotated[bool, Option("--regex", "-E", help="The pattern is a regular expression.")] = False,
    between: Between = None,
    limit: Annotated[int, Option("--limit", "-n", help="Hits at the most.")] = 50,
) -> None:
    """Every turn that contains a pattern, in the order of time."""
    with here.reading() as (memory, clock):
        window = clock.window(between)
        hits = memory.grep(pattern, regex=regex, between=window, limit=limit)
    if here.printed(hits):
        return
    for hit in hits:
        words: list[str | tuple[str, str]] = []
        done = 0
        for start, end in hit.spans:
            words += [hit.turn.text[done:start], (hit.turn.text[start:end], "bold red")]
            done = end
        rest = hit.turn.text[done:], (f"  {hit.turn.id}", "dim")
        here.say((_when(hit.turn), "cyan"), f" {hit.turn.speaker}: ", *words, *rest)
    if not hits:
        here.say(f"nothing contains '{pattern}'")


def _when(turn: Turn) -> str:
    return f"{local(turn.said_at, turn.zone):%Y-%m-%d %H:%M}"


@app.command()
def events(
    here: GlobalOptions,
    about: Annotated[str | None, Argument(help="A topic [everything].")] = None,
    between: Between = None,
    subject: Annotated[str | None, Option(help="Who did it.")] = None,
    verb: Annotated[str | None, Option(help="What was done, such as 'move'.")] = None,
    status: Annotated[str | None, Option(help="happened, ongoing, planned, hypothetical or negated.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = None,
) -> None:
    """The event calendar: who did what, and when."""
    with here.reading() as (memory, clock):
        then = both_times(clock, as_of, known_at)
        found = newest(memory.events(about, clock.window(between), subject, verb, status, **then), limit)
        turns = memory.stats().turns
    if here.printed(found):
        return
    if found:
        show_calendar(here, found)
    else:
        here.say("no such event" if turns else "nothing is remembered yet")


def show_calendar(here: GlobalOptions, found: Sequence[Event]) -> None:
    """Events as a person reads them: when, whether, what; inferred times in brackets."""
    calendar = table(header=False)
    calendar.add_column("when", no_wrap=True)
    for event in found:
        when = spoken_of(event.occurred, event.zone)
        dim = "dim" if event.inferred or event.status in ("hypothetical", "negated") else ""
        calendar.add_row(
            styled(f"({when})" if event.inferred else when, style="dim" if event.inferred else "green"),
            styled(MARKS[event.status], style="cyan"),
            styled(event.title, style=dim),
        )
    here.console.print(calendar)
    show_legend(here, MARKS, {MARKS[event.status] for event in found})


def show_legend(here: GlobalOptions, marks: Mapping[str, str], used: Set[str]) -> None:
    """What the marks mean that stand above."""
    here.remark("  ".join(f"{mark} {name}" for name, mark in marks.items() if mark in used))


@app.command()
def entities(
    here: GlobalOptions,
    merge: Annotated[tuple[str, str] | None, Option(help="Two names that are one; the first stays.")] = None,
    split: Annotated[
        tuple[str, str] | None, Option(help="An entity, and a name of it that is another.")
    ] = None,
    rename: Annotated[tuple[str, str] | None, Option(help="An entity and its new name.")] = None,
    undo: Annotated[bool, Option("--undo", help="Take back the last merge, split or rename.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int | None, Option("--limit", "-n", min=1, help="Names at the most [all].")] = None,
) -> None:
    """Everyone and everything that has a name; who is who."""
    with here.reading() as (memory, clock):
        if merge:
            memory.merge_entities(*merge)
        if split:
            memory.split_entity(split[0], [split[1]])
        if rename:
            memory.rename_entity(*rename)
        undone = memory.undo_entities() if undo else None
        found = memory.entities(**both_times(clock, as_of, known_at))[:limit]
        zone = clock.zone
    if here.printed(found):
        return
    if undo:
        here.say(f"took back: {undone}" if undone else "nothing to take back")
    listed = table("name", "type", "also", "turns", "first", "last")
    for one in found:
        named, also = printable(one.name), printable(", ".join(one.aliases))
        listed.add_row(
            named,
            one.type.lower(),
            also,
            str(one.mentions),
            *(_day(side, zone) for side in (one.first, one.last)),
        )
    here.console.print(listed)


def _day(instant: datetime | None, zone: str) -> str:
    return f"{local(instant, zone):%Y-%m-%d}" if instant else "-"


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
        here.console.print(_tree(entity, about[-limit:], others[:limit]))


def _concerns(event: Event, entity: Entity) -> bool:
    names = {entity.name.lower(), *(alias.lower() for alias in entity.aliases)}
    words = f"{event.subject} {event.object} {event.text}".lower()
    return any(name in words for name in names)


def _tree(entity: Entity, about: Sequence[Event], others: Sequence[tuple[str, int]]) -> Tree:
    from rich.tree import Tree

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
