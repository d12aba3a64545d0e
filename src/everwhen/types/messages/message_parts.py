"""What a message is made of, as words: text parts as they are, pictures, sounds and files by caption or name.

The shapes of OpenAI (chat and responses), Anthropic and Gemini are understood, because histories are copied
from them whole. Bytes (base64, data URLs) never reach the text.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

TEXT_PARTS = ("text", "input_text", "output_text", "refusal", "tool_result")
SILENT_PARTS = ("thinking", "redacted_thinking", "reasoning", "thoughts")
CALL_PARTS = ("tool_use", "server_tool_use", "function_call", "tool_call")
LONGEST_ARGUMENTS = 500
"""Characters of a tool call's arguments that are kept: enough to recall the call by, not a program."""
DEEPEST = 8
"""How deep parts may stand within parts (a tool's result holds parts again)."""

_CAPTIONS = ("caption", "alt", "alt_text", "description", "transcript", "title")
_NAMES = ("name", "filename", "file_name")
_ADDRESSES = ("url", "image_url", "video_url", "uri", "file_uri")
_INNER = ("image_url", "video_url", "input_audio", "audio", "file", "source", "inline_data", "file_data")


def as_text(content: Any, *, depth: int = 0) -> str:
    """The words of a message's content: a string, one part or a list of parts. Empty when there are none."""
    if isinstance(content, str):
        return content
    if depth > DEEPEST:
        return ""
    if isinstance(content, Mapping):
        return _part(content, depth)
    if isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        return "\n".join(text for part in content if (text := as_text(part, depth=depth + 1)).strip())
    return ""


def caption(media: Any) -> str:
    """One picture, sound or file as `[kind: caption or name]`; a bare string is its caption.

    >>> caption({"type": "image", "caption": "a grey cat on a windowsill"})
    '[image: a grey cat on a windowsill]'
    >>> caption({"url": "https://example.org/notes/plan%20B.pdf"})
    '[file: plan B.pdf]'
    """
    if isinstance(media, str):
        return _bracket("image", media)
    if not isinstance(media, Mapping):
        return ""
    return _bracket(_kind(media), _label(media))


def calls(tool_calls: Any) -> str:
    """The tool calls of an assistant message that says nothing else, one a line."""
    if not isinstance(tool_calls, Sequence):
        return ""
    given = [call for call in tool_calls if isinstance(call, Mapping)]
    functions = [call["function"] if isinstance(call.get("function"), Mapping) else call for call in given]
    return "\n".join(filter(None, map(_call, functions)))


def _part(part: Mapping[str, Any], depth: int) -> str:
    kind = part.get("type")
    if kind in SILENT_PARTS:
        return ""
    if kind in CALL_PARTS:
        return _call(part)
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            return str(part[key])
    if kind in TEXT_PARTS or (kind is None and "content" in part):
        return as_text(part.get("content"), depth=depth + 1)
    return caption(part)


def _call(function: Mapping[str, Any]) -> str:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        return ""
    arguments = function.get("arguments", function.get("input", ""))
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            arguments = ""
    return f"[call: {name} {arguments[:LONGEST_ARGUMENTS]}".rstrip() + "]"


def _bracket(kind: str, label: str) -> str:
    # A bracket in the label would end the caption early for whoever reads the text again.
    label = " ".join(label.replace("[", "(").replace("]", ")").split())
    return f"[{kind}: {label}]" if label else f"[{kind}]"


def _first(media: Mapping[str, Any], keys: Sequence[str]) -> str:
    """What the part itself has, or the object inside it (`{"type": "file", "file": {"filename": …}}`)."""
    layers = [media, *(media[key] for key in _INNER if isinstance(media.get(key), Mapping))]
    values = (layer.get(key) for layer in layers for key in keys)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def _label(media: Mapping[str, Any]) -> str:
    return _first(media, _CAPTIONS) or _first(media, _NAMES) or _file_name(_first(media, _ADDRESSES))


def _file_name(address: str) -> str:
    """The last part of a URL's path; a data URL has no name."""
    if not address or address.startswith("data:"):
        return ""
    try:
        path = urlsplit(address).path
    except ValueError:
        return ""
    return unquote(path.rstrip("/").rsplit("/", 1)[-1])


def _kind(media: Mapping[str, Any]) -> str:
    """image, audio, video or file: as the part says, else by its media type or the name's ending."""
    said = str(media.get("type") or media.get("kind") or "").lower()
    for kind in ("image", "audio", "video", "file"):
        if kind in said:
            return kind
    if said in ("photo", "picture"):
        return "image"
    address = _first(media, _ADDRESSES)
    mime = _first(media, ("mime_type", "media_type", "mimeType", "content_type"))
    if not mime and address.startswith("data:"):
        mime = address[len("data:") :].split(";", 1)[0]
    if not mime:
        mime = mimetypes.guess_type(_first(media, _NAMES) or _file_name(address))[0] or ""
    for kind in ("image", "audio", "video"):
        if mime.startswith(kind):
            return kind
    named = mime or _first(media, _NAMES) or address or said
    # What has a caption and nothing else is nearly always a picture.
    return "file" if named or not _first(media, _CAPTIONS) else "image"
