"""Anthropic's memory tool over a bank: files under /memories, of which no version is lost.

The commands and their wording are those of `memory_20250818`: view, create, str_replace, insert, delete, rename.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everwhen.agents.adapters.documents import DocumentStore
from everwhen.api.operations.surface import Bank
from everwhen.errors import EverwhenError, UsageError
from everwhen.types.context import value

ROOT = "/memories"
LONGEST_FILE = 1_000_000
DEEPEST = 2
"""Levels of folders that a view of a folder shows."""
TOOL = {"type": "memory_20250818", "name": "memory"}


class MemoryFiles:
    """Files of a bank. `call` takes the input of a `memory` tool call and gives the text of its result.

    >>> files = memory.memory_files()  # doctest: +SKIP
    >>> files.call({"command": "create", "path": "/memories/a.txt", "file_text": "likes oat milk"})  # doctest: +SKIP
    'File created successfully at: /memories/a.txt'
    """

    def __init__(self, bank: Bank) -> None:
        self._shelf = DocumentStore(bank, "memories")

    @property
    def tool(self) -> dict[str, str]:
        """What goes into the `tools` of a message."""
        return dict(TOOL)

    def call(self, command: Mapping[str, Any]) -> str:
        """One command. What is wrong comes back as a sentence that begins with "Error"."""
        try:
            name = command.get("command")
            action = getattr(self, f"_{name}", None) if name in COMMANDS else None
            if action is None:
                raise UsageError(f"unknown command {str(name)[:60]!r}; there are: {', '.join(COMMANDS)}")
            return str(action(command))
        except EverwhenError as error:
            return f"Error: {error}"

    def results(self, content: Sequence[Any]) -> list[dict[str, Any]]:
        """The `tool_result` blocks for the calls of this tool in an assistant's message."""
        blocks = []
        for block in content:
            if value(block, "type") == "tool_use" and value(block, "name") == TOOL["name"]:
                text = self.call(value(block, "input") or {})
                result = {"type": "tool_result", "tool_use_id": value(block, "id"), "content": text}
                blocks.append(result | {"is_error": text.startswith("Error")})
        return blocks

    # The commands

    def _view(self, command: Mapping[str, Any]) -> str:
        path = _path(command.get("path"))
        files = {name: one.text for name, one in self._shelf.documents().items()}
        if path in files:
            return _numbered(path, files[path], command.get("view_range"))
        inside = [name for name in files if name.startswith(f"{path}/")]
        if not inside and path != ROOT:
            raise UsageError(f"The path {path} does not exist. Please provide a valid path.")
        lines = [
            f"Here're the files and directories up to {DEEPEST} levels deep in {path}, excluding hidden items:"
        ]
        lines.append(f"{_size(sum(len(files[name].encode()) for name in inside))}\t{path}")
        shown: dict[str, int] = {}
        for name in inside:
            parts = name.removeprefix(f"{path}/").split("/")
            for depth in range(1, min(len(parts), DEEPEST) + 1):
                below = f"{path}/{'/'.join(parts[:depth])}"
                shown[below] = shown.get(below, 0) + len(files[name].encode())
        lines += [f"{_size(size)}\t{name}" for name, size in sorted(shown.items())]
        return "\n".join(lines)

    def _create(self, command: Mapping[str, Any]) -> str:
        path = _file(command.get("path"))
        text = _text(command.get("file_text"), "file_text")
        files = self._shelf.documents()
        if path in files:
            raise UsageError(f"File {path} already exists")
        _no_folder(path, files)
        self._shelf.put(path, text)
        return f"File created successfully at: {path}"

    def _str_replace(self, command: Mapping[str, Any]) -> str:
        path, text = self._existing(command)
        old = _text(command.get("old_str"), "old_str")
        new = _text(command.get("new_str") or "", "new_str")
        if not old or old not in text:
            raise UsageError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if text.count(old) > 1:
            places = [str(n) for n, line in enumerate(text.split("\n"), 1) if old.split("\n")[0] in line]
            raise UsageError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(places)}. Please ensure it is unique"
            )
        changed = text.replace(old, new)
        self._put(path, changed)
        line = text[: text.index(old)].count("\n") + 1
        around = changed.split("\n")[max(0, line - 3) : line + 3 + new.count("\n")]
        first = max(1, line - 2)
        return "The memory file has been edited.\n" + "\n".join(
            f"{number:6d}\t{words}" for number, words in enumerate(around, first)
        )

    def _insert(self, command: Mapping[str, Any]) -> str:
        path, text = self._existing(command)
        lines = text.split("\n") if text else []
        place = command.get("insert_line")
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place <= len(lines):
            raise UsageError(
                f"Invalid `insert_line` parameter: {place}. It should be within the range of lines of the file: "
                f"[0, {len(lines)}]"
            )
        added = _text(command.get("insert_text"), "insert_text").rstrip("\n").split("\n")
        self._put(path, "\n".join([*lines[:place], *added, *lines[place:]]))
        return f"The file {path} has been edited."

    def _delete(self, command: Mapping[str, Any]) -> str:
        path = _file(command.get("path"))
        deleted = self._below(path)
        for name in deleted:
            self._shelf.remove(name)
        return f"Successfully deleted {path}"

    def _rename(self, command: Mapping[str, Any]) -> str:
        old, new = _file(command.get("old_path")), _file(command.get("new_path"))
        files = self._shelf.documents()
        moved = self._below(old)
        if new == old or new.startswith(f"{old}/"):
            raise UsageError(f"{old} cannot be moved to {new}")
        if new in files or any(name.startswith(f"{new}/") for name in files):
            raise UsageError(f"The destination {new} already exists")
        _no_folder(new, {name: one for name, one in files.items() if name not in moved})
        for name in moved:
            self._shelf.put(new + name.removeprefix(old), files[name].text)
            self._shelf.remove(name)
        return f"Successfully renamed {old} to {new}"

    def _existing(self, command: Mapping[str, Any]) -> tuple[str, str]:
        path = _file(command.get("path"))
        found = self._shelf.documents().get(path)
        if found is None:
            raise UsageError(f"The path {path} does not exist. Please provide a valid path.")
        return path, found.text

    def _below(self, path: str) -> list[str]:
        """The file itself, or all files of a folder."""
        found = [name for name in self._shelf.documents() if name == path or name.startswith(f"{path}/")]
        if not found:
            raise UsageError(f"The path {path} does not exist. Please provide a valid path.")
        return found

    def _put(self, path: str, text: str) -> None:
        self._shelf.put(path, _text(text, "file"))


COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")


def _path(given: Any) -> str:
    """A path under /memories, with nothing that could lead out of it."""
    if not isinstance(given, str) or not given:
        raise UsageError("a path is needed, such as /memories/notes.txt")
    path = given.rstrip("/")
    parts = path.split("/")[1:]
    wrong = any(part in ("", ".", "..") or "\\" in part or "%2e" in part.lower() for part in parts)
    if parts[:1] != ["memories"] or wrong or not path.isprintable():
        raise UsageError(f"Path must be under {ROOT}, and {given[:100]!r} is not")
    if len(path) > 500:
        raise UsageError("the path has more than 500 characters")
    return path


def _file(given: Any) -> str:
    path = _path(given)
    if path == ROOT:
        raise UsageError(f"{ROOT} itself cannot be written, moved or deleted")
    return path


def _no_folder(path: str, files: Mapping[str, object]) -> None:
    """That a new file stands neither where a folder is nor below another file."""
    if any(name.startswith(f"{path}/") for name in files):
        raise UsageError(f"{path} is a directory")
    parent = path.rpartition("/")[0]
    while parent and parent != ROOT:
        if parent in files:
            raise UsageError(f"{parent} is a file, not a directory")
        parent = parent.rpartition("/")[0]


def _text(given: Any, what: str) -> str:
    if not isinstance(given, str):
        raise UsageError(f"{what} must be text")
    if len(given) > LONGEST_FILE:
        raise UsageError(f"{what} has {len(given):,} characters; a file has at most {LONGEST_FILE:,}")
    return given


def _numbered(path: str, text: str, view_range: Any) -> str:
    lines = text.split("\n")
    first, last = 1, len(lines)
    if view_range is not None:
        if not (
            isinstance(view_range, Sequence)
            and len(view_range) == 2
            and all(isinstance(one, int) and not isinstance(one, bool) for one in view_range)
        ):
            raise UsageError("view_range is a pair of line numbers, such as [1, 20]")
        first, last = view_range
        last = len(lines) if last == -1 else min(last, len(lines))
        if not 1 <= first <= len(lines) or last < first:
            raise UsageError(f"view_range {list(view_range)} lies outside of the lines 1 to {len(lines)}")
    numbered = "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines[first - 1 : last], first))
    return f"Here's the content of {path} with line numbers:\n{numbered}"


def _size(count: int) -> str:
    return f"{count / 1024:.1f}K" if count >= 1024 else f"{count}B"
