"""Two servers over one PostgreSQL database, as behind a balancer: what is asked of one holds for the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from everwhen.serve.server_settings import ServerSettings
from everwhen.store.postgres.answers import PostgresAnswers
from tests.serve.conftest import serving

Pair = tuple[httpx.Client, httpx.Client]
FACT = {"subject": "Ana", "predicate": "lives in", "object": "Porto", "valid_from": "2025-03-01T00:00:00Z"}


@pytest.fixture
def pair(settings: ServerSettings, postgres_url: str) -> Iterator[Pair]:
    """The same key at both: they share the folder in which it is kept."""
    shared = replace(settings, store=postgres_url)
    with serving(shared) as one, serving(shared) as two:
        headers = {"Authorization": f"Bearer {one.key('admin')}"}
        with (
            httpx.Client(base_url=f"{one.url}/v1", headers=headers, timeout=60, trust_env=False) as first,
            httpx.Client(base_url=f"{two.url}/v1", headers=headers, timeout=60, trust_env=False) as second,
        ):
            yield first, second


def at_once(*acts: Callable[[], httpx.Response]) -> list[httpx.Response]:
    found: list[httpx.Response] = []
    together = threading.Barrier(len(acts))

    def run(act: Callable[[], httpx.Response]) -> None:
        together.wait()
        found.append(act())

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_write_sent_to_both_servers_with_one_key_is_done_once(pair: Pair, home: Path) -> None:
    one, two = pair
    for number in range(5):
        key = {"Idempotency-Key": f"key-{number}"}
        body = {"messages": f"note {number}"}

        def send(
            client: httpx.Client, key: dict[str, str] = key, body: dict[str, str] = body
        ) -> httpx.Response:
            return client.post("/banks/ana/turns", json=body, headers=key)

        answers = at_once(lambda: send(one), lambda: send(two))
        assert sorted(answer.status_code for answer in answers) in ([201, 201], [201, 409])
        again = send(two)
        assert again.status_code == 201 and again.headers["Idempotency-Replayed"] == "true"
        assert {answer.text for answer in answers if answer.status_code == 201} == {again.text}
    assert one.get("/banks/ana/stats").json()["turns"] == two.get("/banks/ana/stats").json()["turns"] == 5
    assert not (home / "serve" / "answers.sqlite").exists()
    other = two.post("/banks/ana/turns", json={"messages": "another"}, headers={"Idempotency-Key": "key-0"})
    assert other.status_code == 422


def test_of_two_changes_of_what_was_seen_one_is_refused_whichever_server_it_comes_to(pair: Pair) -> None:
    one, two = pair
    seen = one.post("/banks/ana/facts", json=FACT).headers["ETag"]
    for number in range(5):

        def change(client: httpx.Client, place: str, seen: str = seen) -> httpx.Response:
            right = {"subject": "Ana", "predicate": "lives in", "object": place}
            return client.post("/banks/ana/facts/correct", json=right, headers={"If-Match": seen})

        answers = at_once(
            lambda n=number: change(one, f"Lisbon {n}"), lambda n=number: change(two, f"Faro {n}")
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        held = two.get("/banks/ana/facts", params={"subject": "Ana"}).json()["items"]
        done = next(answer.json() for answer in answers if answer.status_code == 200)
        assert [fact["object"] for fact in held] == [done["object"]]
        seen = two.get(f"/banks/ana/facts/{held[0]['id']}").headers["ETag"]


def test_what_one_server_forgets_the_other_does_not_give_again(pair: Pair) -> None:
    one, two = pair
    key = {"Idempotency-Key": "first"}
    made = one.post("/banks/ana/facts", json=FACT, headers=key)
    assert made.status_code == 201 and "Porto" in made.text
    assert two.delete("/banks/ana").status_code in (200, 204)
    again = one.post("/banks/ana/facts", json=FACT, headers=key)
    assert "Idempotency-Replayed" not in again.headers


def test_two_servers_together_allow_what_a_key_may_ask(settings: ServerSettings, postgres_url: str) -> None:
    shared = replace(settings, store=postgres_url, rate=0.1, burst=40)
    with serving(shared) as one, serving(shared) as two:
        headers = {"Authorization": f"Bearer {one.key('read')}"}
        counts = [server.state.answers for server in (one, two)]
        for _ in range(100):  # until each has heard of the other
            if all(getattr(count, "servers", 0) == 2 for count in counts):
                break
            time.sleep(0.1)
        allowed = 0
        for server in (one, two):
            with httpx.Client(
                base_url=f"{server.url}/v1", headers=headers, timeout=60, trust_env=False
            ) as client:
                allowed += sum(client.get("/banks").status_code == 200 for _ in range(30))
    assert 38 <= allowed <= 42


def test_a_server_that_ended_leaves_its_share_to_the_others(postgres_url: str) -> None:
    one, two = (PostgresAnswers(postgres_url, 1.0) for _ in range(2))
    assert one.present("a", 30.0) == 1 and two.present("b", 30.0) == 2 and one.present("a", 30.0) == 2
    two.leave("b")
    assert one.present("a", 30.0) == 1
    assert two.present("b", 0.0) == 2 and one.present("a", 30.0) == 1, "it did not say so again in time"
    one.leave("a")
