"""How much of a prompt stays a common beginning with the one before, and does a provider's cache keep hitting?

The end of each LoCoMo conversation is held once more, a hundred turns of its first speaker as the user's, with all that
was said before in the bank: in one sitting, and on the days on which it was held. Every prompt has the whole
conversation so far; the same memories are put into it in three ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from everwhen.models.embedder import count_tokens
from everwhen.types import Context, Message
from everwhen.write.importers.benchmarks import locomo_conversation, locomo_samples
from everwhen_bench.retrieval import Tally, fresh_bank
from everwhen_bench.studies import Request, Result, Table

TURNS = 100
"""Prompts that are sent in each conversation."""
SYSTEM = {"role": "system", "content": "You are a friend who listens and answers in a few sentences."}

OURS = "stable part first, recalled before the question"
REWRITTEN = "system prompt rewritten"
KEPT = "before each message, and kept there"
WAYS = (OURS, REWRITTEN, KEPT)


@dataclass
class _Way:
    """One way to put memories into prompts: what was sent, and how much of it stood in the prompt before."""

    sent: int = 0
    shared: int = 0
    calls: int = 0
    history: list[Mapping[str, Any]] = field(default_factory=list)
    last: str = ""

    def send(self, messages: list[Any]) -> None:
        prompt = "".join(f"<{one['role']}>\n{one['content']}\n" for one in messages)
        self.sent += count_tokens(prompt)
        self.shared += count_tokens(_common(self.last, prompt))
        self.calls += 1
        self.last = prompt


def _common(one: str, other: str) -> str:
    """What two texts begin with."""
    pairs = zip(one, other, strict=False)
    return other[: next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))]


def run(request: Request) -> Result:
    """The first conversations (`limit`, three when nothing is said), a hundred prompts each."""
    runs: list[dict[str, Any]] = []
    for sample in islice(locomo_samples(request.data), request.limit or 3):
        messages = list(locomo_conversation(sample).messages)
        for when, times in (("in one sitting", _sitting(messages)), ("on its own days", _own(messages))):
            done = len(runs) // len(WAYS) * TURNS
            ways = _conversation(messages, times, request, done)
            runs += [
                {"sample_id": sample["sample_id"], "when": when, "way": name,
                 "calls": one.calls, "sent": one.sent, "shared": one.shared}
                for name, one in ways.items()
            ]  # fmt: skip
    tables = [
        _table(when, [one for one in runs if one["when"] == when])
        for when in dict.fromkeys(r["when"] for r in runs)
    ]
    return {"tables": tables, "figures": {"runs": runs}}


def _own(messages: Sequence[Message]) -> list[datetime]:
    return [one.said_at for one in messages if one.said_at is not None]


def _sitting(messages: Sequence[Message]) -> list[datetime]:
    """As if the conversation went on the day after its end, a message a minute."""
    own = _own(messages)
    first = (own[-1] + timedelta(days=1)).replace(hour=8)
    start = _start(messages)
    return own[:start] + [first + timedelta(minutes=place) for place in range(len(own) - start)]


def _start(messages: Sequence[Message]) -> int:
    """Where the last hundred turns of the first speaker begin."""
    mine = [place for place, one in enumerate(messages) if one.speaker == messages[0].speaker]
    return mine[-TURNS:][0]


def _conversation(
    messages: Sequence[Message], times: Sequence[datetime], request: Request, done: int
) -> dict[str, _Way]:
    start, ways = _start(messages), {name: _Way() for name in WAYS}
    with fresh_bank(None, "study-prefix", messages[:start], Tally(), extract="rules") as memory:
        began = None
        for message, at in list(zip(messages, times, strict=True))[start:]:
            role = "user" if message.speaker == messages[0].speaker else "assistant"
            said = {"role": role, "content": message.text}
            if role == "user":
                memory.flush()  # between two messages of a person all that was said is read
                seen = [str(one["content"]) for one in ways[OURS].history]
                context = memory.context(message.text, at=at, shown=seen, stable_at=began)
                began = context.stable_at  # as `wrap` does it
                _send(ways, said, context)
                if request.progress:
                    request.progress(done + ways[OURS].calls)
            else:
                for way in ways.values():
                    way.history.append(said)
            memory.add(replace(message, said_at=at))
    return ways


def _send(ways: Mapping[str, _Way], said: Mapping[str, Any], context: Context) -> None:
    """One prompt each way; what is sent as the user's message is what the next prompts have in their history."""
    both = "\n\n".join(part for part in (context.stable, context.fresh) if part)
    rewritten = {**SYSTEM, "content": f"{SYSTEM['content']}\n\n{both}".strip()}
    kept = {**said, "content": f"{both}\n\n{said['content']}".strip()}
    ways[OURS].send(context.for_openai([SYSTEM, *ways[OURS].history, said]))
    ways[REWRITTEN].send([rewritten, *ways[REWRITTEN].history, said])
    ways[KEPT].send([SYSTEM, *ways[KEPT].history, kept])
    for way, message in ((OURS, said), (REWRITTEN, said), (KEPT, kept)):
        ways[way].history.append(message)


def _table(when: str, runs: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for way in WAYS:
        mine = [one for one in runs if one["way"] == way]
        calls, sent, shared = (sum(one[key] for one in mine) for key in ("calls", "sent", "shared"))
        rows.append((way, f"{shared / sent:.3f}", f"{sent / calls:,.0f}", f"{(sent - shared) / calls:,.0f}"))
    return {
        "title": f"{when}: {len(runs) // len(WAYS)} conversations, {TURNS} prompts each",
        "heads": ("memories", "common beginning", "tokens a prompt", "of them new"),
        "rows": rows,
    }
