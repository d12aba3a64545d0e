"""Consolidation by a language model. Each sentence must name the input lines that support it; others are left out.

If the model gives nothing usable, the extractive consolidation writes the node, and the node records why.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from pydantic import BaseModel, Field

from everwhen.models.llm.base import LLM, LLMError, complete_all
from everwhen.models.prompts import load
from everwhen.settings import Settings
from everwhen.tree.base import NodeDraft, Task
from everwhen.tree.extractive import Extractive, facts_as_statements, header
from everwhen.tree.levels import INSTANT
from everwhen.types import Statement
from everwhen_time.zones import zone_of

REVISION = "1"
_DEFAULT = Settings()
LONGEST = 48_000
"""Characters that are asked about at once, about 12,000 tokens; of what is longer, the central sentences."""
MOST_LINES = 400


class NodeSentence(BaseModel):
    """One sentence of a node."""

    text: str = Field(description="one sentence that is understood without the lines")
    lines: list[int] = Field(description="the numbers of the lines that it rests on")


class Consolidation(BaseModel):
    """A node of the memory tree."""

    sentences: list[NodeSentence]


class LLMConsolidator:
    """Implements `Consolidator` with a model; the nodes of a batch are requested concurrently."""

    writes_exchanges = True

    def __init__(self, llm: LLM, history: int = _DEFAULT.tree_history) -> None:
        self.llm = llm
        self.name = f"llm:{llm.name}"
        self.history = history
        self.batch_size = 1 if history else llm.concurrency
        self.fallback = Extractive()

    @cached_property
    def version(self) -> str:
        """Ours, the prompts' and the fallback's: any of them changes what is written."""
        kinds = ("exchange", "session", "pattern", "profile")
        prompts = "".join(self._instructions(kind) for kind in kinds)
        return f"{REVISION}.{hashlib.sha256(prompts.encode()).hexdigest()[:8]}+{self.fallback.version}"

    def consolidate(self, tasks: Sequence[Task]) -> list[NodeDraft]:
        drafts: list[NodeDraft] = []
        for kind in dict.fromkeys(task.kind for task in tasks):
            same = [task for task in tasks if task.kind == kind]
            lines = [self._lines(task) for task in same]
            prompts = [_prompt(task, given) for task, given in zip(same, lines, strict=True)]
            replies = complete_all(self.llm, prompts, Consolidation, instructions=self._instructions(kind))
            for task, given, reply in zip(same, lines, replies, strict=True):
                if isinstance(reply, LLMError):
                    drafts.append(self._extractive(task, str(reply)))
                else:
                    drafts.append(self._grounded(task, given, reply.output))
        return drafts

    def _instructions(self, kind: str) -> str:
        """The prompt for one kind of node; what all kinds have in common is written once."""
        return load(f"tree_{kind}", self.llm).replace("{rules}", load("tree_rules", self.llm))

    def _lines(self, task: Task) -> list[Statement]:
        """What the model is given, a statement a line; of too many only the central ones."""
        lines = [one for child in task.children for one in child.statements if one.fact is None]
        if task.kind == "profile":
            lines = [*facts_as_statements(task), *lines]
        if len(lines) > MOST_LINES or sum(len(one.text) for one in lines) > LONGEST:
            [draft] = self.fallback.consolidate(
                [replace(task, kind="session" if task.place.level < 3 else "pattern")]
            )
            return list(draft.statements)
        return lines

    def _grounded(self, task: Task, lines: Sequence[Statement], found: Consolidation) -> NodeDraft:
        grounded = []
        for one in found.sentences:
            rests_on = [lines[number - 1] for number in dict.fromkeys(one.lines) if 0 < number <= len(lines)]
            words = " ".join(one.text.split())
            if not words or not rests_on:
                continue
            first, last = min(line.first for line in rests_on), max(line.last for line in rests_on)
            turns = tuple(dict.fromkeys(turn for line in rests_on for turn in line.turns))
            support = sum(line.support for line in rests_on)
            grounded.append(Statement(words, rests_on[0].speaker, first, last, support, turns))
        if not grounded:
            return self._extractive(task, f"{self.name} said nothing that rests on what was said")
        lead = "" if task.kind == "exchange" else f"{header(task)}\n"
        text = lead + "\n".join(one.text for one in grounded)
        return NodeDraft(text, tuple(grounded), self.name, self.version, by_meaning=True)

    def _extractive(self, task: Task, reason: str) -> NodeDraft:
        problem = f"{reason}; written extractively instead"[:300]
        if task.kind == "exchange":
            [child] = task.children
            return NodeDraft(child.text, child.statements, self.fallback.name, self.fallback.version, problem)
        [draft] = self.fallback.consolidate([task])
        return replace(draft, problem=problem)


def _prompt(task: Task, lines: Sequence[Statement]) -> str:
    """The window, what the nodes before said, and the lines, all of it data."""
    zone = zone_of(task.zone)
    start, last = (side.astimezone(zone) for side in (task.place.start, task.place.end - INSTANT))
    given = {
        "from": f"{start:%A %Y-%m-%d %H:%M}",
        "to": f"{last:%A %Y-%m-%d %H:%M}",
        "before": list(task.history),
        "lines": [
            {
                "line": number,
                "said": f"{one.last.astimezone(zone):%A %Y-%m-%d}",
                "speaker": one.speaker,
                "text": one.text,
            }
            for number, one in enumerate(lines, start=1)
        ],
    }
    return json.dumps(given, ensure_ascii=False, indent=0)
