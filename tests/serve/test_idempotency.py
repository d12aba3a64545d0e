"""Idempotency keys where several workers share one folder: each `IdempotencyStore` stands for a process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from everwhen.serve.idempotency import IdempotencyStore, StoredAnswer
from everwhen.serve.problems import Problem
from tests.serve.conftest import until

LEASE = 2.0
"""Seconds: long enough that a busy machine renews it in time."""
DONE = StoredAnswer(201, "application/json", b"{}")


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[tuple[IdempotencyStore, IdempotencyStore]]:
    one, two = (IdempotencyStore(tmp_path, 1, lease=LEASE) for _ in range(2))
    yield one, two
    one.close()
    two.close()


def begins(answers: IdempotencyStore, body: bytes = b"body") -> StoredAnswer | int | None:
    """What `begin` says, or the status of its refusal."""
    try:
        return answers.begin("key", body)
    except Problem as problem:
        return problem.status_code


def test_a_write_that_one_worker_is_doing_is_not_begun_by_another(
    workers: tuple[IdempotencyStore, IdempotencyStore],
) -> None:
    one, two = workers
    assert begins(one) is None
    assert begins(two) == 409 and begins(two, b"another body") == 422
    one.finish("key", DONE)
    assert begins(two) == DONE and begins(one) == DONE


def test_of_many_workers_at_once_one_does_the_write(tmp_path: Path) -> None:
    several = [IdempotencyStore(tmp_path, 1) for _ in range(4)]
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
    workers: tuple[IdempotencyStore, IdempotencyStore],
) -> None:
    one, two = workers
    assert begins(one) is None
    one.abandon("key")
    assert begins(two) is None


def test_a_claim_lasts_as_long_as_its_worker_and_no_longer(
    workers: tuple[IdempotencyStore, IdempotencyStore],
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


def test_a_server_that_stops_leaves_no_claim(tmp_path: Path) -> None:
    one = IdempotencyStore(tmp_path, 1)
    assert begins(one) is None
    one.close()
    two = IdempotencyStore(tmp_path, 1)
    assert begins(two) is None
    two.close()
