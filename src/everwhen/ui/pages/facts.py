"""Facts as bars over the time they hold; their history; what waits for a decision, and what has grown old."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from html import escape
from typing import Any

from nicegui import ui

from everwhen.api.memory import Memory
from everwhen.types import Conflict, Fact, Proposal, StaleFact
from everwhen.types.decay import old_in_words
from everwhen.ui.components import (
    Act,
    badge,
    block,
    choice,
    day,
    dialog,
    empty,
    markup,
    offer,
    pick,
    picked,
    press,
    said,
    search_field,
    spaced,
)
from everwhen.ui.page import UIPage
from everwhen.ui.time_axis import Axis, fitting

MOST_FACTS = 50
"""Facts on one page of them."""
MOST_QUEUED = 50
"""Stale facts that are shown at a time."""
STATES = {"holds": "Hold", "over": "Over", "all": "All"}
DECISIONS = {"confirm": "Still so", "correct": "Correct", "retract": "Never so"}
SIGNALS = {
    "age": "old",
    "contradiction": "contradicted",
    "context_mismatch": "does not fit",
    "user_correction": "corrected before",
    "external_change": "changed outside",
}


@dataclass(frozen=True, slots=True)
class FactsView:
    """What is believed, at the moment that the page looks from."""

    facts: list[Fact]
    holding: frozenset[str]
    confidence: dict[str, float]
    review: list[Conflict | Proposal]
    stale: list[StaleFact]
    count: int
    subjects: list[str]
    predicates: list[str]


class FactBars(UIPage):
    name, title, icon = "facts", "Facts", "fact_check"
    hint = "What is so, from when to when."

    @property
    def known(self) -> str:
        """With the slider in the past: as known then, or what is known of that day now."""
        return self.one_of("known", ("now",), "then")

    @property
    def state(self) -> str:
        return self.one_of("state", STATES, "holds")

    def controls(self) -> None:
        asked, change = self.asked, self.frame.change
        with block("div", "tools"):
            choice("Which facts", STATES, self.state, lambda state: change(state=state, page=""))
            self._subject = self.menu("About", "subject", {"": "Anybody"})
            self._predicate = self.menu("What", "predicate", {"": "Anything"})
            search_field("Words", asked.get("find", ""), lambda words: change(find=words, page=""))
            self._knowing = choice(
                "What was known",
                {"then": "As known then", "now": "As known now"},
                self.known,
                lambda known: change(known="" if known == "then" else known),
            )

    def draw(self, data: FactsView) -> None:
        self.facts = {fact.id: fact for fact in data.facts}
        may = self.may_change
        if data.review and not self.asked:
            self._review(data.review, may)
        offer(self._subject, {"": "Anybody", **{name: name for name in data.subjects}})
        offer(self._predicate, {"": "Anything", **{name: spaced(name) for name in data.predicates}})
        self._knowing.set_visibility(self.session.as_of is not None)
        if not data.facts and self.asked:
            empty("No fact is like that.", "Choose other filters, or all facts.", "search_off")
            return
        if not data.facts:
            hint = "What holds from one day to another, such as where somebody lives, is drawn here as a bar."
            past = "On that day nothing of the kind was known; move the slider to the right."
            empty("No facts are known yet.", hint if self.session.as_of is None else past, "fact_check")
            return
        picked(markup(self._bars(data), "sheet").props("id=bars"), self._open)
        self.pager(data.count, MOST_FACTS)
        if data.stale and not self.asked:
            self._stale(data.stale, may)

    # Reading

    def _read(self, memory: Memory) -> FactsView:
        then, moment = self.session.as_of, self.session.moment
        known = then if self.known == "then" else None
        facts = [fact for fact in memory.facts.versions() if _known(fact, known)]
        held = memory.facts.current() if then is None else memory.facts.as_of(then, known_at=known)
        facts = [fact for fact in facts if fact.valid_from <= moment or then is None]
        holding = frozenset(fact.id for fact in held)
        subjects = sorted({fact.subject for fact in facts}, key=str.lower)
        predicates = sorted({fact.predicate for fact in facts})
        facts = [fact for fact in facts if self._wanted(fact, holding)]
        often = Counter(fact.subject for fact in facts)
        facts.sort(
            key=lambda fact: (-often[fact.subject], fact.subject.lower(), fact.predicate, fact.valid_from)
        )
        shown = self.page_of(facts, MOST_FACTS)
        review = memory.facts.review() if then is None else []
        stale = memory.facts.stale(now=moment, limit=MOST_QUEUED) if then is None else []
        asked = {side.id for one in review if isinstance(one, Conflict) for side in one.sides}
        return FactsView(
            shown,
            holding,
            {fact.id: memory.facts.confidence_at(fact, moment) for fact in shown if fact.id in holding},
            review,
            [one for one in stale if one.fact.id not in asked],  # those are decided above
            len(facts),
            subjects,
            predicates,
        )

    def _wanted(self, fact: Fact, holding: frozenset[str]) -> bool:
        """Whether the filters keep a fact."""
        subject, predicate, words = (self.asked.get(name, "") for name in ("subject", "predicate", "find"))
        holds = fact.id in holding
        return (
            (self.state == "all" or (holds or fact.status == "disputed") == (self.state == "holds"))
            and subject.lower() in ("", fact.subject.lower())
            and predicate in ("", fact.predicate)
            and all(word in fact.text.lower() for word in words.lower().split())
        )

    # Drawing

    def _bars(self, data: FactsView) -> str:
        then, moment, stats = self.session.as_of, self.session.moment, self.session.stats
        sides = [side for fact in data.facts for side in (fact.valid_from, fact.valid_to) if side is not None]
        start = min(fact.valid_from for fact in data.facts)
        end = max(filter(None, ((stats and stats.last) or moment, then, *sides)))
        if then is None and moment - end < timedelta(days=30):
            end = moment
        room = max((end - start) / 40, timedelta(days=1))
        axis = Axis(start - room, end + room, self.session.zone)
        ticks = axis.drawn_ticks(fitting(axis.start, axis.end), 22, then)
        out = [f'<div class="fact-axis"><span></span><svg class="chart" height="22">{ticks}</svg></div>']
        subject = None
        for fact in data.facts:
            if fact.subject != subject:
                subject = fact.subject
                out.append(f'<div class="group"><h2>{escape(subject)}</h2></div>')
            out.append(self._bar(fact, axis, data))
        return "".join(out)

    def _bar(self, fact: Fact, axis: Axis, data: FactsView) -> str:
        holds = fact.id in data.holding
        left = axis.place(fact.valid_from)
        width = max((axis.place(fact.valid_to) if fact.valid_to else 100.0) - left, 0.6)
        look = "disputed" if fact.status == "disputed" else "held" if holds else "over"
        sure = data.confidence.get(fact.id, fact.confidence)
        then = self.session.as_of
        line = axis.then_line(then, 26, ' stroke="var(--accent)" stroke-dasharray="3 3"') if then else ""
        until = f"until {day(self.session.local(fact.valid_to, fact.zone))}" if fact.valid_to else "still"
        since = day(self.session.local(fact.valid_from, fact.zone))
        title = escape(f"{fact.text}: since {since}, {until}")
        fade = 0.35 + 0.65 * sure if look == "held" else 1.0
        old = old_in_words(fact, sure, self.session.moment) if holds else ""
        marks = badge("disputed", "warn") if fact.status == "disputed" else ""
        marks += badge("you said so", "on") if fact.origin == "user" else ""
        marks += badge(old, "warn") if old else ""
        return (
            f'<div class="fact-row{"" if holds else " past"}" {pick(fact.id)} data-holds="{str(holds).lower()}" '
            f'data-fact="{title}"><span class="says">{escape(fact.text)} {marks}<br>'
            f'<span class="faint small num">{since} – {escape(until.removeprefix("until "))}</span></span>'
            f'<svg class="bar" aria-hidden="true"><title>{title}</title>'
            f'<rect class="ground" x="0" y="9" width="100%" height="8" rx="4"/>'
            f'<rect class="{look}" x="{left:.2f}%" y="7" width="{width:.2f}%" height="12" rx="4" opacity="{fade:.2f}"/>'
            f"{line}</svg></div>"
        )

    def _review(self, waiting: Sequence[Conflict | Proposal], may: bool) -> None:
        with block("section", "sheet pad stack", "id=review"):
            said(f"To decide: {len(waiting)}", tag="h2")
            for one in waiting:
                sides = one.sides if isinstance(one, Conflict) else (one.changes, one.fact)
                with block("div", "stack", f"data-conflict={one.id}"):
                    about = f"{sides[1].subject}, {spaced(sides[1].predicate)}"
                    said(f"{about}: {one.why}", "soft small")
                    marks = badge("Believed now", "on"), badge("Says otherwise", "warn")
                    with block("div", "two"):
                        for fact, mark in zip(sides, marks, strict=True):
                            if fact is not None:
                                self._side(one, fact, mark, may)
                    if may and isinstance(one, Conflict):
                        press("Neither is so", self._deciding("resolve", one.id, "neither"), "plain")
                    elif may:
                        press("It is so", self._deciding("confirm", one.id), "strong")
                        press("It is not so", self._deciding("reject", one.id), "plain")

    def _side(self, waiting: Conflict | Proposal, fact: Fact, mark: str, may: bool) -> None:
        often = "told once" if fact.support == 1 else f"told {fact.support} times"
        until = f" until {day(self.session.local(fact.valid_to, fact.zone))}" if fact.valid_to else ""
        with block("div", "side"):
            markup(mark, tag="span")
            said(fact.object, "wrap", "b")
            said(
                f"since {day(self.session.local(fact.valid_from, fact.zone))}{until} · {often} · {fact.origin}",
                "faint small",
            )
            if may and isinstance(waiting, Conflict):
                press(f"Keep “{fact.object}”", self._deciding("resolve", waiting.id, fact.id), "strong")

    def _stale(self, stale: Sequence[StaleFact], may: bool) -> None:
        with block("section", "sheet", "id=stale"):
            with block("div", "pad").style("padding-bottom: .3rem"):
                said(f"To check: {len(stale)}", tag="h2")
            # One piece of markup: fifty rows of buttons of their own take the browser half a second.
            rows = markup("".join(_stale_row(one, may) for one in stale))
        by_id = {one.fact.id: one.fact for one in stale}

        async def decide(picked_: str) -> None:
            what, _, id_ = picked_.partition(" ")
            done = self._decisions(by_id[id_])[what]()
            if done is not None:
                await done

        if may:
            picked(rows, decide)

    # Acting

    def _decisions(self, fact: Fact) -> dict[str, Act]:
        """What can be done about a fact, as `DECISIONS` calls it."""
        return {
            "confirm": partial(self._write, "confirm", lambda it: it.facts.confirm(fact.id), "Confirmed."),
            "correct": partial(self._correct, fact),
            "retract": partial(self._retract, fact),
        }

    async def _write(self, what: str, act: Callable[[Memory], Any], done: str) -> None:
        await self.frame.doing(lambda: self.session.write(f"facts/{what}", act), done)

    def _deciding(self, what: str, *of: str) -> Act:
        done = "Decided and written down."
        return partial(self._write, what, lambda it: getattr(it.facts, what)(*of), done)

    def _correct(self, fact: Fact) -> None:
        with dialog(f"What is right? {fact.subject} {spaced(fact.predicate)} …") as opened:
            right = ui.input(value=fact.object).props('outlined dense autofocus aria-label="What is right"')

            async def correct() -> None:
                words = str(right.value or "")
                opened.close()
                about = fact.subject, fact.predicate
                await self._write("correct", lambda it: it.facts.correct(*about, words), "Corrected.")

            press("Correct it", correct, "strong")

    def _retract(self, fact: Fact) -> None:
        note = "It stays in the history as taken back. If it only stopped being so, correct it instead."
        with dialog(f"{fact.text}: was this never so?", note) as opened:
            reason = ui.input("Why", value="wrong").props("outlined dense autofocus")

            async def retract() -> None:
                words = str(reason.value or "")
                opened.close()
                await self._write(
                    "retract", lambda it: it.facts.retract(fact.id, reason=words), "Taken back."
                )

            press("Take it back", retract, "strong")

    async def _open(self, id_: str) -> None:
        fact = self.facts.get(id_)
        if fact is not None:
            await self.frame.doing(lambda: self._history(fact), redraw=False)

    async def _history(self, fact: Fact) -> None:
        versions = await self.session.read(
            lambda memory: memory.facts.history(fact.subject, fact.predicate, versions=True)
        )
        known = self.session.as_of if self.known == "then" else None
        shown = [one for one in versions if known is None or one.recorded_at < known]
        title = f"{fact.subject} {spaced(fact.predicate)}"
        with dialog(title, "Every version that was ever believed, oldest first.", "history") as opened:
            markup("".join(self._version(one) for one in sorted(shown, key=lambda one: one.recorded_at)))
            with block("div", "actions"):
                if fact.sources:
                    press("What was said", partial(self.show_turns, fact.text, fact.sources))
                if self.may_change and fact.superseded_at is None:
                    with block("span", "actions").on("click", opened.close):
                        for what, act in self._decisions(fact).items():
                            press(DECISIONS[what], act, "bad" if what == "retract" else "")

    def _version(self, one: Fact) -> str:
        local = self.session.local
        until = day(local(one.valid_to, one.zone)) if one.valid_to else "…"
        believed = f"believed from {day(local(one.recorded_at))}"
        if one.superseded_at is not None:
            believed += f" to {day(local(one.superseded_at))}"
        kind = {"believed": "on", "disputed": "warn", "retracted": "bad"}.get(one.status, "")
        reason = f" · {escape(one.reason)}" if one.reason else ""
        return (
            f'<div class="turn"><b>{escape(one.object)}</b> {badge(one.status, kind)}<div class="meta num">'
            f"{day(local(one.valid_from, one.zone))} – {until} · {believed} · confidence {one.confidence:.2f} · "
            f"{escape(one.origin)}{reason}</div></div>"
        )


def _known(fact: Fact, known_at: datetime | None) -> bool:
    """Whether this version is what is, or at that instant was, believed; overruled and retracted ones never were."""
    if fact.status in ("overruled", "proposed"):
        return False
    if known_at is None:
        return fact.superseded_at is None and fact.status in ("believed", "disputed")
    return fact.recorded_at <= known_at and (fact.superseded_at is None or fact.superseded_at > known_at)


def _stale_row(one: StaleFact, may: bool) -> str:
    """A fact that may not be so any more, and what can be done about it."""
    buttons = "".join(
        f'<button type="button" class="press{" bad" if what == "retract" else ""}" '
        f'data-pick="{what} {escape(one.fact.id)}">{words}</button>'
        for what, words in (DECISIONS if may else {}).items()
    )
    return (
        f'<div class="row-line" data-stale="{escape(one.fact.id)}"><span class="at num">'
        f"{badge(SIGNALS.get(one.signal, one.signal), 'warn')}</span>"
        f'<span class="what"><b>{escape(one.fact.text)}</b><br><span class="small soft">{escape(one.action)}</span>'
        f'</span><span class="actions">{buttons}</span></div>'
    )
