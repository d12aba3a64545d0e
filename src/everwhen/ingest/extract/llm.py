"""Extraction by a language model, with another extractor to fall back on: nothing is lost when it fails."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from everwhen.ingest.extract.base import OVERLAP_TURNS, Batch, Extraction, ExtractionUsage, Extractor, Failure
from everwhen.models.llm import LLM, LLMError
from everwhen.models.llm import Usage as Spent
from everwhen.models.llm.base import SMALLER
from everwhen.prompts import load

if TYPE_CHECKING:
    from everwhen.ingest.extract.llm_schema import Findings

REVISION = "1"
LONGEST_BATCH = 48_000
"""Characters of a batch that are asked about at once, about 12,000 tokens; a longer one is asked in halves."""


class LLMExtractor:
    """Asks a model about each batch, keeps what the turns bear out, and falls back where there is no answer.

    A batch that is too long for the model, or whose answer is, is asked again in halves. An answer that does not
    fit even after its repair keeps the items that do; without any, `fallback` reads the batch instead.
    """

    def __init__(self, llm: LLM, fallback: Extractor) -> None:
        self.llm = llm
        self.fallback = fallback

    @property
    def name(self) -> str:
        return f"llm:{self.llm.name}"

    @cached_property
    def version(self) -> str:
        """Ours, the prompt's and the fallback's: any of them changes what is found."""
        prompt = hashlib.sha256(self._prompt.encode()).hexdigest()[:8]
        return f"{REVISION}.{prompt}+{self.fallback.name}.{self.fallback.version}"

    def extract(self, batch: Batch) -> Extraction:
        """What the batch's turns say; never raises for what they or the model say."""
        if not any(letter.isalnum() for turn in batch.turns for letter in turn.text):
            return Extraction(self.name, self.version)
        if _length(batch) > LONGEST_BATCH and len(batch.turns) > 1:
            return self._in_halves(batch, Spent())
        from everwhen.ingest.extract.llm_grounding import Grounding
        from everwhen.ingest.extract.llm_prompt import extraction_prompt
        from everwhen.ingest.extract.llm_schema import Findings, salvage

        asked = extraction_prompt(batch)
        failures: tuple[Failure, ...] = ()
        findings: Findings
        try:
            reply = self.llm.complete(asked.prompt, Findings, instructions=self._prompt)
            findings, spent = reply.output, reply.usage
        except LLMError as error:
            spent = error.usage
            if error.problem in SMALLER and len(batch.turns) > 1:
                return self._in_halves(batch, spent)
            findings, left_out = salvage(error.text)
            if not findings:
                return self._fall_back(batch, error)
            kept = "what did fit was kept" if not left_out else f"{left_out} items were left out"
            failures = (Failure(_ids(batch), f"{error}; {kept}"),)
        found = Grounding(batch, asked, self._prompt).extraction(findings, self.name, self.version)
        return replace(found, failures=(*failures, *found.failures), usage=self._usage(spent))

    @property
    def _prompt(self) -> str:
        return load("extract")

    def _fall_back(self, batch: Batch, error: LLMError) -> Extraction:
        found = self.fallback.extract(batch)
        failure = Failure(_ids(batch), f"{error}; {self.fallback.name} were used instead")
        return replace(found, failures=(failure, *found.failures), usage=self._usage(error.usage))

    def _in_halves(self, batch: Batch, spent: Spent) -> Extraction:
        middle = len(batch.turns) // 2
        first, second = batch.turns[:middle], batch.turns[middle:]
        passed = (*batch.earlier, *batch.before, *first)
        context, earlier = passed[-OVERLAP_TURNS:], passed[:-OVERLAP_TURNS]
        halves = [
            self.extract(replace(batch, turns=first)),
            self.extract(replace(batch, turns=second, before=context, earlier=earlier)),
        ]
        return _joined(halves, self.name, self.version, self._usage(spent))

    def _usage(self, spent: Spent) -> ExtractionUsage:
        return ExtractionUsage(
            self.llm.name, spent.requests, spent.input_tokens, spent.output_tokens, spent.cost
        )


def _joined(parts: Sequence[Extraction], name: str, version: str, spent: ExtractionUsage) -> Extraction:
    """Several extractions of one batch as one."""
    whole = Extraction(name, version, usage=spent)
    names = {part.extractor for part in parts}
    if len(names) == 1:
        whole = replace(whole, extractor=parts[0].extractor, version=parts[0].version)
    for part in parts:
        shift = len(whole.events)
        causes = (replace(one, cause=one.cause + shift, effect=one.effect + shift) for one in part.causes)
        whole = replace(
            whole,
            events=whole.events + part.events,
            narratives=whole.narratives + part.narratives,
            entities=whole.entities + part.entities,
            facts=whole.facts + part.facts,
            causes=(*whole.causes, *causes),
            failures=whole.failures + part.failures,
            usage=_sum(whole.usage, part.usage),
        )
    return whole


def _sum(one: ExtractionUsage | None, other: ExtractionUsage | None) -> ExtractionUsage | None:
    if one is None or other is None:
        return one or other
    total = Spent(one.calls, one.input_tokens, one.output_tokens, one.cost) + Spent(
        other.calls, other.input_tokens, other.output_tokens, other.cost
    )
    return ExtractionUsage(one.model, total.requests, total.input_tokens, total.output_tokens, total.cost)


def _length(batch: Batch) -> int:
    from everwhen.ingest.extract.llm_prompt import LONGEST_TURN

    return sum(min(len(turn.text), LONGEST_TURN) for turn in batch.turns)


def _ids(batch: Batch) -> tuple[str, ...]:
    return tuple(turn.id for turn in batch.turns)
