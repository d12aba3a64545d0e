"""Load on a server over loopback: requests a second, latencies, errors, and memory over time.

    python scripts/load.py prepare --home /tmp/load --units 20000     # a synthetic bank, once (about 3 minutes)
    python scripts/load.py run --home /tmp/load --seconds 300         # server and generator side by side

`run` starts `everwhen serve` itself, on a free port and without keys, asks with `budget="low"` and without rerank,
then for `--default-seconds` with the default recipe, and prints both as a table and (`--out`) as JSON. The generator is
an open loop: a request is sent every 1/rate seconds whether or not the ones before are answered, and its latency counts
from the moment it was due, so that a server that falls behind cannot hide it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

BANK = "load"
LOW: dict[str, Any] = {"budget": "low", "without": ["rerank"], "max_tokens": 1024}
DEFAULT: dict[str, Any] = {"max_tokens": 1024}
PEOPLE = ("Ana", "Ben", "Carla", "Davi", "Elena", "Farid", "Grace", "Hugo")
THINGS = (
    "violin",
    "garden",
    "marathon",
    "bakery",
    "telescope",
    "novel",
    "boat",
    "recipe",
    "painting",
    "server",
)
PLACES = ("Porto", "Lisbon", "Oslo", "Kyoto", "Lima", "Cairo", "Quito", "Turin")
DID = (
    "bought",
    "sold",
    "repaired",
    "painted",
    "lost",
    "found",
    "borrowed",
    "photographed",
    "dreamt of",
    "built",
)


@dataclass
class Result:
    """One run."""

    recipe: str
    seconds: float
    sent: int
    errors: int
    rate: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    rss_mb: list[float]


def sentence(draw: random.Random) -> str:
    who, other, thing = draw.choice(PEOPLE), draw.choice(PEOPLE), draw.choice(THINGS)
    return (
        f"{who} {draw.choice(DID)} a {thing} in {draw.choice(PLACES)} with {other}, "
        f"and it took {draw.randint(2, 90)} minutes before the {draw.choice(THINGS)} was ready."
    )


def question(draw: random.Random) -> str:
    who, thing = draw.choice(PEOPLE), draw.choice(THINGS)
    return draw.choice(
        (
            f"What did {who} do with the {thing}?",
            f"Who was in {draw.choice(PLACES)} with {who}?",
            f"When was the {thing} ready?",
        )
    )


def prepare(home: Path, units: int) -> None:
    """A bank of synthetic turns over a year; extraction is left out, as in `everwhen bench speed`."""
    from everwhen import Memory

    draw, begin = random.Random(7), datetime(2024, 1, 1, tzinfo=UTC)
    step = timedelta(days=365) / units
    with Memory.open(home, BANK, extract="none", cache_entries=0) as memory:
        have = memory.stats().turns
        messages = (
            {
                "content": sentence(draw),
                "name": draw.choice(PEOPLE),
                "timestamp": begin + number * step,
                "id": f"u{number}",
            }
            for number in range(units)
        )
        memory.add_many(messages, progress=lambda done: print(f"\r{done:,} of {units:,}", end="", flush=True))
        memory.consolidate()  # a server would, behind the first requests
        print(f"\nbank {BANK}: {memory.stats().turns:,} turns ({have:,} before)")


async def load(url: str, body: dict[str, Any], rate: float, seconds: float, pid: int) -> Result:
    """Ask `rate` times a second."""
    draw = random.Random(11)
    latencies: list[float] = []
    errors = 0
    memory = [rss(pid)]

    async def ask(client: httpx.AsyncClient, due: float) -> None:
        nonlocal errors
        try:
            answer = await client.post(f"/v1/banks/{BANK}/recall", json={"query": question(draw), **body})
            if answer.status_code != 200 or not answer.json()["memories"]:
                errors += 1
        except httpx.HTTPError:
            errors += 1
        latencies.append(time.perf_counter() - due)

    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
    async with httpx.AsyncClient(base_url=url, timeout=30, limits=limits, trust_env=False) as client:
        for _ in range(20):  # the index is read with the first question
            await ask(client, time.perf_counter())
        latencies.clear()
        began = time.perf_counter()
        tasks: set[asyncio.Task[None]] = set()
        count = int(rate * seconds)
        for number in range(count):
            due = began + number / rate
            if (pause := due - time.perf_counter()) > 0:
                await asyncio.sleep(pause)
            task = asyncio.create_task(ask(client, due))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            if number and number % max(1, count // 10) == 0:
                memory.append(rss(pid))
        await asyncio.gather(*tasks)
        took = time.perf_counter() - began
    memory.append(rss(pid))
    ordered = sorted(latencies)

    def percentile(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000, 1)

    name = "low, no rerank" if body is LOW else "default"
    return Result(
        name, round(took, 1), count, errors, round(count / took, 1), percentile(0.5), percentile(0.95),
        percentile(0.99), memory,
    )  # fmt: skip


def rss(pid: int) -> float:
    """Resident memory in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1000, 1)
    return 0.0


def run(home: Path, rate: float, seconds: float, default_rate: float, default_seconds: float) -> list[Result]:
    """Start a server, load it, end it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "everwhen", "serve", "--no-auth", "--port", str(port)]
    command += ["--rate", "100000", "--burst", "100000", "--log-level", "warning"]
    # Turns that `prepare` left unread would be extracted behind the requests, which is another measurement.
    environment = {
        **os.environ,
        "EVERWHEN_HOME": str(home),
        "EVERWHEN_EXTRACT": "none",
        "OPENBLAS_NUM_THREADS": "1",
    }
    server = subprocess.Popen(command, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.2)
        results = [asyncio.run(load(url, LOW, rate, seconds, server.pid))]
        if default_seconds:
            results.append(asyncio.run(load(url, DEFAULT, default_rate, default_seconds, server.pid)))
        return results
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=40.0, help="requests a second")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--default-rate", type=float, default=15.0)
    parser.add_argument("--default-seconds", type=float, default=60.0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.what == "prepare":
        prepare(given.home, given.units)
        return
    results = run(given.home, given.rate, given.seconds, given.default_rate, given.default_seconds)
    print(f"{'recipe':<16}{'sent':>7}{'errors':>8}{'req/s':>8}{'p50':>9}{'p95':>9}{'p99':>9}  RSS (MB)")
    for one in results:
        print(
            f"{one.recipe:<16}{one.sent:>7}{one.errors:>8}{one.rate:>8.1f}{one.p50_ms:>9.1f}{one.p95_ms:>9.1f}"
            f"{one.p99_ms:>9.1f}  {one.rss_mb[0]:.0f} first, {one.rss_mb[-1]:.0f} last, {max(one.rss_mb):.0f} most"
        )
    if given.out:
        given.out.write_text(json.dumps([asdict(one) for one in results], indent=2) + "\n")


if __name__ == "__main__":
    main()
