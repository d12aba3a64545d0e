"""What people and agents wait for on a machine that is building something on all of its cores.

    python scripts/busy_machine.py [--processes 2]

Processes that only compute stand for the build; they end by themselves after a minute, and each part of the measuring
starts its own. Each line has the load average at its end, since others may be at work on the machine too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from everwhen import Memory
from everwhen.agents.coding import hook, resident
from everwhen.agents.coding.resident import LATE
from everwhen.settings import Settings

BUSY = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
SERVERS = (
    "staging", "billing", "search", "mail", "metrics", "login", "image", "backup", "chat", "cache", "proxy", "report",
)  # fmt: skip
OTHERS = 400
"""Turns beside those that are asked for."""
STARTS = 6
CLIENT = {"capabilities": {}, "clientInfo": {"name": "busy", "version": "1"}}


@contextmanager
def build(processes: int) -> Iterator[None]:
    """A load for as long as the block lasts, and for a minute at the most."""
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    time.sleep(1.0)
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def said(what: str, seconds: list[float], more: str) -> None:
    """One line of the outcome."""
    middle, most = statistics.median(seconds), max(seconds)
    load = os.getloadavg()[0]
    print(f"{what:<34} median {middle:5.2f} s   most {most:5.2f} s   load {load:4.1f}   {more}", flush=True)


def fill(home: Path) -> None:
    with Memory.open(home, "work", extract="none") as memory:
        memory.add_many(f"The {name} server listens on port {8000 + at}." for at, name in enumerate(SERVERS))
        memory.add_many(
            f"In step {at} we renamed module {at * 7} and its tests passed." for at in range(OTHERS)
        )


def hooks(home: Path, processes: int) -> None:
    """Twelve prompts, each in a session of its own, and one more in those whose memory came too late."""

    def run(event: str, session: str, prompt: str, wait: float) -> tuple[str, float]:
        words = ["-I", "-S", hook.__file__, str(home), "work", "claude-code", "ask", str(round(1000 * wait))]
        told = {"hook_event_name": event, "session_id": session, "prompt": prompt}
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, *words], input=json.dumps(told).encode(), stdout=-1, check=True
        )
        return done.stdout.decode(), time.monotonic() - start

    run("SessionStart", "first", "", 0.02)
    while not (home / hook.FOLDER / hook.SOCKET).exists():
        time.sleep(0.1)
    run("UserPromptSubmit", "first", "Which port has the staging server?", 60)
    wait, took, late, came = Settings().prompt_seconds, [], [], 0
    with build(processes):
        for at, name in enumerate(SERVERS):
            printed, seconds = run("UserPromptSubmit", name, f"Which port does the {name} server use?", wait)
            took.append(seconds)
            if str(8000 + at) not in printed:
                late.append(name)
        said("a prompt with its hook", took, f"{len(took) - len(late)} of {len(took)} with their memory")
    for name in late:
        printed, _ = run("UserPromptSubmit", name, "Go on.", 60)
        came += LATE in printed and str(8000 + SERVERS.index(name)) in printed
    if late:
        print(f"{'':<34} of {len(late)} that came too late, {came} came with the next prompt")
    resident.request(home, "stop")


def servers(home: Path, processes: int) -> None:
    """MCP over standard input: when its tools are listed, and when the first call is answered."""
    listed: list[float] = []
    called: list[float] = []
    with build(processes):
        for _ in range(STARTS):
            start = time.monotonic()
            with subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "everwhen",
                    "server",
                    "mcp",
                    "--home",
                    str(home),
                    "--bank",
                    "work",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as process:

                def ask(method: str, **params: Any) -> str:
                    asked = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
                    print(json.dumps(asked), file=process.stdin, flush=True)
                    return str(process.stdout.readline())  # type: ignore[union-attr]

                ask("initialize", protocolVersion="2025-06-18", **CLIENT)
                assert "search_memories" in ask("tools/list")
                listed.append(time.monotonic() - start)
                if len(called) < 2:  # it is a minute's load
                    given = {"query": "Which port has the staging server?"}
                    assert "8000" in ask("tools/call", name="search_memories", arguments=given)
                    called.append(time.monotonic() - start)
                process.kill()
    said("tools listed after the start", listed, f"{STARTS} starts")
    said("first call answered after it", called, f"{len(called)} starts")


def add(home: Path, processes: int) -> None:
    """One sentence on the command line, and the facts right behind it."""
    took, cpu, read, seen = [], [], [], 0
    with build(processes):
        for bank in ("one", "two"):
            command = [sys.executable, "-P", "-m", "everwhen", "--home", str(home), "--bank", bank]
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            subprocess.run([*command, "add", "I live in Porto."], stdout=-1, check=True)
            took.append(time.monotonic() - start)
            after, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            seen += b"Porto" in subprocess.run([*command, "facts", "current"], stdout=-1, check=True).stdout
            read.append(time.monotonic() - start)
    said("add of one sentence", took, f"{statistics.median(cpu):.1f} s of processor time")
    said("facts right behind it", read, f"{seen} of {len(read)} saw the fact")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--processes", type=int, default=2, help="how many compute; 0 for none")
    processes = options.parse_args().processes
    print(f"{processes} processes compute on {os.cpu_count()} cores; load before {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fill(home)
        hooks(home, processes)
        servers(home, processes)
        add(home, processes)


if __name__ == "__main__":
    main()
