"""Time expressions against cases with accepted intervals, beside other libraries in one run."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from everwhen.when import Interval, resolve

Days = tuple[str | None, str | None]  # start and end in days, half-open; None is an open side
Finder = Callable[[str, datetime], list[Days]]


@dataclass(frozen=True, slots=True)
class Case:
    """A text, when it was said, and the intervals that count as right; none: there is nothing to find."""

    text: str
    ref: datetime
    accept: tuple[Days, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one finder made of all the cases."""

    found: list[list[Days]]
    passed: list[bool]
    seconds: list[float]


def load(path: Path) -> list[Case]:
    """The cases of a file: a JSON list of `text`, `ref` and `accept`."""
    return [
        Case(
            entry["text"],
            datetime.fromisoformat(entry["ref"]).replace(tzinfo=UTC),
            tuple((start, end) for start, end in entry["accept"]),
        )
        for entry in json.loads(path.read_text(encoding="utf-8"))
    ]


def days(interval: Interval) -> Days:
    """Both sides cut to their day; what lies within one day is that day."""
    start = None if interval.start is None else interval.start.date()
    end = None if interval.end is None else interval.end.date()
    if start is not None and start == end:
        end = start + timedelta(days=1)
    return (None if start is None else start.isoformat(), None if end is None else end.isoformat())


def everwhen_finds(text: str, ref: datetime) -> list[Days]:
    """Our own intervals; durations and recurrences have none."""
    return [days(found.interval) for found in resolve(text, ref) if found.interval is not None]


def passes(found: Iterable[Days], accept: tuple[Days, ...]) -> bool:
    """One of the intervals found is accepted; where nothing is, nothing may be found."""
    if not accept:
        return not list(found)
    return any(one in accept for one in found)


def measure(find: Finder, cases: list[Case]) -> Outcome:
    """Every case through one finder, timed at the first asking: some libraries keep their answers."""
    found, seconds = [], []
    _ask(find, Case("We met on 3 May 2021.", cases[0].ref, ()))  # grammars are built at first use
    for case in cases:
        begin = time.perf_counter()
        found.append(_ask(find, case))
        seconds.append(time.perf_counter() - begin)
    passed = [passes(answer, case.accept) for answer, case in zip(found, cases, strict=True)]
    return Outcome(found, passed, seconds)


def _ask(find: Finder, case: Case) -> list[Days]:
    """A library that fails on a text has found nothing in it."""
    try:
        return find(case.text, case.ref)
    except Exception:
        return []


def summarize(outcome: Outcome, cases: list[Case]) -> dict[str, object]:
    """Accuracy, false hits where there was nothing to find, and the time a text takes."""
    empty = [index for index, case in enumerate(cases) if not case.accept]
    ordered = sorted(outcome.seconds)
    return {
        "cases": len(cases),
        "passed": sum(outcome.passed),
        "accuracy": round(sum(outcome.passed) / len(cases), 4),
        "nothing_to_find": len(empty),
        "false_hits": sum(not outcome.passed[index] for index in empty),
        "p50_ms": round(statistics.median(ordered) * 1000, 4),
        "p99_ms": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1000, 4),
    }


def run(
    path: Path, peers: bool = False, progress: Callable[[int, int], None] | None = None
) -> dict[str, object]:
    """Our resolver, and with `peers` the other libraries that are installed, on one file of cases."""
    from everwhen.bench.timex_peers import PEERS, unavailable

    cases = load(path)
    finders: dict[str, Finder] = {"everwhen": everwhen_finds}
    absent: dict[str, str] = {}
    for name, peer in PEERS.items() if peers else ():
        reason = unavailable(peer)
        if reason is None:
            finders[name] = peer.find
        else:
            absent[name] = reason
    outcomes: dict[str, Outcome] = {}
    for done, (name, find) in enumerate(finders.items()):
        if progress is not None:
            progress(done, len(finders))
        outcomes[name] = measure(find, cases)
    if progress is not None:
        progress(len(finders), len(finders))
    ours = outcomes.pop("everwhen")
    summary = summarize(ours, cases)
    summary["file"] = path.name
    summary["failed"] = [index for index, passed in enumerate(ours.passed) if not passed]
    if peers:
        summary["peers"] = {name: summarize(outcome, cases) for name, outcome in outcomes.items()}
        summary["absent"] = absent
    result: dict[str, object] = {"summary": summary, "runs": _runs(ours)}
    if peers:
        result["peer_runs"] = {name: _runs(outcome) for name, outcome in outcomes.items()}
    return result


def _runs(outcome: Outcome) -> list[dict[str, object]]:
    return [
        {"index": index, "found": [list(pair) for pair in found]} for index, found in enumerate(outcome.found)
    ]


def table(results: list[dict[str, object]]) -> str:
    """Side by side as a Markdown table: accuracy and median time of each library on each file."""
    lines: dict[str, list[str]] = {}
    names = []
    for result in results:
        summary = result["summary"]
        assert isinstance(summary, dict)
        names.append(str(summary["file"]))
        for name, one in {"everwhen": summary, **summary.get("peers", {})}.items():
            cell = f"{one['accuracy']:.1%} ({one['passed']}/{one['cases']}) | {one['p50_ms']:.2f} ms"
            lines.setdefault(name, []).append(cell)
    head = "| library | " + " | ".join(f"{name} | p50" for name in names) + " |"
    rule = "|---|" + "---|---|" * len(names)
    return "\n".join([head, rule, *(f"| {name} | {' | '.join(cells)} |" for name, cells in lines.items())])
