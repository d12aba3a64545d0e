"""`when`, `compare`, `timeline`: when things were, which came first, and what happened in a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.graph import MARKS, show_legend
from everwhen.cli.recall_commands import AsOf, Between, KnownAt, Limit, both_times, newest
from everwhen.cli.safe_printing import printable, spoken_of
from everwhen.when.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from everwhen.types import Comparison, Entry, Evidence, TimeAnswer
    from everwhen.when import Grain

NOT_FOUND = 3
NARROWEST, WIDEST = 20, 60
_KINDS = {"fact began": "┣", "fact ended": "┫", "session": "…"}
At = Annotated[str | None, typer.Option(help="The moment of asking: ISO 8601 or 'last Friday' [now].")]


@app.command("when")
def when_(
    here: GlobalOptions,
    query: Annotated[str, typer.Argument(help="The question, such as 'when did Ana move to Porto'.")],
    at: At = None,
    between: Annotated[
        tuple[str, str] | None, typer.Option(help="Only answers from A to B: ISO 8601 or expressions.")
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """When something was, is or will be, with the words that say so."""
    here.expect_models()
    with here.open() as memory:
        clock = here.clock(memory, at)
        then = both_times(clock, as_of, known_at)
        found = memory.when(query, at=clock.at, between=clock.window(between), **then)
    if here.json:
        here.print(found)
    elif found is None:
        here.console.print("this memory does not say when")
    else:
        here.console.print(_line(found))
        for one in found.evidence:
            here.console.print(_quoted(one, found.zone))
    if found is None:
        raise typer.Exit(NOT_FOUND)


@app.command()
def compare(
    here: GlobalOptions,
    a: Annotated[str, typer.Argument(help="One event, such as 'the move to Porto'.")],
    b: Annotated[str, typer.Argument(help="The other one.")],
    at: At = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Which of two events came first, and how far apart."""
    with here.open() as memory:
        clock = here.clock(memory, at)
        found = memory.compare(a, b, at=clock.at, **both_times(clock, as_of, known_at))
    if not here.printed(found):
        _draw(here, found)
    if found.order == "unknown":
        raise typer.Exit(NOT_FOUND)


@app.command()
def timeline(
    here: GlobalOptions,
    about: Annotated[str | None, typer.Option(help="A topic [everything].")] = None,
    between: Between = None,
    grain: Annotated[str | None, typer.Option(help="Headings: day, week, month or year.")] = None,
    negated: Annotated[bool, typer.Option("--negated", help="Also what did not happen.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = None,
) -> None:
    """What happened, what began and ended, and the conversations, in the order of time."""
    with here.open() as memory:
        clock = here.clock(memory)
        inside, then = clock.window(between), both_times(clock, as_of, known_at)
        # The library says which grains there are.
        every = memory.timeline(about, inside, cast("Grain | None", grain), negated=negated, **then)
        found = newest(every, limit)
    if here.json:
        here.print(found)
    elif found:
        _show(here, found)
    else:
        here.console.print("nothing is known of that time" if between else "nothing is known of that")
    if not found:
        raise typer.Exit(NOT_FOUND)


def _line(found: TimeAnswer) -> Text:
    from rich.text import Text

    sure = f"  {_meter(found.confidence)} {found.confidence:.2f} sure"
    return Text.assemble((spoken_of(found.interval, found.zone), "bold green"), (sure, "dim"))


def _meter(fraction: float) -> str:
    full = round(fraction * 5)
    return "■" * full + "□" * (5 - full)


def _quoted(one: Evidence, zone: str) -> Text:
    from rich.text import Text

    said = f"{one.said_at.astimezone(zone_of(zone)):%a %d %b %Y}"
    how = " (told that day, no date given)" if one.inferred else ""
    quote = Text(printable(one.quote))
    if one.expression:
        quote.highlight_words([one.expression], "bold yellow", case_sensitive=False)
    return Text.assemble(
        "  ",
        (said, "cyan"),
        (f" {printable(one.speaker)}: ", "bold"),
        quote,
        (f"  [{printable(one.turn or one.fact or '')}]{how}", "dim"),
    )


def _draw(here: GlobalOptions, found: Comparison) -> None:
    """Both on one line of time, and the verdict above."""
    from rich.text import Text

    here.console.print(_verdict(found))
    sides = [side for side in (found.first, found.second) if side.answer is not None]
    bars = _bars(
        [side.answer for side in sides if side.answer], max(NARROWEST, min(WIDEST, here.console.width - 50))
    )
    for side, bar in zip(sides, bars, strict=True):
        assert side.answer is not None
        here.console.print(
            Text.assemble((f"{bar} ", "cyan"), (printable(side.query), "bold"), ": ", _line(side.answer))
        )
    for side in sides:
        assert side.answer is not None
        for one in side.answer.evidence[:1]:
            here.console.print(_quoted(one, side.answer.zone))


def _verdict(found: Comparison) -> str:
    first, second = printable(found.first.query), printable(found.second.query)
    if found.order == "unknown":
        unknown = [printable(side.query) for side in (found.first, found.second) if side.answer is None]
        return f"cannot tell: this memory does not say when it was: {', '.join(unknown)}"
    apart = f": {found.gap.text}" if found.gap else ""
    if found.order == "overlap":
        return f"cannot tell which came first{apart}"
    return f"{first} came before {second}{apart}"


def _bars(answers: Sequence[TimeAnswer], width: int) -> list[str]:
    """One bar for each interval between the first and the last instant that is known; open sides run to the edge."""
    known = [side for one in answers for side in (one.interval.start, one.interval.end) if side is not None]
    if not known:
        return [" " * width for _ in answers]
    first, whole = min(known), (max(known) - min(known)).total_seconds() or 1.0
    out = []
    for one in answers:
        start, end = one.interval.start or first, one.interval.end or max(known)
        begin = min(int((start - first).total_seconds() / whole * width), width - 1)
        stop = max(round((end - first).total_seconds() / whole * width), begin + 1)
        out.append(" " * begin + "█" * (stop - begin) + " " * (width - stop))
    return out


def _show(here: GlobalOptions, found: Sequence[Entry]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("when", no_wrap=True)
    table.add_column("mark")
    table.add_column("what")
    group = None
    for entry in found:
        if entry.group is not None and entry.group != group:
            group = entry.group
            table.add_row(Text(spoken_of(group, entry.zone), "bold"), "", "")
        day = (
            f"{entry.interval.start.astimezone(zone_of(entry.zone)):%Y-%m-%d}"
            if entry.interval.start
            else "?"
        )
        when = day if entry.kind == "session" else spoken_of(entry.interval, entry.zone)
        dim = entry.inferred or entry.kind == "session" or entry.status in ("hypothetical", "negated")
        table.add_row(
            Text(f"  ({when})" if entry.inferred else f"  {when}", style="dim" if dim else "green"),
            Text(_mark(entry), style="cyan"),
            Text(printable(_words(entry)), style="dim" if dim else ""),
        )
    here.console.print(table)
    show_legend(here, {**MARKS, **_KINDS}, {_mark(entry) for entry in found})


def _mark(entry: Entry) -> str:
    return MARKS.get(entry.status) or _KINDS[entry.kind]


def _words(entry: Entry) -> str:
    return f"no longer: {entry.text}" if entry.kind == "fact ended" else entry.text
