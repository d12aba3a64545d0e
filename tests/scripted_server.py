"""A model server on loopback that answers from a script: OpenAI's chat completions and Anthropic's messages.

Real HTTP, no model: a test says what each request gets (an answer, a status, a delay, garbage, a refusal, a
tool call, a dropped connection) and reads afterwards what was asked.

    with ScriptedServer() as server:
        server.then(status(429, headers={"Retry-After": "0"}), data({"name": "Porto"}))
        llm = PydanticAI("openai:scripted", base_url=server.url)
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Kind = Literal["text", "data", "refusal", "status", "raw", "hang_up", "call", "break_off"]


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """Everything that the model would have read, one message after the other."""
        told = [self.body["system"]] if "system" in self.body else []
        told += [message.get("content") for message in self.body.get("messages", [])]
        return "\n\n".join(part if isinstance(part, str) else json.dumps(part) for part in told if part)


@dataclass(frozen=True)
class Step:
    """What one request gets."""

    kind: Kind
    content: Any = ""
    code: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0
    finish: str | None = None
    usage: tuple[int, int] = (100, 20)


Answer = Step | Callable[[Asked], Step]


def text(content: str, *, finish: str = "stop") -> Step:
    """Plain words, whatever was asked for."""
    return Step("text", content, finish=finish)


def data(content: Any, *, usage: tuple[int, int] = (100, 20)) -> Step:
    """A structured answer in the shape that was asked for: a call of the output tool, else JSON."""
    return Step("data", content, usage=usage)


def call(name: str, arguments: Mapping[str, Any]) -> Step:
    """A call of one tool."""
    return calls((name, arguments))


def calls(*several: tuple[str, Mapping[str, Any] | str]) -> Step:
    """Calls of several tools at once; arguments that are text are sent as they are."""
    return Step("call", [{"name": name, "arguments": arguments} for name, arguments in several])


def break_off(content: str) -> Step:
    """Some words of a stream, and then the connection is closed."""
    return Step("break_off", content)


def used(tokens_in: int, tokens_out: int, step: Step) -> Step:
    """The same, for so many tokens."""
    return replace(step, usage=(tokens_in, tokens_out))


def refusal(words: str = "I can't help with that.") -> Step:
    return Step("refusal", words)


def status(
    number: int, message: str = "scripted", /, *, headers: Mapping[str, str] | None = None, **error: Any
) -> Step:
    """An error in OpenAI's shape; `error` adds to it, such as `code="insufficient_quota"`."""
    return Step("status", {"error": {"message": message, **error}}, number, dict(headers or {}))


def raw(body: bytes | str, content_type: str = "application/json") -> Step:
    """A body that is not what the protocol promises."""
    return Step("raw", body, headers={"Content-Type": content_type})


def hang_up() -> Step:
    """The connection is closed without a word."""
    return Step("hang_up")


def slowly(seconds: float, step: Step) -> Step:
    """The same, after a while."""
    return replace(step, pause=seconds)


