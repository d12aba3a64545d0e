"""Whether an answer to one of the forty questions about the demo story is right."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from everwhen.cli.story.story import STORY_ZONE
from everwhen.types import Answer
from everwhen_bench.extraction import is_right


def questions(which: str) -> list[dict[str, Any]]:
    """The `answerable` or the `unanswerable` ones."""
    found = json.loads(Path(__file__).with_name("demo_questions.json").read_text("utf-8"))
    listed: list[dict[str, Any]] = found[which]
    return listed


def right(case: dict[str, Any], answer: Answer) -> bool:
    """As `about` in the file says."""
    if "kind" in case and not ({"contains", "says", "start"} & case.keys()):
        return answer.abstained
    if answer.abstained:
        return False
    if "says" in case:
        return answer.text.startswith(case["says"])
    if "start" in case:
        start, end = (_midnight(case[side]) for side in ("start", "end"))
        return any(is_right(interval, start, end) for interval in answer.intervals[:1])
    return all(
        any(re.search(rf"\b{re.escape(word)}\b", answer.text, re.IGNORECASE) for word in group)
        for group in case["contains"]
    )


def _midnight(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(STORY_ZONE))
