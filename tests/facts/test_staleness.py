"""Age and the other signs that a fact should be checked before anybody relies on it."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest

from everwhen import Memory, UsageError
from everwhen.types import StaleFact

START = datetime(2025, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def tell(memory: Memory, predicate: str, object_: str, subject: str = "Ana", **more: object) -> str:
    return memory.facts.assert_(subject, predicate, object_, **{"valid_from": START, "at": START, **more}).id  # type: ignore[arg-type]


def signals(found: list[StaleFact]) -> list[tuple[str, str]]:
    return [(one.fact.object, one.signal) for one in found]


@pytest.mark.parametrize(
    ("domain", "days"),
    [
        ("tech_preference", 365), ("project_status", 30), ("personal_trait", 3650), ("api_version", 180),
        ("team_member", 730), ("server_config", 90), ("anything else", 365), (None, 365),
    ],
)  # fmt: skip
def test_after_a_half_life_a_fact_is_half_as_sure(quick: Memory, domain: str | None, days: int) -> None:
    fact = quick.facts.get(tell(quick, "prefers framework", "FastAPI", domain=domain, confidence=0.8))
    assert quick.facts.confidence_at(fact, START) == 0.8
    assert quick.facts.confidence_at(fact, START + days * DAY) == pytest.approx(0.4)
    assert quick.facts.confidence_at(fact, START + 2 * days * DAY) == pytest.approx(0.2)
    assert quick.facts.confidence_at(fact, START - DAY) == 0.8


@pytest.mark.parametrize("predicate", ["server_config", "server config", "serverConfig"])
def test_a_predicate_has_the_half_life_of_its_name(quick: Memory, predicate: str) -> None:
    """The document's table is one of predicates; a domain need not be named."""
    fact = quick.facts.get(tell(quick, predicate, "4 GB", subject="web-1"))
    assert fact.domain is None
    assert quick.facts.confidence_at(fact, START + 90 * DAY) == pytest.approx(0.5)
    assert signals(quick.facts.stale(now=START + 91 * DAY)) == [("4 GB", "age")]
    assert quick.facts.stale(now=START + 89 * DAY) == []
    quick.facts.set_half_life("server_config", 10)
    assert quick.facts.confidence_at(fact, START + 10 * DAY) == pytest.approx(0.5)


def test_the_half_life_of_a_predicate_goes_before_that_of_its_domain(quick: Memory) -> None:
    fact = quick.facts.get(tell(quick, "status", "green"))
    quick.facts.set_half_life("status", 3)
    assert fact.domain == "project_status"
    assert quick.facts.confidence_at(fact, START + 3 * DAY) == pytest.approx(0.5)


def test_a_preference_of_two_years_ago_weighs_less_than_yesterdays(quick: Memory) -> None:
    tell(quick, "prefers editor", "vim")
    tell(quick, "prefers shell", "fish", valid_from=START + 729 * DAY)
    asked = START + 730 * DAY
    found = {f.object: quick.facts.confidence_at(f, asked) for f in quick.facts.current("Ana", now=asked)}
    assert found["vim"] == pytest.approx(0.25) and found["fish"] > 0.99


def test_a_bank_can_have_half_lives_of_its_own(quick: Memory) -> None:
    fact = quick.facts.get(tell(quick, "status", "green"))
    assert fact.domain == "project_status"  # the predicate knows its domain
    quick.facts.set_half_life("project_status", 7)
    quick.facts.set_half_life(None, 10)
    assert quick.facts.confidence_at(fact, START + 7 * DAY) == pytest.approx(0.5)
    other = quick.facts.get(tell(quick, "drinks", "tea"))
    assert quick.facts.confidence_at(other, START + 10 * DAY) == pytest.approx(0.5)
    for wrong in (0, -1, float("inf"), float("nan"), True):
        with pytest.raises(UsageError, match="days must be"):
            quick.facts.set_half_life("x", wrong)


def test_age_counts_from_the_last_confirmation(quick: Memory) -> None:
    id_ = tell(quick, "drinks", "tea")
    asked = START + 500 * DAY
    assert signals(quick.facts.stale(now=asked)) == [("tea", "age")]
    quick.facts.confirm(id_, START + 400 * DAY)
    assert quick.facts.stale(now=asked) == []
    assert quick.facts.confidence_at(quick.facts.get(id_), asked) == pytest.approx(0.5 ** (100 / 365))
    (then,) = quick.facts.as_of(asked, known_at=START + 300 * DAY)
    assert then.confirmed_at is None


def test_only_what_is_in_force_can_be_stale_by_age(quick: Memory) -> None:
    tell(quick, "drinks", "tea")
    tell(quick, "drinks", "water", valid_from=START + 100 * DAY)
    tell(quick, "eats", "rice", valid_to=START + 10 * DAY)
    tell(quick, "reads", "a novel", valid_from=START + 9000 * DAY)
    assert signals(quick.facts.stale(now=START + 2000 * DAY)) == [("water", "age")]


