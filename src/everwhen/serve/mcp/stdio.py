"""`everwhen mcp` over standard input and output, for clients that start it themselves."""

from __future__ import annotations

from pathlib import Path

from everwhen.serve.mcp.reach import Here
from everwhen.serve.mcp.tools import build


def run(home: Path, bank: str) -> None:
    """Serve one bank until the client hangs up."""
    reach = Here(home, bank)
    try:
        build(reach).run("stdio")
    finally:
        reach.close()
