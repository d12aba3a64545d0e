"""One line of 1 GB in 146 kB of xz, imported at every door: it is refused, and memory stays where it was.

The command line reads the file itself. The server is sent it as it is, with its first byte alone (so that nothing sees
at once what it is packed with), as a plain line in parts, and as an upload to the page, under the name of a `.gz`.
"""

from __future__ import annotations

import asyncio
import lzma
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
from target import Target, outcome, serving

LINE = 1_000_000_000
PIECE = 10_000_000
PART = 7_000_000
PARTS = 20
"""Parts of the plain line: 140 MB, more than four times what one record may have."""
MOST_GROWTH = 250.0
"""Megabytes. One record may have 32 MB, and is there as bytes, as text and as a value."""
EXPORT = b'{"everwhen":"bank","bank":"'
"""How an export begins."""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        bomb = Path(folder) / "bomb.jsonl.gz"
        bomb.write_bytes(lzma.compress(b'{"content": "') + lzma.compress(b"a" * PIECE) * (LINE // PIECE))
        size = bomb.stat().st_size
        code, told, command_mb = by_command(bomb, folder)
        with serving() as target:
            answers = {"posted": posted(target, bomb.read_bytes()), "in parts": in_parts(target)}
            before = target.peak_mb()  # the page and the model are loaded by now, or are about to be
            upload = asyncio.run(uploaded(target, bomb))
            after = target.peak_mb()
    held = (
        code == 2
        and "32 MB" in told
        and command_mb < MOST_GROWTH
        and answers == {"posted": [422, 422], "in parts": [422]}
        and "32 MB" in upload
        and after - before < MOST_GROWTH
    )
    return outcome(
        held,
        f"{LINE / 1e9:g} GB in {size / 1000:.0f} kB: command exit {code}, {command_mb:.0f} MB more than to import "
        f"one message; server {answers}, upload '{upload}', peak {before:.0f} MB before and {after:.0f} MB after",
    )


def by_command(bomb: Path, folder: str) -> tuple[int, str, float]:
    """The exit code, what it said, and how much more memory it took than to import one message."""
    environment = {**os.environ, "EVERWHEN_HOME": str(Path(folder) / "home")}
    command = [sys.executable, "-m", "everwhen", "import"]
    one = Path(folder) / "one.jsonl"
    one.write_text('{"content": "Hi"}\n')
    subprocess.run([*command, str(one)], env=environment, capture_output=True, check=True)
    usual = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    done = subprocess.run([*command, str(bomb)], env=environment, capture_output=True, text=True, check=False)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return done.returncode, done.stderr, peak - usual


def posted(target: Target, content: bytes) -> list[int]:
    """The packed file, whole and with its first byte alone."""
    with target.client(target.key("admin")) as http:
        whole = http.post("/v1/banks/a/import", content=content)
        http.post("/v1/banks/b/import", content=content[:1], params={"more": True})
        split = http.post("/v1/banks/b/import", content=content[1:], params={"offset": 1})
        return [whole.status_code, split.status_code]


def in_parts(target: Target) -> list[int]:
    """A plain line, longer than a record may be."""
    with target.client(target.key("admin")) as http:
        offset, part = 0, EXPORT + b"a" * PART
        for number in range(PARTS):
            more = number < PARTS - 1
            answer = http.post("/v1/banks/c/import", content=part, params={"offset": offset, "more": more})
            offset, part = offset + len(part), b"a" * PART
        return [answer.status_code]


async def uploaded(target: Target, bomb: Path) -> str:
    """What the page says of the file. It draws itself over a socket, and so does the place that takes files."""
    import socketio

    signed = httpx.post(f"{target.url}/ui/login", data={"key": target.key("write", "ana")}, trust_env=False)
    async with httpx.AsyncClient(
        base_url=target.url,
        cookies=signed.cookies,
        timeout=300,
        trust_env=False,
        headers={"Accept": "text/html"},
    ) as http:
        page = (await http.get("/ui/ana/import")).text
        client = page.partition("'client_id': '")[2].partition("'")[0]
        seen: dict[str, str] = {}
        place, verdict = asyncio.Event(), asyncio.Event()
        socket = socketio.AsyncClient()

        async def update(message: dict[str, Any]) -> None:
            for element in message.values():
                props = (element or {}).get("props", {}) if isinstance(element, dict) else {}
                if "/upload/" in str(props.get("url")):
                    seen["place"] = props["url"]
                    place.set()
                if props.get("role") == "alert":
                    seen["verdict"] = str(props.get("innerHTML") or element.get("text"))
                    verdict.set()

        socket.on("update", update)
        cookies = "; ".join(f"{name}={value}" for name, value in http.cookies.items())
        await socket.connect(
            f"{target.url}?client_id={client}&document_id=d&tab_id=t&next_message_id=0&implicit_handshake=true",
            headers={"Cookie": cookies},
            socketio_path="/ui/_nicegui_ws/socket.io",
            transports=["websocket"],
        )
        try:
            async with asyncio.timeout(120):
                await place.wait()
                await http.post(f"/ui{seen['place']}", files={"file": (bomb.name, bomb.read_bytes())})
                await verdict.wait()
        finally:
            await socket.disconnect()
    return seen["verdict"]


if __name__ == "__main__":
    raise SystemExit(main())
