"""Ask the questions of our own sets (`benchmarks/own/*.json`) and say how well recall does on each.

    python scripts/bench_own.py [--sets names,newer] [--home FOLDER] [--out FILE.json] > TABLES.md

Every distinct conversation gets one bank in a temporary folder, read by the rules; every question is asked as
`recall(q, at=now)` with default settings. A message counts once, at the best place of a memory that comes from it (a
fact comes from the turns that told it). The JSON holds the figures and, under `runs`, what each question brought.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from everwhen.api.memory import Memory
from everwhen.models.embedder import Vectors, shared_embedder
from everwhen.recall.budget import fill
from everwhen.store.rows import Filter, SearchQuery, Wanted
from everwhen.types import Message, Recall, Recalled
from everwhen_bench import metrics
from everwhen_bench.metrics import Ranking
from everwhen_bench.retrieval import EVERYTHING, RANKS, Tally, answerable, figure, fresh_bank

FOLDER = Path(__file__).parents[1] / "benchmarks" / "own"
SETS = ("names", "two_people", "statements", "lists", "standing", "newer", "near_misses", "ends")
FOUND = ("recall@5", "recall@10", "all@10", "ndcg@10")
SMALL = (128, 512)
"""Tokens of small contexts. A conversation has about 1,000, so that 512 hold the better half of it."""
CUT = 0.3
"""The share of the best score below which a memory is cut off in the second row of `ends`."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one query brought: message indexes, best first."""

    ranked: list[int]
    """The first 50 messages."""
    small: dict[str, list[int]]
    """The messages inside each small budget of tokens."""
    returned: list[int]
    """All messages of the default answer."""
    tokens: int
    cut: list[int]
    """Those whose memory has at least 0.3 of the best score."""
    cut_tokens: int
    answerable: float
    cosine: list[int]
    """The first 50 by the cosine of the packaged embedder alone."""
    bm25: list[int]
    """The first 50 by the store's keyword index alone."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question as it stands in its set, and what it brought; `spelt` is the same one with the names spelt right."""

    question: Json
    answer: Answer
    spelt: Answer | None = None

    @property
    def gold(self) -> list[int]:
        return list(self.question["evidence"])


# Metrics


def before(
    ranked: Sequence[int], first: Collection[int], others: Collection[int], within: int = RANKS
) -> bool:
    """Whether one of `first` is among the first `within` results and stands before every one of `others`."""
    return place(ranked[:within], first) < place(ranked[:within], others)


def place(ranked: Sequence[int], wanted: Collection[int]) -> float:
    """The best place of the wanted ones, counted from 0; infinite where none of them is there."""
    return next((at for at, one in enumerate(ranked) if one in wanted), math.inf)


def precision_recall_f1(returned: Collection[int], gold: Collection[int]) -> tuple[float, float, float]:
    """How much of what came back is evidence, how much of the evidence came back, and their harmonic mean."""
    hits = len(set(returned) & set(gold))
    if not hits:
        return 0.0, 0.0, 0.0
    precision, recall = hits / len(set(returned)), hits / len(set(gold))
    return precision, recall, 2 * precision * recall / (precision + recall)


def share(values: Iterable[bool]) -> Json:
    """How often something holds, and of how many."""
    listed = list(values)
    return {"share": figure(metrics.mean([float(one) for one in listed])), "n": len(listed)}


# Figures of each set


def found(cases: Sequence[Case]) -> Json:
    """How much of the evidence is found, of the questions that have some; and by cosine or BM25 alone."""
    asked = [case for case in cases if case.gold]
    rankings = [Ranking(case.answer.ranked, case.gold) for case in asked]
    tens = metrics.scores(rankings, "recall@10")
    return {
        "questions": len(asked),
        **{key: figure(value) for key, value in metrics.summary(rankings, FOUND).items()},
        "recall@10 interval_95": [figure(side) for side in metrics.bootstrap(tens)] if tens else None,
        **{
            f"recall in {budget} tokens": _recall(
                [(case.answer.small[str(budget)], case.gold) for case in asked]
            )
            for budget in SMALL
        },
        "cosine recall@10": _recall([(case.answer.cosine, case.gold) for case in asked], 10),
        "bm25 recall@10": _recall([(case.answer.bm25, case.gold) for case in asked], 10),
    }


def names(cases: Sequence[Case]) -> Json:
    """The misspelt question beside the one that is spelt right, and how often another person's turn comes first."""
    both = [(case, case.spelt) for case in cases if case.spelt]
    spelt = found([Case(case.question, answer) for case, answer in both])
    misspelt = found(cases)
    rivals = [(case, answer, case.question["rival"]) for case, answer in both if case.question.get("rival")]
    return {
        "spelt": spelt,
        "difference": {key: figure(misspelt[key] - spelt[key]) for key in ("recall@10", "ndcg@10")},
        "rival first": share(before(case.answer.ranked, rival, case.gold) for case, _, rival in rivals),
        "rival first, spelt": share(
            before(answer.ranked, rival, case.gold) for case, answer, rival in rivals
        ),
    }


