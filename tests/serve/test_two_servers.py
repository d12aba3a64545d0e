"""Two servers over one PostgreSQL database, as behind a balancer: what is asked of one holds for the other."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from everwhen.serve.auth import KeyStore
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.telemetry import Audit
from everwhen.store.banks import open_shared
from everwhen.store.postgres.answers import PostgresAnswers
from tests.serve.conftest import Served, serving, until

Pair = tuple[httpx.Client, httpx.Client]
FACT = {"subject": "Ana", "predicate": "lives in", "object": "Porto", "valid_from": "2025-03-01T00:00:00Z"}


@pytest.fixture
def machines(settings: ServerSettings, postgres_url: str, tmp_path: Path) -> Iterator[tuple[Served, Served]]:
    """Two servers that share nothing but the database, whose own tables are empty."""
    with psycopg.connect(postgres_url, autocommit=True) as sql:
        for table in ("keys", "audit"):
            if sql.execute("SELECT to_regclass(%s)", (f"everwhen.{table}",)).fetchone() != (None,):
                sql.execute(f"TRUNCATE everwhen.{table}".encode())
    shared = replace(settings, store=postgres_url)
    with serving(shared) as one, serving(replace(shared, home=tmp_path / "another home")) as two:
        yield one, two


@pytest.fixture
def pair(machines: tuple[Served, Served]) -> Iterator[Pair]:
    """The same key at both."""
    one, two = machines
    headers = {"Authorization": f"Bearer {one.key('admin')}"}
    with (
        httpx.Client(base_url=f"{one.url}/v1", headers=headers, timeout=60, trust_env=False) as first,
        httpx.Client(base_url=f"{two.url}/v1", headers=headers, timeout=60, trust_env=False) as second,
    ):
        yield first, second


def status(server: Served, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{server.url}/v1/banks", headers=headers, trust_env=False).status_code


def written(address: str) -> list[dict[str, Any]]:
    with psycopg.connect(address) as sql:
        rows = sql.execute("SELECT line FROM everwhen.audit ORDER BY at, id").fetchall()
    return [json.loads(line) for (line,) in rows]


def test_a_key_made_at_one_server_opens_the_other_and_revoked_it_stops_at_both(
    machines: tuple[Served, Served],
) -> None:
    one, two = machines
    key, token = one.state.keys.create("read", "*", "for both")
    assert [status(server, token) for server in machines] == [200, 200]
    assert [found.id for found in two.state.keys.all()] == [key.id]
    two.state.keys.revoke(key.id)
    assert [status(server, token) for server in machines] == [401, 401]
    assert not any((server.state.serving.folder / "keys.sqlite").exists() for server in machines)


def test_keys_of_a_folder_come_along_to_the_database_and_stay_revoked_there(
    settings: ServerSettings, machines: tuple[Served, Served]
) -> None:
    before = KeyStore(settings.folder)
    _, token = before.create("read", "*")
    gone, _ = before.create("read", "*")
    before.revoke(gone.id)
    shared = open_shared(settings_store(machines))
    KeyStore(settings.folder, shared).close()
    assert [status(server, token) for server in machines] == [200, 200]
    [in_use] = [key for key in machines[1].state.keys.all() if key.revoked_at is None]
    machines[1].state.keys.revoke(in_use.id)
    KeyStore(settings.folder, shared).close()
    assert [status(server, token) for server in machines] == [401, 401]


def settings_store(machines: tuple[Served, Served]) -> str:
    store = machines[0].state.serving.store
    assert store is not None
    return store


def test_what_both_servers_write_down_is_in_one_place(pair: Pair, machines: tuple[Served, Served]) -> None:
    for client in pair:
        assert client.post("/banks/ana/turns", json={"messages": "the violin"}).status_code == 201
    with httpx.Client(base_url=machines[1].url, trust_env=False) as stranger:
        for _ in range(100):
            assert stranger.get("/v1/banks").status_code == 401
    until(lambda: len(written(settings_store(machines))) >= 3)
    lines = written(settings_store(machines))
    assert [line["event"] for line in lines] == ["write", "write", "denied"]
    assert {line["bank"] for line in lines[:2]} == {"ana"} and len({line["key"] for line in lines[:2]}) == 1
    assert "violin" not in json.dumps(lines)
    assert not any(server.state.audit.path.exists() for server in machines)


def test_a_flood_pushes_nothing_out_of_a_shared_audit_log_and_does_not_fill_the_disk(
    machines: tuple[Served, Served], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everwhen.serve.telemetry.AUDIT_ENTRIES", 40)
    monkeypatch.setattr("everwhen.serve.telemetry.TRIMMED", 10)
    address = settings_store(machines)
    for folder in ("one", "two"):
        audit = Audit(tmp_path / folder, open_shared(address))
        audit.note("delete", key=folder, bank="ana")
        for _ in range(2000):
            audit.denied(None, status=401)
        audit.close()
    lines = written(address)
    assert [line["key"] for line in lines if line["event"] == "delete"] == ["one", "two"]
    assert [line["more"] for line in lines if "more" in line] == [1999, 1999] and len(lines) == 6
    audit = Audit(tmp_path / "three", open_shared(address))
    for number in range(200):
        audit.note("write", number=number)
    audit.close()
    lines = written(address)
    assert len(lines) <= 40 + 10 and lines[-1]["number"] == 199


def test_what_the_database_cannot_take_is_written_down_in_the_file(tmp_path: Path) -> None:
    audit = Audit(tmp_path, open_shared("postgresql://nobody@127.0.0.1:1/nowhere"))
    audit.note("delete", key="k", bank="ana")
    audit.close()
    [line] = [json.loads(line) for line in audit.path.read_text().splitlines()]
    assert (line["event"], line["bank"]) == ("delete", "ana")


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
