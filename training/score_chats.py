"""How well recall finds what a user needs of their chats with an assistant (`training/chats`), beside plain rankings.

    python training/score_chats.py [--locked] [--home FOLDER] [--other EMBEDDER] [--extract rules] [--out FILE]

Every user is a bank; each query is asked the day after the last turn. Rankings: recall as it is, the cosine of the
packaged embedder (best piece of a turn), BM25 (bm25s with stemming), both by reciprocal ranks, and another embedder
(`--other`; MiniLM as published is the folder of its package). Prints turn recall@10, evidence in 1,024 tokens and
session NDCG@5 by kind, the difference to each other ranking with its paired 95% interval, and how much of what comes
back is evidence.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from chats import KINDS, Chats, Query, read_all
from everwhen import Memory
from everwhen.models.embedder import CachedEmbedder, Embedder, gives_tokens, open_embedder
from everwhen.store.files.home import cache_path
from everwhen.types import Recall
from everwhen_bench import metrics
from everwhen_bench.peers.base import Said
from everwhen_bench.peers.bm25 import Bm25
from everwhen_bench.retrieval import EVERYTHING, given, within

K = 60
BUDGETS = (1024, 4096)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locked", action="store_true", help="the locked writers instead of the others")
    parser.add_argument("--home", type=Path, help="keep the embedding cache here")
    parser.add_argument("--other", help="another embedder, such as sentence-transformers:FOLDER of MiniLM")
    parser.add_argument("--extract", default="none")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as scratch:
        for chats in read_all(locked=options.locked):
            rows += asked(chats, options, Path(scratch))
            print(f"{chats.name}: {len(chats.messages)} turns, {len(chats.queries)} queries", flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows))
    print(table(rows))


def asked(chats: Chats, options: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    home = options.home or scratch
    home.mkdir(parents=True, exist_ok=True)
    said = {str(one.id): one.text for one in chats.messages}
    session = {str(one.id): str(one.session) for one in chats.messages}
    own = CachedEmbedder(open_embedder("conversation-1"), cache_path(home))
    words = Bm25(scratch)
    words.add([Said.of(one) for one in chats.messages])
    meaning = Meaning(chats, own)
    other = Meaning(chats, open_embedder(options.other)) if options.other else None
    rows = []
    folder = scratch / chats.name
    folder.mkdir()
    (folder / "cache").symlink_to(cache_path(home).parent)
    with Memory.open(folder, "chats", extract=options.extract) as memory:
        memory.add_many(chats.messages)
        memory.flush()
        for query in chats.queries:
            whole = memory.recall(query.words, at=chats.asked_at, max_tokens=EVERYTHING)
            shown = memory.recall(query.words, at=chats.asked_at)
            ranked = {
                "recall": [str(one) for one in metrics.unique(t for m in whole.memories for t in m.turns)],
                "cosine": meaning.search(query.words),
                "bm25": words.search(query.words, len(said), None),
            }
            ranked["both"] = fused([ranked["cosine"], ranked["bm25"]])
            if other:
                ranked["other"] = other.search(query.words)
            held = {str(budget): in_context(within(whole, budget), said) for budget in BUDGETS}
            rows.append(row(chats, query, ranked, held, shown, session, whole, said))
    return rows


def row(
    chats: Chats, query: Query, ranked: Mapping[str, Sequence[str]], held: Mapping[str, Sequence[str]],
    shown: Recall, session: Mapping[str, str], whole: Recall, said: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """What is counted of one query."""
    gold = set(query.evidence)
    out: dict[str, Any] = {
        "user": chats.name,
        "kind": query.kind,
        "words": query.words,
        "answerable": whole.trace.get("answerable", 0.0),
        "returned": len(shown.memories),
    }
    if not gold:
        return out
    turns = {str(t) for m in shown.memories for t in m.turns}
    out["precision"] = len(gold & turns) / max(1, len(shown.memories))
    out["returned recall"] = len(gold & turns) / len(gold)
    for name, ranking in ranked.items():
        sessions = list(dict.fromkeys(session[one] for one in ranking))
        out[name] = {
            "recall@10": metrics.recall_at(ranking, gold, 10),
            "ndcg@10": metrics.ndcg_at(ranking, gold, 10),
            "session ndcg@5": metrics.ndcg_at(sessions, {session[one] for one in gold}, 5),
            **{
                f"in {b}": len(gold & set(held[str(b)] if name == "recall" else filled(ranking, said, b)))
                / len(gold)
                for b in BUDGETS
            },
        }
    if query.kind == "newer" and query.replaced:
        place = {one: n for n, one in enumerate(ranked["recall"])}
        far = len(place)
        out["newest first"] = all(
            place.get(query.evidence[0], far) < place.get(o, far + 1) for o in query.replaced
        )
    return out


def in_context(recall: Any, said: Mapping[str, str]) -> list[str]:
    return given(recall, recall.as_context(cut=0, dates=False), said)


def filled(ranking: Sequence[str], said: Mapping[str, str], budget: int) -> list[str]:
    """The turns of a ranking that fit, whole and with some tokens for a header; what does not fit is passed over."""
    room, out = budget, []
    for one in ranking[:100]:
        cost = tokens(said[one]) + 5
        if cost <= room:
            room -= cost
            out.append(one)
    return out


_COUNTS: dict[str, int] = {}


def tokens(text: str) -> int:
    if text not in _COUNTS:
        from everwhen.models.embedder import count_tokens

        _COUNTS[text] = count_tokens(text)
    return _COUNTS[text]


def fused(rankings: Sequence[Sequence[str]]) -> list[str]:
    """By reciprocal ranks."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + 1 / (K + rank)
    return sorted(scores, key=lambda one: -scores[one])


