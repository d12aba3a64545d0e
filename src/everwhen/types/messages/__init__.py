"""The door of the write path: whatever a caller passes becomes one checked `Message`, or a UsageError."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from everwhen.errors import UsageError
from everwhen.types import ROLES, Message, Metadata, Role
from everwhen.types.instants import FIRST_YEAR, LAST_YEAR
from everwhen.types.messages.message_parts import as_text, calls, caption
from everwhen.types.time_arguments import iso_instant, known_zone
from everwhen_time.zones import zone_of

LARGEST_TEXT = 5_000_000
"""Bytes of UTF-8 that one message must stay under. A longer one is a document: it is added in pieces."""
LONGEST_LABEL = 512
"""Characters of an id, a session or a name."""
DEEPEST_METADATA = 8
"""Objects and lists within one another."""
LARGEST_METADATA = 16_000
"""Bytes as JSON."""
MOST_KEYS = 64
"""Keys, those of inner objects included."""
MILLISECONDS_FROM = 100_000_000_000
"""An epoch number from here on counts milliseconds: as seconds it would lie beyond the year 5138."""

SYNONYMS: Mapping[str, Role] = {
    "human": "user", "model": "assistant", "ai": "assistant", "bot": "assistant",
    "developer": "system", "function": "tool",
}  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def message(raw: str | Mapping[str, Any] | Message) -> Message:
    """Check and normalise one message: a string, `{role, content, name?, timestamp?, id?, …}` or a `Message`.

    `content` is a string or a list of parts; `media` (a caption, `{caption?, name?, url?}` or a list of them)
    is appended as `[image: caption]`. `timestamp` is ISO 8601, an epoch number or a datetime; one without an
    offset needs a `zone` beside it (IANA, or `+05:30`), which makes it local time, and a date alone is then its
    midnight. Keys that are not ours are ignored, because histories are passed on whole.

    NUL characters are removed (they come from UTF-16 read as bytes, and end text early in C libraries); a
    surrogate without its partner becomes U+FFFD, since it cannot be written as UTF-8.
    """
    if isinstance(raw, str):
        return Message(text=_text(raw))
    if isinstance(raw, Message):
        raw = {
            "role": raw.role,
            "content": raw.text,
            "name": raw.name,
            "timestamp": raw.said_at,
            "zone": raw.zone,
            "id": raw.id,
            "session": raw.session,
            "metadata": raw.metadata,
        }
    if not isinstance(raw, Mapping):
        raise UsageError(
            f"a message is a string or an object with 'content', not {_kind(raw)}; "
            'for example {"role": "user", "content": "I moved to Porto"}'
        )
    own_zone = _zone(raw.get("zone"))
    return Message(
        text=_text(_words(raw)),
        role=role(raw.get("role")),
        name=_label(raw.get("name"), "name"),
        said_at=instant(raw.get("timestamp"), own_zone),
        zone=own_zone,
        id=_label(raw.get("id"), "id"),
        session=_label(raw.get("session"), "session"),
        metadata=_metadata(raw.get("metadata")),
    )


def role(raw: Any) -> Role:
    """One of the four roles; other vendors' words for them are understood, absence means user."""
    if raw is None:
        return "user"
    word = raw.strip().lower() if isinstance(raw, str) else ""
    found = SYNONYMS.get(word) or next((known for known in ROLES if word == known), None)
    if found is not None:
        return found
    raise UsageError(f"unknown role {_short(raw)}; use one of {', '.join(ROLES)}")


def instant(raw: Any, zone: str | None = None) -> datetime | None:
    """A timestamp as an aware datetime, in the zone that it was given in."""
    if raw is None or raw == "":
        return None
    at = _datetime(raw)
    try:
        if at.tzinfo is None or at.utcoffset() is None:
            if zone is None:
                raise UsageError(
                    f"timestamp {at.isoformat()} has no zone; append 'Z' or an offset such as '+01:00', "
                    "or give a zone such as 'Europe/Lisbon' beside it"
                )
            at = at.replace(tzinfo=zone_of(zone))
        if not FIRST_YEAR <= at.year <= LAST_YEAR:
            raise OverflowError
        at.astimezone(UTC)  # which hours at either end of time have not
    except UsageError:
        raise
    except (OverflowError, ValueError) as error:
        raise UsageError(
            f"timestamp {_short(raw)} lies outside the years {FIRST_YEAR} to {LAST_YEAR}"
        ) from error
    return at


