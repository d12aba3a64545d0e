"""The methods of `memory.facts` as steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from typing_extensions import TypedDict

from everwhen.client.calls import pages, part
from everwhen.client.wire import Call, Steps
from everwhen.errors import UsageError
from everwhen.facts import decay
from everwhen.facts.decay import HalfLives
from everwhen.store.instants import aware
from everwhen.types import Conflict, Fact, FactDiff, Origin, StaleFact


class Half(TypedDict):
    half_lives: HalfLives


def assert_(
    subject: str,
    predicate: str,
    object: str,
    *,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    confidence: float = 1.0,
    domain: str | None = None,
    source: str | Sequence[str] | None = None,
    origin: Origin = "observation",
    at: datetime | None = None,
) -> Steps[Fact]:
    """See `Facts.assert_`."""
    body = {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "valid_from": aware(valid_from, "valid_from"),
        "valid_to": aware(valid_to, "valid_to"),
        "confidence": confidence,
        "domain": domain,
        "source": source if source is None or isinstance(source, str) else list(source),
        "origin": origin,
        "at": aware(at, "at"),
    }
    return (yield Call("POST", "/facts", Fact, body, writes=True))  # type: ignore[no-any-return]


def correct(
    subject: str,
    predicate: str,
    object: str,
    *,
    valid_from: datetime | None = None,
    at: datetime | None = None,
) -> Steps[Fact]:
    """See `Facts.correct`."""
    body = {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "valid_from": aware(valid_from, "valid_from"),
        "at": aware(at, "at"),
    }
    return (yield Call("POST", "/facts/correct", Fact, body, writes=True))  # type: ignore[no-any-return]


def retract(fact_id: str, *, reason: str, at: datetime | None = None) -> Steps[Fact]:
    """See `Facts.retract`."""
    body = {"reason": reason, "at": aware(at, "at")}
    made: Fact = yield Call("POST", f"/facts/{part(fact_id)}/retract", Fact, body, writes=True)
    return made


def end(subject: str, predicate: str, *, on: datetime, at: datetime | None = None) -> Steps[list[Fact]]:
    """See `Facts.end`."""
    body = {"subject": subject, "predicate": predicate, "on": _instant(on, "on"), "at": aware(at, "at")}
    ended: list[Fact] = yield Call("POST", "/facts/end", list[Fact], body, writes=True)
    return ended


def confirm(fact_id: str, at: datetime | None = None) -> Steps[Fact]:
    """See `Facts.confirm`."""
    body = {"at": aware(at, "at")}
    made: Fact = yield Call("POST", f"/facts/{part(fact_id)}/confirm", Fact, body, writes=True)
    return made


def report_missing(ref: str, at: datetime | None = None) -> Steps[list[Fact]]:
    """See `Facts.report_missing`."""
    return (yield from _report("missing", ref, at))


def report_change(ref: str, at: datetime | None = None) -> Steps[list[Fact]]:
    """See `Facts.report_change`."""
    return (yield from _report("change", ref, at))


def resolve(conflict_id: str, keep: str, at: datetime | None = None) -> Steps[Fact | None]:
    """See `Facts.resolve`."""
    body = {"keep": keep, "at": aware(at, "at")}
    kept: Fact | None = yield Call(
        "POST", f"/facts/review/{part(conflict_id)}", Fact | None, body, writes=True
    )
    return kept


def current(
    subject: str | None = None, predicate: str | None = None, *, now: datetime | None = None
) -> Steps[list[Fact]]:
    """See `Facts.current`."""
    return (yield from _listed(subject=subject, predicate=predicate, now=aware(now, "now")))


def as_of(
    instant: datetime,
    subject: str | None = None,
    predicate: str | None = None,
    *,
    known_at: datetime | None = None,
) -> Steps[list[Fact]]:
    """See `Facts.as_of`."""
    return (
        yield from _listed(
            as_of=_instant(instant, "instant"),
            subject=subject,
            predicate=predicate,
            known_at=aware(known_at, "known_at"),
        )
    )


def history(subject: str, predicate: str, *, versions: bool = False) -> Steps[list[Fact]]:
    """See `Facts.history`."""
    return (yield from _listed(subject=subject, predicate=predicate, history=True, versions=versions))


def about(subject: str, *, versions: bool = False) -> Steps[list[Fact]]:
    """See `Facts.about`."""
    return (yield from _listed(subject=subject, history=True, versions=versions))


def diff(t1: datetime, t2: datetime, subject: str | None = None) -> Steps[FactDiff]:
    """See `Facts.diff`."""
    params = {"t1": _instant(t1, "t1"), "t2": _instant(t2, "t2"), "subject": subject}
    found: FactDiff = yield Call("GET", "/facts/diff", FactDiff, params=params)
    return found


def stale(
    threshold: float = 0.5, now: datetime | None = None, *, limit: int | None = None
) -> Steps[list[StaleFact]]:
    """See `Facts.stale`; without a limit, the thousand least sure."""
    params = {"threshold": threshold, "now": aware(now, "now"), "limit": limit or 1000}
    found: list[StaleFact] = yield Call("GET", "/facts/stale", list[StaleFact], params=params)
    return found


def review() -> Steps[list[Conflict]]:
    """See `Facts.review`."""
    found: list[Conflict] = yield Call("GET", "/facts/review", list[Conflict])
    return found


def get(fact_id: str) -> Steps[Fact]:
    """See `Facts.get`."""
    found: Fact = yield Call("GET", f"/facts/{part(fact_id)}", Fact)
    return found


def versions() -> Steps[Iterator[Fact]]:
    """See `Facts.versions`."""
    return iter((yield from pages("/facts/versions", Fact)))


def confidence_at(fact: Fact, instant: datetime) -> Steps[float]:
    """See `Facts.confidence_at`."""
    known: Half = yield Call("GET", "", Half)
    return decay.confidence_at(fact, _instant(instant, "instant"), known["half_lives"])


def define_predicate(
    name: str,
    *,
    multi: bool = False,
    synonyms: Sequence[str] = (),
    domain: str | None = None,
    at: datetime | None = None,
) -> Steps[None]:
    """See `Facts.define_predicate`."""
    if isinstance(synonyms, str):
        raise UsageError(f"synonyms takes a list, such as synonyms=[{synonyms!r}]")
    body = {
        "name": name,
        "multi": multi,
        "synonyms": list(synonyms),
        "domain": domain,
        "at": aware(at, "at"),
    }
    yield Call("POST", "/facts/predicates", None, body, writes=True)


def set_half_life(domain: str | None, days: float) -> Steps[None]:
    """See `Facts.set_half_life`."""
    yield Call("POST", "/facts/half-lives", None, {"domain": domain, "days": days}, writes=True)


def _listed(**params: Any) -> Steps[list[Fact]]:
    return (yield from pages("/facts", Fact, **params))


def _report(kind: str, ref: str, at: datetime | None) -> Steps[list[Fact]]:
    body = {"kind": kind, "ref": ref, "at": aware(at, "at")}
    found: list[Fact] = yield Call("POST", "/facts/reports", list[Fact], body, writes=True)
    return found


def _instant(given: datetime, name: str) -> datetime:
    instant = aware(given, name)
    if instant is None:
        raise UsageError(f"{name} is missing; give an aware datetime")
    return instant
