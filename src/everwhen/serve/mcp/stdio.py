"""`everwhen mcp` over standard input and output, for clients that start it themselves."""

from __future__ import annotations

from pathlib import Path

from everwhen.serve.mcp.local_memory import LocalMemory
from everwhen.serve.mcp.tools import build


def run(home: Path, bank: str, store: str | None = None) -> None:
    """Serve one bank until the client hangs up."""
    reach = LocalMemory(home, bank, store)
    try:
        build(reach).run("stdio")
    finally:
        reach.close()
