"""What is asked of which conversation, and what is right; a spread of it where not all is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias

from everwhen.recall.question import parse
from everwhen.types import Message
from everwhen.write.importers import benchmarks

Rule: TypeAlias = Literal["short", "plain", "temporal", "update", "preference", "abstention"]
"""By which rules an answer is judged; each has a prompt of its name in `prompts/judge`."""

ADVERSARIAL = 5
ABSTENTION = "_abs"
NOT_KNOWN = "Not known."
RULES: Mapping[str, Rule] = {
    "temporal-reasoning": "temporal",
    "knowledge-update": "update",
    "single-session-preference": "preference",
}


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """One question of a data set. `gold` is the right answer as the data set has it."""

    id: str
    group: str
    text: str
    gold: str
    rule: Rule
    at: datetime | None

    @property
    def answerable(self) -> bool:
        return self.rule != "abstention"


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation, and what is asked about it."""

    name: str
    messages: Sequence[Message]
    questions: tuple[AnswerQuestion, ...]


def talks(data_set: str, path: Path) -> Iterator[Talk]:
    """Every conversation of a file with its questions."""
    return _locomo(path) if data_set == "locomo" else _longmemeval(path)


def asking_for(given: Iterable[Talk], kinds: Collection[str]) -> Iterator[Talk]:
    """Only the questions that ask for one of the kinds (`everwhen.recall.question`); all where none is named."""
    for talk in given:
        asked = tuple(one for one in talk.questions if not kinds or parse(one.text).kind in kinds)
        if asked:
            yield replace(talk, questions=asked)


def spread(given: Iterable[Talk], limit: int | None) -> list[Talk]:
    """At most `limit` questions, the groups in turns, so that a few questions still show every kind.

    Within a group the order is that of a hash of the id: the same questions in every run, and from every conversation.
    """
    everything = list(given)
    if limit is None:
        return everything
    groups: dict[str, list[str]] = {}
    for question in (one for talk in everything for one in talk.questions):
        groups.setdefault(question.group, []).append(question.id)
    for ids in groups.values():
        ids.sort(key=lambda one: sha256(one.encode()).hexdigest())
    chosen: set[str] = set()
    place = 0
    while len(chosen) < limit and any(len(ids) > place for ids in groups.values()):
        for _, ids in sorted(groups.items()):
            if len(ids) > place and len(chosen) < limit:
                chosen.add(ids[place])
        place += 1
    kept = [
        Talk(talk.name, talk.messages, tuple(one for one in talk.questions if one.id in chosen))
        for talk in everything
    ]
    return [talk for talk in kept if talk.questions]


def _locomo(path: Path) -> Iterator[Talk]:
    for sample in benchmarks.locomo_samples(path):
        messages = tuple(benchmarks.locomo_conversation(sample).messages)
        times = [message.said_at for message in messages if message.said_at]
        at = max(times) + timedelta(minutes=1) if times else None
        asked = tuple(
            _of_locomo(f"{sample['sample_id']}/{index}", one, at)
            for index, one in enumerate(sample.get("qa") or ())
        )
        yield Talk(sample["sample_id"], messages, asked)


def _of_locomo(name: str, raw: Mapping[str, Any], at: datetime | None) -> AnswerQuestion:
    adversarial = raw["category"] == ADVERSARIAL
    gold = NOT_KNOWN if adversarial else str(raw.get("answer", ""))
    rule: Rule = "abstention" if adversarial else "short"
    return AnswerQuestion(name, str(raw["category"]), str(raw["question"]), gold, rule, at)


def _longmemeval(path: Path) -> Iterator[Talk]:
    for raw in benchmarks.longmemeval_questions(path):
        kind, name = str(raw.get("question_type")), raw["question_id"]
        abstains = name.endswith(ABSTENTION)
        question = AnswerQuestion(
            name,
            "abstention" if abstains else kind,
            str(raw["question"]),
            str(raw.get("answer", "")),
            "abstention" if abstains else RULES.get(kind, "plain"),
            benchmarks.longmemeval_time(raw["question_date"]),
        )
        yield Talk(name, tuple(benchmarks.longmemeval_conversation(raw).messages), (question,))
