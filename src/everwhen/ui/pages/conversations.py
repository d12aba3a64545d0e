"""What was said, conversation by conversation: a list to browse and search, and each one word for word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from html import escape

from everwhen.api.memory import Memory
from everwhen.errors import NotFound
from everwhen.types import Hit, Session, Turn
from everwhen.ui.components import (
    block,
    day,
    empty,
    markup,
    picked,
    press,
    row,
    said,
    search_field,
    turn_line,
)
from everwhen.ui.forget_dialog import offer_delete_bank, offer_forget, offer_stretch
from everwhen.ui.page import UIPage

MOST_SESSIONS_LISTED = 40
"""Conversations on one page of their list."""
MOST_TURNS = 200
"""Turns of a conversation on one page of it."""
MOST_HITS = 100
"""Turns with the words looked for that are listed."""


@dataclass(frozen=True, slots=True)
class SessionList:
    """One page of the conversations, newest first, each with its first words."""

    sessions: list[tuple[Session, str]]
    count: int


@dataclass(frozen=True, slots=True)
class OneSession:
    """One conversation, or one page of a long one."""

    id: str
    turns: list[Turn]
    count: int
    number: int


class Conversations(UIPage):
    name, title, icon = "conversations", "Conversations", "forum"
    hint = "What was said, word for word."

    async def load(self) -> SessionList | OneSession | list[Hit]:
        if self.asked.get("session"):
            return await self.session.read(self._one, fresh=False)
        if self.asked.get("find"):
            return await self.session.read(self._find, fresh=False)
        return await self.session.read(self._list, fresh=False)

    def draw(self, data: SessionList | OneSession | list[Hit]) -> None:
        if isinstance(data, OneSession):
            self._draw_one(data)
            return
        with block("div", "tools", "role=search"):
            search_field("Words that were said", self.asked.get("find", ""), self._look_for)
        if isinstance(data, SessionList):
            self._draw_list(data)
            if self.may_change:
                self._offer_more_forgetting()
        else:
            self._draw_found(data)

    # Reading

    def _list(self, memory: Memory) -> SessionList:
        known = self.kept(
            "sessions", lambda: sorted(memory.sessions(), key=lambda one: one.first, reverse=True)
        )
        found = [one for one in known if self.session.by_then(one.first)]
        shown = self.page_of(found, MOST_SESSIONS_LISTED)
        return SessionList(
            [(one, self.kept(f"title {one.id}", partial(_title, memory, one.id))) for one in shown],
            len(found),
        )

    def _one(self, memory: Memory) -> OneSession:
        id_ = self.asked["session"]
        every = self.kept(f"turns {id_}", lambda: memory.turns(session=id_))
        if not every:
            raise NotFound(f"there is no conversation '{id_}' in this bank")
        turns = [turn for turn in every if self.session.by_then(turn.said_at)]
        number, wanted = self.number, self.asked.get("turn")
        if wanted and "page" not in self.asked:
            place = next((place for place, turn in enumerate(turns) if turn.id == wanted), 0)
            number = place // MOST_TURNS + 1
        start = (number - 1) * MOST_TURNS
        return OneSession(id_, turns[start : start + MOST_TURNS], len(turns), number)

    def _find(self, memory: Memory) -> list[Hit]:
        then = self.session.as_of
        between = None if then is None else (None, then)
        found: list[Hit] = memory.grep(self.asked["find"], between=between, limit=1000)
        return found[::-1]

    # Drawing

    def _draw_list(self, data: SessionList) -> None:
        if not data.sessions:
            empty("No conversation yet.", "What is said to your agent appears here at once.", "forum")
            return
        lines, month = [], ""
        for one, words in data.sessions:
            at = self.session.local(one.first, one.zone)
            if f"{at:%B %Y}" != month:
                month = f"{at:%B %Y}"
                lines.append(f'<h2 class="month">{month}</h2>')
            who = f'<span class="faint small">{escape(", ".join(one.speakers[:3]))}</span>'
            count = f'<span class="faint small num">{one.turns} turn{"" if one.turns == 1 else "s"}</span>'
            lines.append(row(one.id, f"{day(at)}, {at:%H:%M}", f"{escape(words)}<br>{who}", count))
        sheet = markup("".join(lines), "sheet rows").props("id=sessions")
        picked(sheet, lambda id_: self.frame.turn_to("conversations", session=id_))
        self.pager(data.count, MOST_SESSIONS_LISTED)

    def _offer_more_forgetting(self) -> None:
        session, frame = self.session, self.frame
        with block("div", "actions apart"):
            stretch = partial(offer_stretch, session, frame, self.name)
            press("Forget a stretch of time", stretch, "bad", icon="event_busy")
            if session.may("admin"):
                delete = partial(offer_delete_bank, session, frame)
                press("Delete this bank", delete, "bad", icon="delete_forever")

    def _draw_found(self, hits: list[Hit]) -> None:
        if not hits:
            hint = "Try fewer words, or ask on Recall, which finds by meaning."
            empty("Nobody said that.", hint, "search_off")
            return
        shown = {hit.turn.id: hit.turn for hit in hits[:MOST_HITS]}
        lines = "".join(
            row(
                turn.id,
                day(self.session.local(turn.said_at, turn.zone)),
                f'<span class="faint">{escape(turn.speaker)}:</span> {escape(turn.text[:280])}',
                "<span></span>",
            )
            for turn in shown.values()
        )
        said(f"{len(hits):,} turns, newest first", "soft small")
        picked(
            markup(lines, "sheet rows").props("id=found"),
            lambda id_: self.frame.turn_to("conversations", session=shown[id_].session, turn=id_),
        )

    def _draw_one(self, data: OneSession) -> None:
        forget = partial(offer_forget, self.session, self.frame)
        with block("div", "tools"):
            press("All conversations", lambda: self.frame.turn_to("conversations"), icon="arrow_back")
            if self.may_change:
                this = partial(forget, "this conversation", self.name, session=data.id)
                press("Forget this conversation", this, "bad", icon="delete")
        if not data.turns:
            empty("Nothing had been said by that day.", "Move the slider to the right.", "forum")
            return
        wanted = self.asked.get("turn")
        first = self.session.local(data.turns[0].said_at, data.turns[0].zone)
        with block("div", "sheet pad", "id=turns"):
            said(f"{data.turns[0].text[:90].strip()} · {day(first)}", "wrap", "h2")
            lines = "".join(
                turn_line(self.session, turn, wanted in (None, turn.id), self.may_change)
                for turn in data.turns
            )
            after = {"session": data.id} if data.count > 1 else {}
            picked(markup(lines), lambda id_: forget("this turn", self.name, after, turns=[id_]))
        self.pager(data.count, MOST_TURNS, data.number)

    async def _look_for(self, words: str) -> None:
        await self.frame.change(find=words, page="")


def _title(memory: Memory, session: str) -> str:
    """The first words that somebody said; a greeting alone is no title."""
    texts = [turn.text.strip() for turn, _ in zip(memory.each_turn(session), range(3), strict=False)]
    chosen = next((text for text in texts if len(text) > 24), texts[0] if texts else session)
    return chosen if len(chosen) <= 160 else chosen[:159] + "…"
