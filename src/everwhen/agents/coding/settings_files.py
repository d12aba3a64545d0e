"""Settings of other programs: changed in places with their comments kept, shown, copied, and put back.

json-five edits JSON as people keep it (comments, commas at the end), tomlkit edits TOML. What they could not keep is
refused: a file is left as it is rather than lose a comment. The libraries are loaded when a file is edited.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from everwhen.errors import EverwhenError
from everwhen.store.files.private import private_folder, write_private

if TYPE_CHECKING:
    from json5.model import Comment, JSONArray, JSONObject, JSONText, Node, Value

    Space: TypeAlias = list[str | Comment]
    """White space and comments around a value."""

HOOK = "agents/coding"
"""Stands in the command of every hook of ours, and shows that it is."""
BEGIN, END = "<!-- everwhen: begin -->", "<!-- everwhen: end -->"
_BLOCK = re.compile(rf"\n*{re.escape(BEGIN)}.*?{re.escape(END)}\n?", re.DOTALL)


class UnreadableSettings(EverwhenError):
    """Settings of another program that are not what they should be; they are left as they are."""


# JSON


def read_json(text: str) -> Any:
    """The value that a text holds, comments and trailing commas allowed."""
    return _plain_value(_parsed(text).value)


def with_member(text: str, keys: tuple[str, ...], value: Any) -> str:
    """The text with a member at a path of keys; objects that are missing are made."""
    root = _parsed(text)
    node, step = root.value, _step(text)
    for depth, key in enumerate(keys):
        above, place = _members(node, keys[:depth]), _member_index(node, key)
        if place is None:
            for missing in reversed(keys[depth + 1 :]):
                value = {missing: value}
            _insert(above, value, step, depth, key)
            return _written(root, text)
        at, node = place, above.values[place]
    if _plain_value(node) == value:
        return text
    made = _made(value, step, len(keys))
    made.wsc_before, made.wsc_after = node.wsc_before, node.wsc_after
    above.values[at] = made
    return _written(root, text, node)


def without_member(text: str, keys: tuple[str, ...]) -> str:
    """The text without a member, and without the objects above it that only held it."""
    if not text.strip():
        return text
    root = _parsed(text)
    path: list[tuple[JSONObject, int]] = []
    node: Value = root.value
    for key in keys:
        place = _member_index(node, key)
        if place is None:
            return text
        path.append((node, place))  # type: ignore[arg-type]
        node = node.values[place]  # type: ignore[attr-defined]
    while len(path) > 1 and len(path[-1][0].values) == 1 and not _comments(path[-1][0]):
        path.pop()
    removed = _remove(*path[-1])
    return _written(root, text, removed)


def with_item(text: str, keys: tuple[str, ...], value: Any, ours: Callable[[Any], bool]) -> str:
    """The text with an item in a list: once, in place of an older one that is ours."""
    node = _at(_parsed(text), keys)
    items = getattr(node, "values", []) if node is not None else []
    if [one for one in map(_plain_value, items) if ours(one)] == [value]:
        return text
    text = without_items(text, keys, ours)
    root = _parsed(text)
    node = _at(root, keys)
    if node is None:
        return with_member(text, keys, [value])
    if hasattr(node, "keys") or not hasattr(node, "values"):
        raise UnreadableSettings(f"'{'.'.join(keys)}' in it is no list")
    _insert(node, value, _step(text), len(keys))
    return _written(root, text)


def without_items(text: str, keys: tuple[str, ...], ours: Callable[[Any], bool]) -> str:
    """The text without the items of a list that are ours, and without the list where nothing else is in it."""
    while text.strip():
        root = _parsed(text)
        node = _at(root, keys)
        items = getattr(node, "values", []) if node is not None else []
        place = next((place for place, one in enumerate(items) if ours(_plain_value(one))), None)
        if node is None or place is None:
            return text
        if len(items) == 1:
            return without_member(text, keys)
        removed = _remove(node, place)
        text = _written(root, text, removed)
    return text


def _parsed(text: str) -> JSONText:
    from json5 import loads
    from json5.loader import ModelLoader

    text = text if text.strip() else "{}\n"
    try:
        root: JSONText = loads(text, loader=ModelLoader())
        is_kept = _dumped(root) == text
    except (ValueError, RecursionError, AssertionError) as error:
        why = " ".join(str(error).split()) or "it is nested too deeply"
        raise UnreadableSettings(f"it is not JSON ({why[:100]})") from error
    if not is_kept:
        raise UnreadableSettings("it is written in a way that could not be kept")
    return root


def _dumped(node: JSONText) -> str:
    from json5.dumper import ModelDumper, dumps

    return str(dumps(node, dumper=ModelDumper()))  # type: ignore[arg-type]


def _written(root: JSONText, before: str, removed: Node | None = None) -> str:
    """The text of a model that was changed: one that can be read, and lost no comment but those of what went."""
    after = _dumped(root)
    lost = Counter(_comments(_parsed(before))) - Counter(_comments(_parsed(after)))
    if lost - Counter(_comments(removed) if removed is not None else ()):
        raise UnreadableSettings("its comments could not be kept")
    return after


def _plain_value(node: Value) -> Any:
    from json5.loader import DefaultLoader

    return DefaultLoader().load(node)


def _comments(node: Node) -> list[str]:
    """The comments in a value and around it."""
    from json5.model import Comment, walk

    return [
        one.value
        for part in walk(node)
        for space in (part.wsc_before, getattr(part, "leading_wsc", []), part.wsc_after)
        for one in space
        if isinstance(one, Comment)
    ]


def _at(root: JSONText, keys: tuple[str, ...]) -> Any:
    node: Any = root.value
    for depth, key in enumerate(keys):
        place = _member_index(_members(node, keys[:depth]), key)
        if place is None:
            return None
        node = node.values[place]
    return node


def _members(node: Any, path: tuple[str, ...]) -> JSONObject:
    if not hasattr(node, "keys"):
        raise UnreadableSettings(f"{repr('.'.join(path)) + ' in it' if path else 'it'} is no JSON object")
    members: JSONObject = node
    return members


def _member_index(node: Any, key: str) -> int | None:
    """Which member of an object has a key."""
    names = [
        getattr(one, "characters", None) or getattr(one, "name", "") for one in getattr(node, "keys", ())
    ]
    return len(names) - 1 - names[::-1].index(key) if key in names else None


def _step(text: str) -> str:
    """What one level is indented by."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _made(value: Any, step: str, depth: int) -> Value:
    text = json.dumps(value, ensure_ascii=False, indent=step).replace("\n", f"\n{step * depth}")
    made: Value = _parsed(text).value
    return made


