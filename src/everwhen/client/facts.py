"""The methods of `memory.facts` as steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from typing_extensions import TypedDict

from everwhen.client.calls import pages, part, when_given
from everwhen.client.wire import Call, Steps
from everwhen.errors import UsageError
from everwhen.facts import decay
from everwhen.times import Clock
from everwhen.types import Conflict, Fact, FactDiff, HalfLives, Origin, StaleFact, Time


class Half(TypedDict):
    zone: str
    half_lives: HalfLives


def assert_(
    subject: str,
    predicate: str,
    object: str,
    *,
    valid_from: Time | None = None,
    valid_to: Time | None = None,
    confidence: float = 1.0,
    domain: str | None = None,
    source: str | Sequence[str] | None = None,
    origin: Origin = "observation",
    at: Time | None = None,
) -> Steps[Fact]:
    """See `Facts.assert_`."""
    body = {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "valid_from": when_given(valid_from, "valid_from"),
        "valid_to": when_given(valid_to, "valid_to"),
        "confidence": confidence,
        "domain": domain,
        "source": source if source is None or isinstance(source, str) else list(source),
        "origin": origin,
        "at": when_given(at, "at"),
    }
    return (yield Call("POST", "/facts", Fact, body, writes=True))  # type: ignore[no-any-return]


def correct(
    subject: str,
    predicate: str,
    object: str,
    *,
    valid_from: Time | None = None,
    at: Time | None = None,
) -> Steps[Fact]:
    """See `Facts.correct`."""
    body = {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "valid_from": when_given(valid_from, "valid_from"),
        "at": when_given(at, "at"),
    }
    return (yield Call("POST", "/facts/correct", Fact, body, writes=True))  # type: ignore[no-any-return]


def retract(fact_id: str, *, reason: str, at: Time | None = None) -> Steps[Fact]:
    """See `Facts.retract`."""
    body = {"reason": reason, "at": when_given(at, "at")}
    made: Fact = yield Call("POST", f"/facts/{part(fact_id)}/retract", Fact, body, writes=True)
    return made


def end(subject: str, predicate: str, *, on: Time, at: Time | None = None) -> Steps[list[Fact]]:
    """See `Facts.end`."""
    body = {"subject": subject, "predicate": predicate, "on": _needed(on, "on"), "at": when_given(at, "at")}
    ended: list[Fact] = yield Call("POST", "/facts/end", list[Fact], body, writes=True)
    return ended


def confirm(fact_id: str, at: Time | None = None) -> Steps[Fact]:
    """See `Facts.confirm`."""
    body = {"at": when_given(at, "at")}
    made: Fact = yield Call("POST", f"/facts/{part(fact_id)}/confirm", Fact, body, writes=True)
    return made


def report_missing(ref: str, at: Time | None = None) -> Steps[list[Fact]]:
    """See `Facts.report_missing`."""
    return (yield from _report("missing", ref, at))


def report_change(ref: str, at: Time | None = None) -> Steps[list[Fact]]:
    """See `Facts.report_change`."""
    return (yield from _report("change", ref, at))


def resolve(conflict_id: str, keep: str, at: Time | None = None) -> Steps[Fact | None]:
    """See `Facts.resolve`."""
    body = {"keep": keep, "at": when_given(at, "at")}
    kept: Fact | None = yield Call(
        "POST", f"/facts/review/{part(conflict_id)}", Fact | None, body, writes=True
    )
    return kept


def current(
    subject: str | None = None, predicate: str | None = None, *, now: Time | None = None
) -> Steps[list[Fact]]:
    """See `Facts.current`."""
    return (yield from _listed(subject=subject, predicate=predicate, now=when_given(now, "now")))


def as_of(
    instant: Time,
    subject: str | None = None,
    predicate: str | None = None,
    *,
    known_at: Time | None = None,
) -> Steps[list[Fact]]:
    """See `Facts.as_of`."""
    return (
        yield from _listed(
            as_of=_needed(instant, "instant"),
            subject=subject,
            predicate=predicate,
            known_at=when_given(known_at, "known_at"),
        )
    )


def history(subject: str, predicate: str, *, versions: bool = False) -> Steps[list[Fact]]:
    """See `Facts.history`."""
    return (yield from _listed(subject=subject, predicate=predicate, history=True, versions=versions))


def about(subject: str, *, versions: bool = False) -> Steps[list[Fact]]:
    """See `Facts.about`."""
    return (yield from _listed(subject=subject, history=True, versions=versions))


def diff(t1: Time, t2: Time, subject: str | None = None) -> Steps[FactDiff]:
    """See `Facts.diff`."""
    params = {"t1": _needed(t1, "t1"), "t2": _needed(t2, "t2"), "subject": subject}
    found: FactDiff = yield Call("GET", "/facts/diff", FactDiff, params=params)
    return found


def stale(
    threshold: float = 0.5, now: Time | None = None, *, limit: int | None = None
) -> Steps[list[StaleFact]]:
    """See `Facts.stale`; without a limit, the thousand least sure."""
    params = {"threshold": threshold, "now": when_given(now, "now"), "limit": limit or 1000}
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


def confidence_at(fact: Fact, instant: Time) -> Steps[float]:
    """See `Facts.confidence_at`."""
    known: Half = yield Call("GET", "", Half)
    moment = Clock(known["zone"]).last(_needed(instant, "instant"), "instant")
    return decay.confidence_at(fact, moment, known["half_lives"])


def define_predicate(
    name: str,
    *,
    multi: bool = False,
    synonyms: Sequence[str] = (),
    domain: str | None = None,
    at: Time | None = None,
) -> Steps[None]:
    """See `Facts.define_predicate`."""
    if isinstance(synonyms, str):
        raise UsageError(f"synonyms takes a list, such as synonyms=[{synonyms!r}]")
    body = {
        "name": name,
        "multi": multi,
        "synonyms": list(synonyms),
        "domain": domain,
        "at": when_given(at, "at"),
    }
    yield Call("POST", "/facts/predicates", None, body, writes=True)


def set_half_life(domain: str | None, days: float) -> Steps[None]:
    """See `Facts.set_half_life`."""
    yield Call("POST", "/facts/half-lives", None, {"domain": domain, "days": days}, writes=True)


def _listed(**params: Any) -> Steps[list[Fact]]:
    return (yield from pages("/facts", Fact, **params))


def _report(kind: str, ref: str, at: Time | None) -> Steps[list[Fact]]:
    body = {"kind": kind, "ref": ref, "at": when_given(at, "at")}
    found: list[Fact] = yield Call("POST", "/facts/reports", list[Fact], body, writes=True)
    return found


def _needed(given: Time, name: str) -> Time:
    made = when_given(given, name)
    if made is None:
        raise UsageError(f"{name} is missing; give a time such as '2025-03-14' or 'last Friday'")
    return made
