"""A scripted server, and models that talk to it without waiting between attempts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from everwhen.models.llm.pydantic_ai import PydanticAI
from tests.scripted_server import ScriptedServer

Open = Callable[..., PydanticAI]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def model(server: ScriptedServer) -> Iterator[Open]:
    """Opens models at the scripted server."""
    opened: list[PydanticAI] = []

    def open_one(spec: str = "openai:scripted", **options: object) -> PydanticAI:
        given = {"base_url": server.url, "first_pause": 0.001, "timeout": 5.0, **options}
        opened.append(PydanticAI(spec, **given))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()
