"""How extractors add facts: what was found in turns becomes believed facts, with those turns as sources.

Where turns are read again, facts learned from them are confirmed or retracted, then new ones are learned. Nothing is
overwritten: a retraction is a new version, and `known_at` still sees what was believed before. Facts that a person
stated or decided are never changed, and what a person retracted is not learned again from the same turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from everwhen.facts.changes import INSTANT, assert_fact, reopen_fact, retract_fact, reweigh_fact
from everwhen.facts.statements import FactStatement, folded, prepared
from everwhen.models.embedder import Embedder
from everwhen.store.rows import FactRow
from everwhen.store.sql.facts import FactLedger, FactStore

REREAD = "its turns were read again, and no longer say so"
SAME = 0.02
"""Confidences that differ by less are the same: a network's last digits depend on what it reads along."""


def relearn(
    store: FactStore,
    embedder: Embedder,
    turns: Sequence[str],
    facts: Sequence[FactStatement],
    at: datetime,
    read: Sequence[str] = (),
    *,
    zone: str | None = None,
) -> list[FactRow]:
    """Replace what was learned from some turns by what they are found to say now; gives back what is new.

    `at` of a fact is when it was said, which is when the memory learned it. Where the words give no start it is that,
    too: turns that are imported late take their place in the past.

    A fact that they say as before stays as it is, with no support added; one that has other sources loses these
    turns as sources, and the end that one of them had given it; one that has none, or now has another beginning or end,
    is retracted at `at`. What other turns said already is reinforced. A fact that loses to what is known, or that no
    rule decides about, comes back with that standing. `read` are the turns that were read for it: nothing is learned
    when one of them was forgotten meanwhile.
    """
    known = store.from_sources(turns)
    said = prepared(sorted(facts, key=lambda one: one.at), embedder, zone)
    if not known:
        return record(store, said, read)
    cited = store.sources(known)
    ends = {fact_id: _end(store, fact_id) for fact_id in known if len(cited.get(fact_id, [])) > 1}
    reading = frozenset(turns)

    def look_again(ledger: FactLedger) -> list[FactRow]:
        for fact_id in known:
            _look_again(ledger, fact_id, cited.get(fact_id, []), ends.get(fact_id), said, reading, at)
        rows = []
        for one in said:  # each is held against the facts as the ones before it left them
            held = [id_ for id_ in known if not set(one.sources).isdisjoint(cited.get(id_, []))]
            if not any(_settled(ledger, one, id_) for id_ in held):
                rows.append(assert_fact(ledger, one))
        return [ledger.fact(row.id) or row for row in rows]

    return store.write(look_again, read)


def record(store: FactStore, said: Sequence[FactStatement], read: Sequence[str] = ()) -> list[FactRow]:
    """Assert statements in one transaction; each comes back as it stands afterwards."""
    if not said:
        return []

    def assert_all(ledger: FactLedger) -> list[FactRow]:
        rows = [assert_fact(ledger, one) for one in said]
        return [ledger.fact(row.id) or row for row in rows]

    return store.write(assert_all, read)


@dataclass(frozen=True, slots=True)
class _End:
    """Who gave a fact the end that it has."""

    sources: frozenset[str]
    came_later: bool
    """It was known without an end before."""


def _end(store: FactStore, fact_id: str) -> _End | None:
    """The sources that were first cited with the version that brought the end; all until then, where none was."""
    newest = store.newest(fact_id)
    if newest is None or newest.claimed_to is None:
        return None
    first = newest
    versions = store.history(folded(newest.subject), None, versions=True)
    for row in sorted((one for one in versions if one.id == fact_id), key=lambda one: -one.version):
        if row.claimed_to != newest.claimed_to:
            break
        first = row
    until = store.sources([fact_id], first.recorded_at).get(fact_id, [])
    before = store.sources([fact_id], first.recorded_at - INSTANT).get(fact_id, [])
    return _End(frozenset(until).difference(before) or frozenset(until), first.version > 1)


def _look_again(
    ledger: FactLedger,
    fact_id: str,
    sources: Sequence[str],
    end: _End | None,
    said: Sequence[FactStatement],
    reading: frozenset[str],
    at: datetime,
) -> None:
    row = ledger.fact(fact_id)
    if row is None or row.act not in ("learn", "propose") or row.superseded_at is not None:
        return
    again = [one for one in said if _same(ledger, row, one) and not set(one.sources).isdisjoint(sources)]
    if not reading.issuperset(sources):
        saying = {source for one in again for source in one.sources}
        silent = [one for one in sources if one in reading and one not in saying]
        ledger.uncite(row.id, silent)
        if end is None or row.claimed_to is None or end.sources.isdisjoint(silent):
            return
        if end.came_later:
            reopen_fact(ledger, row.id, at)
        else:  # nobody has said that it goes on: reading the others again shows what they say
            retract_fact(ledger, row.id, at, REREAD)
    elif not again or not _as_before(row, again):
        retract_fact(ledger, row.id, at, REREAD)
    elif abs((sure := max(one.confidence for one in again)) - row.confidence) > SAME:
        reweigh_fact(ledger, row.id, sure, at)


def _same(ledger: FactLedger, row: FactRow, said: FactStatement) -> bool:
    if row.act in ("learn", "propose") and (row.origin == "pasted") != (said.origin == "pasted"):
        return False
    key = ledger.find_key(folded(said.subject), said.predicate.key)
    return key is not None and key.seq == row.key and folded(said.object) == row.object_key


def _as_before(row: FactRow, again: Sequence[FactStatement]) -> bool:
    """Whether the statements would make the fact as it is: the earliest beginning, the end that was named last."""
    starts = [one.start for one in again if one.start is not None]
    ends = [one.end for one in again if one.end is not None]
    return min(starts, default=None) == row.valid_from and (ends[-1] if ends else None) == row.claimed_to


def _settled(ledger: FactLedger, said: FactStatement, fact_id: str) -> bool:
    """Whether a statement adds nothing to a fact that its turns were a source of, or a person has decided about it."""
    row = ledger.fact(fact_id)
    if row is None or not _same(ledger, row, said):
        return False
    start = said.start or said.at
    if row.superseded_at is None:
        return row.act != "learn" or (row.covers(start) and said.end in (None, row.claimed_to))
    if row.outcome == "outweighed":  # as long as something stands in its place
        stands = ledger.last_started(row.slot, start)
        return stands is not None and stands.covers(start)
    return row.outcome in ("retracted", "corrected") and row.reason != REREAD
