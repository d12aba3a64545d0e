"""Messages as callers give them, checked; turns and sessions; results of adding, grep and recall (`Added`, `Hit`,
`Recalled`, `Why`, `Dropped`, `Accessed`), a stored memory (`UnitRow`), and the line that a memory has in a prompt.

`message` is where whatever a caller passes becomes one checked `Message`, or a UsageError. The shapes of OpenAI (chat
and responses), Anthropic and Gemini are understood, because histories are copied from them whole: text parts as they
are, pictures, sounds and files by caption or name. Bytes (base64, data URLs) never reach the text.
"""

from __future__ import annotations

import json
import math
import mimetypes
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar
from unicodedata import category, normalize
from urllib.parse import unquote, urlsplit

from everwhen.errors import UsageError
from everwhen.types.times import EPOCH, FIRST_YEAR, LAST_YEAR, iso_instant, known_zone
from everwhen_time import Interval
from everwhen_time.zones import zone_of

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]

ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")

KINDS = ("turn", "event", "narrative", "fact", "node")
"""What a retrievable memory can be."""

NETWORKS = ("world", "experience", "opinion")
"""Kind of content: world = people and things; experience = what the agent did or said; opinion = beliefs."""

Metadata: TypeAlias = Mapping[str, Any]
"""Free, JSON-shaped facts about a turn; `recall(metadata={…})` filters by them."""

T = TypeVar("T")


class ListWithPending(list[T]):
    """A list, and in `pending` how many turns were not extracted yet when it was made: what they tell is missing."""

    def __init__(self, items: Iterable[T] = (), pending: int = 0) -> None:
        super().__init__(items)
        self.pending = pending


