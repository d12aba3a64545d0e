"""Metadata nested 256 deep, sent at every door and put into the file of an old bank: no answer is a 5xx.

It was accepted, and from then on every recall, list of turns and grep that met it was a 500.
"""

from __future__ import annotations

import sqlite3
from collections import Counter

import httpx
from target import outcome, serving

DEPTHS = (9, 255, 256, 900, 5_000, 100_000)
HEADERS = {"Content-Type": "application/json"}


def main() -> int:
    seen: Counter[str] = Counter()
    broken: list[str] = []

    def note(what: str, answer: httpx.Response, *expected: int) -> None:
        seen[f"{answer.status_code}"] += 1
        if answer.status_code not in expected:
            broken.append(f"{what}: {answer.status_code}")

    with serving() as target, target.client(target.key("write")) as http:
        http.post("/v1/banks/a/turns", json={"messages": ["violin one", "violin two"]})
        for depth in DEPTHS:
            deep = '{"a":' * depth + "1" + "}" * depth
            message = f'{{"content": "violin", "metadata": {deep}}}'
            other = f'{{"content": "violin", "field": {deep}}}'
            for body, expected in (
                (f'{{"messages": "violin", "metadata": {deep}}}', (422,)),
                (f'{{"messages": [{message}]}}', (422,)),
                (f'{{"messages": [{other}]}}', (201, 422)),
            ):
                answer = http.post("/v1/banks/a/turns", content=body, headers=HEADERS)
                note(f"turns, {depth} deep", answer, *expected)
            body = f'{{"query": "violin", "metadata": {deep}}}'
            note(
                f"recall by it, {depth} deep",
                http.post("/v1/banks/a/recall", content=body, headers=HEADERS),
                422,
            )
            with sqlite3.connect(target.home / "banks" / "a.db") as sql:
                sql.execute("UPDATE turns SET metadata = ? WHERE text = 'violin one'", (deep,))
            for include in (False, True):
                asked = {"query": "violin", "include_metadata": include}
                note(f"recall of {depth} deep", http.post("/v1/banks/a/recall", json=asked), 200)
            filtered = {"query": "violin", "metadata": {"a": 1}}
            note(f"filter over {depth} deep", http.post("/v1/banks/a/recall", json=filtered), 200)
            note(f"turns with {depth} deep", http.get("/v1/banks/a/turns"), 200)
            note(f"grep of {depth} deep", http.post("/v1/banks/a/grep", json={"pattern": "violin"}), 200)
    answers = ", ".join(f"{count} times {status}" for status, count in sorted(seen.items()))
    return outcome(not broken, f"{answers}; {'; '.join(broken) or 'nothing unexpected'}")


if __name__ == "__main__":
    raise SystemExit(main())
