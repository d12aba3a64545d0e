"""A table in a TOML file, and a marked part of a Markdown file: added, replaced and taken out, all else untouched."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from everwhen.coding_agents.json_text import UnreadableSettings

BEGIN, END = "<!-- everwhen: begin -->", "<!-- everwhen: end -->"
_BLOCK = re.compile(rf"\n*{re.escape(BEGIN)}.*?{re.escape(END)}\n?", re.DOTALL)


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
