"""What is done around a call of a model: recall before it, remember after it. Nothing here raises."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from everwhen.api.operations.surface import Bank
from everwhen.settings import CONTEXT_TOKENS, ECHO_WORDS
from everwhen.types import Context
from everwhen.write.foreign_text import without_echo

log = logging.getLogger("everwhen")

LONGEST_TOOL_TEXT = 2000
"""Characters that are kept of what a tool said: enough to find it again, not a whole file."""
LONGEST_QUERY = 2000
"""Characters of what the user said that memories are looked for with; more would be a pasted document."""
LONGEST_SHOWN = 20_000
"""Characters of a text that is looked for among the memories; a longer one would not be recalled anyway."""
MOST_SHOWN = 500
"""Texts of a conversation, the last ones, that are not recalled since the model sees them."""
REPEATED = timedelta(minutes=10)
"""The same request within this time is an answer that was asked for again, and nobody said anything new."""
MOST_CONVERSATIONS = 256
"""Conversations whose beginning is known."""
RECENT = 16
"""Calls whose memories are recognised when a model repeats them."""


@dataclass(frozen=True, slots=True)
class Said:
    query: str
    """The last words of the user; empty where there are none."""
    new: tuple[Mapping[str, Any], ...]
    """The messages since the model spoke last."""
    texts: tuple[str, ...]
    """All that the model sees of the conversation, in order."""
    first: str = ""
    """The first words of the user, by which a conversation is known again."""
    is_answered: bool = False
    """Whether the model has spoken in this conversation."""
    goes_on: bool = False
    """Whether the user spoke before the model called tools, whose results are all that is new."""


@dataclass
class Remembering:
    """One memory around one client. Safe to use from several threads."""

    bank: Bank
    clock: Callable[[], datetime]
    session: str | None = None
    name: str | None = None
    max_tokens: int = CONTEXT_TOKENS
    on_recall: Callable[[Context], object] | None = None
    echo_words: int = ECHO_WORDS
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _contexts: OrderedDict[str, Context] = field(default_factory=OrderedDict)
    _began: OrderedDict[str, datetime] = field(default_factory=OrderedDict)
    _kept: OrderedDict[tuple[str, ...], datetime] = field(default_factory=OrderedDict)
    _given: deque[tuple[str, ...]] = field(default_factory=lambda: deque(maxlen=RECENT))

    def recalled(self, said: Said) -> Context | None:
        """What to put into the prompt; None where there is nothing, or where the memory fails.

        While a model calls tools, the memories stay those of the first call: the prompt keeps its beginning.
        """
        try:
            return self._recalled(said)
        except Exception as error:
            log.warning("nothing was recalled for this call, which goes on without: %s", error)
            return None

    def _recalled(self, said: Said) -> Context | None:
        query = said.query[-LONGEST_QUERY:]
        if not query.strip():
            return None
        known = self._contexts.get(query) if said.goes_on else None
        if known is None:
            shown = [text for text in dict.fromkeys(said.texts) if len(text) <= LONGEST_SHOWN]
            known = self.bank.context(
                query,
                at=self.clock(),
                max_tokens=self.max_tokens,
                shown=shown[-MOST_SHOWN:],
                stable_at=self._began.get(said.first) if said.is_answered else None,
            )
            with self._lock:
                self._note_beginning(said, known)
                self._contexts[query] = known
                while len(self._contexts) > RECENT:
                    self._contexts.popitem(last=False)
                recalled = [text for one in known.recall for text in (one.text, one.shown) if text]
                self._given.append((*known.stable.splitlines(), *recalled))
            if self.on_recall is not None:
                self.on_recall(known)
        return known

    def _note_beginning(self, said: Said, known: Context) -> None:
        """A conversation keeps the stable part that it began with, also on the days after: its prompts share more than
        that part. It is known by its first words; one that begins with the same words takes the place of the other."""
        if said.first and known.stable_at is not None:
            self._began[said.first] = known.stable_at
            self._began.move_to_end(said.first)
            while len(self._began) > MOST_CONVERSATIONS:
                self._began.popitem(last=False)

    def keep(self, said: Said, reply: str, began: datetime) -> None:
        """Remember what the user and tools said, and the answer; what came out of the memory is left out."""
        try:
            self._keep(said, reply, began)
        except Exception as error:
            log.warning("this call was not remembered: %s", error)

    def _keep(self, said: Said, reply: str, began: datetime) -> None:
        messages: list[Mapping[str, Any]] = []
        if not self._is_repeated(said, began):
            messages += [{**self._with_name(one), "timestamp": began} for one in said.new]
        if reply.strip():
            messages.append({"role": "assistant", "content": reply, "timestamp": self.clock()})
        with self._lock:
            given = [text for several in self._given for text in several]
        kept = without_echo(messages, given, words=self.echo_words)
        if kept:
            self.bank.add(list(kept), session=self.session)

    def _with_name(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        if message["role"] == "user" and self.name and not message.get("name"):
            return {**message, "name": self.name}
        return message

    def _is_repeated(self, said: Said, began: datetime) -> bool:
        key = (*said.texts, *(str(one["content"]) for one in said.new))
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = began
            while len(self._kept) > RECENT:
                self._kept.popitem(last=False)
        return before is not None and began - before < REPEATED


def tool_message(text: str, name: str | None = None) -> dict[str, Any]:
    """What a tool said, as far as it is kept."""
    whole = text.strip()
    short = whole if len(whole) <= LONGEST_TOOL_TEXT else f"{whole[:LONGEST_TOOL_TEXT]} […]"
    return {"role": "tool", "content": short, **({"name": name} if name else {})}


def worth_keeping(messages: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Messages that have words."""
    return tuple(one for one in messages if str(one["content"]).strip())
