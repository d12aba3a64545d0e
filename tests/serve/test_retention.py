"""Forgetting, retention, the tree and moving banks over HTTP; who may do it, and what is left behind."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from everwhen import Client, Damaged, Memory, Refused, UsageError
from everwhen.api import requests as client_requests
from everwhen.serve.server_settings import ServerSettings
from everwhen.store.files import json_values as files
from tests.serve.conftest import Served, serving, until
from tests.serve.test_bad_input import told
from tests.serve.test_http import add


def forget(http: httpx.Client, bank: str = "ana", **body: Any) -> httpx.Response:
    return http.request("DELETE", f"/banks/{bank}/turns", json=body)


def exported(http: httpx.Client, bank: str = "ana", **body: Any) -> bytes:
    answer = http.post(f"/banks/{bank}/export", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("application/x-ndjson")
    return answer.content


def bring(http: httpx.Client, bank: str, content: bytes, **params: Any) -> httpx.Response:
    return http.post(f"/banks/{bank}/import", content=content, params=params)


def test_a_dry_run_says_what_would_go_and_forgetting_takes_it(http: httpx.Client) -> None:
    turns = add(http)["turns"]
    looked = forget(http, turns=turns[:1], dry_run=True).json()
    assert looked["dry_run"] is True and looked["turns"] == turns[:1]
    assert http.get("/banks/ana/stats").json()["turns"] == 2
    gone = forget(http, turns=turns[:1]).json()
    assert gone["dry_run"] is False and gone["turns"] == turns[:1]
    assert [one["id"] for one in http.get("/banks/ana/turns").json()["items"]] == turns[1:]
    assert http.post("/banks/ana/grep", json={"pattern": "Porto"}).json() == []
    assert "there is no turn" in told(forget(http, turns=turns[:1]), 404)


def test_forgetting_needs_to_be_told_what(http: httpx.Client) -> None:
    add(http)
    assert "forget what?" in told(forget(http), 422)
    assert "forget what?" in told(forget(http, between={"start": None, "end": None}), 422)
    assert "everithing" in told(forget(http, everithing=True), 422)
    assert "there is no bank" in told(forget(http, bank="nobody", session="s"), 404)
    assert http.get("/banks/nobody").status_code == 404


def test_forgetting_everything_is_for_those_who_look_after_the_bank(served: Served) -> None:
    with served.client("write", "ana") as writer, served.client("read", "ana") as reader:
        add(writer, session="s1")
        assert "needs the scope write" in told(forget(reader, session="s1", dry_run=True), 403)
        assert "needs the scope admin" in told(forget(writer, everything=True), 403)
        assert "needs the scope admin" in told(forget(writer, everything=True, dry_run=True), 403)
        for path in ("retain", "export", "import"):
            assert writer.post(f"/banks/ana/{path}", json={}).status_code == 403
        assert writer.get("/banks/ana/import").status_code == 403
        assert writer.get("/banks/ana/stats").json()["turns"] == 2
        assert forget(writer, session="s1").json()["sessions"] == ["s1"]
    with served.client("admin", "ana") as admin:
        add(admin)
        assert len(forget(admin, everything=True).json()["turns"]) == 2
        assert admin.get("/banks/ana/stats").json()["turns"] == 0


def test_deletes_are_written_down_with_how_much_went(served: Served, http: httpx.Client) -> None:
    turns = add(http)["turns"]
    forget(http, turns=turns, dry_run=True)
    forget(http, turns=turns)
    exported(http)
    until(lambda: "export" in served.state.audit.path.read_text())
    text = served.state.audit.path.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["event"], line.get("dry_run"), line.get("turns")) for line in lines] == [
        ("write", None, None), ("delete", True, 2), ("delete", False, 2), ("export", None, None),
    ]  # fmt: skip
    assert "Porto" not in text


def test_no_byte_of_what_was_forgotten_is_left_with_the_server(served: Served, http: httpx.Client) -> None:
    said = add(http, messages="Ana keeps a zebrafinch in Porto")["turns"]
    fact = {"subject": "Ana", "predicate": "keeps", "object": "zebrafinch", "source": said}
    kept = http.post("/banks/ana/facts", json=fact, headers={"Idempotency-Key": "k1"})
    assert kept.status_code == 201, kept.text
    other = {"subject": "Bo", "predicate": "keeps", "object": "parakeet"}
    http.post("/banks/ana2/facts", json=other, headers={"Idempotency-Key": "k2"})
    bring(http, "ana", b'{"everwhen":"bank", "zebrafinch": 1}', more=True)
    folder = served.state.serving.folder

    def left(word: bytes) -> list[str]:
        return [one.name for one in folder.rglob("*") if one.is_file() and word in one.read_bytes()]

    assert left(b"zebrafinch")
    assert forget(http, turns=said).status_code == 200
    assert left(b"zebrafinch") == []
    assert left(b"parakeet"), "the answers about another bank are gone too"
    http.delete("/banks/ana2")
    assert left(b"parakeet") == []


def test_a_rule_of_retention_is_a_setting_and_applied_when_asked(http: httpx.Client) -> None:
    add(http)
    assert http.get("/banks/ana").json()["retention"] == ""
    assert "no rule of retention" in told(http.patch("/banks/ana", json={"retention": "keep calm"}), 422)
    rule = "keep raw turns 90 days, summaries for ever"
    assert http.patch("/banks/ana", json={"retention": rule}).json()["retention"] == rule
    before = {"now": "2025-04-01T00:00:00Z"}
    assert http.post("/banks/ana/retain", json=before).json()["turns"] == []
    later = {"now": "2025-08-01T00:00:00Z"}
    assert len(http.post("/banks/ana/retain", json={**later, "dry_run": True}).json()["turns"]) == 2
    assert http.post("/banks/ana/grep", json={"pattern": "Porto"}).json() != []
    assert len(http.post("/banks/ana/retain", json=later).json()["turns"]) == 2
    assert http.post("/banks/ana/grep", json={"pattern": "Porto"}).json() == []
    assert http.patch("/banks/ana", json={"retention": ""}).json()["retention"] == ""


def test_nodes_and_the_turns_beside_a_hit_are_recalled_together(http: httpx.Client) -> None:
    add(http)
    http.post("/banks/ana/consolidate", json={"now": "end"})
    recipe = {"tree": True, "expand": 1, "candidates": 1}
    found = http.post("/banks/ana/recall", json={"query": "Where does Ana live?", "recipe": recipe}).json()
    assert {"turn", "node"} <= {one["kind"] for one in found["memories"]}
    assert any(one["why"]["beside"] for one in found["memories"])


def test_the_tree_is_built_and_read(http: httpx.Client) -> None:
    add(http)
    assert "there is no level 90" in told(http.get("/banks/ana/tree?level=90"), 422)
    made = http.post("/banks/ana/consolidate", json={"now": "end"}).json()
    assert made["built"] > 0
    nodes = http.get("/banks/ana/tree").json()["items"]
    assert {1, 2} <= {node["level"] for node in nodes}
    first = http.get("/banks/ana/tree?limit=1").json()
    assert len(first["items"]) == 1 and first["next_cursor"]
    at = {"at": "2025-03-10T09:30:00Z"}
    assert http.get("/banks/ana/tree", params={**at, "level": 2}).json()["items"]
    assert (
        http.get("/banks/ana/tree", params={"from": "2026-01-01T00:00:00Z", "level": 2}).json()["items"] == []
    )
    assert "not both" in told(http.get("/banks/ana/tree", params={**at, "to": "2026-01-01T00:00:00Z"}), 422)
    said = http.get("/banks/ana/profile").json()["items"]
    assert any("Porto" in one["text"] and one["turns"] for one in said)


def test_a_bank_moves_whole_with_and_without_its_vectors(http: httpx.Client) -> None:
    add(http)
    http.post("/banks/ana/facts", json={"subject": "Ana", "predicate": "plays", "object": "violin"})
    http.post("/banks/ana/process")
    whole, light = exported(http), exported(http, vectors=False)
    assert len(light) < len(whole)
    for bank, content in (("copy", whole), ("light", light)):
        done = bring(http, bank, content).json()
        assert done["received"] == len(content) and done["rows"] == content.count(b'{"kind":')
        for path in ("turns", "events", "facts?history=true"):
            assert http.get(f"/banks/{bank}/{path}").json() == http.get(f"/banks/ana/{path}").json(), path
        assert http.post(f"/banks/{bank}/recall", json={"query": "Porto"}).json()["memories"]
        assert http.get(f"/banks/{bank}/import").json()["received"] == 0
    assert "holds memories already" in told(bring(http, "copy", whole), 409)


def test_an_import_comes_in_parts_and_goes_on_after_a_break(http: httpx.Client) -> None:
    add(http)
    content = exported(http)
    half = len(content) // 2
    assert bring(http, "copy", content[:half], more=True).json()["rows"] is None
    assert "there is no bank" in told(http.get("/banks/copy"), 404)
    here = http.get("/banks/copy/import").json()["received"]
    assert here == half
    assert f"{half} bytes" in told(bring(http, "copy", b"x", offset=half + 1), 409)
    again = bring(http, "copy", content[half - 10 : half + 10], offset=half - 10, more=True).json()
    assert again["received"] == half + 10
    assert bring(http, "copy", content[half + 10 :], offset=half + 10).json()["rows"] > 0
    assert http.get("/banks/copy/stats").json()["turns"] == 2


def test_what_is_no_export_is_refused_and_makes_no_bank(http: httpx.Client, served: Served) -> None:
    add(http)
    good = exported(http)
    header, _, rest = good.partition(b"\n")
    for wrong, sentence in [
        (b"", "the import, line 1"),
        (b"{ not json", "the import, line 1"),
        (b"[]\n", "the import, line 1"),
        (b'{"everwhen":"diary"}\n', "no export of a bank"),
        (b'{"everwhen":"bank","format":1}\n', "first line of the import"),
        *((pack(good), "compressed") for pack in (gzip.compress, lzma.compress, bz2.compress)),
    ]:
        answer = bring(http, "new", wrong)
        assert sentence in told(answer, 422) and str(served.state.serving.home) not in answer.text
    assert http.get("/banks/new").status_code == 404
    for damaged in (
        good[: len(good) // 2],
        good.replace(b"Porto", b"Lisbo"),
        header + b"\n" + b'{"kind":1}\n',
    ):
        answer = bring(http, "new", damaged)
        told(answer, 422)
        assert str(served.state.serving.home) not in answer.text and answer.json()["kind"] == "Damaged"
    assert rest and bring(http, "new", good).status_code == 200


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_what_is_compressed_is_not_unpacked_when_its_first_byte_comes_alone(
    http: httpx.Client, pack: Callable[[bytes], bytes]
) -> None:
    add(http)
    content = pack(exported(http))
    assert bring(http, "new", content[:1], more=True).status_code == 200
    assert "compressed" in told(bring(http, "new", content[1:], offset=1), 422)
    assert http.get("/banks/new").status_code == 404


def test_a_line_without_end_is_refused_by_the_server_too(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_RECORD", 10_000)
    answer = told(bring(http, "new", b'{"everwhen":"bank","bank":"' + b"a" * 20_000), 422)
    assert answer == "the import, line 1 is longer than 0.01 MB, the most that one record may have"
    assert http.get("/banks/new").status_code == 404


def test_an_import_larger_than_allowed_is_refused(settings: ServerSettings) -> None:
    with serving(replace(settings, largest_import=1000)) as served, served.client() as http:
        assert bring(http, "new", b"x" * 900, more=True).status_code == 200
        assert "larger than" in told(bring(http, "new", b"x" * 101, offset=900), 413)


def test_the_client_moves_a_bank_and_goes_on_after_a_break(
    served: Served, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_requests, "PART", 5000)
    heard: list[int] = []
    with (
        Client(served.url, served.key("admin"), bank="ana") as client,
        Client(served.url, served.key("admin"), bank="copy") as copy,
    ):
        client.add_many([f"note {number} about Porto" for number in range(30)])
        client.flush()
        for name in ("bank.jsonl", "bank.jsonl.gz"):
            rows = client.export(tmp_path / name, progress=heard.append)
            assert rows == heard[-1] > 30 and not list(tmp_path.glob(".*"))
        content = (tmp_path / "bank.jsonl").read_bytes()
        assert len(content) > 20_000
        with served.client() as http:
            bring(http, "copy", content[:12_345], more=True)
        sent: list[Any] = []
        do = copy._do
        monkeypatch.setattr(copy, "_do", lambda todo: sent.append(todo) or do(todo))
        assert copy.import_(tmp_path / "bank.jsonl", progress=heard.append) == heard[-1] == rows
        assert sent[1].options["params"]["offset"] == "12345"
        assert copy.turns() == client.turns()
        with pytest.raises(Refused, match="holds memories already"):
            copy.import_(tmp_path / "bank.jsonl.gz")
        copy.forget(everything=True)
        (tmp_path / "half.jsonl").write_bytes(content[:9_000])
        with pytest.raises(Damaged):
            copy.import_(tmp_path / "half.jsonl")
        (tmp_path / "other.jsonl").write_bytes(b"{}\n")
        with pytest.raises(UsageError, match="is no export"):
            copy.import_(tmp_path / "other.jsonl")
    with Memory.open(home, "local") as memory:
        assert memory.import_(tmp_path / "bank.jsonl") == rows
