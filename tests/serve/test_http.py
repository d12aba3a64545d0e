"""The routes as a program meets them: what goes in, what comes out, in the shapes of the contract."""

from __future__ import annotations

import gzip
import json
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from everwhen.serve.server_settings import ServerSettings
from tests.serve.conftest import Served, serving

SAID = [
    {
        "role": "user",
        "name": "Ana",
        "content": "I moved to Porto last week.",
        "timestamp": "2025-03-10T09:30:00Z",
    },
    {"role": "assistant", "content": "Congratulations!", "timestamp": "2025-03-10T09:31:00Z"},
]


def add(http: httpx.Client, bank: str = "ana", messages: Any = SAID, **more: Any) -> Any:
    answer = http.post(f"/banks/{bank}/turns", json={"messages": messages, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_bank_comes_into_being_with_its_first_write(http: httpx.Client) -> None:
    assert http.get("/banks").json() == {"items": [], "next_cursor": None}
    answer = http.post("/banks/ana/recall", json={"query": "Porto"})
    assert answer.status_code == 404 and "there is no bank 'ana'" in answer.json()["detail"]
    added = add(http)
    assert added["new"] == 2 and len(added["turns"]) == 2
    (bank,) = http.get("/banks").json()["items"]
    assert (
        bank["name"] == "ana" and bank["bytes"] > 50_000
    )  # what was just said is in the log, not in the file yet
    answer = http.post("/banks/Ana/turns", json={"messages": [{"content": "hello"}]})
    assert answer.status_code == 422 and "there is a bank 'ana'" in answer.json()["detail"]


def test_recall_gives_memories_with_reasons(http: httpx.Client) -> None:
    add(http)
    found = http.post("/banks/ana/recall", json={"query": "Porto", "max_tokens": 200}).json()
    best = next(one for one in found["memories"] if one["kind"] == "turn")  # a fact may be learned by then
    assert best["text"] == "I moved to Porto last week." and best["said_at"] == "2025-03-10T09:30:00Z"
    assert "keyword" in best["why"]["ranks"] and found["tokens"] <= 200


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "text/plain", "application/json", None]
)
def test_a_body_is_json_whatever_its_type_says(http: httpx.Client, kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}
    said = http.post("/banks/ana/turns", content=b'{"messages": "Ana lives in Lisbon."}', headers=headers)
    assert said.status_code == 201, said.text
    answer = http.post("/banks/ana/recall", content=b'{"query": "Where does Ana live?"}', headers=headers)
    assert "Lisbon" in answer.json()["memories"][0]["text"]
    assert http.post("/banks/ana/recall", content=b"query=Lisbon", headers=headers).status_code == 422


def test_every_temporal_argument_of_recall_is_heard(http: httpx.Client) -> None:
    for day in ("01", "05", "09"):
        add(http, messages=f"violin on {day}", at=f"2025-03-{day}T10:00:00Z")

    def texts(**given: Any) -> list[str]:
        answer = http.post("/banks/ana/recall", json={"query": "violin", "order": "time", **given})
        assert answer.status_code == 200, answer.text
        return [one["text"][-2:] for one in answer.json()["memories"]]

    assert texts() == ["01", "05", "09"]
    assert texts(between={"start": "2025-03-04T00:00:00Z", "end": "2025-03-06T00:00:00Z"}) == ["05"]
    assert texts(between={"start": "2025-03-04T00:00:00Z", "end": None}) == ["05", "09"]
    assert texts(before="2025-03-05T00:00:00Z") == ["01"]
    assert texts(after="2025-03-05T00:00:00+00:00") == ["05", "09"]
    assert texts(as_of="2025-03-05T10:00:00Z") == ["01", "05"]
    assert texts(known_at="2025-03-05T10:00:00Z") == []
    assert texts(at="2025-03-06T10:00:00Z", budget="low", without=["rerank", "facts"]) == ["01", "05", "09"]
    assert texts(kinds=["fact"]) == []


