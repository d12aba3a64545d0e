"""The native files of two benchmarks, LoCoMo and LongMemEval: several conversations each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.store.files.json_values import shown, values
from everwhen.types import Message
from everwhen.write.importers.conversation import Conversation, checked, expect

_SESSION = re.compile(r"session_(\d+)")
_TIME = "%I:%M %p on %d %B, %Y"


def locomo_samples(path: Path) -> Iterator[dict[str, Any]]:
    """The samples as they stand in the file, questions included."""
    for index, sample in enumerate(values(path)):
        where = f"{path}, sample {index}"
        expect(sample, dict, where, "it")
        expect(sample.get("conversation"), dict, where, "'conversation'")
        yield {**sample, "sample_id": str(sample.get("sample_id") or f"sample-{index}")}


def locomo_conversation(sample: Mapping[str, Any]) -> Conversation:
    """A sample's turns, in the order of its sessions; ids are its own (`D1:3`)."""
    messages = tuple(_messages(sample["sample_id"], sample["conversation"]))
    return Conversation(sample["sample_id"], messages, len(messages))


def session_time(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`: local time of a place that is not given, so it is taken as UTC."""
    try:
        return datetime.strptime(" ".join(text.split()), _TIME).replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"session time {shown(text)} is not like '1:56 pm on 8 May, 2023'") from error


def _messages(name: str, sessions: Mapping[str, Any]) -> Iterator[Message]:
    numbered = sorted((int(match[1]), key) for key in sessions if (match := _SESSION.fullmatch(key)))
    for _, session in numbered:
        where = f"conversation {name}, {session}"
        turns = expect(sessions[session], list, where, "it")
        if not turns:
            continue
        said_at = session_time(str(sessions.get(f"{session}_date_time")))
        for index, turn in enumerate(turns):
            expect(turn, dict, where, f"turn {index}")
            if not str(turn.get("text") or turn.get("blip_caption") or "").strip():
                continue
            raw = {
                "role": "user",
                "name": turn.get("speaker"),
                "content": turn.get("text") or "",
                "media": turn.get("blip_caption"),
                "timestamp": said_at,
                "zone": "UTC",
                "id": turn.get("dia_id") or f"{session}:{index}",
                "session": session,
            }
            yield checked(raw, f"{where}, turn {index}")


_LISTS = ("haystack_sessions", "haystack_session_ids", "haystack_dates")


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where a message stands in the file: its session as named there, and its index within it."""

    session: str
    turn: int
    has_answer: bool


def longmemeval_questions(path: Path) -> Iterator[dict[str, Any]]:
    """The questions as they stand in the file."""
    for index, question in enumerate(values(path)):
        where = f"{path}, question {index}"
        expect(question, dict, where, "it")
        for key in _LISTS:
            expect(question.get(key), list, where, f"'{key}'")
        if len({len(question[key]) for key in _LISTS}) > 1:
            raise UsageError(f"{where}: {', '.join(_LISTS)} differ in length; the file is not complete")
        yield {**question, "question_id": str(question.get("question_id") or f"question-{index}")}


def longmemeval_conversation(question: Mapping[str, Any]) -> Conversation:
    """A question's sessions in the order of their dates."""
    messages = tuple(message for message, _ in placed_messages(question))
    return Conversation(question["question_id"], messages, len(messages))


def longmemeval_time(text: str) -> datetime:
    """`2023/05/27 (Sat) 02:14`, as UTC: the place is not given."""
    date, _, time = str(text).partition(" ")
    try:
        return datetime.strptime(f"{date} {time[-len('02:14') :]}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"date {shown(text)} is not like '2023/05/27 (Sat) 02:14'") from error


def placed_messages(question: Mapping[str, Any]) -> Iterator[tuple[Message, MessagePlace]]:
    """Each message with its place in the file.

    A session id that stands a second time in a haystack (other questions' evidence does) gets `#2` behind it,
    in the file's order, so that every message has an id of its own.
    """
    times: Counter[str] = Counter()
    sessions = []
    for turns, given, date in zip(*(question[key] for key in _LISTS), strict=True):
        key = str(given)
        times[key] += 1
        session = key if times[key] == 1 else f"{key}#{times[key]}"
        sessions.append((longmemeval_time(date), key, session, turns))
    for said_at, key, session, turns in sorted(sessions, key=lambda row: row[0]):
        where = f"question {question['question_id']}, session {session}"
        for index, turn in enumerate(expect(turns, list, where, "it")):
            expect(turn, dict, where, f"turn {index}")
            if not str(turn.get("content") or "").strip():
                continue
            raw = {
                "role": turn.get("role"),
                "content": turn["content"],
                "timestamp": said_at,
                "zone": "UTC",
                "id": f"{session}:{index}",
                "session": session,
            }
            yield (
                checked(raw, f"{where}, turn {index}"),
                MessagePlace(key, index, bool(turn.get("has_answer"))),
            )
