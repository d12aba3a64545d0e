"""Idempotency keys where several workers share a folder, or servers a database: each store stands for a process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from everwhen.errors import Unavailable
from everwhen.serve.idempotency import FolderAnswers, IdempotencyKeys
from everwhen.serve.responses import Problem
from everwhen.store.answers import Answers, StoredAnswer
from everwhen.store.postgres.answers import PostgresAnswers
from everwhen.store.postgres.banks import PostgresBanks
from tests.serve.conftest import until

LEASE = 2.0
"""Seconds: long enough that a busy machine renews it in time."""
DONE = StoredAnswer(201, "application/json", b"{}")


Made: TypeAlias = Callable[..., IdempotencyKeys]


@pytest.fixture(params=["folder", "postgres"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """One more process."""
    if request.param == "folder":
        return lambda lease=LEASE: IdempotencyKeys(FolderAnswers(tmp_path, 1), lease=lease)
    address = request.getfixturevalue("postgres")
    with PostgresBanks(address).server.lent() as lent:
        lent.execute("DELETE FROM answers")
    return lambda lease=LEASE: IdempotencyKeys(PostgresAnswers(address, 1), lease=lease)


@pytest.fixture
def workers(made: Made) -> Iterator[tuple[IdempotencyKeys, IdempotencyKeys]]:
    one, two = made(), made()
    yield one, two
    one.close()
    two.close()


def begins(answers: IdempotencyKeys, body: bytes = b"body") -> StoredAnswer | int | None:
    """What `begin` says, or the status of its refusal."""
    try:
        return answers.begin("key", body)
    except Problem as problem:
        return problem.status_code


def test_a_write_that_one_worker_is_doing_is_not_begun_by_another(
    workers: tuple[IdempotencyKeys, IdempotencyKeys],
) -> None:
    one, two = workers
    assert begins(one) is None
    assert begins(two) == 409 and begins(two, b"another body") == 422
    one.finish("key", DONE)
    assert begins(two) == DONE and begins(one) == DONE


def test_of_many_workers_at_once_one_does_the_write(made: Made) -> None:
    several = [made() for _ in range(4)]
    found: list[StoredAnswer | int | None] = []
    threads = [threading.Thread(target=lambda w=w: found.append(begins(w))) for w in several]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=str) == [409, 409, 409, None]
    for one in several:
        one.close()


def test_a_write_that_failed_may_be_tried_by_another_worker(
    workers: tuple[IdempotencyKeys, IdempotencyKeys],
) -> None:
    one, two = workers
    assert begins(one) is None
    one.abandon("key")
    assert begins(two) is None


def test_a_claim_lasts_as_long_as_its_worker_and_no_longer(
    workers: tuple[IdempotencyKeys, IdempotencyKeys],
) -> None:
    one, two = workers
    assert begins(one) is None
    time.sleep(1.3 * LEASE)
    assert begins(two) == 409, "renewed while the process lives"
    one._closing.set()  # renews nothing any more, as if it had been killed
    until(lambda: begins(two) is None, 20)
    one.finish("key", StoredAnswer(500, "", b"late"))
    assert begins(two) == 409, "the second worker's claim stands"
    two.finish("key", DONE)
    assert begins(one) == DONE


def test_a_server_that_stops_leaves_no_claim(made: Made) -> None:
    one = made()
    assert begins(one) is None
    one.close()
    two = made()
    assert begins(two) is None
    two.close()


def test_answers_in_postgres_go_by_age_by_number_and_with_their_bank(postgres: str) -> None:
    PostgresBanks(postgres).names()
    answers = PostgresAnswers(postgres, hours=1)
    with PostgresBanks(postgres).server.lent() as lent:

        def left() -> int:
            row = lent.execute("SELECT count(*) FROM answers").fetchone()
            assert row is not None
            return int(row[0])

        def answered(asked: str) -> None:
            assert answers.claim(asked, b"d", asked, 10) is None
            answers.keep(asked, asked, DONE)

        lent.execute("DELETE FROM answers")
        for number in range(4):
            answered(f"me\nPOST\n/v1/banks/ana/turns\n\nkey{number}")
        answered("me\nPUT\n/v1/banks/ben\n\nkey")
        answers.trim(3)
        assert left() == 3
        answers.forget("ana")
        assert left() == 1
        lent.execute("UPDATE answers SET at = at - interval '2 hours'")
        answered("me\nPOST\n/v1/banks/cleo/turns\n\nkey")
        assert left() == 1, "what is older than it is kept goes with the next write"
        assert answers.claim("me\nPUT\n/v1/banks/ben\n\nkey", b"another", "x", 10) is None


def test_an_answer_is_kept_when_the_database_is_back(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (IdempotencyKeys(PostgresAnswers(postgres, 1), lease=LEASE) for _ in range(2))
    keep, back = one._answers.keep, threading.Event()

    def lost(*given: Any) -> None:
        if not back.is_set():
            raise Unavailable("the connection was lost")
        keep(*given)

    two.forget("")
    monkeypatch.setattr(one._answers, "keep", lost)
    assert begins(one) is None
    one.finish("key", DONE)
    assert begins(two) == 409
    back.set()
    until(lambda: begins(two) == DONE, 20)
    one.close()
    two.close()


@pytest.fixture(params=["folder", "postgres"])
def answers(request: pytest.FixtureRequest, tmp_path: Path) -> Answers:
    if request.param == "folder":
        return FolderAnswers(tmp_path, 1)
    address = request.getfixturevalue("postgres")
    with PostgresBanks(address).server.lent() as lent:
        lent.execute("DELETE FROM answers")
    return PostgresAnswers(address, 1)


def test_a_write_whose_claim_ran_out_is_still_answered_unless_another_took_it_up(answers: Answers) -> None:
    assert answers.claim("late", b"body", "mine", -1.0) is None
    assert answers.claim("other", b"body", "theirs", 10.0) is None, "what others ask ends no claim"
    answers.keep("late", "mine", DONE)
    assert answers.claim("late", b"body", "again", 10.0) == DONE
    assert answers.claim("taken", b"body", "mine", -1.0) is None
    assert answers.claim("taken", b"body", "theirs", 10.0) is None
    answers.keep("taken", "mine", DONE)
    assert answers.claim("taken", b"body", "again", 10.0) == "busy"


def test_a_claim_that_is_made_twice_under_its_name_is_one(answers: Answers) -> None:
    assert answers.claim("key", b"body", "mine", 10.0) is None
    assert answers.claim("key", b"body", "mine", 10.0) is None
    assert answers.claim("key", b"body", "theirs", 10.0) == "busy"


def test_forgetting_a_bank_reaches_answers_that_wait_for_their_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = IdempotencyKeys(FolderAnswers(tmp_path, 1), lease=0.3)
    keep, back = keys._answers.keep, threading.Event()

    def lost(*given: Any) -> None:
        if not back.is_set():
            raise Unavailable("the disk is full")
        keep(*given)

    monkeypatch.setattr(keys._answers, "keep", lost)
    asked = {bank: f"me\nPOST\n/v1/banks/{bank}/turns\n\nkey" for bank in ("ana", "ben")}
    for one in asked.values():
        assert keys.begin(one, b"body") is None
        keys.finish(one, DONE)
    keys.forget("ana")
    back.set()
    until(lambda: not keys._unkept, 20)
    kept = keys._answers._sql.execute("SELECT asked FROM answers WHERE status IS NOT NULL").fetchall()  # type: ignore[attr-defined]
    assert kept == [(asked["ben"],)]
    keys.close()