@dataclass(frozen=True, slots=True)
class Message:
    """One message as a caller gives it, checked and normalised; not yet remembered.

    `said_at` is in the zone that it was given in, which is the speaker's where `zone` does not say otherwise.
    """

    text: str
    role: Role = "user"
    name: str | None = None
    said_at: datetime | None = None
    zone: str | None = None
    id: str | None = None
    session: str | None = None
    metadata: Metadata = field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """Who said it: the name where there is one, else the role."""
        return self.name or self.role


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as said: a line of the turn calendar. Never changed once written."""

    id: str
    session: str
    seq: int
    role: Role
    speaker: str
    text: str
    said_at: datetime
    zone: str
    recorded_at: datetime
    tokens: int = 0
    segment: str | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """A stretch of conversation, computed from its turns."""

    id: str
    turns: int
    first: datetime
    last: datetime
    speakers: tuple[str, ...]
    zone: str = "UTC"
    """Where its first turn was said."""


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` made durable: the turns in order (those that were there already included).

    `conflicts` are ids that were there already with other words; nothing is overwritten, so the new words
    were not kept.
    """

    turns: tuple[str, ...]
    session: str
    new: int = 0
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that `grep` found, with where in the text the pattern stands."""

    turn: Turn
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for one recalled memory: its rank and score in each channel, and what fusion made of them."""

    ranks: Mapping[str, int] = field(default_factory=dict)
    """By channel: its rank, from 1."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """By channel: its score there; channels have scales of their own."""
    fused: float = 0.0
    """Its fused score, relative to the best memory."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """By feature: what it added to the sum behind `fused`; the reranker's too."""
    affinity: float | None = None
    """How well its date fits those of the other results; only with SATF (docs/five-documents.md)."""
    beside: str | None = None
    """The id of the memory next to which it stands, where it is here only for that."""

    def __str__(self) -> str:
        parts = [f"{name} #{rank} ({self.scores[name]:.2f})" for name, rank in self.ranks.items()]
        return ", ".join(parts) or "no channel"


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory given back: its words, when it was said, where it comes from, and why it is here.

    `occurred` is the time that it is about. A turn that speaks of several times has the interval that covers them all.
    """

    id: str
    kind: str
    text: str
    said_at: datetime
    zone: str
    turns: tuple[str, ...]
    session: str
    speaker: str
    score: float
    why: Why
    tokens: int
    occurred: Interval | None = None
    metadata: Metadata = field(default_factory=dict)
    level: int = 0
    """Of a node of the tree; 0 for all else."""
    shown: str = ""
    """The text with the dates of what it says, as a prompt has it; empty where that is the text itself. The tokens are
    those of what is shown."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A memory that was found and not returned. One that no channel found, or that a filter excludes, is not listed."""

    id: str
    reason: str
    """Such as `no room in max_tokens`, `beyond top_k`, `it does not hold at the time asked about`."""
    score: float
    """Relative to the best memory, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Accessed:
    """A memory with how often recall gave it back, and when last."""

    id: str
    kind: str
    text: str
    speaker: str
    said_at: datetime
    zone: str
    count: int
    last_at: datetime


class UnitRow(NamedTuple):
    """A retrievable memory as stored. A raw one is a single turn; `text` is what was said, without context.

    A tuple, as recall reads hundreds for each question and a frozen dataclass takes four times as long to make.
    """

    seq: int
    id: str
    kind: str
    network: str
    text: str
    said_at: datetime
    zone: str
    session: str
    speaker: str
    tokens: int
    turns: tuple[str, ...]
    metadata: Mapping[str, Any]
    occurred: Interval | None = None
    confidence: float | None = None
    level: int = 0
    """Of a node of the tree; 0 for all else."""


# A message as a caller gives it

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
            f"a message is a string or an object with 'content', not {_json_kind(raw)}; "
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
        at.astimezone(UTC)  # raises where the moment in UTC lies outside what datetime can hold
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
        raise UsageError(
            f"timestamp {_short(raw)} is {_json_kind(raw)}; use ISO 8601 text or an epoch number"
        )
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
        raise UsageError(f"{what} must be text, not {_json_kind(raw)}")
    if isinstance(raw, str) and "\0" in raw[:LONGEST_LABEL]:
        raise UsageError(f"{what} {_short(raw)} has a NUL character; leave it out")
    try:
        label = clean(str(raw)).strip()
    except ValueError as error:  # Python writes no integer of more than 4,300 digits
        raise UsageError(f"{what} has thousands of characters; at most {LONGEST_LABEL} are kept") from error
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
    return known_zone(raw if isinstance(raw, str) else _json_kind(raw))


def _epoch(number: float) -> datetime:
    try:
        seconds = float(number)
        if not math.isfinite(seconds):
            raise OverflowError
        if abs(seconds) >= MILLISECONDS_FROM:
            seconds /= 1000
        return EPOCH + timedelta(seconds=seconds)
    except OverflowError as error:
        raise UsageError(f"timestamp {_short(number)} is no epoch time in seconds or milliseconds") from error


def _json_kind(value: Any) -> str:
    names = {"dict": "an object", "list": "a list", "bool": "true or false", "NoneType": "null"}
    return names.get(type(value).__name__, f"a value of type {type(value).__name__}")


def _short(value: Any) -> str:
    try:
        written = json.dumps(value, default=lambda other: type(other).__name__)
        shown = value if isinstance(value, str) else written
    except (TypeError, ValueError, RecursionError):
        shown = type(value).__name__
    return repr(shown if len(shown) <= 60 else shown[:57] + "…")


# What a message is made of, as words

TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "tool_result")
SILENT_PARTS = ("thinking", "redacted_thinking", "reasoning", "thoughts")
CALL_PARTS = ("tool_use", "server_tool_use", "function_call", "tool_call")
LONGEST_ARGUMENTS = 500
"""Characters of a tool call's arguments that are kept: enough to recall the call by, not a program."""
DEEPEST = 8
"""How deep parts may stand within parts (a tool's result holds parts again)."""

_CAPTIONS = ("caption", "alt", "alt_text", "description", "transcript", "title")
_NAMES = ("name", "filename", "file_name")
_ADDRESSES = ("url", "image_url", "video_url", "uri", "file_uri")
_INNER = ("image_url", "video_url", "input_audio", "audio", "file", "source", "inline_data", "file_data")


def as_text(content: Any, *, depth: int = 0) -> str:
    """The words of a message's content: a string, one part or a list of parts. Empty when there are none."""
    if isinstance(content, str):
        return content
    if depth > DEEPEST:
        return ""
    if isinstance(content, Mapping):
        return _part(content, depth)
    if isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        return "\n".join(text for part in content if (text := as_text(part, depth=depth + 1)).strip())
    return ""


def caption(media: Any) -> str:
    """One picture, sound or file as `[kind: caption or name]`; a bare string is its caption.

    >>> caption({"type": "image", "caption": "a grey cat on a windowsill"})
    '[image: a grey cat on a windowsill]'
    >>> caption({"url": "https://example.org/notes/plan%20B.pdf"})
    '[file: plan B.pdf]'
    """
    if isinstance(media, str):
        return _bracket("image", media)
    if not isinstance(media, Mapping):
        return ""
    return _bracket(_media_kind(media), _media_label(media))


def calls(tool_calls: Any) -> str:
    """The tool calls of an assistant message that says nothing else, one a line."""
    if not isinstance(tool_calls, Sequence):
        return ""
    given = [call for call in tool_calls if isinstance(call, Mapping)]
    functions = [call["function"] if isinstance(call.get("function"), Mapping) else call for call in given]
    return "\n".join(filter(None, map(_call, functions)))


