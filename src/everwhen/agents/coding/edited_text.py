"""Texts changed in places, while all else stays as it is written: JSON as people keep it, with comments and commas at
the end; a table in a TOML file; a marked part of a Markdown file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everwhen.errors import EverwhenError

_GAP = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[-+.\w]+")
BEGIN, END = "<!-- everwhen: begin -->", "<!-- everwhen: end -->"
_BLOCK = re.compile(rf"\n*{re.escape(BEGIN)}.*?{re.escape(END)}\n?", re.DOTALL)


class UnreadableSettings(EverwhenError):
    """Settings of another program that are not what they should be; they are left as they are."""


@dataclass(slots=True)
class Node:
    """A value and where it stands: `start` is its key's place where it has one, `value_start` its own."""

    start: int
    value_start: int
    end: int
    value: Any
    members: dict[str, Node] | None = None
    items: list[Node] = field(default_factory=list)
    ends_with_comma: bool = False

    @property
    def inside(self) -> list[Node]:
        return list(self.members.values()) if self.members is not None else self.items


def parse(text: str) -> Node:
    """The value that a text holds, comments and trailing commas allowed."""
    try:
        at = _gap(text, 0)
        node = _value(text, at, at)
        if _gap(text, node.end) != len(text):
            raise ValueError("there is more behind its end")
    except (ValueError, IndexError, RecursionError) as error:
        why = error if isinstance(error, ValueError) else "it ends too early, or is nested too deeply"
        raise UnreadableSettings(f"it is not JSON ({why})") from error
    return node


def with_member(text: str, keys: tuple[str, ...], value: Any) -> str:
    """The text with a member at a path of keys; objects that are missing are made."""
    if not text.strip():
        text = "{}\n"
    node = parse(text)
    for depth, key in enumerate(keys):
        members = _members(node, keys[:depth])
        if key not in members:
            for missing in reversed(keys[depth + 1 :]):
                value = {missing: value}
            return _inserted(text, node, f"{json.dumps(key)}: ", value)
        node = members[key]
    if node.value == value:
        return text
    written = _written(value, _indent_at(text, node.start))
    return text[: node.value_start] + written + text[node.end :]


def without_member(text: str, keys: tuple[str, ...]) -> str:
    """The text without a member, and without the objects above it that only held it."""
    if not text.strip():
        return text
    above = [parse(text)]
    for key in keys:
        if not above[-1].members or key not in above[-1].members:
            return text
        above.append(above[-1].members[key])
    while len(above) > 2 and len(above[-2].inside) == 1:
        above.pop()
    return _removed(text, above[-2], above[-1])


def with_item(text: str, keys: tuple[str, ...], value: Any, ours: Callable[[Any], bool]) -> str:
    """The text with an item in a list: once, in place of an older one that is ours."""
    if not text.strip():
        text = "{}\n"
    node = _at(parse(text), keys)
    if node is not None and [one.value for one in node.items if ours(one.value)] == [value]:
        return text
    text = without_items(text, keys, ours)
    node = _at(parse(text), keys)
    if node is None:
        return with_member(text, keys, [value])
    if not isinstance(node.value, list):
        raise UnreadableSettings(f"'{'.'.join(keys)}' in it is no list")
    return _inserted(text, node, "", value)


def without_items(text: str, keys: tuple[str, ...], ours: Callable[[Any], bool]) -> str:
    """The text without the items of a list that are ours, and without the list where nothing else is in it."""
    if not text.strip():
        return text
    while (node := _at(parse(text), keys)) is not None:
        mine = [one for one in node.items if ours(one.value)]
        if not mine:
            return text
        if len(node.items) == 1:
            return without_member(text, keys)
        text = _removed(text, node, mine[-1])
    return text


def _at(node: Node, keys: tuple[str, ...]) -> Node | None:
    for depth, key in enumerate(keys):
        members = _members(node, keys[:depth])
        if key not in members:
            return None
        node = members[key]
    return node


def _members(node: Node, path: tuple[str, ...]) -> dict[str, Node]:
    if node.members is None:
        raise UnreadableSettings(f"{repr('.'.join(path)) + ' in it' if path else 'it'} is no JSON object")
    return node.members


