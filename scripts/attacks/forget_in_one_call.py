"""A model that obeys "forget everything": over MCP, stdio and HTTP, in one call with every token it could guess.

And half of a character (`\\ud800`) in every argument of text of every address: no answer is a 5xx.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from typing import Any, get_args

import httpx2
from mcp import Client as McpClient
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from target import Target, outcome, serving

from everwhen.api.operations.base import MOMENT, STRETCH, Parameter, arguments_of
from everwhen.api.operations.surface import operations

WAYS: tuple[dict[str, Any], ...] = (
    {"everything": True}, {"session": "s"}, {"entity": "Ana"}, {"between": ["2000", "2100"]}, {"turns": ["t1"]},
)  # fmt: skip
TOKENS = (None, "", "0" * 16, "token", "null")
HALVES = ("\ud800", "2025-03-10\udfff", "last \ud83d week")


def takes_text(one: Parameter) -> bool:
    """Whether an argument is text, or may be written as text."""
    return str in (one.plain, *get_args(one.plain)) or bool({MOMENT, STRETCH} & one.marks)


def main() -> int:
    with serving(environment={"EVERWHEN_EMBEDDER": "fake"}) as target:
        key = target.key("admin", "a")
        statuses = halves(target, key)
        deleted = asyncio.run(attack(McpClient(at_http(target, key))))
    with serving(environment={"EVERWHEN_EMBEDDER": "fake"}) as target:
        deleted += asyncio.run(attack(McpClient(at_stdio(target))))
    failed = sum(count for status, count in statuses.items() if status >= 500)
    answers = ", ".join(f"{count} times {status}" for status, count in sorted(statuses.items()))
    figures = (
        f"{deleted} of {2 * len(WAYS) * len(TOKENS)} calls deleted something; half characters: {answers}"
    )
    return outcome(not deleted and not failed, figures)


def at_http(target: Target, key: str) -> Any:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=120, trust_env=False)
    return streamable_http_client(f"{target.url}/mcp/a", http_client=http)


def at_stdio(target: Target) -> Any:
    """A process beside the server, with a folder of its own."""
    environment = {**os.environ, "EVERWHEN_HOME": str(target.home / "own"), "EVERWHEN_EMBEDDER": "fake"}
    command = ["-m", "everwhen", "mcp", "--bank", "a"]
    return StdioServerParameters(command=sys.executable, args=command, env=environment)


async def attack(client: McpClient) -> int:
    deleted = 0
    async with client:
        for way in WAYS:
            for token in TOKENS:
                await client.call_tool(
                    "add_memory", {"text": "Ana plays the violin", "session": "s", "id": "t1"}
                )
                given = {**way, "dry_run": False, **({} if token is None else {"token": token})}
                deleted += not (await client.call_tool("forget", given)).is_error
    return deleted


def halves(target: Target, key: str) -> Counter[int]:
    """Every argument of text of every operation with a body, alone."""
    statuses: Counter[int] = Counter()
    headers = {"Content-Type": "application/json"}
    with target.client(key) as http:
        http.post("/v1/banks/a/turns", json={"messages": "I play the violin"})
        for operation in operations().values():
            spec = operation.spec
            if spec.method in ("", "GET") or "{" in spec.path:
                continue
            taken = [one for one in arguments_of(operation) if one.travels]
            fixed = {**spec.fixed, **{one.name: "2025" for one in taken if one.required}}
            for one in taken:
                for half in HALVES if takes_text(one) else ():
                    body = {**fixed, spec.renamed.get(one.name, one.name): half}
                    body |= {"dry_run": True} if any(other.name == "dry_run" for other in taken) else {}
                    url = f"/v1/banks/a{spec.path}"
                    answer = http.request(spec.method, url, content=json.dumps(body), headers=headers)
                    statuses[answer.status_code] += 1
    return statuses


if __name__ == "__main__":
    raise SystemExit(main())