def _insert(into: JSONObject | JSONArray, value: Any, step: str, depth: int, key: str | None = None) -> None:
    """A member or an item more, behind the last one; comments that stand there stay before it."""
    from json5.model import DoubleQuotedString

    inner, outer = f"\n{step * (depth + 1)}", f"\n{step * depth}"
    if into.trailing_comma is not None:
        gap, into.trailing_comma = into.trailing_comma.wsc_after, None
    elif into.values:
        gap, into.values[-1].wsc_after = into.values[-1].wsc_after, []
    else:
        gap, into.leading_wsc = into.leading_wsc, []
    made = _made(value, step, depth + 1)
    made.wsc_after = [outer]
    first: Node = made
    if key is not None:
        first = DoubleQuotedString(key, json.dumps(key, ensure_ascii=False))
        made.wsc_before = [" "]
        into.keys.append(first)  # type: ignore[union-attr]
    first.wsc_before = _joined(gap, [inner])
    into.values.append(made)


def _remove(within: JSONObject | JSONArray, place: int) -> Value:
    """A member or an item less; the comments around it stay."""
    keys: list[Any] = getattr(within, "keys", within.values)
    before, removed = keys[place].wsc_before, within.values[place]
    after, removed.wsc_after = removed.wsc_after, []
    keys[place].wsc_before = []
    del within.values[place]
    if keys is not within.values:
        del keys[place]
    if place < len(keys):
        keys[place].wsc_before = _joined(before, _joined(after, keys[place].wsc_before))
    elif keys:
        within.values[-1].wsc_after = _joined(within.values[-1].wsc_after, _joined(before, after))
    else:
        if within.trailing_comma is not None:
            after, within.trailing_comma = _joined(after, within.trailing_comma.wsc_after), None
        within.leading_wsc = _joined(within.leading_wsc, after)
    return removed


