"""Requests and answers of the protocols that clients speak: who said what, and where memories go.

Each `Wire` is one of them: it reads a request's body, puts a context into it, and reads the answer, whole or in pieces.
Answers are objects of the provider's package; what is not there reads as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from everwhen.agents.wrapping.remembering import Said, tool_message, worth_keeping
from everwhen.types import Context
from everwhen.types.context import last_said, value
from everwhen.types.messages.message_parts import as_text

Body = Mapping[str, Any]


def wire_of(path: str) -> Wire | None:
    """The protocol of an address; None for one where nobody talks."""
    plain = path.partition("?")[0].rstrip("/")
    return next((wire for end, wire in _WIRES.items() if plain.endswith(end)), None)


class OpenAIChat:
    """`/chat/completions`."""

    field = "messages"

    def read(self, body: Body) -> Said:
        """What a request says."""
        return _said(_listed(body.get(self.field)))

    def woven(self, body: Body, context: Context) -> Body:
        """The request with a context in it."""
        return {**body, self.field: context.for_openai(body[self.field])}

    def reply(self, answer: Any) -> str:
        """The words of an answer; calls of tools are none."""
        first = next(iter(value(answer, "choices") or ()), None)
        return as_text(value(value(first, "message"), "content"))

    def piece(self, event: Any) -> str:
        """The words of one event of a stream."""
        first = next(iter(value(event, "choices") or ()), None)
        return as_text(value(value(first, "delta"), "content"))


class OpenAIResponses(OpenAIChat):
    """`/responses`: the system prompt is `instructions`, and plain words are one message."""

    field = "input"

    def woven(self, body: Body, context: Context) -> Body:
        listed = _listed(body.get(self.field))
        if context.fresh:
            last = last_said(listed)
            place = len(listed) if last is None else last
            listed.insert(place, {"role": "developer", "content": context.fresh})
        told = {**body, self.field: listed}
        if context.stable:
            before = body.get("instructions")
            own = f"{before}\n\n" if isinstance(before, str) and before else ""
            told["instructions"] = own + context.stable
        return told

    def reply(self, answer: Any) -> str:
        outputs = [one for one in value(answer, "output") or () if value(one, "type") == "message"]
        return _texts([part for one in outputs for part in value(one, "content") or ()])

    def piece(self, event: Any) -> str:
        is_text = value(event, "type") == "response.output_text.delta"
        return as_text(value(event, "delta")) if is_text else ""


class AnthropicMessages:
    """`/v1/messages`."""

    def read(self, body: Body) -> Said:
        return _said(body.get("messages") or ())

    def woven(self, body: Body, context: Context) -> Body:
        system, tools = body.get("system"), body.get("tools")
        placed = context.for_anthropic(
            body["messages"],
            system if isinstance(system, str | list | tuple) else None,
            tools if isinstance(tools, list | tuple) else (),
        )
        return {**body, **placed}

    def reply(self, answer: Any) -> str:
        return _texts(value(answer, "content") or ())

    def piece(self, event: Any) -> str:
        delta = value(event, "delta") if value(event, "type") == "content_block_delta" else None
        return as_text(value(delta, "text")) if value(delta, "type") == "text_delta" else ""


Wire: TypeAlias = OpenAIChat | OpenAIResponses | AnthropicMessages
_WIRES: Mapping[str, Wire] = {
    "/chat/completions": OpenAIChat(),
    "/responses": OpenAIResponses(),
    "/v1/messages": AnthropicMessages(),
}


def _said(messages: Sequence[Any]) -> Said:
    """What a conversation says: the messages behind the model's last one are new."""
    listed = [_plain(one) for one in messages]
    if listed and _speaker(listed[-1]) == "assistant":
        listed.pop()  # words that the caller puts into the model's mouth: the answer goes on from there
    start = len(listed)
    while start and _speaker(listed[start - 1]) in ("user", "tool"):
        start -= 1
    last = last_said(listed)
    return Said(
        query="" if last is None else _words(listed[last]),
        new=worth_keeping([made for one in listed[start:] for made in _made(one)]),
        texts=tuple(words for one in listed if (words := _words(one).strip())),
        first=next((words for one in listed if _speaker(one) == "user" and (words := _words(one))), ""),
        is_answered=any(_speaker(one) == "assistant" for one in listed),
        goes_on=last is not None and last < start,
    )


def _made(message: Any) -> list[dict[str, Any]]:
    """A message as it is remembered: the words of the user, and results of tools each on its own."""
    if _speaker(message) == "tool":
        return [
            tool_message(
                as_text(value(message, "content") or value(message, "output")), value(message, "name")
            )
        ]
    content = value(message, "content")
    parts = [] if isinstance(content, str) else list(content or ())
    results = [part for part in parts if value(part, "type") == "tool_result"]
    made = [tool_message(as_text(value(part, "content"))) for part in results]
    said: dict[str, Any] = {"role": "user", "content": _words(message)}
    if isinstance(value(message, "name"), str):
        said["name"] = value(message, "name")
    return [*made, said]


def _words(message: Any) -> str:
    """The words of a message itself, without results and calls of tools."""
    content = value(message, "content")
    if isinstance(content, str) or content is None:
        return content or ""
    own = [part for part in content if value(part, "type") not in ("tool_result", "tool_use", "thinking")]
    return as_text(own)


def _speaker(message: Any) -> str:
    """The role; an item that is the result of a tool's call has none."""
    if value(message, "type") == "function_call_output":
        return "tool"
    role = str(value(message, "role") or "")
    return "tool" if role == "function" else role


def _listed(given: Any) -> list[Any]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given or ())


def _texts(parts: Sequence[Any]) -> str:
    return "\n".join(
        str(value(part, "text")) for part in parts if value(part, "type") in ("text", "output_text")
    )


def _plain(thing: Any) -> Any:
    """A message in dicts and lists: callers may pass on what the package gave them."""
    if hasattr(thing, "model_dump"):
        return thing.model_dump(exclude_none=True)
    if isinstance(thing, Mapping):
        return {name: _plain(one) for name, one in thing.items()}
    return [_plain(one) for one in thing] if isinstance(thing, list | tuple) else thing