def _part(part: Mapping[str, Any], depth: int) -> str:
    kind = part.get("type")
    if kind in SILENT_PARTS:
        return ""
    if kind in CALL_PARTS:
        return _call(part)
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            return str(part[key])
    if kind in TEXT_PARTS or (kind is None and "content" in part):
        return as_text(part.get("content"), depth=depth + 1)
    return caption(part)


def _call(function: Mapping[str, Any]) -> str:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        return ""
    arguments = function.get("arguments", function.get("input", ""))
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            arguments = ""
    return f"[call: {name} {arguments[:LONGEST_ARGUMENTS]}".rstrip() + "]"


def _bracket(kind: str, label: str) -> str:
    # A bracket in the label would end the caption early for whoever reads the text again.
    label = " ".join(label.replace("[", "(").replace("]", ")").split())
    return f"[{kind}: {label}]" if label else f"[{kind}]"


def _first(media: Mapping[str, Any], keys: Sequence[str]) -> str:
    """What the part itself has, or the object inside it (`{"type": "file", "file": {"filename": …}}`)."""
    layers = [media, *(media[key] for key in _INNER if isinstance(media.get(key), Mapping))]
    values = (layer.get(key) for layer in layers for key in keys)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def _media_label(media: Mapping[str, Any]) -> str:
    return _first(media, _CAPTIONS) or _first(media, _NAMES) or _file_name(_first(media, _ADDRESSES))


def _file_name(address: str) -> str:
    """The last part of a URL's path; a data URL has no name."""
    if not address or address.startswith("data:"):
        return ""
    try:
        path = urlsplit(address).path
    except ValueError:
        return ""
    return unquote(path.rstrip("/").rsplit("/", 1)[-1])


def _media_kind(media: Mapping[str, Any]) -> str:
    """image, audio, video or file: as the part says, else by its media type or the name's ending."""
    said = str(media.get("type") or media.get("kind") or "").lower()
    for kind in ("image", "audio", "video", "file"):
        if kind in said:
            return kind
    if said in ("photo", "picture"):
        return "image"
    address = _first(media, _ADDRESSES)
    mime = _first(media, ("mime_type", "media_type", "mimeType", "content_type"))
    if not mime and address.startswith("data:"):
        mime = address[len("data:") :].split(";", 1)[0]
    if not mime:
        mime = mimetypes.guess_type(_first(media, _NAMES) or _file_name(address))[0] or ""
    for kind in ("image", "audio", "video"):
        if mime.startswith(kind):
            return kind
    named = mime or _first(media, _NAMES) or address or said
    # What has a caption and nothing else is nearly always a picture.
    return "file" if named or not _first(media, _CAPTIONS) else "image"


# The line that a memory has in a prompt

_CLOSING = re.compile(r"<(?=\s*/\s*(?:memories|memory|question)\b)", re.IGNORECASE)
"""The start of closing tags that would let remembered text escape its <memories> block, or another one of a prompt."""

FACT = "fact"
SUMMARY = "Summary"
"""In a prompt: what stands before a fact and before a node of the tree, in place of a turn's speaker."""
_MARKS = frozenset({FACT.casefold(), SUMMARY.casefold()})


def line(speaker: str, text: str, *, ours: bool = False) -> str:
    """`speaker: text` and the end of the line; `ours` where the speaker is `FACT` or `SUMMARY`, and nobody's name.

    Remembered text is data, whatever it says, and so is a name that a speaker chose: every line of a prompt that holds
    either is made here. Further lines of a text are indented, so that none of them can pass for another speaker's or
    for a date; no name can pass for `FACT` or `SUMMARY`; and neither can close the block that it stands in.
    """
    return f"{speaker if ours else named(speaker)}: {inside(text)}\n"


def inside(text: str) -> str:
    """Text as it stands in a block of a prompt: without closing tags, its further lines indented."""
    return "\n  ".join(_CLOSING.sub("‹", text.strip()).splitlines())


@lru_cache(maxsize=4096)
def named(speaker: str) -> str:
    """A name on one line; in quotation marks where it would be read as `FACT` or `SUMMARY`, a list item, or a name with
    its words."""
    name = _CLOSING.sub("‹", " ".join(speaker.split()))
    plain = "".join(one for one in normalize("NFKC", name) if category(one) != "Cf").casefold()
    is_mark = plain.partition(":")[0].strip() in _MARKS or category(plain[:1] or " ") == "Pd"
    return f'"{name.replace(chr(34), chr(39))}"' if is_mark or ": " in f"{plain} " else name
