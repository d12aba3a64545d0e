"""Do the MCP tools keep inside `max_tokens`?

A bank of long and odd turns is asked with every reading tool and small budgets, over HTTP. What comes back is counted
as the client gets it, in cl100k tokens: the larger of text and structured content. The list of tools is counted too.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent
from target import Target, outcome, serving, wait_for_extraction

from everwhen.models.embedder import count_tokens

TURNS = 40
BUDGETS = (128, 200, 256, 512, 1024, 4096, None)
DEFAULT = 4096
LIST_OF_TOOLS = 3000
ODD = (
    "violin", "Porto", "🎻🪗🎺", "ヴァイオリンの稽古", "скрипка", "a\u0301\u0302\u0303", '"}]},{"', "\\u0000\\n\t",
    "Ⅷ½", "<|endoftext|>", "\u202eolleh", "x" * 200, "https://example.org/" + "a/" * 30, "1234567890" * 5,
)  # fmt: skip
SEARCHES: dict[str, dict[str, Any]] = {
    "search_memories": {"query": "which violin did Ana buy in Porto"},
    "search_turns": {"limit": 200},
    "when": {"query": "when did Ana buy the violin"},
    "timeline": {"limit": 200},
    "get_facts": {"subject": "Ana", "history": True, "limit": 200},
}


def main() -> int:
    with serving(environment={"EVERWHEN_EMBEDDER": "fake"}) as target:
        key = target.key("write", "ana")
        fill(target, key)
        listed, answers = asyncio.run(ask(target, key))
    worst, tool, budget = max(answers)
    broken = sum(ratio > 1 for ratio, _, _ in answers)
    return outcome(
        not broken and listed <= LIST_OF_TOOLS,
        f"{len(answers)} answers, {broken} over their budget; the worst took {worst:.2f} of max_tokens "
        f"({tool}, {budget}); the list of tools takes {listed} of {LIST_OF_TOOLS}",
    )


def fill(target: Target, key: str) -> None:
    """Turns from one word to some thousand, names and sessions of every script, and facts as long as they may be."""
    dice = random.Random(11)
    with target.client(key) as http:
        for count in range(TURNS):
            words = [
                "I bought a violin in Porto yesterday.",
                *dice.choices(ODD, k=dice.choice([0, 4, 40, 300])),
            ]
            message = {
                "role": dice.choice(["user", "assistant"]),
                "name": dice.choice(["Ana", "Ana", "ヴ" * 200]),
                "content": " ".join(words),
                "timestamp": f"2025-{1 + count % 12:02}-{1 + count % 28:02}T09:00:00Z",
                "metadata": {"where": dice.choices(ODD, k=5)},
            }
            body = {"messages": [message], "session": f"s{count // 4}" + "会" * dice.choice([0, 100])}
            http.post("/v1/banks/ana/turns", json=body).raise_for_status()
        for count in range(TURNS):
            fact = {
                "subject": "Ana",
                "predicate": f"likes {count % 20}",
                "object": " ".join(dice.choices(ODD, k=dice.choice([1, 10, 50])))[:2000].strip(),
                "valid_from": f"2025-{1 + count % 12:02}-01T00:00:00Z",
            }
            http.post("/v1/banks/ana/facts", json=fact).raise_for_status()
        wait_for_extraction(http, "ana")


async def ask(target: Target, key: str) -> tuple[int, list[tuple[float, str, str]]]:
    """Tokens of the list of tools, and of each answer what it took of its budget."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=120, trust_env=False)
    answers: list[tuple[float, str, str]] = []
    async with Client(streamable_http_client(f"{target.url}/mcp/ana", http_client=http)) as client:
        tools = await client.list_tools()
        for tool, asked in SEARCHES.items():
            for budget in BUDGETS:
                bound = {} if budget is None else {"max_tokens": budget}
                answer = await client.call_tool(tool, asked | bound)
                blocks = [block.text for block in answer.content if isinstance(block, TextContent)]
                assert len(blocks) == len(answer.content), "what is no text was not counted"
                text = "".join(blocks)
                if answer.is_error:
                    raise SystemExit(f"{tool} refused {asked | bound}: {text}")
                twin = (
                    json.dumps(answer.structured_content, ensure_ascii=False)
                    if answer.structured_content
                    else ""
                )
                took = max(count_tokens(text), count_tokens(twin))
                answers.append((took / (budget or DEFAULT), tool, f"max_tokens {budget or 'left out'}"))
    return count_tokens(tools.model_dump_json(by_alias=True, exclude_none=True)), answers


if __name__ == "__main__":
    sys.exit(main())
