"""A server as a process: it starts, says where it is, finishes what it began, and leaves nothing behind."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from everwhen import Memory
from everwhen.api.memory.bank import OpenBank
from everwhen.cli.app import run
from everwhen.serve.server_settings import ENVIRONMENT, ServerSettings
from everwhen.serve.telemetry import Audit, JsonLines, Metrics
from everwhen.types import Stats
from tests.serve.conftest import Served, serving, until
from tests.serve.test_http import add

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(home: Path, *options: str, extract: str = "none") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`everwhen serve` in a process of its own."""
    port = free_port()
    environment = {
        **os.environ,
        "EVERWHEN_HOME": str(home),
        "EVERWHEN_EMBEDDER": "fake",
        "EVERWHEN_READER": "none",
        "EVERWHEN_EXTRACT": extract,
        "PYTHONPATH": str(ROOT / "src"),
    }
    command = [sys.executable, "-m", "everwhen", "serve", "--port", str(port), *options]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as started:
        url = f"http://127.0.0.1:{port}"
        try:
            until(lambda: started.poll() is not None or _answers(f"{url}/readyz"))
            yield started, url
        finally:
            if started.poll() is None:
                started.kill()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_a_server_announces_itself_and_ends_quietly_on_sigterm(home: Path) -> None:
    with process(home, "--no-auth", extract="rules") as (started, url):
        note = home / "serve" / "running.json"
        told = json.loads(note.read_text())
        assert told["url"] == url and told["pid"] == started.pid
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        added = httpx.post(f"{url}/v1/banks/ana/turns", json={"messages": "I play the violin"}, timeout=60)
        assert added.status_code == 201
        started.send_signal(signal.SIGTERM)
        errors = started.communicate(timeout=120)[1]
    assert started.returncode == 0
    lines = [json.loads(line) for line in errors.splitlines()]
    events = [line["event"] for line in lines]
    assert "serving" in events and "ready" in events and "request" in events and "stopped" in events
    assert "violin" not in errors and "Traceback" not in errors
    assert not note.exists()
    with Memory.open(home, "ana", create=False) as memory:
        assert memory.stats().turns == 1 and memory.doctor() == []


def test_writes_that_were_begun_are_finished_before_the_end(home: Path) -> None:
    answers: list[int] = []
    with process(home, "--no-auth") as (started, url):
        body = {"messages": [f"note {number}" for number in range(150)]}

        def write(number: int) -> None:
            answer = httpx.post(
                f"{url}/v1/banks/ana/turns", json={**body, "session": f"s{number}"}, timeout=60
            )
            answers.append(answer.status_code)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()

        def all_begun() -> bool:
            answered = len(answers)  # read first: one that ends in between is waited for, not counted twice
            running = re.search(r"_running (\d+)", httpx.get(f"{url}/metrics").text)
            return running is not None and answered + int(running[1]) - 1 >= len(threads)  # it counts itself

        until(all_begun)
        started.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(240)
        started.communicate(timeout=60)
    assert started.returncode == 0 and answers == [201] * 4
    with Memory.open(home, "ana", create=False) as memory:
        assert memory.stats().turns == 600


def test_several_workers_serve_one_home(home: Path) -> None:
    with process(home, "--workers", "2") as (started, url):
        token = json.loads((home / "serve" / "running.json").read_text())["token"]
        with httpx.Client(
            headers={"Authorization": f"Bearer {token}"}, base_url=f"{url}/v1", timeout=60
        ) as http:
            for number in range(10):
                answer = until(
                    lambda number=number: (
                        got
                        if (
                            got := http.post("/banks/ana/turns", json={"messages": f"note {number}"})
                        ).status_code
                        != 503
                        else None
                    )
                )
                assert answer.status_code == 201
            assert http.get("/banks/ana/stats").json()["turns"] == 10
        started.send_signal(signal.SIGTERM)
        started.communicate(timeout=60)


