"""What `memory.facts` promises, one outcome a test."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from everwhen import AsyncMemory, Memory, NotFound, UsageError
from everwhen.types import Fact

MARTA = ("Marta", "lives in")


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def spans(found: list[Fact]) -> list[tuple[str, datetime, datetime | None]]:
    return [(fact.object, fact.valid_from, fact.valid_to) for fact in found]


def objects(found: list[Fact]) -> list[str]:
    return [fact.object for fact in found]


@pytest.fixture
def moved(quick: Memory) -> Memory:
    """Marta lived in Lisbon, and the memory learned in June 2025 that she had moved to Porto."""
    quick.facts.assert_(*MARTA, "Lisbon", valid_from=day(2021, 3), at=day(2025, 2))
    quick.facts.assert_(*MARTA, "Porto", valid_from=day(2025, 5, 31), at=day(2025, 6))
    return quick


def test_a_newer_fact_closes_the_one_before(moved: Memory) -> None:
    assert spans(moved.facts.history(*MARTA)) == [
        ("Lisbon", day(2021, 3), day(2025, 5, 31)),
        ("Porto", day(2025, 5, 31), None),
    ]
    assert objects(moved.facts.current(*MARTA)) == ["Porto"]
    assert objects(moved.facts.current(*MARTA, now=day(2024))) == ["Lisbon"]
    assert moved.facts.current(*MARTA, now=day(2020)) == []


def test_what_was_known_before_stays_what_was_known(moved: Memory) -> None:
    before = day(2025, 3)
    assert objects(moved.facts.as_of(day(2025, 8), *MARTA)) == ["Porto"]
    (then,) = moved.facts.as_of(day(2025, 8), *MARTA, known_at=before)
    assert (then.object, then.valid_to, then.recorded_at) == ("Lisbon", None, day(2025, 2))
    moved.facts.correct(*MARTA, "Gaia", at=day(2025, 7))
    moved.facts.assert_(*MARTA, "Évora", valid_from=day(2015), at=day(2025, 8))
    assert moved.facts.as_of(day(2025, 8), *MARTA, known_at=before) == [then]
    assert moved.facts.as_of(day(2016), *MARTA, known_at=before) == []


def test_a_backfilled_fact_never_closes_a_newer_one(moved: Memory) -> None:
    moved.facts.assert_(*MARTA, "Évora", valid_from=day(2010), at=day(2025, 9))
    moved.facts.assert_(*MARTA, "Braga", valid_from=day(2023), at=day(2025, 9))
    assert spans(moved.facts.history(*MARTA)) == [
        ("Évora", day(2010), day(2021, 3)),
        ("Lisbon", day(2021, 3), day(2023)),
        ("Braga", day(2023), day(2025, 5, 31)),
        ("Porto", day(2025, 5, 31), None),
    ]


def test_the_order_of_arrival_does_not_matter(quick: Memory) -> None:
    told = [("Évora", 2010, None), ("Lisbon", 2015, 2018), ("Porto", 2020, None), ("Braga", 2017, 2024)]
    histories = []
    for number, order in enumerate(([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1])):
        for place, start, end in (told[i] for i in order):
            ends = day(end) if end else None
            quick.facts.assert_(f"S{number}", "lives in", place, valid_from=day(start), valid_to=ends)
        histories.append(spans(quick.facts.history(f"S{number}", "lives in")))
    assert histories[0] == histories[1] == histories[2]


def test_the_users_correction_replaces_what_was_believed_for_all_its_time(moved: Memory) -> None:
    fact = moved.facts.correct(*MARTA, "Gaia", at=day(2025, 7))
    assert fact.origin == "user" and fact.confidence == 1.0
    assert spans(moved.facts.history(*MARTA)) == [
        ("Lisbon", day(2021, 3), day(2025, 5, 31)),
        ("Gaia", day(2025, 5, 31), None),
    ]
    assert [f.status for f in moved.facts.history(*MARTA, versions=True) if f.object == "Porto"] == [
        "corrected"
    ]


def test_a_correction_wins_over_newer_and_surer_facts_at_once(moved: Memory) -> None:
    moved.facts.correct(*MARTA, "Lisbon", valid_from=day(2021, 3), at=day(2025, 7))
    assert spans(moved.facts.history(*MARTA)) == [("Lisbon", day(2021, 3), None)]
    late = moved.facts.assert_(*MARTA, "Porto", valid_from=day(2025, 6), at=day(2025, 8))
    assert late.status == "overruled" and objects(moved.facts.current(*MARTA)) == ["Lisbon"]
    news = moved.facts.assert_(*MARTA, "Faro", valid_from=day(2025, 9), at=day(2025, 9))
    assert news.status == "believed" and objects(moved.facts.current(*MARTA)) == ["Faro"]


def test_a_correction_of_the_beginning_keeps_the_fact_and_mends_the_one_before(moved: Memory) -> None:
    porto = moved.facts.current(*MARTA)[0]
    fact = moved.facts.correct(*MARTA, "Porto", valid_from=day(2025, 6, 10), at=day(2025, 7))
    assert fact.id == porto.id and fact.version == 2
    assert spans(moved.facts.history(*MARTA)) == [
        ("Lisbon", day(2021, 3), day(2025, 6, 10)),
        ("Porto", day(2025, 6, 10), None),
    ]


def test_retracting_a_fact_opens_again_what_it_had_closed(moved: Memory) -> None:
    porto = moved.facts.current(*MARTA)[0]
    gone = moved.facts.retract(porto.id, reason="she was joking", at=day(2025, 7))
    assert gone.status == "retracted" and gone.reason == "she was joking"
    assert spans(moved.facts.history(*MARTA)) == [("Lisbon", day(2021, 3), None)]
    assert objects(moved.facts.as_of(day(2025, 8), *MARTA, known_at=day(2025, 6))) == ["Porto"]
    assert moved.facts.retract(porto.id, reason="again").status == "retracted"
    with pytest.raises(NotFound, match="no fact"):
        moved.facts.retract("f0", reason="nothing")


def test_an_ended_fact_stays_in_history_and_leaves_a_gap(moved: Memory) -> None:
    (ended,) = moved.facts.end(*MARTA, on=day(2026, 1), at=day(2025, 12))
    assert (ended.object, ended.valid_to) == ("Porto", day(2026, 1))
    assert moved.facts.current(*MARTA, now=day(2026, 2)) == []
    assert objects(moved.facts.as_of(day(2026, 2), *MARTA, known_at=day(2025, 11))) == ["Porto"]
    with pytest.raises(NotFound, match="nothing ends"):
        moved.facts.end(*MARTA, on=day(2020))
    with pytest.raises(NotFound, match="nothing is known"):
        moved.facts.end("Marta", "owns", on=day(2026))


def test_an_equal_fact_reinforces_and_leaves_the_past_as_it_was(quick: Memory) -> None:
    first = quick.facts.assert_(*MARTA, "Porto", valid_from=day(2025, 5), at=day(2025, 6), source="t1")
    again = quick.facts.assert_(
        "marta", "resides in", " PORTO ", valid_from=day(2025, 7), at=day(2025, 8), source="t2"
    )
    assert again.id == first.id and again.support == 2 and again.confirmed_at == day(2025, 8)
    assert again.sources == ("t1", "t2") and again.object == "Porto"
    assert len(quick.facts.history(*MARTA, versions=True)) == 1
    (then,) = quick.facts.as_of(day(2025, 9), *MARTA, known_at=day(2025, 7))
    assert (then.support, then.confirmed_at, then.sources) == (1, None, ("t1",))


def test_an_equal_fact_from_earlier_moves_the_beginning(quick: Memory) -> None:
    quick.facts.assert_(*MARTA, "Lisbon", valid_from=day(2020), at=day(2024))
    quick.facts.assert_(*MARTA, "Porto", valid_from=day(2025, 6), at=day(2025, 6))
    moved = quick.facts.assert_(*MARTA, "Porto", valid_from=day(2025, 5), at=day(2025, 7))
    assert moved.support == 2
    assert spans(quick.facts.history(*MARTA)) == [
        ("Lisbon", day(2020), day(2025, 5)),
        ("Porto", day(2025, 5), None),
    ]


def test_several_objects_of_a_multi_valued_predicate_hold_at_once(quick: Memory) -> None:
    for city in ("Kyoto", "Tokyo", "Naoshima"):
        quick.facts.assert_("Marta", "visited", city)
    quick.facts.assert_("Marta", "travelled to", "kyoto")
    found = quick.facts.current("Marta", "has visited")
    assert sorted(objects(found)) == ["Kyoto", "Naoshima", "Tokyo"]
    assert {fact.object: fact.support for fact in found}["Kyoto"] == 2


def test_a_preference_in_one_scope_says_nothing_of_another(quick: Memory) -> None:
    prefers = ("Marta", "prefers")
    quick.facts.assert_(*prefers, "Python for scripting", valid_from=day(2024))
    quick.facts.assert_(*prefers, "Rust for services", valid_from=day(2025))
    quick.facts.assert_(*prefers, "tea", valid_from=day(2025))
    quick.facts.assert_(*prefers, "Lua for scripting", valid_from=day(2025, 2))
    assert sorted(objects(quick.facts.current(*prefers))) == ["Lua for scripting", "Rust for services", "tea"]


def test_a_predicate_that_nobody_declared_is_single_valued(quick: Memory) -> None:
    quick.facts.assert_("Marta", "drinks", "espresso", valid_from=day(2024))
    quick.facts.assert_("Marta", "drinks", "rooibos", valid_from=day(2025))
    assert objects(quick.facts.current("Marta", "drinks")) == ["rooibos"]


def test_declaring_a_predicate_places_what_is_known_anew(quick: Memory) -> None:
    for number, drink in enumerate(("espresso", "rooibos", "genmaicha")):
        quick.facts.assert_("Marta", "drinks", drink, valid_from=day(2024 + number % 2, 1 + number))
    quick.facts.assert_("Marta", "sips", "water", valid_from=day(2024))
    assert len(quick.facts.current("Marta", "drinks")) == 1
    quick.facts.define_predicate("drinks", multi=True, synonyms=["sips", "gulps"])
    assert sorted(objects(quick.facts.current("Marta", "gulps"))) == [
        "espresso",
        "genmaicha",
        "rooibos",
        "water",
    ]
    quick.facts.define_predicate("drinks", multi=False)
    assert len(quick.facts.current("Marta", "drinks")) == 1
    assert quick.doctor() == []


def test_facts_that_turn_out_to_be_one_share_support_and_sources(quick: Memory) -> None:
    facts = quick.facts
    facts.assert_("Marta", "drinks", "tea", valid_from=day(2024, 3), source="t1")
    facts.assert_("Marta", "drinks", "water", valid_from=day(2024, 2), source="t2")
    facts.assert_("Marta", "sips", "tea", valid_from=day(2024, 1), source="t3")
    facts.assert_("Marta", "sips", "juice", valid_from=day(2024, 5), source="t4")
    facts.define_predicate("drinks", multi=True, synonyms=["sips"])
    found = {fact.object: fact for fact in facts.current("Marta", "drinks")}
    assert sorted(found) == ["juice", "tea", "water"] and facts.current("Marta", "sips") == list(
        found.values()
    )
    assert (found["tea"].valid_from, found["tea"].support) == (day(2024, 1), 2)
    assert found["tea"].sources == ("t1", "t3") and found["water"].valid_to is None
    assert quick.doctor() == []


def test_transaction_time_never_runs_backwards_within_one_key(quick: Memory) -> None:
    quick.facts.assert_(*MARTA, "Lisbon", at=day(2025, 6))
    late = quick.facts.assert_(*MARTA, "Porto", at=day(2025, 1))
    assert late.recorded_at == late.valid_from == day(2025, 6)
    assert objects(quick.facts.current(*MARTA)) == ["Porto"]  # the clock ran backwards; the calls did not
    other = quick.facts.assert_("Noor", "lives in", "Lisbon", at=day(2024))
    assert other.recorded_at == day(2024)


def test_a_fact_of_the_future_waits_for_its_day(quick: Memory) -> None:
    quick.facts.assert_("Noor", "lives in", "Lisbon", valid_from=day(2020), at=day(2025, 7))
    quick.facts.assert_("Noor", "lives in", "Rotterdam", valid_from=day(2025, 9), at=day(2025, 7))
    assert objects(quick.facts.current("Noor", now=day(2025, 8))) == ["Lisbon"]
    assert objects(quick.facts.current("Noor", now=day(2025, 9))) == ["Rotterdam"]
    quick.facts.correct("Noor", "lives in", "Setúbal", at=day(2025, 8))
    assert objects(quick.facts.current("Noor", now=day(2025, 10))) == ["Rotterdam"]  # the plan stands


def test_the_difference_between_two_instants(moved: Memory) -> None:
    moved.facts.assert_("Marta", "likes", "espresso", valid_from=day(2020), valid_to=day(2025, 3))
    moved.facts.assert_("Marta", "owns", "a greyhound", valid_from=day(2025, 3, 24))
    diff = moved.facts.diff(day(2025), day(2025, 7), "marta")
    assert [(a.object, b.object) for a, b in diff.changed] == [("Lisbon", "Porto")]
    assert objects(list(diff.began)) == ["a greyhound"] and objects(list(diff.ended)) == ["espresso"]


def test_instants_of_any_zone_are_kept_in_utc(quick: Memory) -> None:
    lisbon = ZoneInfo("Europe/Lisbon")
    fact = quick.facts.assert_(*MARTA, "Porto", valid_from=datetime(2025, 5, 31, tzinfo=lisbon))
    assert fact.valid_from == datetime(2025, 5, 30, 23, tzinfo=UTC) and fact.valid_from.tzinfo is UTC
    assert quick.facts.current(*MARTA, now=datetime(2025, 5, 30, 23, 30, tzinfo=UTC))
    assert not quick.facts.current(*MARTA, now=datetime(2025, 5, 30, 23, 30, tzinfo=lisbon))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"valid_from": day(2025), "valid_to": day(2024)}, "must lie after valid_from"),
        ({"valid_from": day(2025), "valid_to": day(2025)}, "must lie after valid_from"),
        ({"valid_to": day(2020), "at": day(2025)}, "before it begins"),
        ({"valid_from": datetime(2025, 1, 1)}, "has no time zone"),
        ({"at": datetime(2025, 1, 1)}, "has no time zone"),
        ({"predicate": " \t"}, "predicate is empty"),
        ({"predicate": "__"}, "predicate is empty"),
        ({"subject": ""}, "subject is empty"),
        ({"object": "\0"}, "object is empty"),
        ({"object": 3}, "must be text"),
        ({"object": "x" * 5000}, "2,000 are allowed"),
        ({"confidence": 1.01}, "confidence must be"),
        ({"confidence": -0.1}, "confidence must be"),
        ({"confidence": float("nan")}, "confidence must be"),
        ({"confidence": True}, "confidence must be"),
        ({"origin": "rumour"}, "unknown origin"),
        ({"valid_from": 20250101}, "must be a datetime"),
        ({"valid_from": "one fine day"}, "valid_from: .* is no time"),
        ({"source": [""]}, "source.0 is empty"),
        ({"source": ["s"] * 1001}, "1,001 sources; at most 1,000"),
    ],
)
def test_a_wrong_assertion_gets_one_clear_sentence(
    quick: Memory, arguments: dict[str, object], sentence: str
) -> None:
    whole = {"subject": "Marta", "predicate": "lives in", "object": "Porto", **arguments}
    with pytest.raises(UsageError, match=sentence):
        quick.facts.assert_(**whole)  # type: ignore[arg-type]
    assert quick.facts.current() == []


def test_a_source_that_is_the_id_of_a_turn_is_there(quick: Memory) -> None:
    (turn,) = quick.add("I live in Porto").turns
    made_up = "t" + "0" * 22
    with pytest.raises(NotFound, match=f"there is no turn '{made_up}'"):
        quick.facts.assert_("Marta", "lives in", "Porto", source=[turn, made_up, "t" + "1" * 22])
    assert quick.facts.current("Marta") == []
    fact = quick.facts.assert_("Marta", "lives in", "Porto", source=[turn, "her letter", "t1"])
    assert set(fact.sources) == {turn, "her letter", "t1"}


def test_a_predicate_has_a_largest_number_of_synonyms(quick: Memory) -> None:
    with pytest.raises(UsageError, match="synonyms takes at most 100"):
        quick.facts.define_predicate("drives", synonyms=[f"s{n}" for n in range(101)])


def test_naive_datetimes_are_refused_at_every_door(moved: Memory) -> None:
    naive = datetime(2025, 1, 1)
    facts = moved.facts
    fact = facts.current()[0]
    for call in (
        lambda: facts.current(now=naive),
        lambda: facts.as_of(naive),
        lambda: facts.as_of(day(2025), known_at=naive),
        lambda: facts.correct(*MARTA, "x", valid_from=naive),
        lambda: facts.retract(fact.id, reason="x", at=naive),
        lambda: facts.end(*MARTA, on=naive),
        lambda: facts.confirm(fact.id, naive),
        lambda: facts.report_missing("x", naive),
        lambda: facts.report_change("x", naive),
        lambda: facts.stale(now=naive),
        lambda: facts.diff(naive, day(2025)),
        lambda: facts.confidence_at(fact, naive),
        lambda: facts.resolve("c", "x", naive),
    ):
        with pytest.raises(UsageError, match="time zone"):
            call()


def test_instants_at_the_edges_of_time_are_kept(quick: Memory) -> None:
    first, last = day(2), datetime(9998, 12, 31, tzinfo=UTC)
    quick.facts.assert_("the sun", "rises", "in the east", valid_from=first, valid_to=last, at=day(2025))
    assert len(quick.facts.as_of(first)) == 1 and quick.facts.as_of(last) == []
    assert len(quick.facts.stale(now=day(2025))) == 1
    assert (
        "rises in the east (from 0002-01-01 to 9998-12-31"
        in quick.recall("the sun rises", at=day(2025)).as_context()
    )
    with pytest.raises(UsageError, match="outside the years"):
        quick.facts.as_of(datetime.max.replace(tzinfo=ZoneInfo("America/Lima")))
    with pytest.raises(UsageError, match="outside the years"):
        quick.facts.assert_("the sun", "sets", "in the west", valid_from=datetime.min.replace(tzinfo=UTC))


def test_words_of_any_script_survive_and_nothing_is_markup_or_sql(quick: Memory) -> None:
    for object_ in ("東京", "'; DROP TABLE facts; --", "naïve 🙂", '"quoted"', "a\nb"):
        quick.facts.assert_("Zoë", "likes", object_)
    assert len(quick.facts.current("ZOË")) == 5
    assert quick.facts.report_missing('"quoted"')[0].object == '"quoted"'
    assert quick.facts.report_missing("???") == [] and quick.doctor() == []


def test_async_facts_are_the_same_calls(home: Path) -> None:
    async def story() -> list[str]:
        async with await AsyncMemory.open(
            home, "async", embedder="fake", reader="none", cache_entries=0
        ) as memory:
            await memory.facts.assert_(*MARTA, "Lisbon", valid_from=day(2021))
            fact = await memory.facts.assert_(*MARTA, "Porto", valid_from=day(2025))
            await memory.facts.confirm(fact.id)
            assert await memory.facts.stale(now=day(2025, 2)) == []
            return objects(await memory.facts.current("Marta"))

    assert asyncio.run(story()) == ["Porto"]


def test_async_facts_lack_no_call() -> None:
    from everwhen.api.operations.surface import AsyncBankFacts
    from everwhen.facts.interface import Facts

    calls = {name for name in vars(Facts) if not name.startswith("_") and callable(getattr(Facts, name))}
    assert calls - {"versions"} <= set(dir(AsyncBankFacts))


def test_a_long_chain_is_read_and_changed_without_reading_it_whole(quick: Memory) -> None:
    from everwhen.store.sql.facts import BETWEEN, LAST, NEXT
    from everwhen.store.sqlite.connection import statements

    where = "k.subject_key = :subject AND k.predicate_key = :predicate"
    values = {"slot": 1, "instant": "x", "first": "x", "last": "y", "subject": "s", "predicate": "p"}
    asked = [("started", which) for which in (LAST, NEXT, BETWEEN)] + [("facts_now", "")]
    with quick._bank.store._file.use() as sql:  # type: ignore[attr-defined]
        for name, which in asked:
            text = statements().text(name, (("columns", "fact_columns"), ("where", where), ("which", which)))
            plan = str(sql.raw.execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall())
            assert "facts_believed (slot=? AND valid_from" in plan and "SCAN" not in plan, plan
        sql.raw.execute("PRAGMA synchronous = OFF")
    start = day(2000)
    for number in range(600):
        quick.facts.assert_("clock", "shows", f"{number}", valid_from=start + timedelta(hours=number))
    assert objects(quick.facts.as_of(start + timedelta(hours=432, minutes=5), "clock")) == ["432"]
    assert objects(quick.facts.current("clock")) == ["599"]
    assert len(quick.facts.history("clock", "shows")) == 600
    assert quick.doctor() == []


def test_the_same_fact_from_a_later_date_is_a_confirmation_and_says_so(quick: Memory) -> None:
    first = quick.facts.assert_("Ana", "lives in", "Porto", valid_from=day(2025, 3), at=day(2025, 4))
    again = quick.facts.assert_("Ana", "lives in", "Porto", valid_from=day(2025, 5), at=day(2025, 6))
    assert (
        again.note
        == "already known since 1 March 2025: that beginning was kept, and `facts correct` moves it"
    )
    assert (again.id, again.valid_from, again.support) == (first.id, day(2025, 3), 2)
    assert again.confirmed_at == day(2025, 6) and first.note is None
    moved = quick.facts.correct("Ana", "lives in", "Porto", valid_from=day(2025, 5), at=day(2025, 6))
    assert (moved.id, moved.valid_from, moved.note) == (first.id, day(2025, 5), None)
    assert quick.facts.as_of(day(2025, 4), "Ana") == []
    assert [fact.object for fact in quick.facts.as_of(day(2025, 4), "Ana", known_at=day(2025, 5))] == [
        "Porto"
    ]


def test_the_same_fact_from_an_earlier_date_begins_earlier_in_a_new_version(quick: Memory) -> None:
    quick.facts.assert_("Ana", "lives in", "Porto", valid_from=day(2025, 3), at=day(2025, 4))
    again = quick.facts.assert_("Ana", "lives in", "Porto", valid_from=day(2025, 1), at=day(2025, 6))
    assert (again.valid_from, again.version, again.note) == (day(2025, 1), 2, None)
    versions = quick.facts.history("Ana", "lives in", versions=True)
    assert sorted(fact.valid_from for fact in versions) == [day(2025, 1), day(2025, 3)]
    assert quick.facts.as_of(day(2025, 2), "Ana", known_at=day(2025, 5)) == []
    assert quick.facts.assert_("Ana", "lives in", "Porto", at=day(2025, 7)).note is None
