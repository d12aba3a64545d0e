"""Targets with a bank: adding, asking, facts, forgetting, damaged files."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from everwhen import Memory
from everwhen.errors import Damaged, EverwhenError, NotFound, UsageError
from everwhen.types.turns import message
from tests.fuzz.nasty import instants, json_values, text, words
from tests.fuzz.parsing import damaged, messages
from tests.fuzz.target import target
from tests.fuzz.world import MARK, TALK, World


def _nothing_crossed(*things: object) -> None:
    assert MARK not in repr(things)


@target(messages, cases=120)
def what_went_in_comes_back(world: World, raw: Any) -> None:
    """A message that is taken stands in the bank, word for word; forgotten, it is gone."""
    memory = world.told
    try:
        given = message(raw)
        added = memory.add(raw)
    except EverwhenError as error:
        assert isinstance(error, UsageError), error
        return
    if added.turns[0] in world.gone:
        return  # it does not come back
    (turn,) = (memory.turn(one) for one in added.turns)
    if not added.conflicts:
        assert (turn.text, turn.speaker, turn.role) == (given.text, given.speaker, given.role)
        assert turn.said_at == given.said_at or given.said_at is None
        assert turn.metadata == given.metadata and turn.session == (given.session or turn.session)
    assert memory.turns(turn.session)
    if added.new:
        assert given.text in [hit.turn.text for hit in memory.grep(given.text[:200], limit=10_000)]
        _nothing_crossed(memory.recall(given.text[:2000]).memories)
        memory.forget(turns=turn.id)
        world.gone.add(turn.id)
        assert turn.id not in {one.id for one in memory.turns()}
        assert given.id is None or memory.add(raw).new == 0, "what was forgotten is back"


@target(text, cases=100)
def any_question(world: World, query: str) -> None:
    """An answer from this bank alone, or a sentence; nothing is changed by asking."""
    memory = world.asked
    with suppress(UsageError):
        found = memory.recall(query)
        assert {one.text for one in found} <= set(TALK)
        assert found.tokens <= 4096
        found.as_context()
    for ask in (
        memory.timeline,
        memory.events,
        memory.when,
        memory.turn,
        memory.turns,
        memory.entity,
        memory.mentions,
        memory.facts.current,
        memory.facts.about,
        memory.facts.get,
        memory.facts.confirm,
        lambda words: memory.facts.retract(words, reason=words),
        lambda words: memory.facts.resolve(words, words),
        lambda words: memory.forget(turns=words),
        memory.turns_around,
        lambda words: memory.compare(words, "Ana"),
        lambda words: memory.events(subject=words, verb=words),
        lambda words: memory.facts.history(words, words),
        memory.facts.report_missing,
        memory.ask,
        lambda words: memory.split_entity(words, [words]),
    ):
        with suppress(UsageError, NotFound):
            _nothing_crossed(ask(query))
    assert memory.stats().turns == len(TALK)


@target(text, cases=200)
def any_words_to_find(world: World, pattern: str) -> None:
    """Plain words are found exactly where they stand."""
    with suppress(UsageError):
        hits = world.asked.grep(pattern)
        for hit in hits:
            assert all(0 <= start < end <= len(hit.turn.text) for start, end in hit.spans)
        if pattern.isascii() and "\x00" not in pattern:
            assert [hit.turn.text for hit in hits] == [
                one.text for one in world.asked.turns() if pattern.lower() in one.text.lower()
            ]


BRICKS = [*"ab(|)[]{}*+?^$.\\", "(?:", "(?=", "{2,5}", "\\w", "\\b", "(a+)+", "(?i)", "(?R)", "{e<=3}"]
patterns = st.one_of(text, st.lists(st.sampled_from(BRICKS), max_size=12).map("".join))


@target(patterns, cases=200)
def any_regular_expression(world: World, pattern: str) -> None:
    """Hits or a sentence."""
    with suppress(UsageError):
        _nothing_crossed(world.asked.grep(pattern, regex=True))


@target(st.tuples(text, text, text, st.none() | instants, st.none() | instants), cases=100)
def any_fact(world: World, given: tuple[str, str, str, datetime | None, datetime | None]) -> None:
    """A fact comes back under its subject, with an interval in order."""
    subject, predicate, object_, since, at = given
    facts = world.known.facts
    try:
        fact = facts.assert_(subject, predicate, object_, valid_from=since, at=at)
    except EverwhenError as error:
        assert isinstance(error, UsageError), error
        return
    assert fact.valid.start is None or fact.valid.end is None or fact.valid.start < fact.valid.end
    assert fact.id in {one.id for one in facts.about(subject, versions=True)}
    _nothing_crossed(facts.current(subject), facts.history(subject, predicate))
    facts.retract(fact.id, reason="fuzz")


@target(
    st.lists(st.builds(lambda one, other: f"{one} {other}", text, words), min_size=1, max_size=3), cases=25
)
def any_words_to_read(world: World, said: list[str]) -> None:
    """The rules read anything: events and facts in order, all with a source, and the bank stays sound."""
    memory = world.read
    try:
        added = memory.add([{"name": "Ana", "content": one} for one in said], session="fuzz")
    except EverwhenError as error:
        assert isinstance(error, UsageError), error
        return
    memory.flush()
    known = {turn.id for turn in memory.turns()}
    for event in memory.events():
        assert event.occurred is None or event.occurred.start is None or event.occurred.end is None or (
            event.occurred.start < event.occurred.end
        )  # fmt: skip
        assert set(event.turns) <= known
    assert memory.doctor() == []
    memory.forget(turns=added.turns)
    assert not set(added.turns) & {turn for event in memory.events() for turn in event.turns}


@target(
    st.fixed_dictionaries(
        {},
        optional={"turns": text, "session": text, "entity": text, "between": st.tuples(instants, instants)},
    ),
    cases=150,
)
def any_forgetting(world: World, given: dict[str, Any]) -> None:
    """A dry run, of whatever it speaks, changes nothing."""
    with suppress(EverwhenError):
        assert world.asked.forget(**given, dry_run=True).dry_run
    assert world.asked.stats().turns == len(TALK)


@target(lambda world: damaged(world.export), cases=25)
def any_export(world: World, content: bytes) -> None:
    """An import takes all or nothing: a file that was changed leaves the bank empty, and is told."""
    path = world.folder / "changed.jsonl"
    path.write_bytes(content)
    memory = Memory.open(
        world.home, "imported", embedder="fake", reader="none", cache_entries=0, extract="none"
    )
    try:
        with suppress(EverwhenError):
            memory.import_(path)
        turns = [turn.text for turn in memory.turns()]
        assert turns in ([], sorted(TALK, key=TALK.index)) or content != world.export
        assert turns in ([], TALK), "half an import"
        assert memory.doctor() == []
    finally:
        memory.close()
        for file in (world.home / "banks").glob("imported*"):
            file.unlink()


@target(lambda world: damaged(world.database), cases=30)
def any_database(world: World, content: bytes) -> None:
    """A file that was changed is told as damaged, or still gives what it holds; salvage reads what is whole."""
    path = world.home / "banks" / "broken.db"
    path.write_bytes(content)
    try:
        try:
            with Memory.open(world.home, "broken", create=False) as memory:
                _nothing_crossed(memory.turns(), memory.doctor(), memory.recall("violin").memories)
        except EverwhenError:
            pass
        with suppress(Damaged, UsageError):
            Memory.salvage(world.folder / "salvaged.jsonl", world.home, "broken")
    finally:
        for file in (world.home / "banks").glob("broken*"):
            file.unlink()


@target(st.tuples(text, json_values), cases=60)
def any_filter(world: World, given: tuple[str, Any]) -> None:
    """Metadata to filter by is never SQL."""
    key, value = given
    with suppress(UsageError):
        _nothing_crossed(world.asked.recall("violin", metadata={key: value}).memories)
    with sqlite3.connect(world.home / "banks" / "asked.db") as sql:
        assert sql.execute("SELECT count(*) FROM turns").fetchone() == (len(TALK),)
