"""The work of a bank that is done later: each piece is given to one worker at a time, until it is done.

What is to be built of the tree is in `test_tree`, with the nodes that come of it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from everwhen.store.rows import Filter, Work
from everwhen.store.sql.store import Store
from tests.conformance.conftest import Reopen
from tests.conformance.finding import by_words
from tests.conformance.test_banks import erase
from tests.conformance.turns import turn
from tests.conformance.units import event, mention, narrative, write


def ids(work: Work | None) -> list[str]:
    return [] if work is None else [one.id for one in work.turns]


def calendar(store: Store) -> list[str]:
    return [one.id for one in store.graph.events()]


# Extraction


def test_a_turn_waits_until_it_is_done_whether_or_not_it_is_claimed(store: Store) -> None:
    assert store.jobs.extraction.pending() == 0 and store.jobs.extraction.claim("me", 8, 0, 60) is None
    store.append([turn("a"), turn("b", hours=1)])
    assert store.jobs.extraction.pending() == 2
    assert ids(store.jobs.extraction.claim("me", 8, 0, 60)) == ["a", "b"]
    assert store.jobs.extraction.pending() == 2
    with store.graph.writing(store.info.model) as writer:
        writer.mark_done(["a", "b"], "rules", "1")
    assert store.jobs.extraction.pending() == 0 and store.jobs.extraction.claim("me", 8, 0, 60) is None


def test_a_piece_is_of_one_session_in_the_order_of_time_and_comes_with_the_turns_before_it(
    store: Store,
) -> None:
    store.append([turn("a3", hours=3), turn("a1", hours=1), turn("a2", hours=2), turn("b1", session="other")])
    first = store.jobs.extraction.claim("me", 2, 5, 60)
    assert first is not None and first.before == ()
    pieces = [first]
    while (work := store.jobs.extraction.claim("me", 2, 5, 60)) is not None:
        pieces.append(work)
    told: dict[str, list[str]] = {"s": [], "other": []}
    for work in pieces:
        assert {one.session for one in (*work.turns, *work.before)} == {work.session}
        assert [one.id for one in work.before] == told[work.session]
        told[work.session] += ids(work)
    assert told == {"s": ["a1", "a2", "a3"], "other": ["b1"]}
    assert max(len(work.turns) for work in pieces) == 2


def test_no_more_turns_come_before_a_piece_than_were_asked_for(store: Store) -> None:
    store.append([turn(f"t{i}", hours=i) for i in range(5)])
    assert ids(store.jobs.extraction.claim("me", 3, 2, 60)) == ["t0", "t1", "t2"]
    work = store.jobs.extraction.claim("me", 3, 2, 60)
    assert work is not None and ids(work) == ["t3", "t4"]
    assert [one.id for one in work.before] == ["t1", "t2"]


def test_what_one_has_claimed_no_other_is_given_until_it_is_released(reopen: Reopen) -> None:
    one, two = reopen(), reopen()
    one.append([turn("a"), turn("b", session="other")])
    mine, theirs = (
        ids(one.jobs.extraction.claim("me", 8, 0, 60)),
        ids(two.jobs.extraction.claim("them", 8, 0, 60)),
    )
    assert sorted(mine + theirs) == ["a", "b"]
    assert (
        one.jobs.extraction.claim("me", 8, 0, 60) is None
        and two.jobs.extraction.claim("them", 8, 0, 60) is None
    )
    two.jobs.extraction.release("them")
    assert ids(one.jobs.extraction.claim("me", 8, 0, 60)) == theirs
    assert two.jobs.extraction.claim("them", 8, 0, 60) is None


def test_a_claim_whose_time_is_over_is_anybodys(store: Store) -> None:
    store.append([turn("a")])
    assert ids(store.jobs.extraction.claim("slow", 8, 0, -1)) == ["a"]
    assert ids(store.jobs.extraction.claim("quick", 8, 0, 60)) == ["a"]
    assert store.jobs.extraction.claim("third", 8, 0, 60) is None


def test_a_release_gives_back_only_what_is_not_done(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1)])
    assert ids(store.jobs.extraction.claim("me", 8, 0, 60)) == ["a", "b"]
    with store.graph.writing(store.info.model) as writer:
        writer.mark_done(["a"], "rules", "1")
    store.jobs.extraction.release("me")
    assert store.jobs.extraction.pending() == 1
    assert ids(store.jobs.extraction.claim("them", 8, 0, 60)) == ["b"]


def test_a_restart_removes_what_was_derived_and_puts_the_turns_on_the_list(store: Store) -> None:
    store.append([turn("a"), turn("b", hours=1), turn("c", hours=2)])
    write(store, event("e1", "a"), event("e2", "b"), narrative("n1", "b", "c"))
    mention(store, {"a": ["Ana"], "c": ["Ben"]})
    assert store.jobs.extraction.enqueue(["b"]) == 1
    assert calendar(store) == ["e1"] and store.jobs.extraction.pending() == 1
    assert [id_ for id_, _ in store.graph.derived_texts()] == ["e1"]  # n1 rested on b too
    assert [one.name for one in store.graph.entities()] == ["Ana", "Ben"]
    assert store.jobs.extraction.enqueue() == 3
    assert calendar(store) == [] == store.graph.entities() and store.jobs.extraction.pending() == 3
    assert by_words(store, "porto", 5, Filter()) == [] and store.check() == []
    assert len(list(store.turns())) == 3


def test_a_failure_is_told_until_the_turn_is_read_again(store: Store) -> None:
    store.append([turn("a")])
    with store.graph.writing(store.info.model) as writer:
        writer.record_failure(["a"], "the model was silent")
        writer.mark_done(["a"], "rules", "1")
    assert any("the model was silent" in finding.problem for finding in store.graph.check())
    store.jobs.extraction.enqueue(["a"])
    assert store.graph.check() == []


def test_what_waits_is_counted_up_to_a_place(store: Store) -> None:
    jobs = store.jobs.extraction
    assert (jobs.watermark(), jobs.waits(), jobs.pending()) == (0, False, 0)
    store.append([turn("a"), turn("b", hours=1)])
    newest = jobs.watermark()
    store.append([turn("c", hours=2)])
    assert (jobs.pending(newest), jobs.pending()) == (2, 3)
    with store.graph.writing(store.info.model) as writer:
        writer.mark_done(["a", "b"], "test", "1")
    assert (jobs.waits(newest), jobs.waits()) == (False, True)
    assert (jobs.pending(newest), jobs.pending()) == (0, 1)


def test_a_claim_that_is_renewed_in_time_stays_its_owners(reopen: Reopen) -> None:
    one, two = reopen(), reopen()
    one.append([turn("a"), turn("b", session="other")])
    assert len(ids(one.jobs.extraction.claim("elsewhere:1", 8, 0, -1))) == 1
    one.jobs.extraction.heartbeat("elsewhere:1", 60)
    assert len(ids(two.jobs.extraction.claim("elsewhere:2", 8, 0, 60))) == 1
    assert two.jobs.extraction.claim("elsewhere:2", 8, 0, 60) is None


def test_a_heartbeat_renews_only_claims_that_its_owner_still_has(store: Store) -> None:
    store.append([turn("a")])
    jobs = store.jobs.extraction
    assert ids(jobs.claim("elsewhere:slow", 8, 0, -1)) == ["a"]
    assert ids(jobs.claim("elsewhere:quick", 8, 0, -1)) == ["a"]
    jobs.heartbeat("elsewhere:slow", 60)  # too late: it is the other one's
    assert ids(jobs.claim("elsewhere:third", 8, 0, 60)) == ["a"]
    jobs.heartbeat("elsewhere:nobody", 60)
    assert jobs.pending() == 1


def test_workers_that_claim_at_the_same_time_share_the_list_without_overlap(reopen: Reopen) -> None:
    stores = [reopen() for _ in range(4)]
    stores[0].append([turn(f"{session}{n}", session=f"s{session}") for session in range(6) for n in range(5)])

    def drain(number: int) -> list[str]:
        found: list[str] = []
        while (work := stores[number].jobs.extraction.claim(f"elsewhere:{number}", 2, 0, 60)) is not None:
            found += ids(work)
        return found

    with ThreadPoolExecutor(4) as pool:
        taken = [id_ for part in pool.map(drain, range(4)) for id_ in part]
    assert sorted(taken) == sorted(one.id for one in stores[0].turns())


# Scrubbing


def test_removed_rows_wait_for_scrubbing_until_it_is_done(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    store.append([turn("a"), turn("b", hours=1)])
    assert not store.jobs.scrubbing.waits()
    erase(store, ["a"])
    assert store.jobs.scrubbing.waits() and other.jobs.scrubbing.waits()
    assert other.jobs.scrubbing.run()
    assert not store.jobs.scrubbing.waits()
    assert store.jobs.scrubbing.run()  # there is nothing left to do