def _joined(first: Space, second: Space) -> Space:
    """White space and comments one after the other; white space alone gives way."""
    from json5.model import Comment, LineComment

    comments = [place for place, one in enumerate(first) if isinstance(one, Comment)]
    if not comments:
        return second or first
    kept = first[: comments[-1] + 1]
    needs_end = isinstance(kept[-1], LineComment) and not (second and str(second[0]).startswith("\n"))
    return [*kept, *(["\n"] if needs_end else []), *second]


# TOML


def with_table(text: str, name: str, values: Mapping[str, str | int | Sequence[str]]) -> str:
    """The TOML text with a table, in place of an older one of this name."""
    import tomlkit

    document = _read_toml(text)
    *above, last = name.split(".")
    parent: Any = document
    for part in above:
        if part not in parent:
            parent[part] = tomlkit.table(is_super_table=True)
        parent = parent[part]
    wanted = {key: list(one) if isinstance(one, list | tuple) else one for key, one in values.items()}
    if last in parent and parent[last].unwrap() == wanted:
        return text
    if last in parent:
        return with_table(without_table(text, name), name, values)
    made = tomlkit.table()
    made.update(wanted)
    parent[last] = made
    return _written_toml(document, text)


def without_table(text: str, name: str) -> str:
    """The TOML text without a table and the tables under it. We write no comments: those in it stay, at the end."""
    import tomlkit
    from tomlkit.items import Comment

    document = _read_toml(text)
    *above, last = name.split(".")
    path: list[Any] = [document]
    for part in above:
        if part not in path[-1]:
            return text
        path.append(path[-1][part])
    if last not in path[-1]:
        return text
    comments = [one for _, one in path[-1][last].value.body if isinstance(one, Comment)]
    del path[-1][last]
    for part, parent in zip(reversed(above), reversed(path[:-1]), strict=True):
        if not parent[part]:
            del parent[part]
    for one in comments:
        document.add(tomlkit.comment(one.as_string().strip().removeprefix("#").strip()))
    made = _written_toml(document, text).rstrip("\n")  # without the empty line that stood before the table
    return f"{made}\n" if made else ""


def _read_toml(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise UnreadableSettings(f"it is not TOML ({error})") from error


def _written_toml(document: Any, before: str) -> str:
    """The text of a document that was changed: one that can be read, and lost no comment."""
    after = str(document.as_string())
    _read_toml(after)
    lost = Counter(re.findall(r"#[^\n]*", before)) - Counter(re.findall(r"#[^\n]*", after))
    if lost:
        raise UnreadableSettings("its comments could not be kept")
    return after


# Markdown


def with_block(text: str, words: str) -> str:
    """The Markdown text with our part at its end, in place of an older one."""
    block = f"{BEGIN}\n{words.strip()}\n{END}\n"
    if block in text:
        return text
    kept = without_block(text)
    return f"{kept.rstrip()}\n\n{block}" if kept.strip() else block


def without_block(text: str) -> str:
    """The Markdown text without our part."""
    return _BLOCK.sub(lambda found: "\n" if found.start() else "", text)


# Files


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
                f"{path} was left as it is: {reason}; correct it, or move it away"
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