def by_kind(cases: Sequence[Case]) -> Json:
    """The same figures for each kind of question."""
    kinds: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        kinds[case.question["kind"]].append(case)
    return {kind: found(some) for kind, some in sorted(kinds.items())}


def newer(cases: Sequence[Case]) -> Json:
    """How often the newest version stands before every older one; in controls, what still holds before a later turn."""
    replaced = [case for case in cases if not case.question.get("control")]
    controls = [case for case in cases if case.question.get("control")]

    def newest_first(holds: Callable[[Json], bool]) -> Json:
        return share(
            before(case.answer.ranked, case.gold, case.question["older"])
            for case in replaced
            if holds(case.question)
        )

    def earlier_first(partial: bool) -> Json:
        return share(
            before(case.answer.ranked, case.gold, case.question["later"])
            for case in controls
            if bool(case.question.get("partial")) == partial
        )

    return {
        "newer first": newest_first(lambda _: True),
        "newer first, same session": newest_first(lambda one: one["same_session"]),
        "newer first, other session": newest_first(lambda one: not one["same_session"]),
        "newer first, three versions": newest_first(lambda one: len(one["older"]) > 1),
        "newer first, elliptical": newest_first(lambda one: bool(one.get("elliptical"))),
        "recall@10, replaced": found(replaced).get("recall@10"),
        "recall@10, controls": found(controls).get("recall@10"),
        "control: evidence first": earlier_first(False),
        "partial control: evidence first": earlier_first(True),
    }


def near_misses(cases: Sequence[Case]) -> Json:
    """Whether `answerable` is higher where the conversation tells the answer."""
    told: dict[bool, list[float]] = {True: [], False: []}
    for case in cases:
        told[case.question["answerable"]].append(case.answer.answerable)
    return {
        "answerable auroc": figure(metrics.auroc(told[True], told[False])),
        "answerable n": len(told[True]),
        "unanswerable n": len(told[False]),
    }


def ends(cases: Sequence[Case]) -> Json:
    """Precision, recall, F1 and tokens, means over the questions: of the default answer, and cut at 0.3 of the best."""
    return {
        "default": _ended([(case.answer.returned, case.gold, case.answer.tokens) for case in cases]),
        f"cut at {CUT}": _ended([(case.answer.cut, case.gold, case.answer.cut_tokens) for case in cases]),
    }


OWN: Mapping[str, Callable[[Sequence[Case]], Json]] = {
    "names": names,
    "lists": by_kind,
    "newer": newer,
    "near_misses": near_misses,
    "ends": ends,
}
"""What a set is judged by beside `found`."""


def figures(name: str, cases: Sequence[Case]) -> Json:
    """All figures of one set."""
    return {"found": found(cases), **(OWN[name](cases) if name in OWN else {})}


def _ended(answers: Sequence[tuple[Sequence[int], Sequence[int], int]]) -> Json:
    judged = [precision_recall_f1(returned, gold) for returned, gold, _ in answers]
    means = [figure(metrics.mean(values)) for values in zip(*judged, strict=True)]
    return {
        **dict(zip(("precision", "recall", "f1"), means, strict=True)),
        "messages": figure(metrics.mean([float(len(returned)) for returned, _, _ in answers])),
        "tokens": figure(metrics.mean([float(tokens) for _, _, tokens in answers])),
    }


def _recall(rankings: Sequence[tuple[Sequence[int], Sequence[int]]], k: int = EVERYTHING) -> float | None:
    return figure(metrics.mean([metrics.recall_at(ranked, gold, k) for ranked, gold in rankings]))


# Asking


def run(sets: Sequence[str] = SETS, home: Path | None = None) -> Json:
    """Ask every question of the sets; one bank for a conversation, however many sets share it.

    In a `home` the banks stay, and the next run takes vectors and parses from there.
    """
    start = perf_counter()
    asked: dict[str, list[tuple[str, Json, Json]]] = defaultdict(list)
    for name in sets:
        for conversation in json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["conversations"]:
            said = json.dumps([conversation["zone"], conversation["messages"]])
            asked[said] += [(name, conversation, question) for question in conversation["questions"]]
    cases: dict[str, list[Case]] = {name: [] for name in sets}
    with TemporaryDirectory(prefix="everwhen-own-") as temporary:
        for number, questions in enumerate(asked.values()):
            conversation = questions[0][1]
            sayings = messages(conversation)
            settings = {"extract": "rules", "zone": conversation["zone"], "count_access": False}
            with fresh_bank(home or Path(temporary), f"own-{number}", sayings, Tally(), **settings) as memory:
                vectors = shared_embedder("conversation-1").embed(
                    [f"{one.speaker}: {one.text}" for one in sayings]
                )
                for name, own, question in questions:
                    cases[name].append(_case(memory, vectors, question, datetime.fromisoformat(own["now"])))
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {len(asked)} conversations ", end="", file=sys.stderr, flush=True)
    return {
        "bench": "own",
        "conversations": len(asked),
        "seconds": round(perf_counter() - start, 1),
        "sets": {name: figures(name, cases[name]) for name in sets},
        "runs": {name: [asdict(case) for case in cases[name]] for name in sets},
    }


