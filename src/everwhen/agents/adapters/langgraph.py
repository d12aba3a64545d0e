"""A bank as a LangGraph `BaseStore`: a searchable long-term memory that keeps every version. Imports langgraph."""

from __future__ import annotations

import asyncio
import json
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from everwhen.agents.adapters.documents import Document, DocumentStore
from everwhen.api.operations.surface import Bank
from everwhen.errors import UsageError
from everwhen.models.llm.base import LLMError

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:
    raise LLMError("extra", "a LangGraph store needs langgraph: pip install langgraph-checkpoint") from error

WORDS = ("text", "content", "memory", "data", "value", "fact")
"""The keys of a value whose words are what is remembered; a value without one is remembered as JSON."""
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "$eq": operator.eq, "$ne": operator.ne, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt,
    "$lte": operator.le,
}  # fmt: skip
IN_TEXT = "in_text"
"""Marks an item that is too large for metadata: its value is the text of the turn."""


class EverwhenStore(BaseStore):  # type: ignore[misc, unused-ignore]
    """Items are documents of the bank: putting one again adds a version, deleting one says that it was deleted.

    `search` with a query ranks by recall, whose scores are relative to the best (1.0). TTLs are not supported: nothing
    in a bank expires.
    """

    supports_ttl = False

    def __init__(self, bank: Bank) -> None:
        self._shelf = DocumentStore(bank, "langgraph")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._one(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, beside the loop: the work is the CPU's."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _one(self, op: Op) -> Result:
        match op:
            case GetOp():
                found = self._shelf.documents().get(_name(op.namespace, op.key))
                return Item(**_fields(found)) if found else None
            case PutOp():
                self._put(op)
                return None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise UsageError(f"unknown operation {type(op).__name__}")

    def _put(self, op: PutOp) -> None:
        name = _name(op.namespace, op.key)
        if op.value is None:
            if name in self._shelf.documents():
                self._shelf.remove(name)
            return
        data = {"value": op.value}
        if self._shelf.fits(name, data):
            self._shelf.put(name, _text_of(op.value), data)
        else:
            self._shelf.put(name, _as_json(op.value), {IN_TEXT: True})

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if op.query:
            found = list(self._shelf.search(op.query))
        else:
            found = [(document, None) for document in self._shelf.documents().values()]  # type: ignore[misc]
        kept = [
            (document, score)
            for document, score in found
            if _namespace_and_key(document.name)[0][: len(op.namespace_prefix)] == tuple(op.namespace_prefix)
            and _meets(_item_value(document), op.filter or {})
        ]
        some = kept[op.offset : op.offset + op.limit]
        return [SearchItem(**_fields(document), score=score) for document, score in some]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        spaces = {_namespace_and_key(name)[0] for name in self._shelf.documents()}
        kept = {space for space in spaces if all(_matches(space, one) for one in op.match_conditions or ())}
        if op.max_depth is not None:
            kept = {space[: op.max_depth] for space in kept}
        return sorted(kept)[op.offset : op.offset + op.limit]


def _name(namespace: tuple[str, ...], key: str) -> str:
    """Namespace and key as one name, unambiguous whatever is in them."""
    return json.dumps([*namespace, key], ensure_ascii=False)


def _namespace_and_key(name: str) -> tuple[tuple[str, ...], str]:
    *namespace, key = json.loads(name)
    return tuple(namespace), key


def _text_of(value: Mapping[str, Any]) -> str:
    """What of a value is remembered as words."""
    for key in WORDS:
        if isinstance(value.get(key), str) and value[key].strip():
            return str(value[key])
    return _as_json(value)


def _as_json(value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"a value must be plain JSON: {error}") from error


def _item_value(document: Document) -> dict[str, Any]:
    value = document.data.get("value")
    if document.data.get(IN_TEXT):
        try:
            value = json.loads(document.text)
        except ValueError:  # what the bank masks may have been a number
            value = None
    return dict(value) if isinstance(value, Mapping) else {}


def _fields(document: Document) -> dict[str, Any]:
    namespace, key = _namespace_and_key(document.name)
    times = {"created_at": document.created, "updated_at": document.updated}
    return {"namespace": namespace, "key": key, "value": _item_value(document), **times}


def _meets(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value meets a filter: plain values, or `{"$gt": 3}` and its like."""
    for key, condition in wanted.items():
        held = value.get(key)
        conditional = isinstance(condition, Mapping) and any(str(name).startswith("$") for name in condition)
        for name, operand in (condition if conditional else {"$eq": condition}).items():
            if not _compares(held, str(name), operand):
                return False
    return True


def _compares(held: Any, name: str, operand: Any) -> bool:
    if name not in OPERATORS:
        raise UsageError(f"unknown operator {name!r} in a filter; there are {', '.join(OPERATORS)}")
    try:
        return bool(OPERATORS[name](held, operand))
    except TypeError:
        return False


def _matches(space: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(space):
        return False
    part = space[: len(path)] if condition.match_type == "prefix" else space[len(space) - len(path) :]
    return all(wanted in ("*", held) for wanted, held in zip(path, part, strict=True))
