"""A regression guard: a subset of the benches in three minutes, held against figures that are committed.

Quality only: times differ from machine to machine. A figure that falls by more than two points is a regression; one
that rises is told, so that it may be written down (`--accept`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everwhen_bench import locomo, longmemeval, timex

ALLOWED = 0.02
CONVERSATIONS = 2
QUESTIONS = 12
FIGURES = Path("bench-guard.json")


@dataclass(frozen=True, slots=True)
class Held:
    """One figure: what it is, what it should be, and whether it fell too far."""

    name: str
    value: float
    committed: float | None

    @property
    def fell(self) -> bool:
        return self.committed is not None and self.value < self.committed - ALLOWED


def measure(data: Path, progress: Callable[[int], None] | None = None) -> dict[str, float]:
    """The figures of the subset: the first two conversations of LoCoMo with their dates, the first dozen questions of
    LongMemEval, and all time expressions of the chat set."""
    talk = locomo.run(
        data / "locomo_dev.json",
        when=data / "locomo_when_dev.json",
        limit=CONVERSATIONS,
        progress=progress,
    )
    chats = longmemeval.run(data / "longmemeval_pool_dev.json.xz", limit=QUESTIONS, progress=progress)
    times: dict[str, Any] = timex.run(data / "timex_chat_dev.json")
    return {
        "locomo turn recall@10": talk["turn"]["recall@10"],
        "locomo turn ndcg@10": talk["turn"]["ndcg@10"],
        "locomo evidence in 512 tokens": talk["tokens"]["512"],
        "locomo when accuracy": talk["when"]["accuracy"],
        "locomo answerable auroc": talk["abstention"]["auroc"],
        "longmemeval turn recall@10": chats["turn"]["recall@10"],
        "longmemeval session ndcg@10": chats["session"]["ndcg@10"],
        "longmemeval session all@5": chats["session"]["all@5"],
        "timex chat": float(times["summary"]["accuracy"]),
    }


def held(measured: Mapping[str, float], committed: Mapping[str, Any]) -> list[Held]:
    """Every figure beside the committed one; a committed figure that is not measured any more counts as fallen."""
    known = [Held(name, value, committed.get(name)) for name, value in measured.items()]
    return known + [Held(name, 0.0, value) for name, value in committed.items() if name not in measured]


def read(path: Path) -> dict[str, float]:
    """The committed figures; none where there is no file yet."""
    found: dict[str, float] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def write(path: Path, measured: Mapping[str, float]) -> None:
    path.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
