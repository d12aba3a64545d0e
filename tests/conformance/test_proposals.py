"""Origin decides rights, in every database: who may add, close and correct; and what a person decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations

import pytest

from everwhen.errors import UsageError
from everwhen.facts.bitemporal import OWN, RIGHTS
from everwhen.facts.interface import Facts
from everwhen.facts.relearn import relearn
from everwhen.facts.statements import FactStatement
from everwhen.models.fake_embedder import FakeEmbedder
from everwhen.settings import Settings
from everwhen.store.sql.store import Store
from everwhen.types import Fact, Origin, Proposal
from tests.conformance.turns import DIMENSION, START
from tests.facts.learned import learned

DAY = timedelta(days=1)
EMBEDDER = FakeEmbedder(DIMENSION)
OTHERS: tuple[Origin, ...] = ("speaker", "assistant", "system", "tool", "pasted")
ADDING: tuple[Origin, ...] = ("speaker", "assistant", "system")


@pytest.fixture
def facts(store: Store) -> Facts:
    return Facts(store.facts, lambda work: work(EMBEDDER), Settings())


def said(
    origin: Origin, object_: str, day: int, until: int | None = None, start: int | None = None
) -> FactStatement:
    at, more = START + day * DAY, dict[str, datetime]()
    if until is not None:
        more["valid_to"] = START + until * DAY
    if start is not None:
        more["valid_from"] = START + start * DAY
    told = learned("Ana", "lives in", object_, (f"turn-{origin}-{day}",), at, **more)
    return replace(told, origin=origin, ends=until is not None)


def tell(store: Store, *told: FactStatement) -> None:
    """Read the turns of some statements, all at once."""
    relearn(store.facts, EMBEDDER, [one.sources[0] for one in told], told, START + 100 * DAY)


def believed(facts: Facts) -> list[tuple[str, int | None]]:
    found = facts.history("Ana", "lives in")
    return [(one.object, (one.valid_to - START).days if one.valid_to else None) for one in found]


def waiting(facts: Facts) -> list[Proposal]:
    return [one for one in facts.review() if isinstance(one, Proposal)]


@pytest.mark.parametrize("origin", OTHERS)
def test_nobody_else_closes_what_somebody_said_of_themselves(
    store: Store, facts: Facts, origin: Origin
) -> None:
    tell(store, said("self", "Porto", 0))
    tell(store, said(origin, "Minsk", 1))
    assert believed(facts) == [("Porto", None)]
    (proposal,) = waiting(facts)
    assert (proposal.fact.object, proposal.fact.origin, proposal.fact.status) == ("Minsk", origin, "proposed")
    assert proposal.changes is not None and proposal.changes.object == "Porto" and proposal.why
    assert [one.object for one in facts.current("Ana", now=START + 2 * DAY)] == ["Porto"]


@pytest.mark.parametrize("origin", OTHERS)
def test_nobody_else_ends_what_somebody_said_of_themselves(
    store: Store, facts: Facts, origin: Origin
) -> None:
    tell(store, said("self", "Porto", 0))
    tell(store, said(origin, "Porto", 5, until=5, start=0))
    assert believed(facts) == [("Porto", None)]
    (proposal,) = waiting(facts)
    assert (
        facts.confirm(proposal.id, START + 9 * DAY, by="Ana").id != proposal.id
    )  # the fact itself has the end
    assert believed(facts) == [("Porto", 5)] and waiting(facts) == []
    assert facts.history("Ana", "lives in")[0].sources == ("turn-self-0", f"turn-{origin}-5")


@pytest.mark.parametrize("origin", OTHERS)
@pytest.mark.parametrize("object_", ["Bonfim, Porto", "Braga"])
def test_nobody_else_corrects_it_from_its_beginning_on(
    store: Store, facts: Facts, origin: Origin, object_: str
) -> None:
    tell(store, said("self", "Porto", 3))
    tell(store, said(origin, object_, 4, start=3))
    assert believed(facts) == [("Porto", None)] and len(waiting(facts)) == 1


@pytest.mark.parametrize("origin", OTHERS)
def test_where_nothing_is_known_a_person_or_the_assistant_adds_and_a_passed_on_text_proposes(
    store: Store, facts: Facts, origin: Origin
) -> None:
    tell(store, said(origin, "Minsk", 1))
    assert believed(facts) == ([("Minsk", None)] if origin in ADDING else [])
    assert len(waiting(facts)) == (origin not in ADDING)
    tell(store, said("self", "Porto", 5))
    assert believed(facts)[-1] == ("Porto", None)


@pytest.mark.parametrize("origin", OTHERS)
def test_the_order_of_arrival_gives_nobody_a_right(store: Store, facts: Facts, origin: Origin) -> None:
    tell(store, said(origin, "Minsk", 5))
    tell(store, said("self", "Porto", 0))
    assert believed(facts) == [("Porto", None)]
    assert [one.fact.object for one in waiting(facts)] == ["Minsk"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_three_origins_make_the_same_chain_in_any_order(
    store: Store, facts: Facts, order: Sequence[int]
) -> None:
    told = [said("self", "Porto", 1), said("assistant", "Minsk", 2), said("speaker", "Riga", 3)]
    for place in order:
        tell(store, told[place])
    assert believed(facts) == [("Porto", None)]
    assert {one.fact.object for one in waiting(facts)} == {"Minsk", "Riga"}


@pytest.mark.parametrize("origin", ["self", "observation", "user"])
def test_who_may_say_so_closes_anything(store: Store, facts: Facts, origin: Origin) -> None:
    for day, before in enumerate(ADDING):
        tell(store, said(before, f"Town {day}", 0))
    tell(store, said(origin, "Porto", 5))
    assert believed(facts)[-1] == ("Porto", None) and RIGHTS[origin] == OWN


def test_what_a_user_says_of_kin_is_renewed_by_the_user_and_not_by_the_assistant(
    store: Store, facts: Facts
) -> None:
    tell(store, said("speaker", "Porto", 0), said("speaker", "Riga", 3), said("assistant", "Minsk", 5))
    assert believed(facts) == [("Porto", 3), ("Riga", None)]
    assert [one.fact.object for one in waiting(facts)] == ["Minsk"]


@pytest.mark.parametrize("origin", OTHERS)
def test_what_a_person_set_by_a_call_is_closed_by_themselves_only(
    store: Store, facts: Facts, origin: Origin
) -> None:
    facts.assert_("Ana", "lives in", "Porto", at=START)
    tell(store, said(origin, "Minsk", 1))
    assert believed(facts) == [("Porto", None)]
    tell(store, said("self", "Faro", 2))
    assert believed(facts) == [("Porto", 2), ("Faro", None)]


@pytest.mark.parametrize("origin", OTHERS)
def test_a_confirmed_proposal_counts_as_said_by_the_person(
    store: Store, facts: Facts, origin: Origin
) -> None:
    tell(store, said("self", "Porto", 0))
    minsk = said(origin, "Minsk", 1)
    tell(store, minsk)
    confirmed = facts.confirm(waiting(facts)[0].id, START + 9 * DAY, by="Ana")
    assert (confirmed.status, confirmed.origin, confirmed.sources) == ("believed", "user", minsk.sources)
    assert confirmed.reason is not None and confirmed.reason.endswith("confirmed by Ana")
    assert believed(facts) == [("Porto", 1), ("Minsk", None)] and facts.review() == []
    tell(store, minsk)
    assert facts.get(confirmed.id) == confirmed and facts.review() == []
    tell(store, said("assistant", "Riga", 20))
    assert believed(facts)[-1] == ("Minsk", None)
    assert [one.object for one in facts.as_of(START + 5 * DAY, "Ana", known_at=START + 5 * DAY)] == ["Porto"]


@pytest.mark.parametrize("origin", OTHERS)
def test_a_rejected_proposal_never_comes_again_from_the_same_turn(
    store: Store, facts: Facts, origin: Origin
) -> None:
    tell(store, said("self", "Porto", 0))
    minsk = said(origin, "Minsk", 1)
    tell(store, minsk)
    rejected = facts.reject(waiting(facts)[0].id, by="Ana")
    assert rejected.status == "overruled" and str(rejected.reason).endswith("rejected by Ana")
    for _ in range(2):
        tell(store, minsk)
        assert facts.review() == [] and believed(facts) == [("Porto", None)]
    facts.end("Ana", "lives in", on=START + 3 * DAY)
    tell(store, minsk)
    assert facts.review() == []
    tell(store, said(origin, "Minsk", 2))  # another turn is another matter
    assert len(waiting(facts)) == 1


def test_a_proposal_is_made_once_and_taken_back_when_its_turn_no_longer_says_so(
    store: Store, facts: Facts
) -> None:
    tell(store, said("self", "Porto", 0))
    first, second = said("assistant", "Minsk", 1), said("system", "Minsk", 2)
    for told in (first, second, first):
        tell(store, told)
    (proposal,) = waiting(facts)
    assert proposal.fact.sources == (*first.sources, *second.sources) and proposal.fact.support == 2
    relearn(store.facts, EMBEDDER, [*first.sources, *second.sources], [], START + 50 * DAY)
    assert facts.review() == []


@pytest.mark.parametrize("origin", OTHERS)
def test_what_the_person_says_since_needs_no_decision(store: Store, facts: Facts, origin: Origin) -> None:
    tell(store, said("self", "Porto", 0), said(origin, "Minsk", 1))
    tell(store, said("self", "Minsk", 2))
    assert facts.review() == [] and believed(facts) == [("Porto", 2), ("Minsk", None)]


def test_a_correction_decides_what_waited(store: Store, facts: Facts) -> None:
    tell(store, said("self", "Porto", 0), said("assistant", "Minsk", 1))
    facts.correct("Ana", "lives in", "Faro")
    assert facts.review() == [] and [one.object for one in facts.current("Ana")] == ["Faro"]


def test_denying_what_the_assistant_said_leaves_ones_own_fact(store: Store, facts: Facts) -> None:
    denial = replace(said("self", "Minsk", 2, until=2, start=1))
    tell(store, said("self", "Porto", 0), said("assistant", "Minsk", 1), denial)
    assert believed(facts) == [("Porto", None)]


def test_only_proposals_are_rejected(store: Store, facts: Facts) -> None:
    known: Fact = facts.assert_("Ana", "lives in", "Porto", at=START)
    with pytest.raises(UsageError, match="no proposal"):
        facts.reject(known.id)


def test_a_passed_on_text_is_no_source_of_what_is_known(store: Store, facts: Facts) -> None:
    tell(store, said("self", "Porto", 0))
    tell(store, said("pasted", "Porto", 1))
    (fact,) = facts.history("Ana", "lives in")
    assert fact.sources == ("turn-self-0",) and fact.support == 1 and facts.review() == []


def test_a_proposal_stays_one_when_its_predicate_is_declared_anew(store: Store, facts: Facts) -> None:
    tell(store, said("self", "Porto", 0), said("assistant", "Minsk", 1))
    facts.define_predicate("lives in", multi=True)
    assert [one.object for one in facts.current("Ana", now=START + 2 * DAY)] == ["Porto"]
    assert facts.confirm(waiting(facts)[0].id).status == "believed"
    assert {one.object for one in facts.current("Ana")} == {"Porto", "Minsk"}
