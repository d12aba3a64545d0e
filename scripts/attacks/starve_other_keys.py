"""One key asks as much as it can; how long does a recall of another key in another bank take meanwhile?

Three attacks, one after the other: six connections with queries of 99,000 characters, ten with patterns that are made
to take for ever, and six with long questions about time. Held when the other key's slowest recalls (p95) take at most
five times as long as alone.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from target import Target, outcome, serving, wait_for_extraction

TIMES = 5.0
"""How much slower the slowest recalls of others may be."""
LEAST_SECONDS = 0.25
"""Faster than this is fast enough, however fast it is alone."""
RECALLS, SECONDS = 40, 60.0
"""Recalls that are timed, fewer where they take longer than this together."""
TURNS = 500
LONG = 99_000
HOSTILE = "(a|a|aa)+(b|c|d)?(a|aa)+$x"

Post = tuple[str, Callable[[], dict[str, Any]]]


def main() -> int:
    chance = random.Random(1)
    names = [
        f"{a}{b}{c}"
        for a in "bdfglmnprst"
        for b in ("an", "el", "io", "ur", "ock")
        for c in ("", "a", "ton", "ley")
    ]

    def long_query() -> dict[str, Any]:
        return {"query": " ".join(chance.choices(names, k=LONG // 4))[:LONG]}

    attacks: dict[str, tuple[int, Post]] = {
        "long queries": (6, ("recall", long_query)),
        "patterns": (10, ("grep", lambda: {"pattern": HOSTILE, "regex": True})),
        "long questions": (6, ("when", long_query)),
    }
    with serving() as target:
        told = [f"On day {n} {' '.join(chance.choices(names, k=8))} {'a' * 60}" for n in range(TURNS)]
        with target.client(target.key("admin")) as owner:
            for bank in ("attacked", "other"):
                owner.post(f"/v1/banks/{bank}/turns", json={"messages": told}).raise_for_status()
                wait_for_extraction(owner, bank)
        with target.client(target.key("read", "other")) as other:
            recalls(other)
            alone = recalls(other)
            figures = [f"alone p50 {middle(alone):.3f} s, p95 {late(alone):.3f} s"]
            held = True
            for name, (connections, post) in attacks.items():
                with attacking(target, connections, *post):
                    time.sleep(1.0)
                    under = recalls(other)
                held &= late(under) <= max(TIMES * late(alone), LEAST_SECONDS)
                figures.append(f"{name} p50 {middle(under):.3f} s, p95 {late(under):.3f} s")
    return outcome(held, "; ".join(figures))


def recalls(client: httpx.Client) -> list[float]:
    """How long each of some recalls takes, in order."""
    took: list[float] = []
    for number in range(RECALLS):
        if sum(took) > SECONDS:
            break
        began = time.perf_counter()
        client.post(
            "/v1/banks/other/recall", json={"query": f"What happened on day {number}?"}
        ).raise_for_status()
        took.append(time.perf_counter() - began)
    return sorted(took)


def middle(took: list[float]) -> float:
    return took[len(took) // 2]


def late(took: list[float]) -> float:
    return took[int(0.95 * len(took)) - 1]


@contextmanager
def attacking(
    target: Target, connections: int, path: str, body: Callable[[], dict[str, Any]]
) -> Iterator[None]:
    """So many connections that ask without a pause, with one key."""
    over = threading.Event()
    key = target.key("read", "attacked")

    def attack() -> None:
        with target.client(key) as client:
            while not over.is_set():
                client.post(f"/v1/banks/attacked/{path}", json=body())

    threads = [threading.Thread(target=attack) for _ in range(connections)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    raise SystemExit(main())