def _datetime(raw: Any) -> datetime:
    if isinstance(raw, datetime):
        return raw
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return _epoch(raw)
    if not isinstance(raw, str):
        raise UsageError(f"timestamp {_short(raw)} is {_kind(raw)}; use ISO 8601 text or an epoch number")
    try:
        return iso_instant(raw.strip())
    except ValueError as error:
        raise UsageError(
            f"timestamp {_short(raw.strip())} is not ISO 8601; write it as '2025-03-14T09:26:00Z'"
        ) from error


def clean(text: str) -> str:
    """Text that every file, database and terminal can hold: no NUL, no lone surrogate."""
    text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Through UTF-16, so that the two halves of one character, given apart, come together again.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _words(raw: Mapping[str, Any]) -> str:
    content = raw.get("content")
    pieces = [as_text(content)] if content is not None else []
    media = raw.get("media")
    if media is not None:
        listed = media if isinstance(media, Sequence) and not isinstance(media, str) else [media]
        pieces += [caption(one) for one in listed]
    if not any(piece.strip() for piece in pieces):
        pieces.append(calls(raw.get("tool_calls")))
    if content is None and not any(pieces):
        raise UsageError("a message needs 'content': a string or a list of parts")
    return " ".join(piece for piece in pieces if piece.strip())


def _text(words: str) -> str:
    text = clean(words)
    if len(text) >= LARGEST_TEXT or (len(text) * 4 >= LARGEST_TEXT and len(text.encode()) >= LARGEST_TEXT):
        raise UsageError(
            f"the text has {len(text):,} characters; a message stays under {LARGEST_TEXT / 1e6:.0f} MB: "
            "add it as several messages"
        )
    if not text.strip():
        raise UsageError("the text is empty; a message needs words, or media with a caption or name")
    return text


def _label(raw: Any, what: str) -> str | None:
    """An id, session or name as text; numbers are taken as written."""
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, str | int):
        raise UsageError(f"{what} must be text, not {_kind(raw)}")
    if isinstance(raw, str) and "\0" in raw[:LONGEST_LABEL]:
        raise UsageError(f"{what} {_short(raw)} has a NUL character; leave it out")
    try:
        label = clean(str(raw)).strip()
    except ValueError:  # an integer of more than 4,300 digits
        label = "9" * (LONGEST_LABEL + 1)
    if len(label) > LONGEST_LABEL:
        raise UsageError(f"{what} has {len(label)} characters; at most {LONGEST_LABEL} are kept")
    return label or None


def _metadata(raw: Any) -> Metadata:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping) or not all(isinstance(key, str) for key in raw):
        raise UsageError('metadata must be an object with text keys, such as {"channel": "mail"}')
    _check_shape(raw)
    try:
        size = len(json.dumps(dict(raw), allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError) as error:
        raise UsageError(f"metadata must be plain JSON: {error}") from error
    if size > LARGEST_METADATA:
        raise UsageError(
            f"metadata has {size:,} bytes as JSON; at most {LARGEST_METADATA:,} are kept: "
            "put what is longer into the text, or keep it elsewhere and its address here"
        )
    return dict(raw)


def _check_shape(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that is nested too deeply or has too many keys; level by level, since it may be endless."""
    keys = 0
    level: list[Any] = [metadata]
    for _ in range(DEEPEST_METADATA):
        keys += sum(len(one) for one in level if isinstance(one, Mapping))
        if keys > MOST_KEYS:
            raise UsageError(f"metadata has more than {MOST_KEYS} keys, those of inner objects included")
        inner = (one.values() if isinstance(one, Mapping) else one for one in level)
        level = [value for values in inner for value in values if isinstance(value, Mapping | list | tuple)]
        if not level:
            return
    raise UsageError(f"metadata is nested more than {DEEPEST_METADATA} deep; make it flatter")


def _zone(raw: Any) -> str | None:
    if raw is None or raw == "":
        return None
    return known_zone(raw if isinstance(raw, str) else _kind(raw))


def _epoch(number: float) -> datetime:
    try:
        seconds = float(number)
        if not math.isfinite(seconds):
            raise OverflowError
        if abs(seconds) >= MILLISECONDS_FROM:
            seconds /= 1000
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError as error:
        raise UsageError(f"timestamp {_short(number)} is no epoch time in seconds or milliseconds") from error


def _kind(value: Any) -> str:
    names = {"dict": "an object", "list": "a list", "bool": "true or false", "NoneType": "null"}
    return names.get(type(value).__name__, f"a value of type {type(value).__name__}")


def _short(value: Any) -> str:
    try:
        written = json.dumps(value, default=lambda other: type(other).__name__)
        shown = value if isinstance(value, str) else written
    except (TypeError, ValueError, RecursionError):
        shown = type(value).__name__
    return repr(shown if len(shown) <= 60 else shown[:57] + "…")
