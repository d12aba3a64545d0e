"""Defaults that are the same at every door."""

from __future__ import annotations

import asyncio
from inspect import signature
from pathlib import Path

import pytest

from everwhen import AsyncMemory, Memory
from everwhen.api.client import AsyncClient, Client
from everwhen.cli.command_table import EVERYDAY
from everwhen.cli.operation_command import operation_command
from everwhen.recall.candidates import Request
from everwhen.settings import MAX_TOKENS

pytest.importorskip("mcp")
from mcp import Client as McpClient

from everwhen.serve.app import create_app
from everwhen.serve.mcp.server import LocalMemory, MemoryServer
from everwhen.serve.server_settings import ServerSettings


def test_a_recall_takes_4096_tokens_by_default_at_every_door(home: Path) -> None:
    async def over_mcp() -> int:
        async with McpClient(MemoryServer(LocalMemory(home, "ana"))) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        return int(listed["search_memories"].input_schema["properties"]["max_tokens"]["default"])

    described = create_app(ServerSettings(home)).openapi()["components"]["schemas"]["RecallIn"]["properties"]
    doors = {
        call: signature(call).parameters["max_tokens"].default
        for call in (Memory.recall, AsyncMemory.recall, Client.recall, AsyncClient.recall)
    }
    command = operation_command("recall", EVERYDAY["recall"])
    assert {int(one.default) for one in command.params if one.name == "max_tokens"} == {MAX_TOKENS}
    assert set(doors.values()) == {MAX_TOKENS}, doors
    assert Request("where").max_tokens == described["max_tokens"]["default"] == MAX_TOKENS == 4096
    assert asyncio.run(over_mcp()) == MAX_TOKENS
