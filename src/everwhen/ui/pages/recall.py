"""Ask, and see what an agent would be given: an answer, the memories with their reasons in three words, the prompt."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from html import escape
from typing import Any

from nicegui import ui

from everwhen.recall.features import plain_reasons, score_label
from everwhen.settings import MAX_TOKENS
from everwhen.types import KINDS, Answer, Recall, Recalled
from everwhen.types.time_arguments import TimeReader
from everwhen.ui.components import (
    badge,
    block,
    chooser,
    day,
    empty,
    markup,
    pick,
    picked,
    press,
    said,
    spoken,
)
from everwhen.ui.page import UIPage
from everwhen_time.zones import zone_of

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
        then = self.session.as_of
        asked: dict[str, Any] = {
            "budget": self.asked.get("budget", "mid"),
            "max_tokens": self.most,
            "after": self._day(self.asked.get("after"), "after"),
            "before": self._day(self.asked.get("before"), "before"),
            "kinds": self.asked.get("kinds", "turn,fact").split(","),
            "as_of": then,
            "at": then,
        }
        found = await self.session.read(lambda memory: memory.recall(query, **asked), fresh=False)
        answer = None
        if self.asked.get("answer"):
            answer = await self.session.ask(lambda memory: memory.ask(query, at=then, as_of=then))
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
