"""LoCoMo's native file: a list of samples, each a long conversation of two people in numbered sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.store.files.json_values import shown, values
from everwhen.types import Message
from everwhen.write.importers.conversation import Conversation, checked, expect

_SESSION = re.compile(r"session_(\d+)")
_TIME = "%I:%M %p on %d %B, %Y"


def samples(path: Path) -> Iterator[dict[str, Any]]:
    """The samples as they stand in the file, questions included."""
    for index, sample in enumerate(values(path)):
        where = f"{path}, sample {index}"
        expect(sample, dict, where, "it")
        expect(sample.get("conversation"), dict, where, "'conversation'")
        yield {**sample, "sample_id": str(sample.get("sample_id") or f"sample-{index}")}


def conversation(sample: Mapping[str, Any]) -> Conversation:
    """A sample's turns, in the order of its sessions; ids are its own (`D1:3`)."""
    messages = tuple(_messages(sample["sample_id"], sample["conversation"]))
    return Conversation(sample["sample_id"], messages, len(messages))


def session_time(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`: local time of a place that is not told, so it is taken as UTC."""
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
