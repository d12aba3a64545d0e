"""WhatsApp's exported chats, of Android and of iOS: one message begins with each line that has a date.

Android writes `12/03/2024, 14:08 - Ana: Hello` and iOS `[12.03.24, 14:08:33] Ana: Hello`; the form of the date is that
of the phone. A file says neither its zone, which the caller must give, nor in which order day and month stand: that is
found out from all of its dates (`whatsapp_dates.py`). A chat is one conversation with a session for each day.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from everwhen.errors import UsageError
from everwhen.store.files.compressed import name_inside
from everwhen.store.files.json_values import lines
from everwhen.types import Message
from everwhen.types.messages import LARGEST_TEXT
from everwhen.types.messages.message_parts import caption
from everwhen.write.importers.conversation import (
    NOTHING_TOLD,
    Conversation,
    LeftOut,
    ReadingOptions,
    checked,
    stable_id,
    streamed,
)
from everwhen.write.importers.whatsapp_dates import Stamp, date_order

LONGEST_NAME = 64
MEDIA = "pictures, sounds and files that the export does not hold"
SYSTEM = "lines that WhatsApp wrote itself (who joined, calls, encryption)"
DELETED = "messages that were deleted"

MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
"""Marks of direction, which exports are full of; for a class of characters."""
MARKS_ALL = "\u200e\u200f\ufeff"
_SPACE = "[ \u00a0\u202f]"
_SLASH = f"[{MARKS}]*{_SPACE}?[./年月-]{_SPACE}?"
_DATE = rf"\d{{1,4}}{_SLASH}\d{{1,2}}{_SLASH}\d{{1,4}}(?:日|\.)?"
_CLOCK = r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
_HALF = rf"(?:{_SPACE}?(?P<after>[^\W\d][^\]\d\[:-]{{0,12}}?))?"
_HEAD = rf"(?P<date>{_DATE})(?P<before>[,،]?{_SPACE}?[^\d\[\]:,،]{{0,14}}?){_CLOCK}{_HALF}"
_ANDROID = _HEAD.replace("?P<", "?P<a_")
_LINE = re.compile(
    rf"^[{MARKS}]*(?:\[{_HEAD}\]{_SPACE}?|{_ANDROID}(?:{_SPACE}[-–]{_SPACE}|:{_SPACE}))(?P<rest>.*)$",
    re.DOTALL,
)
_COPY = re.compile(r"(?: \(\d+\)| \d)$")
_ATTACHED_IOS = re.compile(rf"[{MARKS}]*<[^<>:]{{1,30}}:{_SPACE}(?P<file>[^<>]+\.\w{{1,5}})>")
_ATTACHED_ANDROID = re.compile(
    rf"\A(?P<file>[{MARKS}]+[^\n()]{{1,120}}\.\w{{1,5}}|[A-Z]{{3}}-\d{{8}}-WA\d+\.\w{{1,5}}){_SPACE}\([^()\n]{{3,40}}\)"
)
_BRACKETED = re.compile(rf"\A[{MARKS}]*<[^\W\d_]+(?:{_SPACE}[^<>:\n{_SPACE[1:-1]}]+)+>(?=\n|$)")
"""What stands for a file that is missing, on Android: in every language two words or more."""


def read(path: Path, options: ReadingOptions = NOTHING_TOLD) -> Iterator[Conversation]:
    """The chat of one file, named after it."""
    name = chat_name(path, options.name)
    yield streamed(name, lambda left_out: _messages(path, name, options, left_out))


def is_export(line: str) -> bool:
    """Whether a line begins a message as an export has them."""
    return _LINE.match(line) is not None


def chat_name(path: Path, name: str | None = None) -> str:
    """The chat that a file is of: Android names the file after it, iOS the zip or folder around `_chat.txt`."""
    inside = name_inside(path)
    found = (inside or name or path.name).removesuffix(".txt")
    if found == "_chat":
        found = Path(name or path.name).stem if inside else path.resolve().parent.name
    return _COPY.sub("", found.strip())


def _messages(path: Path, chat: str, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    if options.zone is None:
        raise UsageError(
            f"{path}: a WhatsApp export has the times of the phone's place; say which, such as --zone Europe/Lisbon"
        )
    order = date_order(path, (stamp for stamp, _, _ in _entries(path)), options.date_order)
    seen: Counter[tuple[str, ...]] = Counter()
    for stamp, rest, number in _entries(path):
        where = f"{path}, line {number}"
        said_at = stamp.local(order, where)
        speaker, said = _speaker(rest)
        if speaker is None:
            left_out[SYSTEM] += 1
            continue
        words = _words(said, not seen, left_out)
        if not words:
            continue
        key = (stamp.written, speaker, words)
        seen[key] += 1
        raw = {
            "role": "user",
            "name": speaker,
            "content": words,
            "timestamp": said_at,
            "zone": options.zone,
            "id": stable_id(chat, *key, str(seen[key])),
            "session": f"{chat}/{said_at.date().isoformat()}",
            "metadata": {"chat": chat},
        }
        yield checked(raw, where)


def _entries(path: Path) -> Iterator[tuple[Stamp, str, int]]:
    """Each entry of the chat: when, what stands behind that (further lines included), and the number of its line."""
    stamp: Stamp | None = None
    rest: list[str] = []
    start = size = 0
    for number, line in lines(path, blank=True):
        match = _LINE.match(line.rstrip("\r\n"))
        if match is None:
            if stamp is None and line.strip():
                raise UsageError(
                    f"{path}, line {number} is no line of a WhatsApp export: it begins with no date"
                )
            size += len(line)
            if size > LARGEST_TEXT:
                raise UsageError(
                    f"{path}, line {start}: the message has more than {LARGEST_TEXT / 1e6:.0f} MB; it is no chat"
                )
            rest.append(line.rstrip("\r\n") + "\n")
            continue
        if stamp is not None:
            yield stamp, "".join(rest).rstrip(), start
        stamp, rest, start, size = _stamp(match, f"{path}, line {number}"), [match["rest"] + "\n"], number, 0
    if stamp is not None:
        yield stamp, "".join(rest).rstrip(), start


def _stamp(match: re.Match[str], where: str) -> Stamp:
    part = {name.removeprefix("a_"): text for name, text in match.groupdict().items() if text is not None}
    half = ""
    for beside in (part.get("before", ""), part.get("after", "")):
        word = _spaced(beside).strip(f",، {MARKS_ALL}").casefold()
        if word in _told()["morning"] or word in _told()["afternoon"]:
            half = "am" if word in _told()["morning"] else "pm"
        elif word and word not in _told()["between"]:
            raise UsageError(
                f"{where}: '{word}' beside the time is not known; export the chat with a 24-hour clock"
            )
    numbers = [int(one) for one in re.findall(r"\d+", part["date"])]
    clock = (int(part["hour"]), int(part["minute"]), int(part.get("second", 0)))
    return Stamp(tuple(numbers), clock, half, "." in part["date"], match[0][: match.start("rest")].strip())


def _speaker(rest: str) -> tuple[str | None, str]:
    """Who speaks, and what; None where WhatsApp does."""
    name, colon, said = rest.partition(": ")
    if not colon and rest.endswith(":"):
        name, colon, said = rest[:-1], ":", ""
    name = _spaced(_unmarked(name)).removeprefix("~").strip()
    if not colon or not name or len(name) > LONGEST_NAME or re.search(r"[\n\"“”„«»]", name):
        return None, rest
    return name, said


def _words(said: str, first: bool, left_out: LeftOut) -> str:
    """What somebody wrote: without the notes of WhatsApp, attached files by their names."""
    marked = said.startswith("\u200e")
    said = _without_edited(said)
    for attached in (_ATTACHED_IOS, _ATTACHED_ANDROID):
        said = attached.sub(lambda found: caption({"name": found["file"].strip(f" {MARKS_ALL}")}), said, 1)
    if _BRACKETED.match(said):
        left_out[MEDIA] += 1
        return _unmarked(_BRACKETED.sub("", said)).strip()  # what was written under the picture
    plain = _unmarked(said).strip()
    if reason := _note(plain, marked, first):
        left_out[reason] += 1
    return "" if reason else plain


def _note(plain: str, marked: bool, first: bool) -> str | None:
    """Why a text is none that somebody wrote; iOS marks what it writes itself, with a mark of direction in front."""
    low = plain.casefold().rstrip(".")
    if low in _told()["deleted"]:
        return DELETED
    if (marked or len(low.split()) == 2) and low.endswith(_told()["omitted"]):
        return MEDIA
    if low == "null" or (low.startswith(_told()["calls"]) and len(low.split()) < 8):
        return SYSTEM
    if (marked or first) and any(note in low for note in _told()["encryption"]):
        return SYSTEM
    # Files have their name in brackets here; places are links, and votes have several lines.
    written = plain.startswith("[") or "http" in low or "\n" in plain
    return SYSTEM if marked and not written else None


def _unmarked(text: str) -> str:
    return re.sub(f"[{MARKS}]", "", text)


def _spaced(text: str) -> str:
    """With plain spaces in place of those that keep words together."""
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def _without_edited(said: str) -> str:
    end = re.search(rf"{_SPACE}*(?P<mark>[{MARKS}]*)<(?P<note>[^<>\n]{{5,60}})>$", said)
    if end is None or end.start() == 0:
        return said
    told = end["note"].casefold().rstrip(".") in _told()["edited"]
    return said[: end.start()] if told or "\u200e" in end["mark"] else said


@cache
def _told() -> Mapping[str, tuple[str, ...]]:
    text = files("everwhen.write.importers").joinpath("whatsapp.toml").read_text("utf-8")
    return {name: tuple(words) for name, words in tomllib.loads(text).items()}
