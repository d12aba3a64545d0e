"""A bank as it was: who was who, and which nodes stood, by what had been said and recorded by then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from everwhen.store.as_of import AsOf
from everwhen.store.sql.session import Sql
from everwhen.types import Entity
from everwhen.types.instants import from_text

NODE_COLUMNS = 21
"""Columns of a version of a node that make its row; when it was built, and until when it stood, come behind them."""
_LAST_AT = 19


class Mention(NamedTuple):
    """One mention as it was known then."""

    unit: int
    entity: int
    name: str
    type: str
    kind: str
    turn: int | None
    said_at: str


@dataclass(frozen=True, slots=True)
class Identities:
    """Who was who: the name that each entity was listed under, and what each was merged into."""

    names: dict[int, str]
    into: dict[int, int]

    def root(self, entity: int) -> int:
        """The entity at the end of all merges."""
        while entity in self.into:
            entity = self.into[entity]
        return entity


def identities_then(sql: Sql, then: AsOf) -> Identities:
    names: dict[int, str] = {}
    into: dict[int, int] = {}
    for entity, name, merged_into in sql.run("identity_changes_then", then.texts):
        if name is not None:
            names[entity] = name
        elif merged_into is not None:
            into[entity] = merged_into
        else:
            into.pop(entity, None)
    return Identities(names, into)


def entities_then(sql: Sql, then: AsOf) -> list[Entity]:
    """Those who were known then, those spoken of most first."""
    who = identities_then(sql, then)
    known = {seq: rest for seq, *rest in sql.run("all_entities")}
    groups: dict[int, list[Mention]] = {}
    for row in sql.run("mentions_then", then.texts):
        mention = Mention(*row)
        groups.setdefault(who.root(mention.entity), []).append(mention)
    found = [
        _entity(known[root], who.names.get(root), mentions)
        for root, mentions in sorted(groups.items())
        if any(one.kind == "turn" for one in mentions)
    ]
    return sorted(found, key=lambda one: (-one.mentions, one.name))


def subjects_then(sql: Sql, then: AsOf, subject: str) -> list[tuple[int, str]]:
    """The units that mention those who went by a name then, each with the name it uses."""
    who, wanted = identities_then(sql, then), subject.casefold()
    rows = (Mention(*row) for row in sql.run("mentions_then", then.texts))
    return [
        (one.unit, one.name)
        for one in rows
        if who.names.get(who.root(one.entity), "").casefold() == wanted and one.kind == "event"
    ]


def _entity(known: list[Any], listed: str | None, mentions: list[Mention]) -> Entity:
    id_, present, type_ = known
    told = [one for one in mentions if one.kind == "turn"]
    names = {one.name for one in told}
    # A name that was forgotten has no row left: the present one, if it had been said, stands in for it.
    name = listed or (present if present in names else told[0].name)
    types = Counter(one.type for one in mentions if one.type != "OTHER")
    said = [one.said_at for one in told]
    return Entity(
        id=id_,
        name=name,
        type=min(types, key=lambda one: (-types[one], one)) if types else type_,
        aliases=tuple(sorted(names - {name})),
        first=from_text(min(said)),
        last=from_text(max(said)),
        mentions=len({one.turn for one in told}),
    )


def versions_then(rows: Iterable[tuple[Any, ...]], then: AsOf) -> list[tuple[Any, ...]]:
    """Of all versions of nodes, oldest first, one for each node that stood at `known_at`: the newest that was built by
    then from nothing that was said after `as_of`."""
    as_of, known_at = then.texts["as_of"], then.texts["known_at"]
    standing: set[str] = set()
    newest: dict[str, tuple[Any, ...]] = {}
    for row in rows:
        id_, built, until = row[1], row[NODE_COLUMNS], row[NODE_COLUMNS + 1]
        if built > known_at:
            continue
        if until > known_at:
            standing.add(id_)
        if row[_LAST_AT] <= as_of:
            newest[id_] = row
    return [row[:NODE_COLUMNS] for id_, row in newest.items() if id_ in standing]
