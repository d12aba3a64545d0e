"""Time expressions against cases with accepted intervals, beside other libraries in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from everwhen_bench.timex_cases import Case, Days, load
from everwhen_time import Interval, resolve

Finder = Callable[[Case], list[Days]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one finder made of all the cases."""

    found: list[list[Days]]
    passed: list[bool]
    seconds: list[float]


def days(interval: Interval) -> Days:
    """Both sides cut to their day; what lies within one day is that day."""
    start = None if interval.start is None else interval.start.date()
    end = None if interval.end is None else interval.end.date()
    if start is not None and start == end:
        end = start + timedelta(days=1)
    return (None if start is None else start.isoformat(), None if end is None else end.isoformat())


def everwhen_finds(case: Case) -> list[Days]:
    """Our own intervals; durations and recurrences have none."""
    refs = resolve(
        case.text,
        case.ref,
        tense=case.tense,
        day_first=case.day_first,
        languages=(case.lang,) if case.told and case.lang else None,
    )
    return [days(found.interval) for found in refs if found.interval is not None]


def passes(found: Iterable[Days], accept: tuple[Days, ...]) -> bool:
    """One of the intervals found is accepted; where nothing is, nothing may be found."""
    if not accept:
        return not list(found)
    return any(one in accept for one in found)


def measure(find: Finder, cases: list[Case]) -> Outcome:
    """Every case through one finder, timed at the first asking: some libraries keep their answers.

    Timed is the processor's time, which other work on the machine does not change.
    """
    found, seconds = [], []
    _ask(find, Case("We met on 3 May 2021.", cases[0].ref))  # grammars are built at first use
    for case in cases:
        begin = time.process_time()
        found.append(_ask(find, case))
        seconds.append(time.process_time() - begin)
    passed = [passes(answer, case.accept) for answer, case in zip(found, cases, strict=True)]
    return Outcome(found, passed, seconds)


def _ask(find: Finder, case: Case) -> list[Days]:
    """A library that fails on a text has found nothing in it."""
    try:
        return find(case)
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
    """Our resolver on one file of cases, with `peers` beside the other libraries that are installed.

    Where the file has languages, the libraries that read them are asked in any case, and each is asked a second time
    with the language told; what counts is the first.
    """
    from everwhen_bench.timex_peers import PEERS, unavailable

    cases = load(path)
    in_languages = any(case.lang for case in cases)
    finders: dict[str, Finder] = {"everwhen": everwhen_finds}
    absent: dict[str, str] = {}
    for name, peer in PEERS.items():
        if not (peers or (in_languages and peer.many_languages)):
            continue
        reason = unavailable(peer)
        if reason is None:
            finders[name] = peer.find
        else:
            absent[name] = reason
    told = [replace(case, told=True) for case in cases] if in_languages else []
    outcomes: dict[str, Outcome] = {}
    told_outcomes: dict[str, Outcome] = {}
    for done, (name, find) in enumerate(finders.items()):
        if progress is not None:
            progress(done, len(finders))
        outcomes[name] = measure(find, cases)
        if told and (name == "everwhen" or PEERS[name].many_languages):
            told_outcomes[name] = measure(find, told)
    if progress is not None:
        progress(len(finders), len(finders))
    ours = outcomes["everwhen"]
    summary = summarize(ours, cases)
    summary["file"] = path.name
    summary["failed"] = [index for index, passed in enumerate(ours.passed) if not passed]
    if in_languages:
        summary["sources"] = _by_source(ours, cases)
    rivals = {name: outcome for name, outcome in outcomes.items() if name != "everwhen"}
    if rivals or absent:
        summary["peers"] = {name: summarize(outcome, cases) for name, outcome in rivals.items()}
        summary["absent"] = absent
    result: dict[str, object] = {"summary": summary, "runs": _runs(ours)}
    if rivals:
        result["peer_runs"] = {name: _runs(outcome) for name, outcome in rivals.items()}
    if in_languages:
        result["languages"] = by_language(cases, outcomes, told_outcomes)
        result["failures"] = failures(ours, cases)
    return result


def by_language(
    cases: list[Case], outcomes: dict[str, Outcome], told: dict[str, Outcome]
) -> dict[str, dict[str, dict[str, object]]]:
    """For each language, and for all together, what each library passed, unaided and told the language."""
    groups: dict[str, list[int]] = {"all": list(range(len(cases)))}
    for index, case in enumerate(cases):
        groups.setdefault(case.lang or "en", []).append(index)
    table: dict[str, dict[str, dict[str, object]]] = {}
    for lang, indexes in groups.items():
        for name in told:
            outcome = outcomes[name]
            seconds = [outcome.seconds[index] for index in indexes]
            passed = sum(outcome.passed[index] for index in indexes)
            table.setdefault(lang, {})[name] = {
                "cases": len(indexes),
                "passed": passed,
                "accuracy": round(passed / len(indexes), 4),
                "told": sum(told[name].passed[index] for index in indexes),
                "p50_ms": round(statistics.median(seconds) * 1000, 4),
            }
    return table


def _by_source(outcome: Outcome, cases: list[Case]) -> dict[str, str]:
    counts: dict[str, list[bool]] = {}
    for case, passed in zip(cases, outcome.passed, strict=True):
        counts.setdefault(f"{case.lang or 'en'} {case.source or 'unknown'}", []).append(passed)
    return {name: f"{sum(passed)} of {len(passed)}" for name, passed in counts.items()}


def failures(outcome: Outcome, cases: list[Case]) -> list[dict[str, object]]:
    """Every case that failed: where it is from, what was said, what is accepted and what was found."""
    return [
        {
            "index": index,
            "lang": case.lang,
            "source": case.source,
            "text": case.text,
            "ref": case.ref.date().isoformat(),
            "accept": [list(pair) for pair in case.accept],
            "found": [list(pair) for pair in found],
        }
        for index, (case, found, passed) in enumerate(zip(cases, outcome.found, outcome.passed, strict=True))
        if not passed
    ]


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