def messages(conversation: Json) -> list[Message]:
    """The messages as they are added; the id of each is its index."""
    return [
        Message(
            text=one["content"],
            role=one["role"],
            name=one.get("name"),
            said_at=datetime.fromisoformat(one["at"]),
            zone=conversation["zone"],
            id=str(index),
            session=one["session"],
        )
        for index, one in enumerate(conversation["messages"])
    ]


def indexes(memories: Iterable[Recalled]) -> list[int]:
    """The messages that memories come from, each once, at its best place."""
    return list(dict.fromkeys(int(turn) for one in memories for turn in one.turns))


def cut(recalled: Recall, share_of_best: float = CUT) -> list[Recalled]:
    """The memories that reach a share of the best score."""
    best = max((one.score for one in recalled.memories), default=0.0)
    return [one for one in recalled.memories if one.score >= share_of_best * best]


def _case(memory: Memory, vectors: Vectors, question: Json, at: datetime) -> Case:
    spelt = question.get("spelt")
    return Case(
        question,
        _answer(memory, vectors, question["q"], at),
        _answer(memory, vectors, spelt, at) if spelt else None,
    )


def _answer(memory: Memory, vectors: Vectors, query: str, at: datetime) -> Answer:
    whole = memory.recall(query, at=at)
    kept = cut(whole)
    returned = indexes(whole.memories)
    cosines = vectors @ shared_embedder("conversation-1").embed([query])[0]
    return Answer(
        ranked=returned[:RANKS],
        small={str(few): indexes(memory.recall(query, at=at, max_tokens=few).memories) for few in SMALL},
        returned=returned,
        tokens=whole.tokens,
        cut=indexes(kept),
        cut_tokens=fill(kept, EVERYTHING)[2],
        answerable=answerable(whole),
        cosine=np.argsort(-cosines, kind="stable")[:RANKS].tolist(),
        bm25=_by_words(memory, query),
    )


def _by_words(memory: Memory, query: str) -> list[int]:
    """The store's BM25, which counts a word of the turn before as a half."""
    store = memory._bank.store
    search = store.search(SearchQuery(words=query, where=Filter(kinds=frozenset({"turn"}))))
    [hits] = search.candidates(Wanted(RANKS)).words
    rows = store.units([hit.unit for hit in hits])
    return [int(rows[hit.unit].turns[0]) for hit in hits]


# Tables


def tables(result: Json) -> str:
    """The figures as Markdown: first how much is found in each set, then what each is judged by beside that."""
    sets = result["sets"]
    heads = [*FOUND, *(f"recall in {few} tokens" for few in SMALL), "cosine recall@10", "bm25 recall@10"]
    rows = []
    for name, one in sets.items():
        rows.append((name, one["found"]))
        if name == "names":
            rows.append(("names, spelt right", one["spelt"]))
        if name == "lists":
            rows += [(f"lists: {kind}", one[kind]) for kind in one if kind != "found"]
    parts = [
        _table(
            ["set", "questions", *heads],
            [[name, str(row["questions"]), *(_cell(row[head]) for head in heads)] for name, row in rows],
        )
    ]
    own = []
    for name, one in sets.items():
        skipped = {"found", "spelt"} | (set(one) if name == "lists" else set())
        for key, value in one.items():
            if key not in skipped:
                own.append([name, key, _told(value)])
    if own:
        parts.append(_table(["set", "figure", "value"], own))
    return "\n".join(parts)


def _told(value: Any) -> str:
    if not isinstance(value, dict):
        return _cell(value)
    if set(value) == {"share", "n"}:
        return f"{_cell(value['share'])} of {value['n']}"
    return ", ".join(f"{key} {_cell(one)}" for key, one in value.items())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 2 else f"{value:.1f}"
    return str(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    lines = [heads, ["-" * width for width in widths], *rows]
    return "".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |\n"
        for line in lines
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, with commas between them")
    parser.add_argument("--out", type=Path, help="write the figures and the runs to this JSON file")
    parser.add_argument(
        "--home", type=Path, help="keep the banks here; the next run is quicker. One run at a time"
    )
    args = parser.parse_args()
    sets = args.sets.split(",")
    if unknown := set(sets) - set(SETS):
        parser.error(f"there is no set {', '.join(sorted(unknown))}; there are: {', '.join(SETS)}")
    result = run(sets, args.home)
    if args.out:
        args.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(tables(result), end="")


if __name__ == "__main__":
    main()
