"""A whole memory with a language model behind it: whatever the model does, what was said stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from everwhen.ingest.extract.opening import open_extractor
from tests.scripted_server import Asked, ScriptedServer, Step, data, raw, refusal, slowly, status, text

SAID = datetime(2023, 5, 10, 18, 0, tzinfo=UTC)
TALK = [
    {"role": "user", "name": "Marta", "content": "I bought a red kayak last Friday."},
    {"role": "assistant", "name": "Juno", "content": "A good boat for the river."},
]
BOUGHT: dict[str, Any] = {
    "turn": "t1",
    "quote": "I bought a red kayak",
    "subject": "I",
    "verb": "buy",
    "object": "red kayak",
    "text": "Marta bought a red kayak.",
    "time": "last Friday",
    "aliases": ["got a boat to paddle"],
}
ANSWER = {
    "events": [BOUGHT],
    "narratives": [{"text": "Marta told Juno about her red kayak.", "turns": ["t1", "t2"]}],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        monkeypatch.setenv("EVERWHEN_LLM_BASE_URL", running.url)
        monkeypatch.setenv("EVERWHEN_LLM_ATTEMPTS", "1")
        monkeypatch.setenv("EVERWHEN_LLM_TIMEOUT", "0.5")
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        open_extractor.cache_clear()
        yield running
        open_extractor.cache_clear()


@pytest.fixture
def modelled(home: Path, server: ScriptedServer) -> Iterator[Memory]:
    with Memory.open(
        home, "modelled", embedder="fake", cache_entries=0, extract="llm:openai:scripted"
    ) as opened:
        yield opened


def test_what_the_model_finds_is_in_the_calendar(modelled: Memory, server: ScriptedServer) -> None:
    server.always(data(ANSWER))
    modelled.add(TALK, session="s", at=SAID)
    [event] = modelled.events()
    assert (event.subject, event.verb, event.object) == ("Marta", "buy", "red kayak")
    assert event.occurred is not None
    assert str(event.occurred.start)[:10] == "2023-05-05"
    assert "kayak" in server.asked[0].prompt


@pytest.mark.parametrize(
    "answer",
    [
        status(500),
        status(401),
        refusal(),
        text("no idea"),
        raw("<html>"),
        slowly(2, data(ANSWER)),
        data({"events": [{**BOUGHT, "date": "9999-12-31"}] * 10_000, "narratives": []}),
    ],
    ids=["500", "401", "refusal", "garbage", "not-a-model", "silence", "10000-events"],
)
def test_nothing_is_lost_whatever_the_model_does(
    modelled: Memory, server: ScriptedServer, answer: Step
) -> None:
    server.always(answer)
    modelled.add(TALK, session="s", at=SAID)
    assert [turn.text for turn in modelled.turns()] == [one["content"] for one in TALK]
    modelled.flush()
    assert [turn.text for turn in modelled.turns()] == [one["content"] for one in TALK]
    assert "I bought a red kayak last Friday." in [one.text for one in modelled.recall("red kayak").memories]
    assert [str(event.occurred.start)[:10] for event in modelled.events(verb="buy") if event.occurred] == [
        "2023-05-05"
    ]
    assert "9999" not in str(modelled.events())
    report = str(modelled.doctor())
    assert "rules were used instead" in report or "the first 200 were read" in report


def test_reading_again_replaces_what_rules_found(modelled: Memory, server: ScriptedServer) -> None:
    def answer(_: Asked) -> Step:
        return data(ANSWER) if len(server.asked) > 1 else status(500)

    server.always(answer)
    modelled.add(TALK, session="s", at=SAID)
    modelled.flush()
    modelled.reextract()
    modelled.flush()
    [event] = modelled.events(verb="buy")
    assert event.aliases == ("got a boat to paddle",)