def _gap(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at


def _value(text: str, start: int, at: int) -> Node:
    if text[at] in "{[":
        return _several(text, start, at)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if not found:
        raise ValueError(f"line {text.count(chr(10), 0, at) + 1}")
    return Node(start, at, found.end(), json.loads(found[0], strict=False))


def _several(text: str, start: int, opened: int) -> Node:
    closing = "}" if text[opened] == "{" else "]"
    members: dict[str, Node] = {}
    items: list[Node] = []
    at = _gap(text, opened + 1)
    comma = True
    while text[at] != closing:
        if not comma:
            raise ValueError(f"line {text.count(chr(10), 0, at) + 1}: a comma is missing")
        if closing == "}":
            key = _STRING.match(text, at)
            colon = _gap(text, key.end()) if key else at
            if not key or text[colon] != ":":
                raise ValueError(f"line {text.count(chr(10), 0, at) + 1}")
            one = _value(text, at, _gap(text, colon + 1))
            members[json.loads(key[0], strict=False)] = one
        else:
            one = _value(text, at, at)
            items.append(one)
        at = _gap(text, one.end)
        if comma := text[at] == ",":
            at = _gap(text, at + 1)
    ends = comma and bool(members or items)
    if closing == "}":
        return Node(
            start, opened, at + 1, {key: one.value for key, one in members.items()}, members, [], ends
        )
    return Node(start, opened, at + 1, [one.value for one in items], None, items, ends)


def _indent_at(text: str, place: int) -> str:
    """The white space that the line of a place begins with."""
    line = text.rfind("\n", 0, place) + 1
    return text[line : len(text) - len(text[line:].lstrip(" \t"))]


def _step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _written(value: Any, indent: str, step: str = "  ") -> str:
    return json.dumps(value, ensure_ascii=False, indent=step).replace("\n", f"\n{indent}")


def _inserted(text: str, into: Node, key: str, value: Any) -> str:
    """A member or an item more, behind the last one."""
    outer, step = _indent_at(text, into.start), _step(text)
    inner = outer + step
    closing = into.end - 1
    kept = text[:closing].rstrip()
    if into.inside and not into.ends_with_comma:
        last = into.inside[-1].end
        kept = f"{kept[:last]},{kept[last:]}"
    return f"{kept}\n{inner}{key}{_written(value, inner, step)}\n{outer}{text[closing:]}"


def _removed(text: str, within: Node, one: Node) -> str:
    """A member or an item less, with its comma and its line."""
    siblings = within.inside
    place = next(number for number, other in enumerate(siblings) if other is one)
    start, end = len(text[: one.start].rstrip(" \t")), one.end
    after = _gap(text, end)
    before = text[:start]
    if text[after] == ",":
        end = after + 1
    elif place:  # the last one: the comma before it goes too
        comma = _gap(text, siblings[place - 1].end)
        before = text[:comma] + text[comma + 1 : start]
    rest = text[end:]
    # A line of its own goes whole; the end of a line stays, since a comment may stand before it.
    if before.endswith("\n") and rest.lstrip(" \t").startswith("\n"):
        before = before[:-1]
    return before + rest


def with_table(text: str, name: str, values: Mapping[str, str | int | Sequence[str]]) -> str:
    """The TOML text with a table at its end, in place of an older one of this name."""
    read = _read_toml(text)
    node: object = read
    for part in name.split("."):
        node = node.get(part) if isinstance(node, dict) else None
    if node == {key: list(one) if isinstance(one, list | tuple) else one for key, one in values.items()}:
        return text
    kept = without_table(text, name).rstrip("\n")
    lines = [f"[{name}]", *(f"{key} = {json.dumps(one, ensure_ascii=False)}" for key, one in values.items())]
    made = (f"{kept}\n\n" if kept else "") + "\n".join(lines) + "\n"
    _read_toml(made)
    return made


def without_table(text: str, name: str) -> str:
    """The TOML text without a table and the tables under it."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        if header:
            plain = header[1].replace('"', "").replace(" ", "")
            inside = plain == name or plain.startswith(f"{name}.")
            if inside and kept and not kept[-1].strip():
                kept.pop()  # the empty line that stood before it
        if not inside or line.lstrip().startswith("#"):  # we write no comments
            kept.append(line)
    return "".join(kept)


def _read_toml(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UnreadableSettings(f"it is not TOML ({error})") from error


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