class ScriptedServer:
    """Answers the requests in the order of the script; past its end, the answer of `otherwise`."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self.otherwise: Answer = status(500, "the script is over")
        self._script: deque[Answer] = deque()
        self._now = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for OpenAI clients."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The base URL for Anthropic clients."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def then(self, *answers: Answer) -> ScriptedServer:
        """Adds to the script."""
        self._script.extend(answers)
        return self

    def always(self, answer: Answer) -> ScriptedServer:
        """What every request gets once the script is over."""
        self.otherwise = answer
        return self

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()

    def take(self, asked: Asked) -> Step:
        """The answer to this request, after its pause."""
        with self._lock:
            self.asked.append(asked)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            answer = self._script.popleft() if self._script else self.otherwise
        try:
            step = answer(asked) if callable(answer) else answer
            if step.pause:
                self._over.wait(step.pause)
            return step
        finally:
            with self._lock:
                self._now -= 1


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body leave in two writes; with Nagle's algorithm the second would wait 40 ms.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            asked = Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            step = server.take(asked)
            if step.kind == "hang_up":
                self.close_connection = True
                return
            if step.kind == "raw":
                payload = step.content.encode() if isinstance(step.content, str) else step.content
            elif step.kind == "status":
                payload = json.dumps(step.content).encode()
            elif asked.body.get("stream"):
                self._stream(asked, step)
                return
            else:
                shape = _anthropic if self.path.partition("?")[0].endswith("/messages") else _openai
                payload = json.dumps(shape(asked, step)).encode()
            try:
                self.send_response(step.code)
                headers = {
                    "Content-Type": "application/json",
                    **step.headers,
                    "Content-Length": str(len(payload)),
                }
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)
            except OSError:  # the client gave up waiting
                self.close_connection = True

        def _stream(self, asked: Asked, step: Step) -> None:
            """Server-sent events in chunks, a few letters at a time; one that breaks off lacks the last chunk."""
            events = (
                _anthropic_events if self.path.partition("?")[0].endswith("/messages") else _openai_events
            )
            self.close_connection = True
            try:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.send_header("Connection", "close")
                self.end_headers()
                for event in events(asked, step):
                    part = event.encode()
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                if step.kind != "break_off":
                    self.wfile.write(b"0\r\n\r\n")
            except OSError:  # the client has heard enough
                pass

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _openai(asked: Asked, step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    finish = step.finish or "stop"
    tools = _tool_calls(asked, step)
    if tools:
        finish = step.finish or "tool_calls"
        message["tool_calls"] = [
            {
                "id": _call_id(asked, place),
                "type": "function",
                "function": {"name": tool["name"], "arguments": _json(tool["arguments"])},
            }
            for place, tool in enumerate(tools)
        ]
    elif step.kind == "refusal":
        message["refusal"] = step.content
    else:
        message["content"] = step.content if isinstance(step.content, str) else json.dumps(step.content)
    taken, given = step.usage
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.body.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given},
    }


def _anthropic(asked: Asked, step: Step) -> dict[str, Any]:
    tools = _tool_calls(asked, step)
    if tools:
        blocks: list[dict[str, Any]] = [
            {
                "type": "tool_use",
                "id": _call_id(asked, place),
                "name": tool["name"],
                "input": tool["arguments"],
            }
            for place, tool in enumerate(tools)
        ]
        reason = "tool_use"
    else:
        words = step.content if isinstance(step.content, str) else json.dumps(step.content)
        blocks = [{"type": "text", "text": words}]
        reason = "refusal" if step.kind == "refusal" else "end_turn"
    taken, given = step.usage
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model", "scripted"),
        "content": [] if step.kind == "refusal" else blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": taken, "output_tokens": given},
    }


def _tool_calls(asked: Asked, step: Step) -> list[dict[str, Any]]:
    """What to call: the tools that the step names, or for data the first tool that the request offers."""
    if step.kind == "call":
        return list(step.content)
    offered = asked.body.get("tools")
    if step.kind != "data" or not offered:
        return []
    first = offered[0]
    name = first["function"]["name"] if "function" in first else first["name"]
    return [{"name": name, "arguments": step.content}]


def _call_id(asked: Asked, place: int) -> str:
    return f"call_{len(asked.body.get('messages', []))}_{place}"


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _pieces(words: str, letters: int = 9) -> Iterator[str]:
    for place in range(0, len(words), letters):
        yield words[place : place + letters]


def _openai_events(asked: Asked, step: Step) -> Iterator[str]:
    """The same answer as chunks of a chat completion."""

    def chunk(delta: dict[str, Any], finish: str | None = None, usage: Any = None) -> str:
        choices = [] if usage else [{"index": 0, "delta": delta, "finish_reason": finish}]
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": asked.body.get("model", "scripted"),
            "choices": choices,
            "usage": usage,
        }
        return f"data: {json.dumps(body)}\n\n"

    whole = _openai(asked, step)
    message, finish = whole["choices"][0]["message"], whole["choices"][0]["finish_reason"]
    yield chunk({"role": "assistant", "content": ""})
    for place, tool in enumerate(message.get("tool_calls", [])):
        function = {"name": tool["function"]["name"], "arguments": ""}
        yield chunk(
            {"tool_calls": [{"index": place, "id": tool["id"], "type": "function", "function": function}]}
        )
        for piece in _pieces(tool["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    if message["refusal"]:
        yield chunk({"refusal": message["refusal"]})
    for piece in _pieces(message["content"] or ""):
        yield chunk({"content": piece})
    if step.kind == "break_off":
        return
    yield chunk({}, finish)
    yield chunk({}, usage=whole["usage"])
    yield "data: [DONE]\n\n"


def _anthropic_events(asked: Asked, step: Step) -> Iterator[str]:
    """The same answer as events of a message."""

    def event(kind: str, **body: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **body})}\n\n"

    whole = _anthropic(asked, step)
    usage = {**whole["usage"], "output_tokens": 1}
    yield event("message_start", message={**whole, "content": [], "stop_reason": None, "usage": usage})
    for place, block in enumerate(whole["content"]):
        is_tool = block["type"] == "tool_use"
        empty = {**block, "input": {}} if is_tool else {**block, "text": ""}
        yield event("content_block_start", index=place, content_block=empty)
        for piece in _pieces(_json(block["input"]) if is_tool else block["text"]):
            delta = (
                {"type": "input_json_delta", "partial_json": piece}
                if is_tool
                else {"type": "text_delta", "text": piece}
            )
            yield event("content_block_delta", index=place, delta=delta)
        if step.kind == "break_off":
            return
        yield event("content_block_stop", index=place)
    yield event(
        "message_delta",
        delta={"stop_reason": whole["stop_reason"], "stop_sequence": None},
        usage={"output_tokens": whole["usage"]["output_tokens"]},
    )
    yield event("message_stop")