def test_the_least_sure_comes_first(quick: Memory) -> None:
    for days in (30, 10, 20):
        tell(quick, f"trait {days}", f"{days}", valid_from=START - days * 100 * DAY)
    found = quick.facts.stale(now=START)
    assert [one.fact.object for one in found] == ["30", "20", "10"]
    assert [one.confidence for one in found] == sorted(one.confidence for one in found)
    assert [one.fact.object for one in quick.facts.stale(now=START, limit=2)] == ["30", "20"]
    assert quick.facts.stale(threshold=0.0, now=START) == [] and len(quick.facts.stale(1.0, START)) == 3
    with pytest.raises(UsageError, match="threshold"):
        quick.facts.stale(threshold=2)


def test_a_low_confidence_is_stale_from_the_start(quick: Memory) -> None:
    tell(quick, "drinks", "tea", confidence=0.4)
    tell(quick, "eats", "rice", confidence=0.0)
    assert signals(quick.facts.stale(now=START)) == [("rice", "age"), ("tea", "age")]


def test_both_sides_of_a_contradiction_are_stale_until_it_is_resolved(quick: Memory) -> None:
    tell(quick, "lives in", "Lisbon")
    tell(quick, "lives in", "Porto")
    found = quick.facts.stale(now=START)
    assert sorted(signals(found)) == [("Lisbon", "contradiction"), ("Porto", "contradiction")]
    (conflict,) = quick.facts.review()
    assert all(conflict.id in one.action and "Lisbon or Porto" in one.action for one in found)
    quick.facts.resolve(conflict.id, keep="Porto")
    assert quick.facts.stale(now=START) == []


def test_a_fact_that_names_something_gone_no_longer_fits(quick: Memory) -> None:
    id_ = tell(quick, "works on", "project Atlas")
    tell(quick, "config lives in", "deploy/settings.toml", subject="Atlas")
    tell(quick, "works on", "Atlasphere")
    concerned = quick.facts.report_missing("atlas", START + DAY)
    assert {fact.object for fact in concerned} == {"project Atlas", "deploy/settings.toml"}
    quick.facts.report_missing("deploy/settings.toml", START + 2 * DAY)
    found = quick.facts.stale(now=START + 3 * DAY)
    assert {one.signal for one in found} == {"context_mismatch"} and len(found) == 2
    assert quick.facts.stale(now=START) == []  # not reported yet
    quick.facts.confirm(id_, START + 4 * DAY)  # somebody looked, and it is still so
    assert [one.fact.object for one in quick.facts.stale(now=START + 4 * DAY)] == ["deploy/settings.toml"]


def test_a_release_flags_what_was_known_before_it(quick: Memory) -> None:
    tell(quick, "version", "1.4", subject="pgvector")
    tell(quick, "uses", "pgvector")
    assert len(quick.facts.report_change("pgvector", START + DAY)) == 2
    tell(quick, "version", "1.5", subject="pgvector", valid_from=START + 2 * DAY, at=START + 2 * DAY)
    found = quick.facts.stale(now=START + 3 * DAY)
    assert signals(found) == [("pgvector", "external_change")]
    assert "changed on 2025-01-02" in found[0].action


def test_what_came_from_the_source_of_a_corrected_fact_is_in_doubt(quick: Memory) -> None:
    tell(quick, "born on", "6 March", source="t1", subject="Salma")
    other = tell(quick, "weighs", "3 kg", source=["t1", "t9"], subject="Salma")
    tell(quick, "has child", "Salma", source="t2", subject="Noor")
    quick.facts.correct("Salma", "born on", "7 March", at=START + DAY)
    found = quick.facts.stale(now=START + 2 * DAY)
    assert signals(found) == [("3 kg", "user_correction")] and "same source" in found[0].action
    quick.facts.confirm(other, START + 2 * DAY)
    assert quick.facts.stale(now=START + 3 * DAY) == []


def test_a_value_that_the_user_corrected_away_is_in_doubt_when_it_comes_back(quick: Memory) -> None:
    tell(quick, "lives in", "Lisbon")
    quick.facts.correct("Ana", "lives in", "Porto", at=START + DAY)
    assert quick.facts.stale(now=START + 2 * DAY) == []
    tell(quick, "lives in", "Lisbon", valid_from=START + 3 * DAY, at=START + 3 * DAY)
    found = quick.facts.stale(now=START + 4 * DAY)
    assert (
        signals(found) == [("Lisbon", "user_correction")] and "corrected this very value" in found[0].action
    )


def test_looking_for_stale_facts_holds_no_more_than_what_it_gives_back(quick: Memory) -> None:
    from everwhen_bench.facts_speed import fill

    fill(quick._bank.store, 20_000)  # type: ignore[arg-type]
    asked = datetime(2026, 1, 1, tzinfo=UTC)
    quick.facts.stale(now=asked, limit=10)
    tracemalloc.start()
    found = quick.facts.stale(now=asked, limit=10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 10 and peak < 4_000_000  # twenty thousand facts would take some 20 MB
