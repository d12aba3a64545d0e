"""Facts as bars over the time they hold; their history; what waits for a decision, and what has grown old."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import Any

from nicegui import ui

from everwhen.memory import Memory
from everwhen.types import Conflict, Fact, StaleFact
from everwhen.ui.components import (
    badge,
    block,
    choice,
    chooser,
    day,
    dialog,
    empty,
    markup,
    offer,
    pager,
    pick,
    picked,
    press,
    said,
    search_field,
)
from everwhen.ui.page import UIPage
from everwhen.ui.settings import MOST_FACTS, MOST_QUEUED
from everwhen.ui.time_axis import Axis, fitting

STATES = {"holds": "Hold", "over": "Over", "all": "All"}
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
    review: list[Conflict]
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
        return "now" if self.asked.get("known") == "now" else "then"

    @property
    def state(self) -> str:
        given = self.asked.get("state", "")
        return given if given in STATES else "holds"

    def controls(self) -> None:
        asked, change = self.asked, self.frame.change
        with block("div", "tools"):
            choice("Which facts", STATES, self.state, lambda state: change(state=state, page=""))
            self._subject = chooser(
                "About", {"": "Anybody"}, asked.get("subject", ""), lambda name: change(subject=name, page="")
            )
            self._predicate = chooser(
                "What",
                {"": "Anything"},
                asked.get("predicate", ""),
                lambda name: change(predicate=name, page=""),
            )
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
        offer(self._predicate, {"": "Anything", **{name: name.replace("_", " ") for name in data.predicates}})
        self._knowing.set_visibility(self.session.as_of is not None)
        if not data.facts and self.asked:
            empty("No fact is like that.", "Choose other filters, or all facts.", "search_off")
            return
        if not data.facts:
            empty(
                "No facts are known yet.",
                "What holds from one day to another, such as where somebody lives, is drawn here as a bar."
                if self.session.as_of is None
                else "On that day nothing of the kind was known; move the slider to the right.",
                "fact_check",
            )
            return
        picked(markup(self._bars(data), "sheet").props("id=bars"), self._open)
        pager(self.number, MOST_FACTS, data.count, lambda number: self.frame.change(page=str(number)))
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
        start = (self.number - 1) * MOST_FACTS
        shown = facts[start : start + MOST_FACTS]
        review = memory.facts.review() if then is None else []
        stale = memory.facts.stale(now=moment, limit=MOST_QUEUED) if then is None else []
        asked = {side.id for conflict in review for side in conflict.sides}
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
        starts = [fact.valid_from for fact in data.facts]
        ends = [fact.valid_to for fact in data.facts if fact.valid_to is not None]
        last = (
            self.session.stats.last if self.session.stats and self.session.stats.last else self.session.moment
        )
        end = max([last, *starts, *ends, *([self.session.as_of] if self.session.as_of else [])])
        if self.session.as_of is None and (self.session.moment - end) < timedelta(days=30):
            end = self.session.moment
        start = min(starts)
        room = max((end - start) / 40, timedelta(days=1))
        axis = Axis(start - room, end + room, self.session.zone)
        ticks = axis.drawn_ticks(fitting(axis.start, axis.end), 22, self.session.as_of)
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
        line = (
            f'<line class="then-line" x1="{axis.place(then):.2f}%" x2="{axis.place(then):.2f}%" y1="0" y2="26" '
            'stroke="var(--accent)" stroke-dasharray="3 3"/>'
            if then
            else ""
        )
        until = f"until {day(self.session.local(fact.valid_to))}" if fact.valid_to else "still"
        since = day(self.session.local(fact.valid_from))
        title = escape(f"{fact.text}: since {since}, {until}")
        fade = 0.35 + 0.65 * sure if look == "held" else 1.0
        says = f"{escape(fact.predicate.replace('_', ' '))} <b>{escape(fact.object)}</b>"
        marks = (badge("disputed", "warn") if fact.status == "disputed" else "") + (
            badge("you said so", "on") if fact.origin == "user" else ""
        )
        return (
            f'<div class="fact-row{"" if holds else " past"}" {pick(fact.id)} data-holds="{str(holds).lower()}" '
            f'data-fact="{title}"><span class="says">{says} {marks}<br>'
            f'<span class="faint small num">{since} – {escape(until.removeprefix("until "))}</span></span>'
            f'<svg class="bar" aria-hidden="true"><title>{title}</title>'
            f'<rect class="ground" x="0" y="9" width="100%" height="8" rx="4"/>'
            f'<rect class="{look}" x="{left:.2f}%" y="7" width="{width:.2f}%" height="12" rx="4" opacity="{fade:.2f}"/>'
            f"{line}</svg></div>"
        )

    def _review(self, conflicts: Sequence[Conflict], may: bool) -> None:
        with block("section", "sheet pad stack", "id=review"):
            said(f"To decide: {len(conflicts)}", tag="h2")
            for conflict in conflicts:
                with block("div", "stack", f"data-conflict={conflict.id}"):
                    said(
                        f"{conflict.subject}, {conflict.predicate.replace('_', ' ')}: {conflict.why}",
                        "soft small",
                    )
                    with block("div", "two"):
                        for fact, name in zip(
                            conflict.sides, ("Believed now", "Says otherwise"), strict=True
                        ):
                            with block("div", "side"):
                                markup(badge(name, "on" if name == "Believed now" else "warn"), tag="span")
                                said(fact.object, "wrap", "b")
                                said(self._told(fact), "faint small")
                                if may:
                                    press(
                                        f"Keep “{fact.object}”", self._resolving(conflict, fact.id), "strong"
                                    )
                    if may:
                        press("Neither is so", self._resolving(conflict, "neither"), "plain")

    def _told(self, fact: Fact) -> str:
        often = "told once" if fact.support == 1 else f"told {fact.support} times"
        return f"since {day(self.session.local(fact.valid_from))} · {often} · {fact.origin}"

    def _stale(self, stale: Sequence[StaleFact], may: bool) -> None:
        with block("section", "sheet", "id=stale"):
            with block("div", "pad").style("padding-bottom: .3rem"):
                said(f"To check: {len(stale)}", tag="h2")
            # One piece of markup: fifty rows of buttons of their own take the browser half a second.
            rows = markup("".join(_stale_row(one, may) for one in stale))
        by_id = {one.fact.id: one.fact for one in stale}

        async def decide(picked_: str) -> None:
            what, _, id_ = picked_.partition(" ")
            fact = by_id[id_]
            if what == "confirm":
                await self._confirm(fact)()
            elif what == "correct":
                self._correct(fact)
            else:
                self._retract(fact)

        if may:
            picked(rows, decide)

    def _confirm(self, fact: Fact) -> Callable[[], Awaitable[None]]:
        return self._write("confirm", lambda memory: memory.facts.confirm(fact.id), "Confirmed.")

    def _decisions(self, fact: Fact) -> None:
        press("Still so", self._confirm(fact))
        press("Correct", lambda: self._correct(fact))
        press("Never so", lambda: self._retract(fact), "bad")

    # Acting

    def _write(self, what: str, act: Callable[[Memory], Any], done: str) -> Callable[[], Awaitable[None]]:
        async def acted() -> None:
            await self.frame.doing(lambda: self.session.write(f"facts/{what}", act), done)

        return acted

    def _resolving(self, conflict: Conflict, keep: str) -> Callable[[], Awaitable[None]]:
        return self._write(
            "resolve", lambda memory: memory.facts.resolve(conflict.id, keep), "Decided and written down."
        )

    def _correct(self, fact: Fact) -> None:
        with dialog(f"What is right? {fact.subject} {fact.predicate.replace('_', ' ')} …") as opened:
            right = ui.input(value=fact.object).props('outlined dense autofocus aria-label="What is right"')

            async def correct() -> None:
                words = str(right.value or "")
                opened.close()
                await self._write(
                    "correct",
                    lambda memory: memory.facts.correct(fact.subject, fact.predicate, words),
                    "Corrected.",
                )()

            press("Correct it", correct, "strong")

    def _retract(self, fact: Fact) -> None:
        note = "It stays in the history as taken back. If it only stopped being so, correct it instead."
        with dialog(f"{fact.text}: was this never so?", note) as opened:
            reason = ui.input("Why", value="wrong").props("outlined dense autofocus")

            async def retract() -> None:
                words = str(reason.value or "")
                opened.close()
                await self._write(
                    "retract", lambda memory: memory.facts.retract(fact.id, reason=words), "Taken back."
                )()

            press("Take it back", retract, "strong")

    async def _sources(self, fact: Fact) -> None:
        await self.show_turns(fact.text, fact.sources)

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
        title = f"{fact.subject} {fact.predicate.replace('_', ' ')}"
        with dialog(title, "Every version that was ever believed, oldest first.", "history") as opened:
            markup("".join(self._version(one) for one in sorted(shown, key=lambda one: one.recorded_at)))
            with block("div", "actions"):
                if fact.sources:
                    press("What was said", lambda: self._sources(fact))
                if self.may_change and fact.superseded_at is None:
                    with block("span", "actions").on("click", opened.close):
                        self._decisions(fact)

    def _version(self, one: Fact) -> str:
        local = self.session.local
        until = day(local(one.valid_to)) if one.valid_to else "…"
        believed = f"believed from {day(local(one.recorded_at))}"
        if one.superseded_at is not None:
            believed += f" to {day(local(one.superseded_at))}"
        kind = {"believed": "on", "disputed": "warn", "retracted": "bad"}.get(one.status, "")
        reason = f" · {escape(one.reason)}" if one.reason else ""
        return (
            f'<div class="turn"><b>{escape(one.object)}</b> {badge(one.status, kind)}<div class="meta num">'
            f"{day(local(one.valid_from))} – {until} · {believed} · confidence {one.confidence:.2f} · "
            f"{escape(one.origin)}{reason}</div></div>"
        )


def _known(fact: Fact, known_at: datetime | None) -> bool:
    """Whether this version is what is, or at that instant was, believed; overruled and retracted ones never were."""
    if fact.status in ("overruled",):
        return False
    if known_at is None:
        return fact.superseded_at is None and fact.status in ("believed", "disputed")
    return fact.recorded_at <= known_at and (fact.superseded_at is None or fact.superseded_at > known_at)


def _stale_row(one: StaleFact, may: bool) -> str:
    """A fact that may not be so any more, and what can be done about it."""
    offered = {"confirm": "Still so", "correct": "Correct", "retract": "Never so"} if may else {}
    buttons = "".join(
        f'<button type="button" class="press{" bad" if what == "retract" else ""}" '
        f'data-pick="{what} {escape(one.fact.id)}">{words}</button>'
        for what, words in offered.items()
    )
    return (
        f'<div class="row-line" data-stale="{escape(one.fact.id)}"><span class="at num">'
        f"{badge(SIGNALS.get(one.signal, one.signal), 'warn')} {one.confidence:.0%}</span>"
        f'<span class="what"><b>{escape(one.fact.text)}</b><br><span class="small soft">{escape(one.action)}</span>'
        f'</span><span class="actions">{buttons}</span></div>'
    )
