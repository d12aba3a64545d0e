"""What the transcripts of coding agents have in common: one JSON object a line, calls of tools, memories in prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.store.files.json_values import lines, parsed
from everwhen.types import Message
from everwhen.types.messages.message_parts import as_text
from everwhen.write.echo import Echoes, given_back
from everwhen.write.importers.conversation import LeftOut, ReadingOptions, checked
from everwhen.write.machine_text import bounded

NO_MESSAGES = "lines that are no messages (settings, titles, snapshots)"
BY_THE_PROGRAM = "messages that the program wrote itself (instructions, reminders, commands)"
THOUGHTS = "thoughts of the model"
GIVEN_BACK = "answers and repetitions of what a recall had given back"
NO_RESULT = "calls of tools without a result"
MOST_CALLS = 1000
"""Calls that wait for their result: a file can hold any number of calls that never ended."""

# Tags of programs have names of several words; those of HTML, which people do paste, have one.
_MARKUP = re.compile(
    r"<([a-z]+[_-][\w-]*|skill|instructions)(?:\s[^<>]*)?>.*?</\1>\s*", re.DOTALL | re.IGNORECASE
)


def is_markup(text: str) -> bool:
    """Whether a text is nothing but `<some-tag>…</some-tag>`: programs wrap their notes so, and nobody types it."""
    return bool(text.strip()) and not _MARKUP.sub("", text.strip()).strip()


class AgentTranscript:
    """Makes messages of one transcript: bounded, without what a recall gave back, tools with what they were asked."""

    def __init__(self, path: Path, options: ReadingOptions, left_out: LeftOut) -> None:
        self._path = path
        self._zone = options.zone
        self.left_out = left_out
        self._echoes = Echoes(options.echo_words)
        self._calls: dict[str, tuple[str, str]] = {}

    def records(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        """The objects of the file, each with its place; at the end, what never came to an end is counted.

        A line that is no JSON is left out: a program that is writing leaves its last line unfinished, and one that
        crashed leaves one in the middle. A file that begins with one is another kind of file.
        """
        first = True
        for number, line in lines(self._path):
            where = f"{self._path}, line {number}"
            try:
                one = parsed(line)
            except ValueError as error:
                if first:
                    what = error.msg if isinstance(error, json.JSONDecodeError) else error
                    raise UsageError(f"{where} is not valid JSON: {what}") from error
                self.left_out["lines that are not complete"] += 1
                continue
            first = False
            if isinstance(one, Mapping):
                yield one, where
            else:
                self.left_out[NO_MESSAGES] += 1
        if self._calls:
            self.left_out[NO_RESULT] += len(self._calls)

    def note(self, content: Any) -> None:
        """Look for memories in what the program put into the prompt; it is no message itself."""
        if self._echoes.words:
            self._echoes.give_back(given_back(as_text(content)))

    def say(self, raw: Mapping[str, Any], where: str) -> Iterator[Message]:
        """One message, where something new is left of it. A zone that the caller named comes first."""
        if not str(raw["content"]).strip():
            return
        whole = bounded(checked({**raw, "zone": self._zone or raw.get("zone")}, where))
        left = self._echoes.cut(whole)
        if left is None:
            self.left_out[GIVEN_BACK] += 1
        else:
            yield left

    def call(self, id_: Any, name: Any, call: Mapping[str, Any]) -> None:
        """Keep what a tool was asked until its result comes."""
        self._calls[str(id_)] = (str(name or "tool"), as_text(call))
        if len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]
            self.left_out[NO_RESULT] += 1

    def result(self, id_: Any, output: Any, raw: Mapping[str, Any], where: str) -> Iterator[Message]:
        """A tool's result as a message of the tool, with the call in front."""
        name, call = self._calls.pop(str(id_), ("tool", ""))
        words = as_text(output)
        if self._echoes.words and (shown := given_back(words)):
            self._echoes.give_back(shown)
            self.left_out[GIVEN_BACK] += 1
            return
        yield from self.say(
            {**raw, "role": "tool", "name": name, "content": f"{call}\n{words}".strip()}, where
        )
