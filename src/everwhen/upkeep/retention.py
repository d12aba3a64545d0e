"""Retention: how long a bank keeps its data, given as a sentence and applied by `retain`.

"keep raw turns 90 days, summaries for ever": after 90 days the text of a turn is deleted, and it can no longer be
found by search. Its id and time stay, so that summaries, events and facts derived from it still say when and where
they came from. What the rule does not name is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from everwhen.errors import Unavailable, UsageError
from everwhen.facts.changes import close_chains
from everwhen.models.embedder import Embedder
from everwhen.settings import Settings
from everwhen.store.sql.store import Store
from everwhen.types import Receipt
from everwhen.upkeep.forget import ATTEMPTS, CacheCleaner, finish, reembed_followers, refill_links

KINDS = {
    "raw turns": "turns",
    "turns": "turns",
    "events": "events",
    "narratives": "narratives",
    "facts": "facts",
    "summaries": "summaries",
}
_DERIVED = (
    ("event", "events", "events"),
    ("narrative", "narratives", "narratives"),
    ("node", "summaries", "nodes"),
)
"""Kinds of derived units, what a rule calls them, and the field of a receipt that lists them."""
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_CLAUSE = re.compile(
    r"(?:keep\s+)?(?P<kind>raw turns|turns|events|narratives|facts|summaries)\s+(?:for\s+)?"
    r"(?:(?P<ever>ever|forever|for ever)|(?P<count>\d{1,5})\s*(?P<unit>day|week|month|year)s?)",
    re.IGNORECASE,
)


def parse(rule: str) -> dict[str, int | None]:
    """Days by kind, None for "for ever"; an error says which form is understood."""
    found: dict[str, int | None] = {}
    for clause in filter(None, (part.strip() for part in re.split(r"[,;]|\band\b", rule))):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise UsageError(
                f"'{clause}' is no rule of retention; write 'keep raw turns 90 days, summaries for ever' "
                f"(kinds: {', '.join(KINDS)}; days, weeks, months, years or for ever)"
            )
        kind = KINDS[match["kind"].lower()]
        days = None if match["ever"] else int(match["count"]) * _DAYS[match["unit"].lower()]
        if kind in found:
            raise UsageError(f"the rule speaks of {kind} twice")
        found[kind] = days
    kept, turns = found.get("summaries"), found.get("turns")
    if kept is not None and (turns is None or turns > kept):
        raise UsageError(
            "summaries would be built again from turns that are still there: keep turns no longer than summaries"
        )
    return found


def describe(rule: Mapping[str, int | None]) -> str:
    """The rule as a sentence."""
    spoken = [
        f"{'raw turns' if kind == 'turns' else kind} {'for ever' if days is None else f'{days} days'}"
        for kind, days in rule.items()
    ]
    return f"keep {', '.join(spoken)}" if spoken else ""


def retain(
    store: Store, embedder: Embedder, settings: Settings, rule: str, now: datetime, *, dry_run: bool = False
) -> Receipt:
    """Apply a rule as of an instant. All of it happens, or nothing."""
    until = {kind: now - timedelta(days=days) for kind, days in parse(rule).items() if days is not None}
    for _ in range(ATTEMPTS):
        ids = store.keep.said_before(until["turns"]) if "turns" in until else []
        turns = list(store.turns(ids=ids))
        followers = store.keep.followers(ids)
        retold = reembed_followers(embedder, settings, followers)
        cache = CacheCleaner(store, embedder, settings)
        if not dry_run:
            cache.drop_turns(turns, [one.turn for one in followers])
        removed: dict[str, Any] = {}
        texts: list[str] = []
        unlinked: Mapping[int, int] = {}
        with store.keep.forgetting() as eraser:
            if eraser.followers(ids) != followers:
                continue
            if ids:
                eraser.remember(ids, now)
                expired = eraser.expire(ids, retold, now)
                removed |= {"turns": tuple(ids), "vectors": expired.vectors, "links": expired.links}
                unlinked = expired.unlinked
            for kind, named, field in _DERIVED:
                if named in until:
                    removed[field], words = eraser.drop_old(kind, until[named])
                    texts += words
            if "facts" in until:
                facts = eraser.old_facts(until["facts"])
                close_chains(eraser.facts, facts, now)
                texts += eraser.erase_facts(facts)
                removed["facts"] = tuple(facts)
            receipt = Receipt(now, dry_run, **removed)
            if taken(receipt):
                receipt = replace(receipt, entities=eraser.drop_unspoken())
            if dry_run:
                eraser.undo()
        if dry_run:
            return receipt
        if not taken(receipt):
            return replace(receipt, erased=not store.jobs.scrubbing.waits())
        refill_links(store, unlinked, settings.link_similarity)
        return finish(store, replace(receipt, cached=cache.drop(texts)), cache)
    raise Unavailable("turns are being added right behind those that expire; try again in a moment")


def taken(receipt: Receipt) -> bool:
    """Whether anything was removed."""
    return bool(receipt.turns or receipt.events or receipt.narratives or receipt.nodes or receipt.facts)
