"""Mem0's memories: what `get_all` and the platform's export give, and the backup of OpenMemory.

A list of memories, `{"results": […]}`, `{"memories": […]}`, or one memory a line. Each is told by the one whose memory
it is, at the time at which its words were written last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.store.files.json_values import values
from everwhen.types import ROLES, Message
from everwhen.write.importers.conversation import LeftOut, ReadingOptions, checked, expect, stable_id, zoned

LISTS = ("results", "memories")
GONE = ("deleted", "archived")
_ANYBODY = ("user", "default", "default_user", "default-user")
_ABOUT = ("categories", "agent_id", "app_id", "run_id", "app", "hash")


def messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """All memories as one conversation; runs are sessions of it."""
    number = 0
    for value in values(path):
        expect(value, dict, f"{path}, record {number}", "it")
        key = next((key for key in LISTS if isinstance(value.get(key), list)), None)
        for one in value[key] if key else [value]:
            where = f"{path}, memory {number}"
            number += 1
            expect(one, dict, where, "it")
            if _is_kept(one, where, left_out):
                yield checked(_raw(one, options, where), where)


def _is_kept(one: Mapping[str, Any], where: str, left_out: LeftOut) -> bool:
    if "memory" not in one and "content" not in one:
        raise UsageError(
            f"{where} has no 'memory': an export by a schema of one's own cannot be read; "
            "write down what `get_all` gives instead"
        )
    if one.get("state") in GONE or one.get("deleted_at"):
        left_out["memories that were deleted or archived"] += 1
    elif not str(one.get("memory") or one.get("content") or "").strip():
        left_out["memories without words"] += 1
    else:
        return True
    return False


def _raw(one: Mapping[str, Any], options: ReadingOptions, where: str) -> dict[str, Any]:
    words = one.get("memory") or one.get("content")
    user, agent = one.get("user_id"), one.get("agent_id")
    told = str(one.get("role") or "").lower()
    role = told if told in ROLES else "assistant" if agent and not user else "user"
    name = one.get("actor_id") or (agent if role == "assistant" else user)
    # The words are those of the last change: at the time of the first writing they may have been others.
    said_at = one.get("updated_at") or one.get("created_at") or options.at
    about = {key: one[key] for key in _ABOUT if one.get(key)}
    return {
        "role": role,
        "name": None if name in _ANYBODY else name,
        "content": words,
        "timestamp": zoned(said_at, options.zone, where),
        "zone": options.zone,
        "id": one.get("id") or stable_id("mem0", str(user), str(words)),
        "session": one.get("run_id") or "mem0",
        "metadata": {**about, **({"created_at": one["created_at"]} if one.get("created_at") else {})} or None,
    }
