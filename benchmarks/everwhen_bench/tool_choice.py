"""Which tool of MCP a language model picks for a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.models.llm.base import LLM, Tool, UserMessage
from everwhen.serve.mcp.tools import INSTRUCTIONS, TOOLS

DATA = Path(__file__).parents[1] / "tool_requests.json"
CALL_TOKENS = 160
"""The longest answer: a call takes fewer."""
CLIENT = (
    "You are a helpful assistant with a memory. Answer every message of the user with a call of one tool.\n\n"
)
"""What a client tells the model, before what the server says of itself."""


def offered() -> list[Tool]:
    """The tools as a client gets them."""
    return [Tool(one.name, one.description or "", one.parameters) for one in TOOLS.values()]


def run(llm: LLM, part: str = "asked", progress: Callable[[int], None] = lambda done: None) -> dict[str, Any]:
    """Make one request after the other. A pick is right when the first tool called is one of those that are right."""
    requests = json.loads(DATA.read_text("utf-8"))
    if part not in requests or part == "about":
        raise UsageError(f"there are no requests '{part}'; there are: asked, wording")
    tools, runs = offered(), []
    for number, one in enumerate(requests[part], 1):
        said = llm.converse([UserMessage(one["request"])], tools, instructions=CLIENT + INSTRUCTIONS)
        picked = said.calls[0].name if said.calls else None
        runs.append({**one, "picked": picked, "said": said.text, "is_right": picked in one["right"]})
        progress(number)
    wrong = [one for one in runs if not one["is_right"]]
    return {
        "bench": "tools",
        "model": llm.name,
        "tools": len(tools),
        "requests": len(runs),
        "right": len(runs) - len(wrong),
        "wrong": {one["request"]: f"{one['picked']}, not {' or '.join(one['right'])}" for one in wrong},
        "runs": runs,
    }
