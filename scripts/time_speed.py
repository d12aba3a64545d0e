"""How long `resolve` takes: sentences of twenty words, and a text of one megabyte."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime

from everwhen_time import resolve

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)
SENTENCES = [
    "We went to the little museum near the station with my sister and her kids last Saturday and loved it.",
    "I think that the new version of the app is much faster than before, and the team seems happy with it.",
    "The lease on our flat runs from 3 March 2022 until the end of August 2024, so we will move out.",
    "Two weeks ago I told my manager that in June I would like to take a few days off for my parents.",
    "On the first Monday of every month we meet at the pub around 7pm to talk about books, films and news.",
    "My brother bought a second hand car for 4500 dollars and drove it 2000 miles across the country.",
    "Since January we have been learning Spanish every Tuesday evening with a teacher who moved from Peru.",
    "Nobody in the office knew where the spare keys were kept, so we waited outside until she came back.",
]


def main() -> None:
    for sentence in SENTENCES:
        resolve(sentence, NOW)
    laps = []
    for _ in range(500):
        for sentence in SENTENCES:
            begin = time.perf_counter()
            resolve(sentence, NOW)
            laps.append((time.perf_counter() - begin) * 1000)
    laps.sort()
    worst = laps[int(len(laps) * 0.99)]
    print(f"a sentence of 20 words: p50 {statistics.median(laps):.2f} ms, p99 {worst:.2f} ms")
    text = " ".join(SENTENCES * 2000)
    for size in (250_000, 500_000, 1_000_000):
        begin = time.perf_counter()
        found = resolve(text[:size], NOW)
        print(f"{size:>9,} characters: {time.perf_counter() - begin:.1f} s, {len(found):,} expressions")


if __name__ == "__main__":
    main()
