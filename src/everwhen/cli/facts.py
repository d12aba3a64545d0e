"""`facts`: what is true from when to when, asked and told from the shell."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from typer import Argument, Option

from everwhen.cli.app import Commands, GlobalOptions, app
from everwhen.cli.fact_printing import draw, show, tell, write
from everwhen.cli.safe_printing import local, styled, table
from everwhen.types.decay import OLD_BELOW

if TYPE_CHECKING:
    from everwhen.types import Origin

facts = Commands(help="What is true from when to when, and what was known when.", no_args_is_help=True)
app.add_typer(facts, name="facts")

Subject = Annotated[str, Argument(help="Who or what it is about.")]
Predicate = Annotated[str, Argument(help="Such as 'lives in'.")]
AnySubject = Annotated[str | None, Argument(help="Who or what; left out: everything.")]
AnyPredicate = Annotated[str | None, Argument(help="Such as 'lives in'; left out: all.")]
Object = Annotated[str, Argument(help="Such as 'Porto'.")]
FactId = Annotated[str, Argument(help="A fact's id, as `--json` shows it.")]
Reference = Annotated[str, Argument(help="A name as the facts have it.")]
At = Annotated[str | None, Option(help="When it was learned: ISO 8601 or 'last Friday' [now].")]
By = Annotated[str | None, Option(help="Who says so [the user].")]
Now = Annotated[str | None, Option(help="The moment asked about [now].")]
From = Annotated[str | None, Option("--from", help="Since when it is so [when it was learned].")]
CorrectFrom = Annotated[
    str | None, Option("--from", help="Since when it is so [since what it replaces was].")
]


DECIDE = "decide with: everwhen facts resolve ID --keep ID; of a proposal: confirm ID, or reject ID"


@facts.command()
def current(
    here: GlobalOptions,
    subject: AnySubject = None,
    predicate: AnyPredicate = None,
    now: Now = None,
    limit: Annotated[int | None, Option("--limit", "-n", min=1, help="Facts at the most [all].")] = None,
) -> None:
    """What holds now."""
    with here.reading() as (memory, clock):
        moment = clock.last(now, "now")
        show(here, memory, memory.facts.current(subject, predicate, now=moment)[:limit], moment)


@facts.command("as-of")
def as_of(
    here: GlobalOptions,
    when: Annotated[str, Argument(help="The instant: ISO 8601 or 'last March'.")],
    subject: AnySubject = None,
    predicate: AnyPredicate = None,
    known_at: Annotated[str | None, Option(help="As the memory knew it then [at present].")] = None,
) -> None:
    """What held at an instant."""
    with here.reading() as (memory, clock):
        moment, known = clock.last(when, "instant"), clock.last(known_at, "known_at")
        found = memory.facts.as_of(moment, subject, predicate, known_at=known)
        show(here, memory, found, moment)


@facts.command()
def history(
    here: GlobalOptions,
    subject: Subject,
    predicate: Predicate,
    versions: Annotated[bool, Option("--versions", help="Every version ever recorded.")] = False,
) -> None:
    """What is believed of a thing over all of time."""
    with here.open() as memory:
        show(here, memory, memory.facts.history(subject, predicate, versions=versions), versions=versions)


@facts.command("assert")
def assert_(
    here: GlobalOptions,
    subject: Subject,
    predicate: Predicate,
    object: Object,
    valid_from: From = None,
    valid_to: Annotated[str | None, Option("--to", help="Until when [until it changes].")] = None,
    confidence: Annotated[float, Option(help="How sure, from 0 to 1.")] = 1.0,
    domain: Annotated[str | None, Option(help="Which half-life applies, such as tech_preference.")] = None,
    source: Annotated[
        list[str] | None, Option(help="Turn id or other source; may be repeated, up to 1,000 times.")
    ] = None,
    origin: Annotated[str, Option(help="observation, user or inference.")] = "user",
    at: At = None,
) -> None:
    """Say that something is so."""
    with here.reading(at, create=True) as (memory, clock):
        fact = memory.facts.assert_(
            subject,
            predicate,
            object,
            valid_from=clock.first(valid_from, "valid_from"),
            valid_to=clock.first(valid_to, "valid_to"),
            confidence=confidence,
            domain=domain,
            source=source,
            origin=cast("Origin", origin),  # checked where it is used
            at=clock.at,
        )
        tell(here, memory, fact)


@facts.command()
def correct(
    here: GlobalOptions,
    subject: Subject,
    predicate: Predicate,
    object: Object,
    valid_from: CorrectFrom = None,
    at: At = None,
) -> None:
    """Put something right: your word wins, at once."""
    with here.reading(at, create=True) as (memory, clock):
        begin = clock.first(valid_from, "valid_from")
        tell(here, memory, memory.facts.correct(subject, predicate, object, valid_from=begin, at=clock.at))


@facts.command()
def retract(
    here: GlobalOptions,
    fact: FactId,
    reason: Annotated[str, Option(help="Why it was never so.")],
    at: At = None,
) -> None:
    """Take a fact back: it was never so."""
    with here.reading(at) as (memory, clock):
        tell(here, memory, memory.facts.retract(fact, reason=reason, at=clock.at))


@facts.command()
def end(
    here: GlobalOptions,
    subject: Subject,
    predicate: Predicate,
    on: Annotated[str, Option(help="When it stopped being so.")],
    at: At = None,
) -> None:
    """Say that something stopped being so."""
    with here.reading(at) as (memory, clock):
        show(here, memory, memory.facts.end(subject, predicate, on=clock.first(on, "on"), at=clock.at))


@facts.command()
def confirm(here: GlobalOptions, fact: FactId, at: At = None, by: By = None) -> None:
    """Say that a fact is still so, or that a proposal is."""
    with here.reading(at) as (memory, clock):
        tell(here, memory, memory.facts.confirm(fact, clock.at, by=by))


@facts.command()
def reject(here: GlobalOptions, fact: FactId, at: At = None, by: By = None) -> None:
    """Say that a proposal is not so."""
    with here.reading(at) as (memory, clock):
        tell(here, memory, memory.facts.reject(fact, clock.at, by=by))


@facts.command("report-missing")
def report_missing(here: GlobalOptions, ref: Reference, at: At = None) -> None:
    """Say that something is gone: a file, project, person.

    Lists the facts that name it.
    """
    with here.reading(at) as (memory, clock):
        show(here, memory, memory.facts.report_missing(ref, clock.at))


@facts.command("report-change")
def report_change(here: GlobalOptions, ref: Reference, at: At = None) -> None:
    """Say that something outside changed, such as a release.

    Lists the facts that name it.
    """
    with here.reading(at) as (memory, clock):
        show(here, memory, memory.facts.report_change(ref, clock.at))


@facts.command("half-life")
def half_life(
    here: GlobalOptions,
    domain: Annotated[str, Argument(help="Such as tech_preference.")],
    days: Annotated[float, Argument(help="Days after which such a fact is half as sure.")],
) -> None:
    """Say how fast facts of a domain or predicate fade."""
    with here.open(create=True) as memory:
        memory.facts.set_half_life(domain, days)
        said = f"facts of '{domain}' have a half-life of {days:g} days"
        here.tell(memory.facts.half_lives.by_domain, said)


@facts.command()
def stale(
    here: GlobalOptions,
    threshold: Annotated[float, Option(help="Confidence below which age counts.")] = OLD_BELOW,
    now: Now = None,
    limit: Annotated[int | None, Option(help="The least sure ones only.")] = None,
) -> None:
    """What should be checked before anybody relies on it."""
    with here.reading() as (memory, clock):
        found = memory.facts.stale(threshold, clock.last(now, "now"), limit=limit)
    if here.printed(found):
        return
    listed = table(header=False)
    for one in found:
        why = "old" if one.signal == "age" else one.signal.replace("_", " ")
        listed.add_row(why, styled(one.fact.text, style="bold"))
        listed.add_row("", styled(one.action, (f"\n{one.fact.id}", "dim")))
    here.console.print(listed if found else "nothing is stale")


@facts.command()
def review(here: GlobalOptions) -> None:
    """What only a person can decide: conflicts and proposals."""
    from everwhen.types import Conflict

    with here.open() as memory:
        found, zone = memory.facts.review(), here.zone_of(memory)
    if here.printed(found):
        return
    for one in found:
        here.say(f"{one.id}  {one.why}", style="bold")
        for side in one.sides if isinstance(one, Conflict) else (one.fact, one.changes):
            if side is not None:
                days = [
                    f"{local(at, side.zone or zone):%Y-%m-%d}"
                    for at in (side.valid_from, side.valid_to)
                    if at
                ]
                here.say(f"    {side.id}  {side.text}  since {' until '.join(days)}  {side.status}")
    here.remark(DECIDE if found else "nothing to decide")


@facts.command()
def resolve(
    here: GlobalOptions,
    conflict: Annotated[str, Argument(help="A conflict's id, as `review` shows it.")],
    keep: Annotated[str, Option(help="The id or the object of the side that is right, or 'neither'.")],
    at: At = None,
) -> None:
    """Decide a conflict."""
    with here.reading(at) as (memory, clock):
        kept = memory.facts.resolve(conflict, keep, clock.at)
    here.tell(kept, f"kept: {kept.text}" if kept else "kept neither")


@facts.command()
def diff(
    here: GlobalOptions,
    t1: Annotated[str, Argument(help="From this instant.")],
    t2: Annotated[str, Argument(help="To this one.")],
    subject: AnySubject = None,
) -> None:
    """What began, ended and changed between two instants."""
    with here.reading() as (memory, clock):
        found = memory.facts.diff(clock.first(t1, "t1"), clock.first(t2, "t2"), subject)
    if here.printed(found):
        return
    for old, new in found.changed:
        here.say(f"~ {old.text} → {new.text}")
    for sign, listed in (("+", found.began), ("-", found.ended)):
        for fact in listed:
            here.say(f"{sign} {fact.text}")
    if not (found.changed or found.began or found.ended):
        here.say("nothing changed")


@facts.command()
def define(
    here: GlobalOptions,
    predicate: Predicate,
    multi: Annotated[bool, Option("--multi/--single", help="May it have several objects at once?")] = False,
    synonym: Annotated[list[str] | None, Option(help="Words that mean the same; may be repeated.")] = None,
    domain: Annotated[str | None, Option(help="Domain of facts that name none.")] = None,
) -> None:
    """Declare a predicate: one object or several, synonyms."""
    with here.open(create=True) as memory:
        memory.facts.define_predicate(predicate, multi=multi, synonyms=synonym or (), domain=domain)
    defined = {"predicate": predicate, "multi": multi, "synonyms": synonym or [], "domain": domain}
    here.tell(defined, f"'{predicate}' has {'several objects' if multi else 'one object'} at a time")


@facts.command()
def timeline(here: GlobalOptions, subject: Subject, now: Now = None) -> None:
    """Draw what held from when to when, as bars."""
    with here.reading() as (memory, clock):
        found = memory.facts.about(subject)
        if not here.printed(found):
            draw(here, found, memory.zone, clock.last(now, "now") or datetime.now(UTC))


@facts.command()
def export(
    here: GlobalOptions,
    path: Annotated[Path, Argument(help="A .json or .csv file, or - for standard output.")],
    format: Annotated[str | None, Option(help="json or csv [by the file's name].")] = None,
) -> None:
    """Write every version of every fact, as JSON or CSV."""
    with here.open() as memory:
        count = write(memory.facts.versions(), path, format)
    if str(path) != "-":
        here.tell({"versions": count, "path": path}, f"{count} versions written to {path}")