class Meaning:
    """An embedder alone: the best cosine over the pieces of a turn."""

    def __init__(self, chats: Chats, embedder: Embedder) -> None:
        self.ids, self.embedder = [str(one.id) for one in chats.messages], embedder
        pieces = [embedder.pieces(f"{one.speaker}: {one.text}") for one in chats.messages]
        self.of = np.repeat(np.arange(len(pieces)), [len(one) for one in pieces])
        self.vectors = embedder.embed([piece for several in pieces for piece in several])

    def search(self, words: str) -> list[str]:
        best = np.full(len(self.ids), -1.0)
        np.maximum.at(best, self.of, self.vectors @ asking(self.embedder, words))
        return [self.ids[place] for place in np.argsort(-best, kind="stable")]


def asking(embedder: Embedder, words: str) -> Any:
    """The vector of a question; the packaged embedder tells questions from what is remembered."""
    if gives_tokens(embedder):
        return embedder.embed_question(words)[0][0]
    return embedder.embed([words])[0]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    known = [one for one in rows if "recall" in one]
    names = [name for name in ("recall", "cosine", "bm25", "both", "other") if name in known[0]]
    for figure in ("recall@10", "in 1024", "in 4096", "session ndcg@5", "ndcg@10"):
        lines.append(
            f"\n{figure:<16}" + "".join(f"{name:>10}" for name in ("n", *names)) + "   recall - best other"
        )
        groups = {
            "all": known,
            **{
                f"= {kind}": [r for r in known if KINDS[r["kind"]] == kind]
                for kind in dict.fromkeys(KINDS.values())
            },
            **{kind: [r for r in known if r["kind"] == kind] for kind in KINDS},
        }
        for group, some in groups.items():
            if not some:
                continue
            means = {name: float(np.mean([r[name][figure] for r in some])) for name in names}
            others = sorted(names[1:], key=lambda name: -means[name])
            low, high = metrics.paired_bootstrap([r["recall"][figure] - r[others[0]][figure] for r in some])
            lines.append(
                f"{group:<16}{len(some):>10}" + "".join(f"{means[name]:>10.3f}" for name in names)
                + f"   {means['recall'] - means[others[0]]:+.3f} [{low:+.3f}, {high:+.3f}] {others[0]}"
            )  # fmt: skip
    lines.append(
        f"\nreturned {np.mean([r['returned'] for r in known]):.1f} memories, precision "
        f"{np.mean([r['precision'] for r in known]):.3f}, recall {np.mean([r['returned recall'] for r in known]):.3f}"
    )
    none = [r["answerable"] for r in rows if "recall" not in r]
    lines.append(f"answerable AUROC {metrics.auroc([r['answerable'] for r in known], none)}")
    newer = [r["newest first"] for r in known if "newest first" in r]
    lines.append(f"newest first {sum(newer)} of {len(newer)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
