"""What was said: recall with its reasons, and the conversations word for word."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from html import escape
from typing import Any

from nicegui import ui

from everwhen.api.memory import Memory
from everwhen.errors import NotFound
from everwhen.recall.features import plain_reasons, score_label
from everwhen.settings import MAX_TOKENS
from everwhen.types import KINDS, Answer, Hit, Recall, Recalled, Session, Turn
from everwhen.types.times import TimeReader
from everwhen.ui.components import (
    badge,
    block,
    chooser,
    day,
    empty,
    markup,
    offer_delete_bank,
    offer_forget,
    offer_stretch,
    pick,
    picked,
    press,
    row,
    said,
    search_field,
    spoken,
    turn_line,
)
from everwhen.ui.page import UIPage
from everwhen_time.zones import zone_of

# Recall


MOST_MEMORIES = 40
"""Recalled memories that are explained one by one; the rest is counted."""
SHOWN_MEMORIES = 10
"""Recalled memories that are shown before somebody asks for more."""
BUDGETS = {"low": "Low", "mid": "Mid", "high": "High"}
CHANNELS = {"semantic": "meaning", "keyword": "words", "graph": "graph", "temporal": "time"}
LEAST_SHARE = 0.01
"""Stages that take less of the time than this are added up."""
PARTS = 6
"""The largest parts of a score that are drawn."""


class Explorer(UIPage):
    name, title, icon = "recall", "Recall", "manage_search"
    hint = "What an agent would be given, and why."

    @property
    def most(self) -> int:
        """Tokens asked for."""
        return self.whole("tokens", MAX_TOKENS)

    def controls(self) -> None:
        asked = self.asked
        with block("div", "tools", "role=search"):
            self.query = (
                ui.input(placeholder="Ask this memory something", value=asked.get("q", ""))
                .props('outlined dense clearable aria-label="Question" autocomplete=off id=search')
                .style("flex: 1 1 16rem")
                .classes("ask")
                .on("keydown.enter", partial(self._asking, ""))
            )
            press("Recall", partial(self._asking, ""), "strong", icon="search")
            answer = partial(self._asking, "1")
            press("Answer", answer, icon="question_answer", hint="Answer in words, with sources")
        options = block("details", "options")
        with options:
            said("Budget, time and kinds", tag="summary")
        with options, block("div", "tools"):
            self.budget = chooser("Budget", BUDGETS, asked.get("budget", "mid"), lambda _: None)
            self.tokens = ui.number(
                "Max tokens", value=self.most, min=1, max=200_000, step=256, format="%d"
            ).props("outlined dense")
            self.after, self.before = (
                ui.input(label, value=asked.get(name, "")).props("outlined dense stack-label type=date")
                for name, label in (("after", "Said after"), ("before", "Said before"))
            )
            kinds = [kind for kind in KINDS if kind in asked.get("kinds", "turn,fact").split(",")]
            self.kinds = ui.select(list(KINDS), value=kinds, multiple=True, label="Kinds").props(
                "outlined dense options-dense behavior=menu"
            )
        if set(asked) - {"q", "answer"}:
            options.props("open")
        ui.run_javascript(
            'if (window.everwhenSearch) { window.everwhenSearch = false; document.querySelector("input.q-field__native'
            '[aria-label=Question]")?.focus(); }'
        )

    async def load(self) -> tuple[Recall, Answer | None] | None:
        """What is recalled, and the answer where one is asked for."""
        query = self.asked.get("q", "").strip()
        if not query:
            return None
        as_of = self.session.as_of
        asked: dict[str, Any] = {
            "budget": self.asked.get("budget", "mid"),
            "max_tokens": self.most,
            "after": self._day(self.asked.get("after"), "after"),
            "before": self._day(self.asked.get("before"), "before"),
            "kinds": self.asked.get("kinds", "turn,fact").split(","),
            "as_of": as_of,
            "at": as_of,
        }
        found = await self.session.read(lambda memory: memory.recall(query, **asked), fresh=False)
        answer = None
        if self.asked.get("answer"):
            answer = await self.session.ask(lambda memory: memory.ask(query, at=as_of, as_of=as_of))
        return found, answer

    def draw(self, data: tuple[Recall, Answer | None] | None) -> None:
        if data is None:
            hint = "You see what an agent would be given, and the reason for every line of it."
            empty("Ask something.", hint, "manage_search")
            return
        found, answer = data
        if answer is not None:
            self._answered(answer)
        if not found.memories:
            empty("Nothing in this memory answers that.", "Try other words, or a wider time.", "search_off")
            return
        with block("div", "tools"):
            counted = f"{len(found)} memories, {found.tokens:,} tokens"
            said(counted, "soft small num", "span").props("id=tokens")
            copy = partial(self._copy, found)
            press("Copy prompt", copy, icon="content_copy", hint="Copy prompt for a model")
        shown = found.memories[:MOST_MEMORIES]
        first, rest = shown[:SHOWN_MEMORIES], shown[SHOWN_MEMORIES:]
        lines = "".join(self._memory(n, one) for n, one in enumerate(first))
        if rest:
            others = "".join(self._memory(n, one) for n, one in enumerate(rest, start=len(first)))
            lines += f'<details class="more"><summary>{len(rest)} more</summary>{others}</details>'
        picked(markup(lines, "sheet").props("id=kept"), lambda number: self._open(shown[int(number)]))
        if len(shown) < len(found):
            said(f"and {len(found) - len(shown)} more, which the prompt has", "faint small")
        with block("details", "sheet how", "id=how"):
            said("How it was found", tag="summary")
            with block("div", "pad stack"):
                markup(self._plan(found), "soft small")
                markup(self._tokens(found))
                markup(_stages(found.trace.get("stages_ms", {}))).props("id=stages")
                markup(_dropped(found)).props("id=dropped")

    # Drawing

    def _answered(self, answer: Answer) -> None:
        with block("section", "sheet pad stack", "id=answer"):
            said("Answer", tag="h2")
            said(answer.text, "wrap answer")
            for one in answer.citations[:3]:
                at = self.session.local(one.said_at, one.zone)
                said(f"“{one.quote}” {one.speaker}, {day(at)}", "soft small wrap")
            sure = "not known" if answer.abstained else f"{answer.confidence:.0%} sure"
            said(f"{sure} · {answer.method}", "faint small")

    def _plan(self, found: Recall) -> str:
        plan, trace = found.trace.get("plan", {}), found.trace
        about = ", ".join(plan.get("about", ())) or "nobody in particular"
        time = plan.get("time")
        parts = [
            f"about <b>{escape(about)}</b>",
            escape(spoken(time, self.session.zone)) if time else "any time",
            escape(str(plan.get("complexity", ""))) + " question",
            f"answerable {trace.get('answerable', 0.0):.2f}",
            f"recipe {escape(str(trace.get('recipe', '')))}",
        ]
        return "Understood as: " + " · ".join(parts)

    def _memory(self, number: int, one: Recalled) -> str:
        at = one.said_at.astimezone(zone_of(one.zone))
        why = one.why
        chips = "".join(
            badge(f"{CHANNELS.get(name, name)} #{rank} · {why.scores.get(name, 0.0):.2f}", "on")
            for name, rank in why.ranks.items()
        )
        if why.affinity is not None:
            chips += badge(f"affinity {why.affinity:.2f}")
        occurred = f"<span>{escape(spoken(one.occurred, one.zone))}</span>" if one.occurred else ""
        who = f"{escape(one.speaker)} · " if one.kind == "turn" else f"{escape(one.kind)} · "
        return (
            f'<article class="memory" data-memory="{escape(one.id)}"><div class="meta">'
            f'<span class="num">{number + 1}</span><span>{who}{day(at)}, {at:%H:%M}</span>{occurred}</div>'
            f'<div class="wrap" {pick(number)}>{escape(one.text)}</div>'
            f'<details class="why"><summary>{escape(" · ".join(plain_reasons(why, one.kind)))}</summary>'
            f'<div class="chips">{chips}{badge(f"{one.tokens} tokens")}{badge(f"score {one.score:.2f}")}</div>'
            f"{_parts(why.parts)}</details></article>"
        )

    def _tokens(self, found: Recall) -> str:
        most = max(self.most, 1)
        share = min(found.tokens / most, 1.0) * 100
        channels = " · ".join(
            f"{CHANNELS.get(name, name)} {count}" for name, count in found.trace.get("found", {}).items()
        )
        return (
            f'<h3>Tokens</h3><p class="num"><b>{found.tokens:,}</b> of {most:,}</p>'
            f'<div class="progress"><b style="width: {share:.1f}%"></b></div>'
            f'<p class="small soft">{len(found)} kept of {found.trace.get("candidates", 0)} '
            f"candidates<br>{escape(channels)}</p>"
        )

    # Acting

    async def _asking(self, answer: str) -> None:
        tokens, kinds = int(self.tokens.value or MAX_TOKENS), ",".join(self.kinds.value or ())
        await self.frame.change(
            q=str(self.query.value or "").strip(),
            answer=answer,
            budget="" if self.budget.value == "mid" else str(self.budget.value),
            tokens="" if tokens == MAX_TOKENS else str(tokens),
            after=str(self.after.value or ""),
            before=str(self.before.value or ""),
            kinds="" if kinds == "turn,fact" else kinds,
        )

    def _copy(self, found: Recall) -> None:
        ui.run_javascript(f"everwhenCopy({json.dumps(found.to_openai()[0]['content'])})")
        copied = "The prompt is copied: give it to a model before the question."
        ui.notify(copied, position="bottom", color="primary")

    async def _open(self, one: Recalled) -> None:
        await self.show_turns(one.text, one.turns, str(one.why))

    def _day(self, given: str | None, name: str) -> datetime | None:
        if not given:
            return None
        chosen = TimeReader(self.session.zone).interval(given, name)
        return chosen.end if name == "after" else chosen.start  # after: the whole day is over


def _parts(parts: Mapping[str, float]) -> str:
    if not parts:
        return ""
    ranked = sorted(parts.items(), key=lambda part: -abs(part[1]))
    scale = abs(ranked[0][1]) or 1.0
    lines = "".join(
        f'<div class="part"><span>{escape(score_label(name))}</span><span class="num">{value:+.2f}</span>'
        f'<span><span class="bar{" minus" if value < 0 else ""}" style="width: {abs(value) / scale * 100:.0f}%">'
        "</span></span></div>"
        for name, value in ranked[:PARTS]
    )
    if rest := [value for _, value in ranked[PARTS:]]:
        others, sums = f"{len(rest)} others", f'<span class="num">{sum(rest):+.2f}</span>'
        lines += f'<div class="part"><span>{others}</span>{sums}<span></span></div>'
    return f'<div class="parts">{lines}</div>'


def _stages(stages: Mapping[str, float]) -> str:
    whole = sum(stages.values()) or 1.0
    shown = {name: ms for name, ms in stages.items() if ms / whole >= LEAST_SHARE}
    if len(shown) < len(stages):
        shown["others"] = whole - sum(shown.values())
    longest = max(shown.values(), default=1.0) or 1.0
    lines = "".join(
        f'<span>{escape(name)}</span><span class="bar" style="width: {ms / longest * 100:.1f}%"></span>'
        f'<span class="num">{ms:.1f} ms</span>'
        for name, ms in shown.items()
    )
    return (
        f'<h3>Time, by stage</h3><div class="stages">{lines}<b>all</b><span></span>'
        f'<b class="num">{whole:.0f} ms</b></div>'
    )


def _dropped(found: Recall) -> str:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for one in found.dropped:
        by_reason[re.sub(r"\s[\d.]+$", " too low", one.reason)].append(one.id)
    lines = "".join(
        f'<li><b class="num">{len(ids)}</b> {escape(reason)}<br><span class="faint wrap">{escape(", ".join(ids[:3]))}'
        f"{', …' if len(ids) > 3 else ''}</span></li>"
        for reason, ids in by_reason.items()
    )
    nothing = '<p class="small soft">Nothing that was found was left out.</p>'
    return "<h3>Dropped</h3>" + (f'<ul class="rows small stack">{lines}</ul>' if lines else nothing)


# Conversations


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
        as_of = self.session.as_of
        between = None if as_of is None else (None, as_of)
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
