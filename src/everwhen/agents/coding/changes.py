"""Changes to the files of other programs: shown, done with a copy of what was there, and taken back."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everwhen.agents.coding.edited_text import (
    UnreadableSettings,
    with_block,
    with_item,
    with_member,
    with_table,
    without_block,
    without_items,
    without_member,
    without_table,
)
from everwhen.store.files.private import private_folder, write_private

HOOK = "agents/coding"
"""Stands in the command of every hook of ours, and shows that it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is written into a file, and how it is taken out again where the file has changed since."""

    path: Path
    into: Callable[[str], str]
    out_of: Callable[[str], str]


def member(path: Path, keys: tuple[str, ...], value: Any) -> Change:
    """A member of a JSON file."""
    return Change(path, lambda text: with_member(text, keys, value), lambda text: without_member(text, keys))


def hooks(path: Path, entries: Mapping[str, Any]) -> Change:
    """An entry for each event in the lists under `hooks` of a JSON file."""

    def into(text: str) -> str:
        for event, entry in entries.items():
            text = with_item(text, ("hooks", event), entry, _is_ours)
        return text

    def out_of(text: str) -> str:
        for event in entries:
            text = without_items(text, ("hooks", event), _is_ours)
        return text

    return Change(path, into, out_of)


def table(path: Path, name: str, values: Mapping[str, Any]) -> Change:
    """A table of a TOML file."""
    return Change(path, lambda text: with_table(text, name, values), lambda text: without_table(text, name))


def rules(path: Path, words: str) -> Change:
    """Our part of a Markdown file."""
    return Change(path, lambda text: with_block(text, words), without_block)


def whole(path: Path, words: str) -> Change:
    """A file that is ours alone."""
    return Change(path, lambda _: words, lambda _: "")


def _is_ours(entry: Any) -> bool:
    return HOOK in json.dumps(entry).replace("\\\\", "/") and "everwhen" in json.dumps(entry)


@dataclass(frozen=True, slots=True)
class Written:
    """A file before and after; None where there is none."""

    path: Path
    before: bytes | None
    after: bytes | None
    copy: Path | None = None

    @property
    def what(self) -> str:
        if self.before == self.after:
            return "as it was"
        return "new" if self.before is None else "removed" if self.after is None else "changed"

    def difference(self) -> str:
        """The lines that change, as `diff -u` shows them."""
        old, new = (
            (text or b"").decode("utf-8", "replace").splitlines() for text in (self.before, self.after)
        )
        return "\n".join(list(difflib.unified_diff(old, new, lineterm="", n=2))[2:])


class Setup:
    """The files of one tool, and what is noted of them in the home folder."""

    def __init__(self, changes: Iterable[Change], notes: Path) -> None:
        self._changes: dict[Path, list[Change]] = {}
        for change in changes:
            # A link to a file that lies elsewhere stays a link.
            self._changes.setdefault(change.path.resolve(), []).append(change)
        self._folder, self._notes = notes, notes / "files.json"

    def do(self, dry_run: bool = False) -> list[Written]:
        """Write all files, or none where one of them cannot be read."""
        planned = [
            self._planned(path, [one.into for one in several]) for path, several in self._changes.items()
        ]
        if dry_run:
            return planned
        noted = self._noted()
        done: list[Written] = []
        for one in planned:
            if one.before == one.after:
                done.append(one)
                continue
            known = noted.get(str(one.path))
            kept = self._copied(one) if one.before is not None else None
            untouched = known is None or known["after"] == _digest(one.before)
            noted[str(one.path)] = {
                "before": known["before"] if known else str(kept) if kept else None,
                # Where somebody else changed the file since, going back to the copy would lose their change.
                "after": _digest(one.after) if untouched else None,
                "folders": [*self._make_folders(one.path), *(known["folders"] if known else ())],
            }
            write_private(self._notes, json.dumps(noted, indent=1))
            _replace(one.path, one.after or b"")
            done.append(Written(one.path, one.before, one.after, kept))
        return done

    def undo(self, dry_run: bool = False) -> list[Written]:
        """Put every file back: from its copy where nobody changed it since, else without our part of it."""
        noted = self._noted()
        done: list[Written] = []
        for path, several in self._changes.items():
            known = noted.get(str(path))
            now = path.read_bytes() if path.exists() else None
            if known is not None and now is not None and known["after"] == _digest(now):
                copy = known["before"]
                one = Written(path, now, Path(copy).read_bytes() if copy else None)
            else:
                one = self._planned(path, [change.out_of for change in several])
                emptied = one.after != one.before and not (one.after or b"").strip()
                if emptied and (known is None or known["before"] is None):
                    one = Written(path, one.before, None)
            done.append(one)
        if not dry_run:
            for one in done:
                if one.after is None:
                    one.path.unlink(missing_ok=True)
                elif one.before != one.after:
                    _replace(one.path, one.after)
            _remove_empty(folder for known in noted.values() for folder in known["folders"])
            # The notes go; the copies stay, since nobody knows what they are still good for.
            self._notes.unlink(missing_ok=True)
        return done

    def _planned(self, path: Path, steps: list[Callable[[str], str]]) -> Written:
        before = path.read_bytes() if path.exists() else None
        try:
            text = (before or b"").decode("utf-8")
            mark = "\ufeff" if text.startswith("\ufeff") else ""
            text = text.removeprefix(mark)
            # Our lines end as all others do.
            windows = "\r\n" in text and "\n" not in text.replace("\r\n", "")
            text = text.replace("\r\n", "\n") if windows else text
            for step in steps:
                text = step(text)
        except (UnreadableSettings, UnicodeDecodeError) as error:
            reason = error if isinstance(error, UnreadableSettings) else "it is not UTF-8"
            raise UnreadableSettings(
                f"{path} was left as it is: {reason}; put it right, or move it away"
            ) from error
        made = (mark + (text.replace("\n", "\r\n") if windows else text)).encode()
        return Written(path, before, None if before is None and not made else made)

    def _copied(self, one: Written) -> Path:
        private_folder(self._folder)
        number = len(list(self._folder.glob("*.copy")))
        copy = self._folder / f"{number}-{one.path.name}.copy"
        copy.write_bytes(one.before or b"")
        copy.chmod(0o600)
        return copy

    def _make_folders(self, path: Path) -> list[str]:
        missing = [folder for folder in path.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700)
        return [str(folder) for folder in reversed(missing)]

    def _noted(self) -> dict[str, Any]:
        return json.loads(self._notes.read_text(encoding="utf-8")) if self._notes.exists() else {}


def _remove_empty(folders: Iterable[str]) -> None:
    """Folders that were made for files of ours, the innermost first; one that holds something else stays."""
    for folder in sorted(map(Path, folders), key=lambda one: len(one.parts), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


def _replace(path: Path, data: bytes) -> None:
    """New bytes for a file, all at once, with the rights that it had."""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    file, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(file, "wb") as out:
        out.write(data)
    Path(name).chmod(mode)
    Path(name).replace(path)
