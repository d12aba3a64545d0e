"""Does extraction grow with what it has read? Resident memory over many turns of made-up chat, new words in each.

python scripts/extraction_memory.py [TURNS] [EVERY]
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from everwhen.types import Turn
from everwhen.write.extract.base import BATCH_TURNS, OVERLAP_TURNS, Batch
from everwhen.write.extract.rule_extractor import RuleExtractor

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
SESSION = 40
"""Turns of one conversation."""

SAID = [
    "I went to {place} {when} with {name}, and we tried the {adjective} {thing} that everybody talks about.",
    "My {kin} {name} sold the {thing} {when} because it broke down again, so now we take the tram to {place}.",
    "{name} told me that the {thing} at {place} is the best in town. I think it's a bit {adjective}, honestly.",
    "We're flying to {place} {when}! I still have to book a hotel and find somebody who looks after the {thing}.",
    "No news from {name}. I didn't hear back {when}, but the {adjective} {thing} should arrive at {place} soon.",
    "I've been learning to repair a {thing} since {month}. It's {adjective}, and {name} from {place} helps me.",
    "haha yes, that was {adjective}! did you see the {thing} {name} brought {when}?",
]
WHEN = ["yesterday", "last week", "on Friday", "two months ago", "next weekend", "in March", "last Tuesday"]
MONTHS = ["January", "April", "last summer", "2019", "October"]
KIN = ["sister", "brother", "neighbour", "colleague", "aunt"]


def word(chance: random.Random) -> str:
    """A word that nobody has used."""
    parts = [
        "ba",
        "ko",
        "ri",
        "lem",
        "tu",
        "sha",
        "dor",
        "vi",
        "nel",
        "po",
        "gra",
        "mi",
        "zen",
        "ul",
        "fa",
        "quo",
    ]
    return "".join(chance.choice(parts) for _ in range(chance.randint(2, 4)))


def turns(count: int) -> Iterator[Turn]:
    chance = random.Random(11)
    for n in range(count):
        text = " ".join(
            one.format(
                place=word(chance).title(), name=word(chance).title(), thing=word(chance), adjective=word(chance),
                when=chance.choice(WHEN), month=chance.choice(MONTHS), kin=chance.choice(KIN),
            )
            for one in chance.sample(SAID, chance.randint(1, 2))
        )  # fmt: skip
        at = START + timedelta(minutes=10 * n)
        session = f"s{n // SESSION}"
        speaker = ("Ana", "Rui")[n % 2]
        yield Turn(f"t{n}", session, n, "user", speaker, text, at, "UTC", at, segment=f"x{n // 2}")


def resident() -> float:
    """Megabytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def main(count: int = 50_000, every: int = 5_000) -> None:
    rules, events, started = RuleExtractor(), 0, time.perf_counter()
    before: list[Turn] = []
    batch: list[Turn] = []
    for n, turn in enumerate(turns(count), 1):
        if batch and (len(batch) == BATCH_TURNS or batch[-1].session != turn.session):
            events += len(rules.extract(Batch(batch[0].session, tuple(batch), tuple(before))).events)
            before = batch[-OVERLAP_TURNS:] if batch[-1].session == turn.session else []
            batch = []
        batch.append(turn)
        if n % every == 0:
            took = time.perf_counter() - started
            print(f"{n:>7,} turns  {resident():6.1f} MB  {events:>7,} events  {took:6.0f} s", flush=True)


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:]))
