"""Notes in Markdown, `MEMORY.md` and `CLAUDE.md` among them: each section is one message, under its headings.

A section's date is that of a heading above it, else of the front matter, else of the file's name. Where there is
none, it is the caller's `at`, else the time at which the file was changed last: so it stood then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import chain, islice
from pathlib import Path

from everwhen.store.files.json_values import lines
from everwhen.types import Message
from everwhen.types.times import iso_instant
from everwhen.write.foreign_text import bounded
from everwhen.write.importers.conversation import LeftOut, ReadingOptions, checked, stable_id, zoned

LONGEST_SECTION = 4_000
"""Characters from which a section goes on as another message, at its next empty line."""
LARGEST_SECTION = 1_000_000
"""Characters from which it does so anywhere: a file may have no empty line."""
MOST_FRONT = 200
"""Lines of front matter at the most: more is a text that begins with a rule."""
UNDATED = "sections have no date of their own and count as written when the file was last changed"

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_DATE = re.compile(r"(?<!\d)(\d{4})([-_.]?)(\d\d)\2(\d\d)(?!\d)")
_DATE_KEYS = ("date", "created", "created_at", "updated", "modified")
_FRONT = re.compile(r"^([\w-]+)\s*:\s*(.*?)\s*$")
_MARK = re.compile(r"^(?:#{1,6}\s+\S|[-*+]\s+\S|\d+\.\s+\S|>\s|```|~~~|---\s*$|\|.*\|)")


def is_markdown(line: str) -> bool:
    return bool(_MARK.match(line))


@dataclass(slots=True)
class _Note:
    """What is known of a file while it is read."""

    session: str
    dated: str | None
    headings: list[tuple[int, str]] = field(default_factory=list)
    """Each with its level."""
    dates: list[tuple[int, str]] = field(default_factory=list)
    """Those of headings, each with the level of its heading."""
    seen: Counter[str] = field(default_factory=Counter)

    def heading(self, level: int, title: str) -> None:
        self.headings = [one for one in self.headings if one[0] < level] + [(level, title)]
        self.dates = [one for one in self.dates if one[0] < level]
        if found := _date_in(title):
            self.dates.append((level, found))


def markdown_messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The sections of one file, as one session named after its folder and its name."""
    text, front = _after_front(path)
    written = next((found for key in _DATE_KEYS if (found := _instant_in(front.get(key, "")))), None)
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    name = options.name or path.name
    session = name.split(".", 1)[0]
    if options.name is None:
        session = f"{path.resolve().parent.name}/{session}"
    note = _Note(session, written or _date_in(name))
    title = {"title": front["title"]} if front.get("title") else {}
    body: list[str] = []
    start, size, code = 1, 0, False

    def section() -> Iterator[Message]:
        words = re.sub(r"<!--.*?-->", "", "".join(body), flags=re.DOTALL).strip()
        if not words:
            return
        under = " > ".join(title for _, title in note.headings)
        whole = f"{under}\n{words}" if under else words
        note.seen[whole] += 1
        dated = note.dates[-1][1] if note.dates else note.dated
        if dated is None and options.at is None:
            left_out.notes[UNDATED] += 1
        where = f"{path}, line {start}"
        raw = {
            "content": whole,
            "timestamp": zoned(dated, options.zone, where) or options.at or changed,
            "zone": options.zone,
            "id": stable_id(note.session, whole, str(note.seen[whole])),
            "session": note.session,
            "metadata": {"file": name, **title},
        }
        yield bounded(checked(raw, where))

    for number, line in text:
        code ^= bool(_FENCE.match(line))
        heading = None if code else _HEADING.match(line)
        ends = not code and not line.strip()
        if heading or size > (LONGEST_SECTION if ends else LARGEST_SECTION):
            yield from section()
            body, start, size = [], number, 0
        if heading:
            note.heading(len(heading[1]), heading[2])
        else:
            body.append(line.rstrip("\r\n") + "\n")
            size += len(line)
    yield from section()


def _after_front(path: Path) -> tuple[Iterator[tuple[int, str]], dict[str, str]]:
    """The lines behind the front matter, and what that says: `key: value`, one a line."""
    text = lines(path, blank=True)
    held = list(islice(text, 1))
    front: dict[str, str] = {}
    if held and held[0][1].strip() == "---":
        for one in text:
            held.append(one)
            if one[1].strip() in ("---", "...") or len(held) > MOST_FRONT:
                break
            if found := _FRONT.match(one[1]):
                front[found[1].lower()] = found[2].strip("\"'")
        if held[-1][1].strip() in ("---", "...") and len(held) > 1:
            return text, front
    return chain(held, text), {}


def _instant_in(words: str) -> str | None:
    """A time of the front matter: ISO 8601, else a date somewhere in it."""
    try:
        iso_instant(words)
    except ValueError:
        return _date_in(words)
    return words


def _date_in(words: str) -> str | None:
    """An ISO date in a name or a heading; `20250502` counts too."""
    for found in _DATE.finditer(words):
        try:
            return date(int(found[1]), int(found[3]), int(found[4])).isoformat()
        except ValueError:
            continue
    return None