def test_mistakes_at_the_start_are_one_line_with_the_fix(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for arguments, code, sentence in [
            (["serve", "--host", "0.0.0.0", "--no-auth"], 4, "--no-auth is for this machine only"),
            (["serve", "--port", port], 6, "choose another with --port"),
            (["serve", "--log-level", "loud"], 2, "unknown log level 'loud'"),
            (["server", "mcp", "--bank", "../x"], 2, "is not a bank name"),
            (["server", "keys", "create", "--scope", "all"], 2, "unknown scope 'all'"),
            (["server", "keys", "create", "--bank", "../x"], 2, "names no bank"),
            (["server", "keys", "revoke", "nobody"], 3, "there is no key 'nobody'"),
        ]:
            assert run(arguments) == code, arguments
            out, err = capsys.readouterr()
            assert out == "" and sentence in err and len(err.splitlines()) == 1, err
    assert not (home / "serve" / "running.json").exists()


def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everwhen.serve.server_settings.find_spec", lambda name: None)
    for command in (["serve"], ["server", "mcp"]):
        assert run(command) == 6
        assert "pip install 'everwhen[serve]'" in capsys.readouterr().err


def test_keys_are_made_listed_and_revoked_from_the_shell(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["server", "keys", "list"]) == 0 and "no keys" in capsys.readouterr().out
    assert (
        run(["server", "keys", "create", "--scope", "write", "--bank", "a", "--json", "--name", "bot"]) == 0
    )
    made = json.loads(capsys.readouterr().out)
    assert made["key"].startswith("ew_") and made["scope"] == "write" and made["banks"] == ["a"]
    assert run(["server", "keys", "create"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("ew_") and "It may read in every bank" in err
    assert run(["server", "keys", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {key["id"] for key in listed} >= {made["id"]} and "digest" not in listed[0]
    assert run(["server", "keys", "revoke", made["id"]]) == 0 and "is void" in capsys.readouterr().out
    assert run(["server", "keys", "list"]) == 0 and "revoked" in capsys.readouterr().out


def test_settings_reach_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ServerSettings(tmp_path, port=9, rate=3.0, auth=False)
    monkeypatch.setenv(ENVIRONMENT, given.to_environment())
    assert ServerSettings.from_environment() == given


def test_extraction_that_failed_is_tried_again(
    settings: ServerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everwhen.serve.state.AT_A_TIME", 2.0)
    broken = threading.Event()
    broken.set()
    process_one = OpenBank._extract

    def sometimes(self: OpenBank, work: object) -> object:
        if broken.is_set():
            raise RuntimeError("no extraction today")
        return process_one(self, work)  # type: ignore[arg-type]

    monkeypatch.setattr(OpenBank, "_extract", sometimes)
    with serving(settings) as served, served.client() as http:
        add(http)
        until(lambda: "everwhen_failing_banks 1" in httpx.get(f"{served.url}/metrics").text)
        text = httpx.get(f"{served.url}/metrics").text
        assert "everwhen_pending_turns 2" in text and "everwhen_background_failures_total" in text
        assert http.get("/banks/ana").json()["stats"]["pending"] == 2
        broken.clear()
        until(lambda: "everwhen_pending_turns 0" in httpx.get(f"{served.url}/metrics").text)
        assert "everwhen_failing_banks 0" in httpx.get(f"{served.url}/metrics").text


def test_turns_that_nobody_extracts_are_not_asked_after_all_the_time(
    settings: ServerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    stats = Memory.stats

    def counted(self: Memory) -> Stats:
        looks.append(self.bank)
        return stats(self)

    monkeypatch.setattr(Memory, "stats", counted)
    monkeypatch.setenv("EVERWHEN_EXTRACT", "none")
    with serving(settings) as served, served.client() as http:
        add(http)
        until(lambda: len(looks) >= 3)
        begun, before = time.monotonic(), len(looks)
        time.sleep(1.0)
        rounds = (time.monotonic() - begun) / settings.background_seconds
        assert len(looks) - before <= 3 * (rounds + 2)


def test_the_tree_is_built_behind_the_writes(settings: ServerSettings) -> None:
    said = [
        {"role": "user", "name": "Ana", "content": text, "timestamp": f"2024-03-{day:02}T10:00:00+00:00"}
        for day, text in ((4, "I moved to Porto."), (5, "The flat is small."), (18, "I found a piano."))
    ]
    with serving(replace(settings, consolidate_seconds=0.2)) as served, served.client() as http:
        http.post("/banks/ana/turns", json={"messages": said})

        def days() -> list[str]:
            nodes = http.get("/banks/ana/tree", params={"level": 3}).json()["items"]
            return [node["text"] for node in nodes]

        assert len(until(days)) == 2  # the third day is still open

        def metrics() -> str:
            return httpx.get(f"{served.url}/metrics").text

        until(
            lambda: "everwhen_tree_nodes_built_total 0.0\n" not in metrics()
        )  # counted after the days can be read
        assert "everwhen_open_nodes 0" not in metrics()
        late = {**said[0], "content": "The keys came late.", "timestamp": "2024-03-05T19:00:00+00:00"}
        http.post("/banks/ana/turns", json={"messages": [late]})
        until(lambda: any("keys" in day for day in days()))


def test_facts_to_verify_are_looked_for_behind_the_requests(settings: ServerSettings) -> None:
    with serving(settings) as served, served.client() as http:
        fact = {
            "subject": "web-1",
            "predicate": "server_config",
            "object": "4 GB",
            "valid_from": "2024-01-01",
        }
        assert http.post("/banks/ana/facts", json=fact).status_code == 201
        until(lambda: "everwhen_stale_facts 1" in httpx.get(f"{served.url}/metrics").text)


def test_logs_are_lines_of_json_and_the_audit_log_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "line\nbreak %s", ("here",), None)
    assert json.loads(JsonLines().format(record))["event"] == "line\nbreak here"
    monkeypatch.setattr("everwhen.serve.telemetry.AUDIT_BYTES", 2000)
    audit = Audit(tmp_path / "serve")
    for number in range(200):
        audit.note("write", number=number)
    audit.close()
    files = sorted((tmp_path / "serve").iterdir())
    assert len(files) == 6 and all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    assert sum(file.stat().st_size for file in files) < 14_000


def test_metrics_are_written_as_prometheus_reads_them() -> None:
    metrics = Metrics()
    metrics.requests.labels("GET", '/a"b\\c', "200").inc()
    metrics.seconds.labels("/a").observe(0.03)
    metrics.gauge("open_banks", "Banks that are open.", lambda: 3)
    text = metrics.text().decode()
    assert 'everwhen_requests_total{method="GET",route="/a\\"b\\\\c",status="200"} 1' in text
    assert 'everwhen_request_seconds_bucket{le="0.025",route="/a"} 0.0' in text
    assert 'everwhen_request_seconds_bucket{le="0.05",route="/a"} 1.0' in text
    assert 'everwhen_request_seconds_bucket{le="+Inf",route="/a"} 1.0' in text
    assert "# TYPE everwhen_open_banks gauge\neverwhen_open_banks 3.0\n" in text


def test_a_request_is_one_span_without_its_words(served: Served, http: httpx.Client) -> None:
    trace = pytest.importorskip("opentelemetry.trace")
    spans: list[tuple[str, dict[str, object]]] = []

    class Kept(trace.NonRecordingSpan):  # type: ignore[name-defined,misc]
        def __init__(self, name: str, attributes: dict[str, object]) -> None:
            super().__init__(trace.INVALID_SPAN_CONTEXT)
            spans.append((name, attributes))

        def set_attribute(self, key: str, value: object) -> None:
            spans[-1][1][key] = value

    class Tracer(trace.NoOpTracer):  # type: ignore[name-defined,misc]
        def start_as_current_span(self, name: str, *_: object, **given: object) -> object:
            return trace.use_span(Kept(name, dict(given["attributes"])))  # type: ignore[call-overload]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", lambda *_, **__: Tracer())
        add(http)
        http.post("/banks/ana/recall", json={"query": "Porto"})
        patch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
        http.post("/banks/ana/recall", json={"query": "Porto"})
    assert [name for name, _ in spans] == ["create_memory ana", "search_memory ana", "search_memory ana"]
    written, plain, open_ = (attributes for _, attributes in spans)
    assert written["gen_ai.operation.name"] == "create_memory" and written["gen_ai.memory.record.count"] == 2
    assert plain["gen_ai.memory.store.id"] == "ana" and "Porto" not in str(plain)
    assert open_["gen_ai.memory.query.text"] == "Porto"
