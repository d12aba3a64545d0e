"""How a client waits for extraction: it pauses as the server asks, and ends when its time is over."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace

import httpx
import pytest

from everwhen import AsyncClient, Client, Memory, ModelError, Unavailable
from everwhen.serve.server_settings import ServerSettings
from tests.serve.conftest import serving


@pytest.fixture
def extracting(settings: ServerSettings, monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """Turns wait for extraction for ever; each entry is a call of `process` with how long it was to wait."""
    asked: list[float | None] = []

    def never_done(self: Memory, *, timeout: float | None = None, progress: object = None) -> int:
        asked.append(timeout)
        raise Unavailable("1 turns still wait for extraction")

    monkeypatch.setenv("EVERWHEN_EXTRACT", "none")
    monkeypatch.setattr(Memory, "process", never_done)
    return asked


def test_flush_pauses_before_it_asks_again_and_ends_with_its_timeout(
    settings: ServerSettings, extracting: list[float | None]
) -> None:
    with serving(settings) as served, Client(served.url, served.key(), bank="ana") as client:
        client.add("I moved to Porto")
        began = time.monotonic()
        with pytest.raises(Unavailable, match="still wait"):
            client.flush(timeout=1.5)
        assert time.monotonic() - began < 15  # a second and a half, on a busy machine too
    assert len(extracting) in (1, 2), "Retry-After is one second: at most twice in one and a half"
    assert all(bound is not None and bound <= 1.5 for bound in extracting), "the server waits no longer"


def test_the_asynchronous_flush_pauses_too(settings: ServerSettings, extracting: list[float | None]) -> None:
    async def flush(url: str, key: str) -> None:
        async with AsyncClient(url, key, bank="ana") as client:
            await client.add("I moved to Porto")
            with pytest.raises(Unavailable, match="still wait"):
                await client.flush(timeout=1.5)

    with serving(settings) as served:
        asyncio.run(flush(served.url, served.key()))
    assert len(extracting) in (1, 2)


def test_flush_waits_when_the_key_asked_too_often(settings: ServerSettings) -> None:
    with (
        serving(replace(settings, rate=4.0, burst=4)) as served,
        Client(served.url, key := served.key(), bank="ana") as client,
    ):
        client.add("I moved to Porto")
        told = httpx.Client(headers={"Authorization": f"Bearer {key}"}, trust_env=False)
        while told.get(f"{served.url}/v1/banks/ana").status_code != 429:
            pass
        told.close()
        client.flush(timeout=10)  # raised the 429 once


def test_a_model_that_fails_is_an_error_and_not_asked_for_ever(
    settings: ServerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fails(self: Memory, **_: object) -> int:
        asked.append(self.bank)
        raise ModelError("openai:x needs a key: set OPENAI_API_KEY")

    monkeypatch.setenv("EVERWHEN_EXTRACT", "none")
    monkeypatch.setattr(Memory, "process", fails)
    with serving(settings) as served, Client(served.url, served.key(), bank="ana") as client:
        client.add("I moved to Porto")
        with pytest.raises(ModelError, match="needs a key"):
            client.flush(timeout=3)
    assert asked == ["ana"]


def test_flush_ends_where_the_server_extracts_nothing(
    settings: ServerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_EXTRACT", "none")
    with serving(settings) as served, Client(served.url, served.key(), bank="ana") as client:
        client.add("I moved to Porto")
        flushing = threading.Thread(target=client.flush, daemon=True)
        flushing.start()
        flushing.join(5)
        assert not flushing.is_alive()
