"""WhatsApp's exported chats, of Android and of iOS: one message begins with each line that has a date.

Android writes `12/03/2024, 14:08 - Ana: Hello` and iOS `[12.03.24, 14:08:33] Ana: Hello`; the form of the date is
that of the phone. A file says neither its zone, which the caller must give, nor in which order day and month stand:
that is found out from all of its dates, or asked for. A chat is one conversation with a session for each day.

What a file shows for sure of the order: a year of four digits, a day above 12, points (no country writes the month
first with points), and that a chat goes forward in time, from 2009 on and never into the future. Where two orders are
left, the caller has to say which: 03/04 is not guessed.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path

from everwhen.errors import UsageError
from everwhen.store.files.json_values import lines, name_inside
from everwhen.types import Message
from everwhen.types.turns import LARGEST_TEXT, caption
from everwhen.write.importers.conversation import (
    DATE_ORDERS,
    NO_OPTIONS,
    Conversation,
    DateOrder,
    LeftOut,
    ReadingOptions,
    checked,
    stable_id,
    streamed,
)

FIRST = date(2009, 1, 1)
"""The year in which WhatsApp began."""
BACKWARD = timedelta(days=1)
"""How far a chat may go back from one line to the next: messages that were sent without a network come late."""
_PLACES: dict[DateOrder, tuple[int, int, int]] = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
"""Where year, month and day stand."""
_SAID = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}


@dataclass(frozen=True, slots=True)
class Stamp:
    """The beginning of a line: three numbers of a date, a time, and which half of the day a 12-hour clock means."""

    numbers: tuple[int, ...]
    clock: tuple[int, int, int]
    half: str
    points: bool
    written: str

    def day(self, order: DateOrder) -> date | None:
        """The date in an order; None where there is no such day."""
        year, month, day = (self.numbers[place] for place in _PLACES[order])
        try:
            return date(year + 2000 if year < 100 else year, month, day)
        except ValueError:
            return None

    def local(self, order: DateOrder, where: str) -> datetime:
        day, (hour, minute, second) = self.day(order), self.clock
        if self.half:
            hour = hour % 12 + (12 if self.half == "pm" else 0)
        if day is None or hour > 23 or minute > 59 or second > 59:
            raise UsageError(f"{where}: '{self.written[:40]}' is no date and time, read as {_SAID[order]}")
        if not FIRST <= day <= _tomorrow():
            raise UsageError(
                f"{where}: '{self.written[:40]}', read as {_SAID[order]}, lies before {FIRST.year} or in the future"
            )
        return datetime(day.year, day.month, day.day, hour, minute, second)


def date_order(path: Path, stamps: Iterable[Stamp], chosen: DateOrder | None) -> DateOrder:
    """The one order that all dates of a file allow; `chosen` where the caller says it."""
    if chosen is not None:
        return chosen
    possible: list[DateOrder] = list(DATE_ORDERS)
    last: dict[DateOrder, date] = {}
    example = ""
    ahead = _tomorrow()
    backward: set[DateOrder] = set()
    for stamp in stamps:
        example = example or stamp.written
        allowed = [order for order in possible if _fits(stamp, order, ahead)]
        if not allowed:
            raise UsageError(
                f"{path}: its dates fit no order of day, month and year (such as '{stamp.written[:40]}'); "
                "say which with --date-order dmy, mdy or ymd"
            )
        possible = allowed
        for order in possible:
            day = stamp.day(order)
            assert day is not None
            if order in last and day < last[order] - BACKWARD:
                backward.add(order)
            last[order] = max(day, last.get(order, day))
    if not example:
        raise UsageError(f"{path} holds no line of a WhatsApp export")
    # A chat that goes back in every order was put together by somebody: then that says nothing.
    forward = [order for order in possible if order not in backward] or possible
    if len(forward) > 1:
        raise UsageError(
            f"{path}: its dates, such as '{example[:40]}', can be {' or '.join(_SAID[one] for one in forward)}; "
            f"say which with --date-order {' or '.join(forward)}"
        )
    return forward[0]


def _tomorrow() -> date:
    """A chat cannot hold later days, wherever the phone is."""
    return (datetime.now(UTC) + timedelta(days=1)).date()


def _fits(stamp: Stamp, order: DateOrder, ahead: date) -> bool:
    year = stamp.numbers[_PLACES[order][0]]
    others = [stamp.numbers[place] for place in _PLACES[order][1:]]
    if any(number > 31 for number in others) or (stamp.points and order == "mdy"):
        return False
    if max(stamp.numbers) > 31 and year <= 31:
        return False
    day = stamp.day(order)
    return day is not None and FIRST <= day <= ahead


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


def read_whatsapp(path: Path, options: ReadingOptions = NO_OPTIONS) -> Iterator[Conversation]:
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
        words = _text_written(said, not seen, left_out)
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
        if word in _phrases()["morning"] or word in _phrases()["afternoon"]:
            half = "am" if word in _phrases()["morning"] else "pm"
        elif word and word not in _phrases()["between"]:
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


def _text_written(said: str, first: bool, left_out: LeftOut) -> str:
    """What somebody wrote: without the notes of WhatsApp, attached files by their names."""
    marked = said.startswith("\u200e")
    said = _without_edited(said)
    for attached in (_ATTACHED_IOS, _ATTACHED_ANDROID):
        said = attached.sub(lambda found: caption({"name": found["file"].strip(f" {MARKS_ALL}")}), said, 1)
    if _BRACKETED.match(said):
        left_out[MEDIA] += 1
        return _unmarked(_BRACKETED.sub("", said)).strip()  # what was written under the picture
    plain = _unmarked(said).strip()
    if reason := _why_left_out(plain, marked, first):
        left_out[reason] += 1
    return "" if reason else plain


def _why_left_out(plain: str, marked: bool, first: bool) -> str | None:
    """Why a text is none that somebody wrote; iOS marks what it writes itself, with a mark of direction in front."""
    low = plain.casefold().rstrip(".")
    if low in _phrases()["deleted"]:
        return DELETED
    if (marked or len(low.split()) == 2) and low.endswith(_phrases()["omitted"]):
        return MEDIA
    if low == "null" or (low.startswith(_phrases()["calls"]) and len(low.split()) < 8):
        return SYSTEM
    if (marked or first) and any(note in low for note in _phrases()["encryption"]):
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
    edited = end["note"].casefold().rstrip(".") in _phrases()["edited"]
    return said[: end.start()] if edited or "\u200e" in end["mark"] else said


@cache
def _phrases() -> Mapping[str, tuple[str, ...]]:
    text = files("everwhen.write.importers").joinpath("whatsapp.toml").read_text("utf-8")
    return {name: tuple(words) for name, words in tomllib.loads(text).items()}
