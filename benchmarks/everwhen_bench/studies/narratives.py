"""Narratives against atomic facts: which kind of memory leads back to the evidence, and for how many tokens?

Every kind is asked for alone, and together with the turns. A memory stands for the turns that it was made of. Without
an LLM the kinds are what the rules extract; with EVERWHEN_EXTRACT=llm:<model> those of the model.
"""

from __future__ import annotations

from everwhen.settings import load
from everwhen_bench import metrics
from everwhen_bench.cases import cases, opened
from everwhen_bench.retrieval import EVERYTHING, Scored, within
from everwhen_bench.studies import Request, Result, Table
from everwhen_bench.studies._rows import by_group, differences, table, turns

BASE = "turns"
KINDS: dict[str, tuple[str, ...]] = {
    BASE: ("turn",),
    "narratives": ("narrative",),
    "events": ("event",),
    "facts": ("fact",),
    "turns and narratives": ("turn", "narrative"),
    "turns and events": ("turn", "event"),
    "turns and facts (the default)": ("turn", "fact"),
    "everything": ("turn", "narrative", "event", "fact"),
}
BUDGETS = (256, 1024)


def run(request: Request) -> Result:
    rows: dict[str, list[Scored]] = {}
    inside: dict[str, dict[int, list[float]]] = {name: {one: [] for one in BUDGETS} for name in KINDS}
    tokens: dict[str, list[float]] = {name: [] for name in KINDS}
    asked = 0
    for case in cases(request.data, request.limit):
        with opened(case, extract=load().extract) as memory:
            for question in case.questions:
                for name, kinds in KINDS.items():
                    found = memory.recall(question.text, at=question.at, max_tokens=EVERYTHING, kinds=kinds)
                    rows.setdefault(name, []).append(question.score(turns(found.memories)))
                    tokens[name] += [float(one.tokens) for one in found.memories[:10]]
                    for budget in BUDGETS:
                        given = question.score(turns(within(found, budget).memories)).turn
                        if given:
                            depth = max(1, len(given.ranked))
                            inside[name][budget].append(metrics.recall_at(given.ranked, given.gold, depth))
                asked += 1
                if request.progress:
                    request.progress(asked)
    compared = differences(rows, BASE)
    return {
        "tables": [
            table(f"kinds of memory, {asked} questions, difference to turns [95%]", compared, BASE),
            by_group("by kind of question", compared, BASE, "turn recall@10"),
            _spent(inside, tokens),
        ],
        "figures": {
            "questions": asked,
            "rows": compared,
            "inside": {
                name: {
                    str(budget): {"value": metrics.mean(values), "interval_95": metrics.bootstrap(values)}
                    for budget, values in budgets.items()
                }
                for name, budgets in inside.items()
            },
            "tokens": {name: metrics.mean(values) if values else None for name, values in tokens.items()},
        },
    }


def _spent(inside: dict[str, dict[int, list[float]]], tokens: dict[str, list[float]]) -> Table:
    rows = []
    for name, budgets in inside.items():
        cells = []
        for values in budgets.values():
            low, high = metrics.bootstrap(values)
            cells.append(f"{metrics.mean(values):.3f} [{low:.3f}, {high:.3f}]")
        rows.append([name, f"{metrics.mean(tokens[name]):.0f}", *cells])
    heads = ["", "tokens of one of the first ten", *(f"evidence inside {budget}" for budget in BUDGETS)]
    return {"title": "for how many tokens [95%]", "heads": heads, "rows": rows}