def test_when_compare_timeline_and_events_answer(http: httpx.Client) -> None:
    add(http)
    when = http.post("/banks/ana/when", json={"query": "When did Ana move to Porto?"}).json()
    assert when["interval"]["start"] == "2025-03-03T00:00:00Z" and when["interval"]["end"]
    compared = http.post("/banks/ana/compare", json={"a": "move to Porto", "b": "move to Porto"}).json()
    assert compared["order"] == "overlap" and compared["gap"] is not None
    add(http, bank="nothing", messages="Hello there")
    assert http.post("/banks/nothing/when", json={"query": "When did the comet come?"}).json() is None
    entries = http.post("/banks/ana/timeline", json={"grain": "month"}).json()
    assert any("Porto" in entry["text"] for entry in entries["items"])
    (event,) = http.get("/banks/ana/events", params={"subject": "Ana"}).json()["items"]
    assert event["status"] == "happened"
    assert "Porto" in {entity["name"] for entity in http.get("/banks/ana/entities").json()["items"]}
    assert http.get("/banks/ana/stats").json()["turns"] == 2
    assert http.get("/banks/ana/sessions").json()["items"][0]["turns"] == 2
    assert http.post("/banks/ana/grep", json={"pattern": "PORTO"}).json()[0]["spans"] == [[11, 16]]
    assert http.post("/banks/ana/process").json() == {"count": 0}
    assert http.post("/banks/ana/doctor", json={}).json() == []


