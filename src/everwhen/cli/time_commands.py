"""`when`, `compare`, `timeline`: when things were, which came first, what happened in a while; `resolve`: what a time
expression means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from typer import Argument, Exit, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.recall_commands import AsOf, Between, KnownAt, Limit, both_times, newest
from everwhen.cli.safe_printing import local, spoken_of, styled, table, time_bar
from everwhen.cli.show_commands import MARKS, show_legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from everwhen.types import Comparison, Entry, Evidence, TimeAnswer
    from everwhen_time import Grain

NOT_FOUND = 3
NARROWEST, WIDEST = 20, 60
_KINDS = {"fact began": "┣", "fact ended": "┫", "session": "…"}
At = Annotated[str | None, Option(help="The moment of asking: ISO 8601 or 'last Friday' [now].")]


@app.command("when")
def when_(
    here: GlobalOptions,
    query: Annotated[str, Argument(help="The question, such as 'when did Ana move to Porto'.")],
    at: At = None,
    between: Annotated[
        str | None,
        Option(metavar="TIME", help="Only answers from then: 'July 2025', or from A to B as A..B."),
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """When something was, is or will be, with the words that say so."""
    here.expect_models()
    with here.reading(at) as (memory, clock):
        then = both_times(clock, as_of, known_at)
        found = memory.when(query, at=clock.at, between=clock.window(between), **then)
    if here.json:
        here.print(found)
    elif found is None:
        here.say("this memory does not say when")
    else:
        here.console.print(_line(found))
        for one in found.evidence:
            here.console.print(_quoted(one, found.zone))
    if found is None:
        raise Exit(NOT_FOUND)


@app.command()
def compare(
    here: GlobalOptions,
    a: Annotated[str, Argument(help="One event, such as 'the move to Porto'.")],
    b: Annotated[str, Argument(help="The other one.")],
    at: At = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Which of two events came first, and how far apart."""
    with here.reading(at) as (memory, clock):
        found = memory.compare(a, b, at=clock.at, **both_times(clock, as_of, known_at))
    if not here.printed(found):
        _draw(here, found)
    if found.order == "unknown":
        raise Exit(NOT_FOUND)


@app.command()
def timeline(
    here: GlobalOptions,
    about: Annotated[str | None, Option(help="A topic [everything].")] = None,
    between: Between = None,
    grain: Annotated[str | None, Option(help="Headings: day, week, month or year.")] = None,
    negated: Annotated[bool, Option("--negated", help="Also what did not happen.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = None,
) -> None:
    """What happened, what began and ended, and the conversations, in the order of time."""
    with here.reading() as (memory, clock):
        inside, then = clock.window(between), both_times(clock, as_of, known_at)
        # The library says which grains there are.
        every = memory.timeline(about, inside, cast("Grain | None", grain), negated=negated, **then)
        found = newest(every, limit)
    if here.json:
        here.print(found)
    elif found:
        _show(here, found)
    else:
        here.say("nothing is known of that time" if between else "nothing is known of that")
    if not found:
        raise Exit(NOT_FOUND)


@app.command("when-is")
def when_is(
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
    from everwhen.types.time_arguments import TimeReader, known_zone
    from everwhen_time import explain, resolve

    zone = known_zone(here.zone or "UTC")
    if tense not in (None, "past", "future"):
        raise UsageError(f"unknown tense '{tense}'; use past or future")
    found = resolve(expression, TimeReader(zone, at).now, zone, tense, day_first=day_first)  # type: ignore[arg-type]
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


def _line(found: TimeAnswer) -> Text:
    full = round(found.confidence * 5)
    sure = f"  {'■' * full}{'□' * (5 - full)} {found.confidence:.2f} sure"
    return styled((spoken_of(found.interval, found.zone), "bold green"), (sure, "dim"))


def _quoted(one: Evidence, zone: str) -> Text:
    how = " (told that day, no date given)" if one.inferred else ""
    quote = styled(one.quote)
    if one.expression:
        quote.highlight_words([one.expression], "bold yellow", case_sensitive=False)
    said = f"{local(one.said_at, zone):%a %d %b %Y}", "cyan"
    source = f"  [{one.turn or one.fact or ''}]{how}", "dim"
    return styled("  ", said, (f" {one.speaker}: ", "bold"), quote, source)


def _draw(here: GlobalOptions, found: Comparison) -> None:
    """Both on one line of time, and the verdict above."""
    here.say(_verdict(found))
    known = [(side.query, side.answer) for side in (found.first, found.second) if side.answer is not None]
    width = max(NARROWEST, min(WIDEST, here.console.width - 50))
    bars = _bars([answer for _, answer in known], width)
    for (query, answer), bar in zip(known, bars, strict=True):
        here.console.print(styled((f"{bar} ", "cyan"), (query, "bold"), ": ", _line(answer)))
    for _, answer in known:
        for one in answer.evidence[:1]:
            here.console.print(_quoted(one, answer.zone))


def _verdict(found: Comparison) -> str:
    first, second = found.first, found.second
    if found.order == "unknown":
        unknown = ", ".join(side.query for side in (first, second) if side.answer is None)
        return f"cannot tell: this memory does not say when it was: {unknown}"
    apart = f": {found.gap.text}" if found.gap else ""
    if found.order == "overlap":
        return f"cannot tell which came first{apart}"
    return f"{first.query} came before {second.query}{apart}"


def _bars(answers: Sequence[TimeAnswer], width: int) -> list[str]:
    """One bar for each interval between the first and the last instant that is known; open sides run to the edge."""
    known = [side for one in answers for side in (one.interval.start, one.interval.end) if side is not None]
    if not known:
        return [" " * width for _ in answers]
    first, last = min(known), max(known)
    return [
        time_bar(one.interval.start or first, one.interval.end or last, first, last, width) for one in answers
    ]


def _show(here: GlobalOptions, found: Sequence[Entry]) -> None:
    listed = table(header=False)
    listed.add_column("when", no_wrap=True)
    group = None
    for entry in found:
        if entry.group is not None and entry.group != group:
            group = entry.group
            listed.add_row(styled(spoken_of(group, entry.zone), style="bold"), "", "")
        when = spoken_of(entry.interval, entry.zone)
        if entry.kind == "session":
            start = entry.interval.start
            when = f"{local(start, entry.zone):%Y-%m-%d}" if start else "?"
        dim = entry.inferred or entry.kind == "session" or entry.status in ("hypothetical", "negated")
        listed.add_row(
            styled(f"  ({when})" if entry.inferred else f"  {when}", style="dim" if dim else "green"),
            styled(_mark(entry), style="cyan"),
            styled(entry.text, style="dim" if dim else ""),
        )
    here.console.print(listed)
    show_legend(here, {**MARKS, **_KINDS}, {_mark(entry) for entry in found})


def _mark(entry: Entry) -> str:
    return MARKS.get(entry.status) or _KINDS[entry.kind]
