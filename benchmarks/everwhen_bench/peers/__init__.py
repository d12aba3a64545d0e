"""Peers: what a user would pick instead, asked the same questions in the same run, without an LLM.

Above: `bench peers`. Below: one module for each peer behind `base.Peer`. Nothing of a peer is copied, and none of them
is installed with everwhen: `make peers` gives them an environment of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from everwhen_bench.cases import Bench


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table: who, which module and variant of it, and what is installed for it."""

    name: str
    module: str
    packages: tuple[str, ...]
    variant: str = ""
    note: str = ""
    only: Bench | None = None
    """Asked on this data set alone: reading the other one would take hours."""


PEERS = (
    Entry("everwhen", "engine", ("everwhen",), "", "default recipe; its weights were fitted on this data"),
    Entry("everwhen, rrf", "engine", ("everwhen",), "rrf", "reciprocal ranks: nothing fitted but k = 10"),
    Entry(
        "everwhen, low", "engine", ("everwhen",), "low", "fewer candidates, no words compared: the quick one"
    ),
    Entry(
        "everwhen, with extraction",
        "engine",
        ("everwhen",),
        "rules",
        "events, entities and facts too",
        "locomo",
    ),
    Entry("dense", "dense", (), "", "cosine over the same vectors, NumPy"),
    Entry(
        "bm25s",
        "bm25",
        ("bm25s", "PyStemmer"),
        "",
        "stop words, stemmer, k1 = 0.9, b = 0.4: its best of 12 settings here",
    ),
    Entry("Chroma", "chroma", ("chromadb",), "", "HNSW, cosine"),
    Entry(
        "LanceDB hybrid", "lance", ("lancedb",), "", "vectors and full text, reciprocal ranks, its defaults"
    ),
    Entry("mempalace raw", "palace", ("mempalace",), "raw", "nearest drawers"),
    Entry(
        "mempalace hybrid", "palace", ("mempalace",), "hybrid", "search_memories, union of vectors and BM25"
    ),
    Entry(
        "mem0",
        "mem0_store",
        ("mem0ai",),
        "",
        "infer=False, Qdrant on disk; its keyword half needs a download",
    ),
    Entry("LangGraph SqliteStore", "langgraph_store", ("langgraph", "langgraph-checkpoint-sqlite"), "sqlite"),
    Entry("LangGraph InMemoryStore", "langgraph_store", ("langgraph",), "memory", "keeps nothing on disk"),
)

ABSENT = {
    "graphiti": "every episode is read by an LLM",
    "cognee": "what is added can be searched only after `cognify`, which asks an LLM",
    "hindsight": "not tried; by its description every memory is extracted by an LLM",
}
"""Memory systems that cannot be asked without an LLM, and why."""


def entry(name: str) -> Entry | None:
    """The row of that name, upper and lower case alike."""
    return next((one for one in PEERS if one.name.casefold() == name.casefold()), None)
