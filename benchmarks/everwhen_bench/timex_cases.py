"""The cases of the timex bench: a text, when it was said, what counts as right, and what the caller knows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

Days = tuple[str | None, str | None]  # start and end in days, half-open; None is an open side


@dataclass(frozen=True, slots=True)
class Case:
    """A text, when it was said, and the intervals that count as right; none: there is nothing to find."""

    text: str
    ref: datetime
    accept: tuple[Days, ...] = ()
    lang: str | None = None
    source: str | None = None
    tense: Literal["past", "future"] | None = None  # which way the speakers of this source look
    day_first: bool = False
    told: bool = False  # whether the library is told the language, or has to see it


def load(path: Path) -> list[Case]:
    """The cases of a file: a JSON list of `text`, `ref`, `accept`, and where it has them `lang`, `source`, `opts`.

    Of `opts` only `tense` and `day_first` are known to the libraries; the others say where a case is from.
    """
    cases = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        options = entry.get("opts") or {}
        cases.append(
            Case(
                entry["text"],
                datetime.fromisoformat(entry["ref"]).replace(tzinfo=UTC),
                tuple((start, end) for start, end in entry["accept"]),
                entry.get("lang"),
                entry.get("source"),
                options.get("tense"),
                bool(options.get("day_first", False)),
            )
        )
    return cases
