"""What the memory tree, the planner and the gate are worth: TiMem's tables on LoCoMo, without an LLM.

Every question is asked of one bank with its whole tree, in every way: scopes and gates, levels, leaves, lengths of a
segment, and gates at fixed budgets.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from itertools import islice
from typing import Any

from everwhen.write.importers.benchmarks import locomo_conversation, locomo_samples
from everwhen_bench.locomo import ADVERSARIAL, asked_at, evidence
from everwhen_bench.retrieval import Tally, fresh_bank
from everwhen_bench.studies import Request, Result, Table
from everwhen_bench.studies._tree import gates, levels, planner, scopes, segments
from everwhen_bench.studies._tree.trial import Trial, TrialQuestion

FLAT = "flat"
TITLES = {
    "gates": "Gate and tree at the same budgets, beside flat recall",
    "scopes": "Fixed scopes and the planner, without and with a strict gate",
    "levels": "Levels, flat (the 20 best) and along the tree",
    "leaves": "Leaves by lambda and by the fused channels",
    "segments": "Exchanges in a leaf (the 20 best, by lambda)",
}
HEADS = {
    "evidence@512": "evidence, 512 tokens",
    "change@512": "to flat",
    "evidence@1024": "evidence, 1,024",
    "change@1024": "to flat",
    "sources": "sources, 4,096",
    "memories": "memories",
    "tokens": "tokens",
}


def run(request: Request) -> Result:
    """All the tables."""
    trials = {
        "gates": Trial(gates.ways()),
        "scopes": Trial(scopes.ways()),
        "levels": Trial(levels.ways()),
        "leaves": Trial(levels.leaves()),
        "segments": Trial(()),
    }
    labelled = []
    for sample in islice(locomo_samples(request.data), request.limit):
        messages = list(locomo_conversation(sample).messages)
        said = {str(message.id): message.text for message in messages}
        name = f"study-{sample['sample_id']}"
        with ExitStack() as stack:
            memory = stack.enter_context(
                fresh_bank(None, name, messages, Tally(), extract="rules", count_access=False)
            )
            memory.consolidate("end")
            cuts = segments.cut(stack, None, name, messages)
            for one in sample.get("qa") or []:
                gold = evidence(one.get("evidence") or (), said)
                if one["category"] == ADVERSARIAL or not gold:
                    continue
                question = TrialQuestion(
                    str(one["question"]), asked_at(messages), frozenset(gold), said, str(one["category"])
                )
                labelled.append((question.text, planner.MEANT[one["category"]]))
                held: dict[Any, Any] = {}
                for trial in trials.values():
                    trial.ask(memory, question, held)
                segments.ask(trials["segments"], cuts, question)
                if request.progress:
                    request.progress(len(labelled))
    figures: dict[str, Any] = {"questions": len(labelled), "planner": planner.confusion(labelled)}
    for name, trial in trials.items():
        figures[name] = {"rows": trial.rows(FLAT if name == "gates" else None)}
    gated = trials["gates"]
    figures["gates"] |= {
        "by_complexity": gated.grouped("complexity", FLAT),
        "by_category": gated.grouped("category", FLAT),
    }
    return {"tables": tables(figures), "figures": figures}


def tables(figures: Mapping[str, Any]) -> list[Table]:
    """The figures as tables."""
    taken = figures["planner"]
    out: list[Table] = [
        {
            "title": f"What the planner takes a question for (macro F1 {taken['macro_f1']:.3f})",
            "heads": ["", *planner.KINDS, "F1"],
            "rows": [[name, *row.values(), taken["f1"][name]] for name, row in taken["rows"].items()],
        }
    ]
    for name, title in TITLES.items():
        out.append(_table(title, figures[name]["rows"]))
        for group in ("by_complexity", "by_category"):
            for label, rows in figures[name].get(group, {}).items():
                questions = next(iter(rows.values()))["questions"]
                out.append(_table(f"{title}: {group[3:]} {label} ({questions} questions)", rows))
    return out


def _table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    columns = [name for name in HEADS if any(name in row for row in rows.values())]
    return {
        "title": title,
        "heads": ["", *(HEADS[name] for name in columns)],
        "rows": [[name, *(_cell(row, column) for column in columns)] for name, row in rows.items()],
    }


def _cell(row: Mapping[str, Any], column: str) -> str:
    """A figure as a table shows it: tokens whole, a difference with its interval."""
    value = row.get(column)
    if value is None:
        return ""
    if column == "tokens":
        return f"{value:,.0f}"
    if column == "memories":
        return f"{value:.1f}"
    if column.startswith("change"):
        low, high = row[f"interval@{column.split('@')[1]}"]
        return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"{value:.3f}"
