"""Who and what is spoken of, and together with whom: a graph whose links are shared turns."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
from numpy.typing import NDArray

from everwhen.api.memory import Memory
from everwhen.types import Entity, UnitRow
from everwhen.ui.components import (
    badge,
    block,
    day,
    empty,
    legend,
    markup,
    offer_forget,
    pick,
    picked,
    press,
    said,
    search_field,
)
from everwhen.ui.page import MOST_MENTIONS, UIPage

MOST_ENTITIES = 32
"""Entities of the graph: those spoken of most."""
TYPES = ("PERSON", "LOCATION", "ORGANIZATION", "EVENT", "PRODUCT", "DATE", "WORK", "OTHER")
"""In the order of their colours."""
STEPS = 220
"""Of the layout: enough for some thirty nodes to come to rest."""
SEED = 7
MOST_LISTED = 14
"""Names in the list beside the graph."""
MAJOR = 9
"""Names that are shown on a narrow screen too."""


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """Entities with how often each was mentioned until then, the links between them, and where they lie."""

    entities: list[tuple[Entity, list[UnitRow]]]
    links: dict[tuple[int, int], int]
    places: NDArray[np.float64]
    known: list[Entity]
    """Everyone of then, those spoken of most first."""
    chosen: tuple[Entity, list[UnitRow]] | None


class Entities(UIPage):
    name, title, icon = "entities", "Entities", "hub"
    hint = "Who is spoken of, and together with whom."

    def draw(self, data: EntityGraph) -> None:
        if not data.known:
            hint = "People, places and things appear here when they are spoken of."
            empty("Nobody and nothing has been named yet.", hint, "hub")
            return
        with block("div", "tools", "role=search"):
            find = self.asked.get("find", "")
            search_field("Find a name", find, lambda words: self.frame.change(find=words, name=""))
        with block("div", "beside"):
            with block("div", "sheet pad"):
                picked(markup(self._svg(data)), self._pick)
                legend({one.type.lower(): f"--hue-{hue(one.type)}" for one, _ in data.entities})
            with block("div", "sheet pad", "id=entity aria-live=polite"):
                if data.chosen is None:
                    self._list(data)
                else:
                    self._tell(data, *data.chosen)

    # Reading

    def _read(self, memory: Memory) -> EntityGraph:
        by_then, every = self.session.by_then, self.kept("entities", memory.entities)
        units = self.kept("units", lambda: {one.id: _turns(memory, one) for one in every[:MOST_ENTITIES]})
        links, places = self.kept("graph", lambda: _graph(every, units))
        known = [one for one in every if by_then(one.first)]
        said_by = {id_: [unit for unit in found if by_then(unit.said_at)] for id_, found in units.items()}
        shown = [number for number, one in enumerate(every[:MOST_ENTITIES]) if said_by[one.id]]
        back = {number: place for place, number in enumerate(shown)}
        counted = {
            (back[a], back[b]): shared
            for a, b in links
            if a in back and b in back
            if (shared := len(_seqs(said_by[every[a].id]) & _seqs(said_by[every[b].id])))
        }
        name = self.asked.get("name", "").lower()
        one = next((one for one in known if name and name in (one.id, one.name.lower())), None)
        chosen = None
        if one is not None:
            mentions = said_by.get(one.id) or [unit for unit in _turns(memory, one) if by_then(unit.said_at)]
            chosen = (one, mentions) if mentions else None
        entities = [(every[number], said_by[every[number].id]) for number in shown]
        return EntityGraph(entities, counted, places[shown] if shown else places[:0], known, chosen)

    # Drawing

    def _svg(self, data: EntityGraph) -> str:
        strongest = max(data.links.values(), default=1)
        picked_ = data.chosen[0].id if data.chosen else ""
        chosen = next((n for n, (one, _) in enumerate(data.entities) if one.id == picked_), None)
        most = max((len(units) for _, units in data.entities), default=1)
        out = ['<svg class="graph" role="group" aria-label="Entities and who is spoken of together">']
        for (a, b), shared in sorted(data.links.items(), key=lambda link: link[1]):
            (x1, y1), (x2, y2) = data.places[a], data.places[b]
            near = ' class="near"' if chosen in (a, b) else ""
            out.append(
                f'<line{near} x1="{x1:.1f}%" y1="{y1:.1f}%" x2="{x2:.1f}%" y2="{y2:.1f}%" '
                f'stroke-width="{0.8 + 4.2 * shared / strongest:.1f}"/>'
            )
        names = []
        for number, (one, units) in reversed(list(enumerate(data.entities))):
            x, y = data.places[number]
            size = 6 + 16 * math.sqrt(len(units) / most)
            look = ' class="picked"' if number == chosen else ""
            minor = ' class="minor"' if number >= MAJOR else ""
            out.append(
                f"<g{look} {pick(one.id)} "
                f'aria-label="{escape(one.name)}, {len(units)} turns">'
                f'<circle cx="{x:.1f}%" cy="{y:.1f}%" r="{size:.1f}" fill="var(--hue-{hue(one.type)})"/></g>'
            )
            names.append(
                f'<text{minor} x="{x:.1f}%" y="{y:.1f}%" dy="{size + 13:.0f}">{escape(one.name[:24])}</text>'
            )
        return "".join([*out, *names, "</svg>"])  # names above all circles

    def _list(self, data: EntityGraph) -> None:
        """Names to choose from: those that match what was looked for, or those spoken of most."""
        words = self.asked.get("find", "").lower()
        found = [one for one in data.known if words in " ".join((one.name, *one.aliases)).lower()]
        if not found:
            said("Nobody and nothing has such a name.", "soft small")
            return
        said(f"{len(found):,} names, those spoken of most first", "soft small")
        lines = "".join(
            f'<div class="row-line tight" {pick(one.id)}><span>{escape(one.name)}</span>'
            f'<span class="faint num">{one.mentions}</span></div>'
            for one in found[:MOST_LISTED]
        )
        picked(markup(lines, "rows"), self._pick)
        if len(found) > MOST_LISTED:
            said(f"and {len(found) - MOST_LISTED:,} more: find them by name", "faint small")

    def _tell(self, data: EntityGraph, one: Entity, units: list[UnitRow]) -> None:
        """The one that was picked, in words."""
        number = next((n for n, (other, _) in enumerate(data.entities) if other.id == one.id), None)
        said(one.name, tag="h2")
        markup(badge(one.type.lower(), "on") + "".join(badge(name) for name in one.aliases[:6]))
        first, last = min(unit.said_at for unit in units), max(unit.said_at for unit in units)
        with_ = sorted(
            ((shared, a if b == number else b) for (a, b), shared in data.links.items() if number in (a, b)),
            reverse=True,
        )
        names = ", ".join(f"{data.entities[other][0].name} ({shared})" for shared, other in with_[:6])
        markup(
            f'<dl class="pairs"><dt>turns</dt><dd class="num">{len(units)}</dd><dt>first</dt>'
            f"<dd>{day(self.session.local(first))}</dd><dt>last</dt><dd>{day(self.session.local(last))}</dd>"
            f"<dt>with</dt><dd>{escape(names) or '–'}</dd></dl>"
        )
        with block("div", "actions"):
            press("Timeline", lambda: self.frame.turn_to("timeline", entity=one.name))
            press("Facts", lambda: self.frame.turn_to("facts", subject=one.name, state="all"))
            press("All names", lambda: self.frame.change(name=""), "plain")
            if self.may_change:
                every = f"everything about {one.name}"
                forget = partial(offer_forget, self.session, self.frame, every, self.name, entity=one.name)
                press("Forget", forget, "bad", hint=f"Forget {one.name}")
        lines = "".join(
            f'<div class="turn small" {pick(n)} style="cursor: pointer"><div class="meta">'
            f"{escape(unit.speaker)} · {day(self.session.local(unit.said_at, unit.zone))}</div>"
            f"{escape(unit.text[:180])}</div>"
            for n, unit in enumerate(units[:6])
        )
        said("Last spoken of", tag="h3")

        def open_(number: str) -> Awaitable[None]:
            unit = units[int(number)]
            return self.show_turns(one.name, unit.turns or (unit.id,))

        picked(markup(lines), open_)

    async def _pick(self, id_: str) -> None:
        await self.frame.change(name="" if id_ == self.asked.get("name") else id_)


def _turns(memory: Memory, one: Entity) -> list[UnitRow]:
    """The turns that mention somebody, newest first."""
    return [unit for unit in memory.mentions(one.id, MOST_MENTIONS) if unit.kind == "turn"]


def _seqs(units: list[UnitRow]) -> set[int]:
    return {unit.seq for unit in units}


def _graph(
    every: Sequence[Entity], units: Mapping[str, list[UnitRow]]
) -> tuple[dict[tuple[int, int], int], NDArray[np.float64]]:
    """Who is spoken of together, as of now, and where each lies: places stay while the slider moves."""
    seen = [_seqs(units[one.id]) for one in every[:MOST_ENTITIES]]
    links = {
        (a, b): shared
        for a in range(len(seen))
        for b in range(a + 1, len(seen))
        if (shared := len(seen[a] & seen[b]))
    }
    return links, layout(len(seen), links)


def hue(type_: str) -> int:
    return TYPES.index(type_) if type_ in TYPES else len(TYPES) - 1


def layout(count: int, links: dict[tuple[int, int], int]) -> NDArray[np.float64]:
    """Places in per cent, by Fruchterman and Reingold (1991): links pull with d²/k, all push with k²/d, ever less.

    The same graph gives the same picture.
    """
    if count == 0:
        return np.zeros((0, 2))
    where = np.random.default_rng(SEED).uniform(-1.0, 1.0, (count, 2))
    pull = np.zeros((count, count))
    strongest = max(links.values(), default=1)
    for (a, b), shared in links.items():
        pull[a, b] = pull[b, a] = 0.25 + 0.75 * math.sqrt(shared / strongest)
    ideal = 1.6 / math.sqrt(count)
    for step in range(STEPS):
        apart = where[:, None, :] - where[None, :, :]
        far = np.maximum(np.linalg.norm(apart, axis=2), 0.02)
        push = (ideal**2 / far**2)[:, :, None] * apart
        drawn = (pull * far / ideal)[:, :, None] * apart
        move = push.sum(axis=1) - drawn.sum(axis=1) - 0.35 * where
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        where += move / length * np.minimum(length, 0.12 * (1 - step / STEPS))
    low, high = where.min(axis=0), where.max(axis=0)
    return np.asarray(8 + 84 * (where - low) / np.maximum(high - low, 1e-9), np.float64)
