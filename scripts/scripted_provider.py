"""A provider on loopback that says what it was told to, as Anthropic, OpenAI and Google would say it."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
FULL_USAGE = {"prompt_tokens": 10_000, "completion_tokens": 5, "total_tokens": 10_005}


class Provider(ThreadingHTTPServer):
    """`answer` is what every model says; `requests` are the bodies that came in.

    A prompt that is `full` is said to have taken many tokens, so that a client compacts its session after it.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = self.full = ""
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Provider
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self._send({"data": [], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self.server.requests.append(body)
        text, path = self.server.answer, self.path
        if "count" in path:
            self._send({"input_tokens": 10, "totalTokens": 10})
        elif "/messages" in path:
            self._anthropic(text, bool(body.get("stream")))
        elif path.endswith("/responses"):
            item = {"type": "message", "role": "assistant", "id": "m1"}
            item |= {"content": [{"type": "output_text", "text": text}]}  # type: ignore[dict-item]
            self._stream(
                {"type": "response.created", "response": {"id": "r1"}},
                {"type": "response.output_item.done", "item": item},
                {"type": "response.completed", "response": {"id": "r1", "usage": USAGE}},
            )
        elif "/chat/completions" in path:
            asked = json.dumps((body.get("messages") or [""])[-1])
            usage = FULL_USAGE if self.server.full and self.server.full in asked else CHAT_USAGE
            self._openai(text, bool(body.get("stream")), usage)
        elif "enerateContent" in path:
            said = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
            answer = {"candidates": [said], "usageMetadata": {"totalTokenCount": 15}}
            self._stream(answer) if "stream" in path else self._send(answer)
        else:
            self._send({}, 404)

    def _anthropic(self, text: str, stream: bool) -> None:
        whole = {"id": "m1", "type": "message", "role": "assistant", "model": "scripted", "usage": USAGE}
        if not stream:
            self._send({**whole, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"})
            return
        self._stream(
            {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        )

    def _openai(self, text: str, stream: bool, usage: dict[str, int]) -> None:
        whole = {"id": "c1", "created": 1, "model": "scripted", "usage": usage}
        said = {"role": "assistant", "content": text}
        if not stream:
            self._send({**whole, "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]})
            return
        part = {**whole, "object": "chat.completion.chunk"}
        self._stream(
            {**part, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**part, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        )

    def _stream(self, *events: dict[str, Any]) -> None:
        named = "".join(
            (f"event: {one['type']}\n" if "type" in one else "") + f"data: {json.dumps(one)}\n\n"
            for one in events
        )
        self._write(named.encode(), "text/event-stream", 200)

    def _send(self, value: object, code: int = 200) -> None:
        self._write(json.dumps(value).encode(), "application/json", code)

    def _write(self, body: bytes, kind: str, code: int) -> None:
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
