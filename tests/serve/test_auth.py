"""Keys, scopes and banks: who is let in, who hears 401 and 403, and what is written down of it."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from everwhen.errors import NotFound, Refused, UsageError
from everwhen.serve.auth import KeyStore, RateLimits
from everwhen.serve.server import check
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.telemetry import Audit
from tests.serve.conftest import Served, serving, until
from tests.serve.test_bad_input import told
from tests.serve.test_http import add


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Basic YTpi",
        "Bearer nonsense",
        "Bearer ew_000000000000_" + "x" * 43,
        "ew_1",
    ],
)
def test_without_a_good_key_everything_is_401_whatever_was_sent(served: Served, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    for method, path, body in [
        ("GET", "/v1/banks", b""),
        ("GET", "/v1/banks/ana", b""),
        ("POST", "/v1/banks/ana/turns", b"{ not json"),
        ("POST", "/v1/banks/..%2Fana/turns", b""),
        ("POST", "/v1/nowhere", b"x" * 10_000_000),
        ("POST", "/mcp/ana", b"{}"),
    ]:
        answer = httpx.request(method, f"{served.url}{path}", content=body, headers=headers)
        assert "key" in told(answer, 401) and answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_key_reaches_only_its_banks(served: Served, http: httpx.Client) -> None:
    add(http, bank="a", messages="the violin is under the stairs")
    add(http, bank="b", messages="the cello is in the attic")
    with served.client("admin", "a") as only_a:
        assert [bank["name"] for bank in only_a.get("/banks").json()["items"]] == ["a"]
        for method, path in [
            ("GET", "/banks/b"), ("GET", "/banks/b/turns"), ("POST", "/banks/b/recall"), ("POST", "/banks/b/turns"),
            ("POST", "/banks/b/when"), ("GET", "/banks/b/facts"), ("DELETE", "/banks/b"), ("GET", "/banks/nobody"),
            ("DELETE", "/banks/b/turns"), ("POST", "/banks/b/export"), ("POST", "/banks/b/import"),
            ("GET", "/banks/b/import"), ("POST", "/banks/b/consolidate"), ("POST", "/banks/b/retain"),
            ("GET", "/banks/b/tree"), ("GET", "/banks/b/profile"),
        ]:  # fmt: skip
            answer = only_a.request(method, path, json={"query": "attic", "messages": "x"})
            assert "other banks" in told(answer, 403) and "attic" not in answer.text
        assert only_a.get("/banks/a/stats").json()["turns"] == 1
        assert "attic" not in only_a.post("/banks/a/export", json={}).text
        assert "attic" not in only_a.get("/banks/a/tree").text + only_a.get("/banks/a/profile").text
        found = only_a.post("/banks/a/recall", json={"query": "cello in the attic"}).json()
        assert [one["text"] for one in found["memories"]] == ["the violin is under the stairs"]
    assert http.get("/banks/b/stats").json()["turns"] == 1


def test_a_pattern_reaches_the_banks_that_it_names(served: Served) -> None:
    with served.client("write", "team-*,ana") as http:
        add(http, bank="team-red", messages="x")
        add(http, bank="ana", messages="x")
        for bank in ("team", "anna", "x-team-red", "default"):
            assert http.post(f"/banks/{bank}/turns", json={"messages": "x"}).status_code == 403


def test_a_scope_includes_those_below_it_and_no_more(served: Served) -> None:
    with served.client("write", "ana") as writer, served.client("read", "ana") as reader:
        add(writer)
        assert reader.post("/banks/ana/recall", json={"query": "x"}).status_code == 200
        denied = reader.post("/banks/ana/turns", content=b"{ not json")
        assert "this needs the scope write" in told(denied, 403)
        assert "this needs the scope admin" in told(writer.patch("/banks/ana", json={"zone": "UTC"}), 403)
        assert writer.delete("/banks/ana").status_code == 403


def test_a_revoked_key_is_void_at_once(served: Served) -> None:
    key, token = served.state.keys.create("read", "*")
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{served.url}/v1/banks", headers=headers).status_code == 200
    other_process = KeyStore(served.state.serving.folder)
    other_process.revoke(key.id)
    assert httpx.get(f"{served.url}/v1/banks", headers=headers).status_code == 401
    assert served.state.keys.all()[0].revoked_at is not None


def test_keys_are_kept_as_digests_in_files_of_their_owner(served: Served, http: httpx.Client) -> None:
    _, token = served.state.keys.create("read", "*", "for tests")
    add(http)
    folder = served.state.serving.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        content = file.read_bytes()
        assert token.encode() not in content and token.split("_", 2)[2].encode() not in content


def test_nonsense_is_refused_when_a_key_is_made(tmp_path: Path) -> None:
    book = KeyStore(tmp_path / "serve")
    with pytest.raises(UsageError, match="unknown scope 'everything'"):
        book.create("everything", "*")
    for banks in ("", "../x", "a,,b", "a b", "[ab]"):
        with pytest.raises(UsageError, match="names no bank"):
            book.create("read", banks)
    with pytest.raises(NotFound, match="there is no key 'x'"):
        book.revoke("x")


def test_without_keys_only_this_machine_is_answered(settings: ServerSettings) -> None:
    with serving(replace(settings, auth=False)) as served:
        assert httpx.get(f"{served.url}/v1/banks").status_code == 200
        for headers in (
            {"Host": "evil.example"},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Host": "localhost.evil.example:80"},
        ):
            answer = httpx.get(f"{served.url}/v1/banks", headers=headers)
            assert "this machine only" in told(answer, 403)
        assert httpx.get(f"{served.url}/v1/banks", headers={"Origin": served.url}).status_code == 200
        wrong = httpx.get(f"{served.url}/v1/banks", headers={"Authorization": "Bearer nonsense"})
        assert wrong.status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_a_server_without_keys_never_listens_to_the_network(home: Path, host: str) -> None:
    with pytest.raises(Refused, match="for this machine only"):
        check(ServerSettings(home, host=host, auth=False))
    check(ServerSettings(home, host=host))
    for loopback in ("127.0.0.1", "::1", "localhost"):
        check(ServerSettings(home, host=loopback, auth=False))


def test_writes_and_denied_calls_are_written_down_without_content(served: Served, http: httpx.Client) -> None:
    add(http, messages="the violin is under the stairs")
    http.post("/banks/ana/recall", json={"query": "violin"})
    with served.client("read", "other") as stranger:
        stranger.post("/banks/ana/turns", json={"messages": "violin"})
    httpx.get(f"{served.url}/v1/banks")
    http.delete("/banks/ana")
    until(lambda: "delete" in served.state.audit.path.read_text())
    text = served.state.audit.path.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["event"], line["status"]) for line in lines] == [
        ("write", 201), ("denied", 403), ("denied", 401), ("delete", 204),
    ]  # fmt: skip
    assert lines[0]["bank"] == "ana" and lines[0]["route"] == "/v1/banks/{bank}/turns" and lines[0]["key"]
    assert lines[2]["key"] is None
    assert "violin" not in text and "ew_" not in text


def test_a_flood_of_denied_calls_pushes_nothing_out_of_the_audit_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everwhen.serve.telemetry.AUDIT_BYTES", 20_000)
    now = [0.0]
    audit = Audit(tmp_path / "serve", clock=lambda: now[0])
    audit.note("delete", key="k1", bank="ana")
    for minute in range(3):
        now[0] = 60.0 * minute
        for _ in range(2000):
            audit.denied(None, status=401)
            audit.denied("k2", status=403, bank="ana")
    audit.close()
    lines = [json.loads(line) for line in audit.path.read_text().splitlines()]
    assert lines[0]["event"] == "delete" and len(list(audit.path.parent.iterdir())) == 1
    for key, one_by_one in ((None, 1), ("k2", 20)):
        theirs = [line for line in lines if line["key"] == key]
        assert [line["more"] for line in theirs if "more" in line] == [2000 - one_by_one] * 3
        assert len(theirs) == 3 * (one_by_one + 1)


def test_calls_without_a_key_are_counted_and_not_written_one_by_one(served: Served) -> None:
    with httpx.Client(base_url=served.url, trust_env=False) as stranger:
        for _ in range(100):
            assert stranger.get("/v1/banks").status_code == 401
        assert 'everwhen_denied_total{key="none"} 100' in stranger.get("/metrics").text
    assert len(served.state.audit.path.read_text().splitlines()) == 1


def test_a_bucket_refills_at_its_rate() -> None:
    now = [0.0]
    buckets = RateLimits(rate=2.0, burst=3, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(3)] == [0.0] * 3
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0.0
    now[0] = 0.5
    assert buckets.take("a") == 0.0 and buckets.take("a") > 0
    now[0] = 100.0
    assert [buckets.take("a") > 0 for _ in range(4)] == [False, False, False, True]


def test_processes_share_the_rate_of_a_key() -> None:
    now, processes = [0.0], [4]
    buckets = RateLimits(rate=200.0, burst=2000, clock=lambda: now[0], processes=lambda: processes[0])
    assert sum(buckets.take("a") == 0.0 for _ in range(1000)) == 500
    now[0] = 1.0
    assert sum(buckets.take("a") == 0.0 for _ in range(100)) == 50
    processes[0], now[0] = 1, 2.0  # the others are gone
    assert sum(buckets.take("a") == 0.0 for _ in range(300)) == 200
    assert RateLimits(rate=1.0, burst=2, processes=lambda: 4).take("a") == 0.0, "everybody may ask once"
