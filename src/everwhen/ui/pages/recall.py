"""Ask, and see why: ranks by channel, what each score is made of, what was dropped, where the time went."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from html import escape
from typing import Any

from nicegui import ui

from everwhen.memory import Memory
from everwhen.recall import Recall
from everwhen.recall.score_labels import score_label
from everwhen.settings import MAX_TOKENS
from everwhen.time_arguments import TimeReader
from everwhen.types import KINDS, Recalled
from everwhen.ui.components import (
    badge,
    block,
    day,
    empty,
    markup,
    pick,
    picked,
    press,
    said,
    show_turns,
    spoken,
)
from everwhen.ui.page import UIPage
from everwhen.ui.settings import MOST_MEMORIES
from everwhen.when.zones import zone_of

BUDGETS = {"low": "Low", "mid": "Mid", "high": "High"}
CHANNELS = {"semantic": "meaning", "keyword": "words", "graph": "graph", "temporal": "time"}
LEAST_SHARE = 0.01
"""Stages that take less of the time than this are added up."""
PARTS = 6
"""The largest parts of a score that are drawn."""


class Explorer(UIPage):
    name, title, icon = "recall", "Recall", "manage_search"
    hint = "What an agent would be given, and why."

    def controls(self) -> None:
        kept = self.session.kept
        with block("div", "tools", "role=search"):
            self.query = (
                ui.input(placeholder="Ask this memory something", value=str(kept.get("query", "")))
                .props('outlined dense clearable aria-label="Question" autocomplete=off id=search')
                .style("flex: 1 1 16rem")
                .on("keydown.enter", self._ask)
            )
            press("Recall", self._ask, "strong", icon="search")
        with block("div", "tools"):
            look = "outlined dense options-dense behavior=menu"
            self.budget = ui.select(BUDGETS, value="mid", label="Budget").props(look)
            self.tokens = ui.number("Max tokens", value=MAX_TOKENS, min=1, max=200_000, step=256, format="%d")
            self.tokens.props("outlined dense")
            self.after = ui.input("Said after").props("outlined dense stack-label type=date")
            self.before = ui.input("Said before").props("outlined dense stack-label type=date")
            self.kinds = ui.select(list(KINDS), value=["turn", "fact"], multiple=True, label="Kinds").props(
                look
            )
            fields = (self.budget, self.tokens, self.after, self.before, self.kinds)
            for field, width in zip(fields, (6, 7.5, 9.5, 9.5, 11), strict=True):
                field.style(f"width: {width}rem")
        ui.run_javascript(
            'if (window.everwhenSearch) { window.everwhenSearch = false; document.querySelector("input.q-field__native'
            '[aria-label=Question]")?.focus(); }'
        )

    async def load(self) -> Recall | None:
        query = str(self.query.value or "").strip()
        self.session.kept["query"] = query
        if not query:
            return None
        asked: dict[str, Any] = {
            "budget": self.budget.value,
            "max_tokens": int(self.tokens.value or 0),
            "after": self._day(self.after.value, "after"),
            "before": self._day(self.before.value, "before"),
            "kinds": self.kinds.value or None,
            "as_of": self.session.as_of,
            "at": self.session.as_of,
        }

        def act(memory: Memory) -> Recall:
            return memory.recall(query, **asked)

        return await self.session.read(act, fresh=False)

    def draw(self, data: Recall | None) -> None:
        if data is None:
            with block("div", "sheet"):
                empty(
                    "Ask something.",
                    "You see what an agent would be given, and the reason for every line of it.",
                    "manage_search",
                )
            return
        with block("div", "beside"):
            with block("div", "stack"):
                markup(self._plan(data), "soft small")
                if not data.memories:
                    with block("div", "sheet"):
                        empty(
                            "Nothing in this memory answers that.",
                            "Try other words, or a wider time.",
                            "search_off",
                        )
                else:
                    best = max(one.score for one in data.memories) or 1.0
                    shown = data.memories[:MOST_MEMORIES]
                    picked(
                        markup(
                            "".join(self._memory(n, one, best) for n, one in enumerate(shown)), "sheet"
                        ).props("id=kept"),
                        lambda number: self._open(shown[int(number)]),
                    )
                    if len(shown) < len(data):
                        said(f"and {len(data) - len(shown)} more within the budget", "faint small")
            with block("div", "stack"):
                markup(self._tokens(data), "sheet pad")
                markup(_stages(data.trace.get("stages_ms", {})), "sheet pad").props("id=stages")
                markup(_dropped(data), "sheet pad").props("id=dropped")

    # Drawing

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

    def _memory(self, number: int, one: Recalled, best: float) -> str:
        at = one.said_at.astimezone(zone_of(one.zone))
        why = one.why
        chips = "".join(
            badge(f"{CHANNELS.get(name, name)} #{rank} · {why.scores.get(name, 0.0):.2f}", "on")
            for name, rank in why.ranks.items()
        )
        if why.beside is not None:
            chips += badge("stands beside another hit")
        elif not why.ranks:
            chips += badge(
                "learned from a turn that was found" if one.kind == "fact" else "found by no channel"
            )
        if why.affinity is not None:
            chips += badge(f"affinity {why.affinity:.2f}")
        occurred = f"<span>{escape(spoken(one.occurred, one.zone))}</span>" if one.occurred else ""
        return (
            f'<article class="memory" data-memory="{escape(one.id)}"><div class="meta">'
            f'<span class="num">{number + 1}</span><span class="score" title="score {one.score / best:.2f}">'
            f'<b style="width: {one.score / best * 100:.0f}%"></b></span>'
            f"<span>{escape(one.speaker)} · {day(at)}, {at:%H:%M}</span>{occurred}<span>{escape(one.kind)}</span>"
            f'<span class="num">{one.tokens} tokens</span></div>'
            f'<div class="wrap" {pick(number)}>{escape(one.text)}</div>'
            f'<div class="chips">{chips}</div>{_parts(why.parts)}</article>'
        )

    def _tokens(self, found: Recall) -> str:
        most = int(self.tokens.value or 1)
        share = min(found.tokens / most, 1.0) * 100
        channels = " · ".join(
            f"{CHANNELS.get(name, name)} {count}" for name, count in found.trace.get("found", {}).items()
        )
        return (
            f'<h3>Tokens</h3><p class="num" id="tokens"><b>{found.tokens:,}</b> of {most:,}</p>'
            f'<div class="progress"><b style="width: {share:.1f}%"></b></div>'
            f'<p class="small soft" style="margin-top: .5rem">{len(found)} kept of {found.trace.get("candidates", 0)} '
            f"candidates<br>{escape(channels)}</p>"
        )

    # Acting

    async def _ask(self) -> None:
        await self.frame.refresh()

    async def _open(self, one: Recalled) -> None:
        await self.frame.doing(
            lambda: show_turns(self.session, one.text, one.turns, str(one.why)), redraw=False
        )

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
    rest = sum(value for _, value in ranked[PARTS:])
    if ranked[PARTS:]:
        others = f"{len(ranked) - PARTS} others"
        lines += (
            f'<div class="part"><span>{others}</span><span class="num">{rest:+.2f}</span><span></span></div>'
        )
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
    body = (
        f'<ul class="rows small stack">{lines}</ul>'
        if lines
        else '<p class="small soft">Nothing that was found was left out.</p>'
    )
    return f"<h3>Dropped</h3>{body}"