def test_turns_are_paged_by_cursor_also_where_many_share_an_instant(http: httpx.Client) -> None:
    messages = [{"content": f"note {number}", "timestamp": "2025-03-10T09:30:00Z"} for number in range(25)]
    add(http, messages=messages)
    add(http, messages="later", at="2025-03-11T09:30:00Z")
    seen: list[str] = []
    cursor = None
    while True:
        given = {"limit": 7, **({"cursor": cursor} if cursor else {})}
        page = http.get("/banks/ana/turns", params=given).json()
        seen += [turn["text"] for turn in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [*(f"note {number}" for number in range(25)), "later"]
    only = http.get("/banks/ana/turns", params={"from": "2025-03-11T00:00:00Z"}).json()["items"]
    assert [turn["text"] for turn in only] == ["later"]
    assert http.get(f"/banks/ana/turns/{only[0]['id']}").json()["text"] == "later"
    wrong = http.get("/banks/ana/turns", params={"cursor": "bm9uc2Vuc2U"})
    assert wrong.status_code == 422 and wrong.json()["detail"].startswith("cursor:")


def test_lists_go_on_after_the_same_entry_though_others_came_before_it(http: httpx.Client) -> None:
    for name in ("b", "c", "d"):
        add(http, bank=name, messages="violin")
    first = http.get("/banks", params={"limit": 2}).json()
    assert [bank["name"] for bank in first["items"]] == ["b", "c"]
    add(http, bank="a", messages="violin")
    rest = http.get("/banks", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [bank["name"] for bank in rest["items"]] == ["d"]


def test_a_write_with_an_idempotency_key_is_done_once(http: httpx.Client) -> None:
    headers = {"Idempotency-Key": "one"}
    first = http.post("/banks/ana/turns", json={"messages": "violin"}, headers=headers)
    again = http.post("/banks/ana/turns", json={"messages": "violin"}, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    assert http.get("/banks/ana/stats").json()["turns"] == 1
    other = http.post("/banks/ana/turns", json={"messages": "cello"}, headers=headers)
    assert other.status_code == 422 and "another request" in other.json()["detail"]
    failed = {"Idempotency-Key": "two"}
    assert http.post("/banks/ana/turns", json={"messages": " "}, headers=failed).status_code == 422
    assert http.post("/banks/ana/turns", json={"messages": "viola"}, headers=failed).status_code == 201


def test_an_idempotency_key_outlives_the_server(settings: ServerSettings) -> None:
    answers = []
    key = None
    for _ in range(2):
        with serving(settings) as served:
            key = key or served.key()
            answers.append(
                httpx.post(
                    f"{served.url}/v1/banks/ana/turns",
                    json={"messages": "violin"},
                    headers={"Authorization": f"Bearer {key}", "Idempotency-Key": "one"},
                ).json()
            )
    assert answers[0] == answers[1]


def test_a_fact_is_changed_only_as_the_caller_saw_it(http: httpx.Client) -> None:
    said = {
        "subject": "Ana",
        "predicate": "lives in",
        "object": "Porto",
        "valid_from": "2025-03-01T00:00:00Z",
    }
    made = http.post("/banks/ana/facts", json=said)
    assert made.status_code == 201
    fact, seen = made.json(), made.headers["ETag"]
    assert http.get(f"/banks/ana/facts/{fact['id']}").headers["ETag"] == seen
    right = {"subject": "Ana", "predicate": "lives in", "object": "Lisbon"}
    corrected = http.post("/banks/ana/facts/correct", json=right, headers={"If-Match": seen})
    assert corrected.status_code == 200 and corrected.json()["object"] == "Lisbon"
    late = http.post("/banks/ana/facts/correct", json={**right, "object": "Faro"}, headers={"If-Match": seen})
    assert late.status_code == 409 and "changed since" in late.json()["detail"]
    now = http.get("/banks/ana/facts", params={"subject": "Ana"}).json()["items"]
    assert [one["object"] for one in now] == ["Lisbon"]
    wrong = http.post(
        f"/banks/ana/facts/{now[0]['id']}/retract", json={"reason": "a joke"}, headers={"If-Match": '"x.1"'}
    )
    assert wrong.status_code == 409


def test_a_fact_that_was_confirmed_or_taken_back_has_another_tag(http: httpx.Client) -> None:
    said = {"subject": "Ana", "predicate": "lives in", "object": "Porto"}
    made = http.post("/banks/ana/facts", json=said)
    at, seen = f"/banks/ana/facts/{made.json()['id']}", made.headers["ETag"]

    def change(what: str, seen: str, **body: str) -> httpx.Response:
        return http.post(f"{at}/{what}", json=body, headers={"If-Match": seen})

    confirmed = change("confirm", seen)
    assert confirmed.status_code == 200
    assert change("retract", seen, reason="a joke").status_code == 409, "somebody confirmed it meanwhile"
    assert change("confirm", seen).status_code == 409
    retracted = change("retract", confirmed.headers["ETag"], reason="a joke")
    assert retracted.status_code == 200
    assert change("confirm", confirmed.headers["ETag"]).status_code == 409
    assert http.get(at).headers["ETag"] == retracted.headers["ETag"]


def test_facts_are_read_in_both_times(http: httpx.Client) -> None:
    def say(object_: str, since: str, at: str) -> None:
        body = {"subject": "Ana", "predicate": "lives in", "object": object_, "valid_from": since, "at": at}
        assert http.post("/banks/ana/facts", json=body).status_code == 201

    say("Porto", "2024-01-01T00:00:00Z", "2024-01-05T00:00:00Z")
    say("Lisbon", "2025-01-01T00:00:00Z", "2025-01-05T00:00:00Z")

    def objects(**params: Any) -> list[str]:
        answer = http.get("/banks/ana/facts", params={"subject": "Ana", **params})
        assert answer.status_code == 200, answer.text
        return [fact["object"] for fact in answer.json()["items"]]

    assert objects() == ["Lisbon"]
    assert objects(as_of="2024-06-01T00:00:00Z") == ["Porto"]
    assert objects(as_of="2025-06-01T00:00:00Z", known_at="2024-06-01T00:00:00Z") == ["Porto"]
    assert objects(now="2024-06-01T00:00:00Z") == ["Porto"]
    assert objects(history=True) == ["Porto", "Lisbon"]
    assert len(objects(predicate="lives in", history=True, versions=True)) == 3
    assert http.get("/banks/ana/facts", params={"history": True}).status_code == 422
    ended = http.post(
        "/banks/ana/facts/end",
        json={"subject": "Ana", "predicate": "lives in", "on": "2025-05-01T00:00:00Z"},
    )
    assert ended.json()[0]["valid"]["end"] == "2025-05-01T00:00:00Z"
    assert http.get("/banks/ana/facts/stale").status_code == 200
    assert http.get("/banks/ana/facts/review").json() == []


def test_a_bank_is_set_and_deleted(http: httpx.Client) -> None:
    add(http)
    changed = http.patch("/banks/ana", json={"zone": "Europe/Lisbon", "half_lives": {"tech_preference": 10}})
    assert changed.status_code == 200 and changed.json()["zone"] == "Europe/Lisbon"
    assert changed.json()["half_lives"]["by_domain"]["tech_preference"] == 10
    assert http.get("/banks/ana").json()["zone"] == "Europe/Lisbon"
    assert http.patch("/banks/ana", json={"zone": "Moon/Sea"}).status_code == 422
    assert http.delete("/banks/ana").status_code == 204
    assert http.get("/banks/ana").status_code == 404
    assert http.delete("/banks/ana").status_code == 404
    add(http)
    assert http.get("/banks/ana/stats").json()["turns"] == 2


def test_long_answers_are_compressed_for_those_who_can_read_it(http: httpx.Client, served: Served) -> None:
    add(http, messages=[f"violin {number}" for number in range(60)])
    with http.stream("POST", "/banks/ana/recall", json={"query": "violin"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(raw))["memories"]
    plain = http.post("/banks/ana/recall", json={"query": "violin"}, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers


def test_health_and_metrics_need_no_key_and_tell_nothing_private(http: httpx.Client, served: Served) -> None:
    add(http, bank="secret-bank")
    http.post("/banks/secret-bank/process")
    assert httpx.get(f"{served.url}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{served.url}/readyz").json() == {"status": "ready"}
    until = monotonic() + 30  # what waits is looked at every now and then
    while "everwhen_pending_turns 0" not in (text := httpx.get(f"{served.url}/metrics").text):
        assert monotonic() < until, text
        sleep(0.1)
    assert 'route="/v1/banks/{bank}/turns",status="201"} 1' in text and "everwhen_open_banks 1" in text
    assert "secret-bank" not in text and "Porto" not in text


def test_the_description_names_every_route_of_the_contract(served: Served) -> None:
    paths = httpx.get(f"{served.url}/openapi.json", timeout=60).json()["paths"]
    bank = "/v1/banks/{bank}"
    for path, method in [
        ("/v1/banks", "get"), (bank, "get"), (bank, "patch"), (bank, "delete"),
        (f"{bank}/turns", "post"), (f"{bank}/turns", "get"),
        *((f"{bank}/{name}", "post") for name in ("recall", "when", "compare", "timeline", "process")),
        *((f"{bank}/{name}", "get") for name in ("events", "entities", "stats", "sessions", "facts")),
        (f"{bank}/facts", "post"), (f"{bank}/facts/correct", "post"), (f"{bank}/facts/end", "post"),
        (f"{bank}/facts/{{fact_id}}/retract", "post"), (f"{bank}/facts/stale", "get"),
        (f"{bank}/facts/review", "get"), (f"{bank}/facts/review/{{conflict_id}}", "post"),
        ("/healthz", "get"), ("/readyz", "get"), ("/metrics", "get"),
    ]:  # fmt: skip
        assert method in paths[path], path


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_a_name_with_a_slash_is_found(http: httpx.Client, accept: str) -> None:
    add(http, messages={"content": "We saw AC/DC.", "id": "talk/1"})
    assert http.get("/banks/ana/turns/talk%2F1", headers={"Accept": accept}).json()["id"] == "talk/1"
