"""Somebody without a key knocks 20,000 times; is what was written about others still in the audit log?

The log keeps 60 MB. Held when the knocking takes a handful of lines, is counted in the metrics, and the line of the
write that came before it is there.
"""

from __future__ import annotations

import json
import re
import threading
import time

import httpx
from target import Target, outcome, serving

KNOCKS = 20_000
CONNECTIONS = 8
MOST_LINES = 10


def main() -> int:
    with serving(environment={"EVERWHEN_EMBEDDER": "fake"}) as target:
        with target.client(target.key("write")) as owner:
            owner.post("/v1/banks/ana/turns", json={"messages": "I moved to Porto"}).raise_for_status()
        began = time.monotonic()
        threads = [threading.Thread(target=knock, args=(target,)) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - began
        told = httpx.get(f"{target.url}/metrics", trust_env=False).text
        counted = re.search(r'everwhen_denied_total\{key="none"\} (\d+)', told)
        log = (target.home / "serve" / "audit.jsonl").read_text()
    events = [json.loads(line)["event"] for line in log.splitlines()]
    held = (
        events[0] == "write"
        and len(events) <= MOST_LINES
        and counted is not None
        and int(counted[1]) == KNOCKS
    )
    figures = f"{KNOCKS:,} calls without a key in {seconds:.0f} s made {len(events) - 1:,} lines ({len(log):,} bytes)"
    return outcome(held, f"{figures}; the metrics count {counted[1] if counted else 'none'}")


def knock(target: Target) -> None:
    with httpx.Client(base_url=target.url, trust_env=False, timeout=60) as stranger:
        for _ in range(KNOCKS // CONNECTIONS):
            stranger.delete("/v1/banks/ana")


if __name__ == "__main__":
    raise SystemExit(main())
