"""One batch, from claimed turns to the graph: extract, embed, then write it all in one short transaction."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from everwhen.models.comparison import Reader
from everwhen.models.embedder import Embedder, LocalTime, count_tokens, embed_derived
from everwhen.models.llm.base import LLM
from everwhen.store.base import VectorModel
from everwhen.store.rows import EventPart, Mention, Moment, NewUnit, Vectors, Work
from everwhen.store.sql.graph_writer import GraphWriter
from everwhen.store.sql.store import Store
from everwhen.types import Event, Turn
from everwhen.write import links
from everwhen.write.changes.changed_plans import Version, versions
from everwhen.write.changes.ended_facts import endings
from everwhen.write.changes.learned_facts import SaidBy, believed, learn_facts
from everwhen.write.entities import AmbiguousNames, KnownEntities, Resolver, UndecidedPairs, key, with_topics
from everwhen.write.extract.base import (
    OVERLAP_TURNS,
    Batch,
    ExtractedEntity,
    ExtractedEvent,
    ExtractedNarrative,
    Extraction,
    Extractor,
    Failure,
)
from everwhen.write.foreign_text import prose

MOST_PER_TURN = 20
"""Events, and names, of one turn that are kept; more is a list somebody pasted, or a model that went astray."""


def process(
    store: Store,
    embedder: Embedder,
    extractor: Extractor,
    work: Work,
    judge: LLM | None = None,
    *,
    entities: KnownEntities | None = None,
    dated: bool = False,
    reader: Reader | None = None,
    link_similarity: float | None = None,
) -> Extraction:
    """Extract claimed turns and write what was found. Done twice, it changes nothing.

    `judge` decides about names that may be one and that no rule decides about; without it they stay apart. `entities`
    are those of the bank, held from one batch to the next. `dated` writes dates into what is embedded. `reader` says
    which plans change, and which facts replace others. `link_similarity` is the setting.
    """
    if entities is None or judge is not None:  # it is asked about identities by their ids, which are read
        entities = KnownEntities()
    turns = {turn.id: prose(turn) for turn in (*work.before, *work.turns)}
    before, read = list(turns.values())[: len(work.before)], list(turns.values())[len(work.before) :]
    mine = [turn.id for turn in read]
    vectors = store.graph.vectors(list(turns))
    raw = vectors[len(work.before) :]
    apart = max(0, len(before) - OVERLAP_TURNS)
    meant = dict(zip(turns, vectors, strict=True))
    batch = Batch(work.session, tuple(read), tuple(before[apart:]), tuple(before[:apart]), meant)
    extraction, topics = with_topics(store, extracted(extractor, batch))
    extraction, replaced = versions(store, embedder, reader, extraction, turns, mine)
    units = _units(extraction, turns, embedder, dated=dated)
    similar = links.similar_units(
        store.graph, _matrix(_events(units), embedder.dim), "event", embedder.name, link_similarity
    )
    near = links.similar_units(store.graph, raw, "turn", embedder.name, link_similarity)
    # Facts first: a crash in between has them learned twice, which says the same, and never not at all.
    if not extraction.in_vain:
        fresh = {turn.id: turn for turn in read}
        said_by = SaidBy(store, turns, entities)
        facts = believed(store, reader, said_by.attributed(extraction.facts), fresh)
        facts += said_by.attributed(endings(store, reader, facts, fresh))
        learn_facts(store, embedder, facts, fresh, list(turns), dated=dated)
    found = _Found(extraction, turns, mine, units, similar, near, link_similarity, topics, replaced)
    names = AmbiguousNames(judge)
    try:
        _write(store, embedder, found, names, entities)
    except UndecidedPairs:
        names.ask(store)
        failures = tuple(Failure(tuple(mine), problem) for problem in names.problems)
        extraction = replace(extraction, failures=(*extraction.failures, *failures))
        _write(store, embedder, replace(found, extraction=extraction), names, entities)
    return extraction


@dataclass(frozen=True, slots=True)
class _Found:
    """A batch ready to be written. `similar` and `near` are the neighbours in meaning of its events and its turns,
    `topics` the units that say what was spoken of before without a name."""

    extraction: Extraction
    turns: dict[str, Turn]
    mine: list[str]
    units: list[NewUnit]
    similar: Sequence[links.Similar]
    near: Sequence[links.Similar]
    link_similarity: float | None
    topics: Mapping[str, frozenset[int]]
    replaced: Sequence[Version]


def _write(
    store: Store, embedder: Embedder, found: _Found, names: AmbiguousNames, entities: KnownEntities
) -> None:
    """One transaction; `UndecidedPairs`, and nothing written, where the model is to be asked about names first."""
    extraction, turns, mine, units = found.extraction, found.turns, found.mine, found.units
    events = _events(units)
    with store.graph.writing(VectorModel.of(embedder)) as write:
        raws = write.unit_of_turns(list(turns))  # first of all: one may have been forgotten
        narratives = [unit for unit in units if unit.kind == "narrative"]
        retold = list(dict.fromkeys(id_ for unit in narratives for id_ in unit.turns))
        write.drop_superseded("narrative", retold, [unit.id for unit in narratives])
        seqs = write.add_units(units, extraction.extractor, extraction.version)
        _mention(write, found, seqs, raws, Resolver(write, names if names.model else None, entities))
        names.raise_if_undecided()
        write.add_to_timeline([Moment(raws[id_], "turn", turns[id_].said_at) for id_ in mine])
        write.add_to_timeline([Moment(seqs[unit.id], "event", unit.at) for unit in events])
        placed = [seqs[unit.id] for unit in events]
        links.link_in_time(write, [raws[id_] for id_ in mine] + placed)
        links.link_in_meaning(write, {raws[id_]: near for id_, near in zip(mine, found.near, strict=True)})
        among = links.similar_among(
            placed, _matrix(events, embedder.dim), embedder.name, found.link_similarity
        )
        known = zip(placed, found.similar, among, strict=True)
        links.link_in_meaning(write, {unit: [*old, *new] for unit, old, new in known})
        ids = [_event_id(event) for event in extraction.events]
        causes = [(seqs[ids[one.cause]], seqs[ids[one.effect]], one.confidence) for one in extraction.causes]
        links.link_causes(write, causes)
        for new, old in found.replaced:
            write.record_replacement(
                seqs[_event_id(new)], old.id if isinstance(old, Event) else _event_id(old)
            )
        for failure in extraction.failures:
            write.record_failure(failure.turns, failure.reason)
        if extraction.usage is not None:
            write.record_usage(extraction.model, extraction.usage)
        if names.usage.requests:
            write.record_usage(names.model, names.usage)
        write.mark_done(mine, extraction.extractor, extraction.version)
        version = write.names_version()
    entities.keep(version)


def extracted(extractor: Extractor, batch: Batch) -> Extraction:
    """What the extractor finds, kept to what it may say; one that breaks costs the batch nothing but itself."""
    try:
        found = extractor.extract(batch)
    except Exception as error:
        reason = f"the extractor {extractor.name} broke ({type(error).__name__}: {error})"[:300]
        failure = Failure(tuple(turn.id for turn in batch.turns), reason)
        return Extraction(extractor.name, extractor.version, failures=(failure,))
    return _bounded(found, batch)


def _bounded(found: Extraction, batch: Batch) -> Extraction:
    """Without what points at turns outside the batch, and without the surplus of a turn."""
    mine = batch.ids
    around = mine | {turn.id for turn in (*batch.earlier, *batch.before)}
    kept: dict[str, ExtractedEvent] = {}
    places: dict[int, int] = {}
    count: Counter[str] = Counter()
    for place, event in enumerate(found.events):
        id_ = _event_id(event)
        if not event.turns or not mine.issuperset(event.turns) or id_ in kept:
            continue
        if count[event.turns[0]] < MOST_PER_TURN:
            count[event.turns[0]] += 1
            places[place] = len(kept)
            kept[id_] = event
    causes = (
        replace(one, cause=places[one.cause], effect=places[one.effect])
        for one in found.causes
        if one.cause in places and one.effect in places and one.cause != one.effect
    )
    return replace(
        found,
        events=tuple(kept.values()),
        causes=tuple(causes),
        narratives=tuple(one for one in found.narratives if one.turns and around.issuperset(one.turns)),
        entities=tuple(one for one in found.entities if not mine.isdisjoint(one.turns)),
        facts=tuple(one for one in found.facts if one.turns and mine.issuperset(one.turns)),
    )


# Units


def _units(
    extraction: Extraction, turns: dict[str, Turn], embedder: Embedder, *, dated: bool
) -> list[NewUnit]:
    things: list[ExtractedEvent | ExtractedNarrative] = [*extraction.events, *extraction.narratives]

    def occurred_or_said(thing: ExtractedEvent | ExtractedNarrative) -> LocalTime:
        """As the store gives it back (`Keep.unit_dates`)."""
        turn = turns[thing.turns[0]]
        if thing.occurred is not None and thing.occurred.start is not None:
            return LocalTime(thing.occurred.start, turn.zone, thing.occurred.grain)
        return LocalTime(turn.said_at, turn.zone)

    dates = [occurred_or_said(thing) for thing in things] if dated else None
    vectors = embed_derived(embedder, [thing.text for thing in things], dates)
    return [_unit(thing, turns[thing.turns[0]], own) for thing, own in zip(things, vectors, strict=True)]


def _unit(thing: ExtractedEvent | ExtractedNarrative, turn: Turn, vectors: Vectors) -> NewUnit:
    event = thing if isinstance(thing, ExtractedEvent) else None
    dated = thing.occurred.middle if event is not None and not event.inferred and thing.occurred else None
    part = None if event is None else EventPart(
        event.subject, event.verb, event.object, event.status, event.polarity, event.quantity, event.expression,
        event.inferred, event.aliases,
    )  # fmt: skip
    return NewUnit(
        id=_event_id(event) if event else _id("r", thing.turns, thing.text),
        kind="event" if event else "narrative",
        network=thing.network,
        text=thing.text,
        context="; ".join(event.aliases) if event else "",
        occurred=thing.occurred,
        turns=thing.turns,
        vectors=vectors,
        tokens=count_tokens(f"{thing.text}\n"),
        confidence=thing.confidence,
        at=dated or turn.said_at,
        event=part,
    )


def _event_id(event: ExtractedEvent) -> str:
    return _id("e", event.turns, event.subject, event.verb, event.object, event.text)


def _id(prefix: str, turns: Sequence[str], *parts: str) -> str:
    """The same for the same thing from the same turns, so that writing it twice is writing it once."""
    whole = "\x1f".join((*turns, *parts))
    return prefix + hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=9).hexdigest()


def _events(units: Sequence[NewUnit]) -> list[NewUnit]:
    return [unit for unit in units if unit.kind == "event"]


def _matrix(units: Sequence[NewUnit], dimension: int) -> Vectors:
    return np.array([unit.vectors[0] for unit in units], np.float32).reshape(len(units), dimension)


# Entities


def _mention(
    write: GraphWriter, batch: _Found, seqs: dict[str, int], raws: dict[str, int], resolver: Resolver
) -> None:
    """Resolve the names turn by turn, then give the units of a turn those that they name."""
    extraction = batch.extraction
    by_turn: dict[str, list[ExtractedEntity]] = {}
    for entity in extraction.entities:
        for id_ in entity.turns:
            by_turn.setdefault(id_, []).append(entity)
    resolved: dict[str, dict[str, int]] = {}
    kinds = {key(entity.name): entity.type for entity in extraction.entities}
    fresh = {id_ for entity in extraction.entities for id_ in entity.turns}
    newest = max((batch.turns[id_].recorded_at for id_ in batch.mine), default=None)
    topics = write.present({unit for units in batch.topics.values() for unit in units})
    for id_, turn in batch.turns.items():
        once: dict[str, ExtractedEntity] = {}
        for one in by_turn.get(id_, []):
            if resolver.is_mention(one):
                once.setdefault(key(one.name), one)
        names = list(once.values())[:MOST_PER_TURN]
        if not names:
            continue
        found_at = turn.recorded_at if id_ in batch.mine else newest  # of an earlier turn only now
        chosen = resolver.entities_of_turn(names, turn, found_at)
        resolved[id_] = {key(name): seq for name, seq in chosen.items()}
        types = {entity.name: entity.type for entity in names}
        for name, seq in chosen.items():
            earlier = sorted(batch.topics.get(key(name), frozenset()).intersection(topics))
            units = [raws[id_], *earlier]
            write.mention([Mention(unit, seq, name, types[name], found_at) for unit in units])
    things: Sequence[ExtractedEvent | ExtractedNarrative] = [*extraction.events, *extraction.narratives]
    for unit, thing in zip(batch.units, things, strict=True):
        for name in thing.entities:
            here = (resolved[id_][key(name)] for id_ in thing.turns if key(name) in resolved.get(id_, {}))
            found = next(here, None)
            if found is None and not fresh.issuperset(thing.turns):
                found = resolver.only_entity_named(name)  # of a turn of an earlier batch
            if found is not None:
                write.mention([Mention(seqs[unit.id], found, name, kinds.get(key(name), "OTHER"))])
