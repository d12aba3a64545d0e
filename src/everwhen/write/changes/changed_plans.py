"""Plans that change: what moves, cancels or corrects an event of the calendar becomes its next version.

Grammar says which plan a sentence may speak of (its theme has to describe one, and only one), the reader decides
whether it changes, and the time that the sentence gives is read beside the time that the plan had. The plan itself
stays as it was said; the new version replaces it from the turn on that says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import get_args

from everwhen.models.comparison import Passage, Reader, Reading
from everwhen.models.embedder import Embedder
from everwhen.store.rows import Vectors
from everwhen.store.sql.store import Store
from everwhen.types import Event, Turn
from everwhen.write.extract.base import ExtractedEvent, Extraction
from everwhen.write.extract.grammar import (
    ARRANGING,
    LIGHT,
    STATIVE,
    TRAVELLING,
    TRIPS,
    Word,
    caching_parser,
    prose_lines,
)
from everwhen.write.modality import is_rejected
from everwhen_time import Duration, Grain, Interval, TimeRef, resolve
from everwhen_time.calendar import Unit, floor, shift
from everwhen_time.zones import zone_of

_SOONER = frozenset({"forward", "earlier", "sooner", "up", "ahead", "early"})
_LATER = frozenset({"back", "later", "out", "behind"})
_IT = frozenset({"it", "that", "this"})
_UNITS: dict[str, Unit] = {
    "seconds": "second", "minutes": "minute", "hours": "hour", "days": "day", "weeks": "week", "months": "month",
    "years": "year",
}  # fmt: skip
"""From fine to coarse."""
_GRAINS: tuple[Grain, ...] = get_args(Grain)
_CLOCKS = ("hour", "minute")
_DAY_ALONE = re.compile(r"(?:the\s+)?\d{1,2}(?:st|nd|rd|th)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChangedTime:
    """When a plan is now, and the words for it; or that it is off."""

    when: Interval
    expression: str
    off: bool = False


def new_time(text: str, times: Sequence[TimeRef], turn: Turn, old: Interval) -> ChangedTime | None:
    """The first time in a sentence that is not the plan's and lies ahead; none where it says the plan's again."""
    found: list[ChangedTime] = []
    for ref in times:
        when = _read_beside_plan(ref, turn, old)
        if when is None or when.start is None or is_rejected(text[: ref.span[0]]):
            continue
        if when.overlaps(old) and when.grain not in _CLOCKS:
            return None
        if when != old and (when.end is None or when.end > turn.said_at):
            found.append(ChangedTime(when, ref.text))
    return found[0] if found else None


def amount(duration: Sequence[Word], verb: Word) -> int:
    """Whether a verb moves its theme by a duration: 1 later, -1 earlier, 0 where the duration is of something else.

    It measures the verb ("postponed a week"), or what says which way ("a week later", "forward by a month"); of another
    verb only with such words, and where that speaks of the theme ("but it was postponed by a week").
    """
    top = next((word for word in duration if word.head not in duration), None)
    if top is None:
        return 0
    path = [top]
    while path[-1].pos not in ("VERB", "AUX") and path[-1].head is not path[-1]:
        path.append(path[-1].head)
    governs = path[-1]
    ways = {word.lower for word in (*path, *governs.children)}
    subject = governs.child("nsubj", "nsubjpass")
    if governs is not verb and (
        subject is None or subject.lower not in _IT or ways.isdisjoint(_SOONER | _LATER | {"by"})
    ):
        return 0
    return 1 if ways.isdisjoint(_SOONER) else -1


def shifted(said: str, by: Duration, sign: int, turn: Turn, old: Interval) -> ChangedTime | None:
    """The plan's time so much later, or earlier: as whole days or months as it was, and never in the past."""
    finest = next((unit for name, unit in _UNITS.items() if getattr(by, name)), "second")
    if old.start is None or _GRAINS.index(finest) < _GRAINS.index(old.grain):
        return None
    area = zone_of(turn.zone)
    first, last = (
        None if bound is None else bound.astimezone(area).replace(tzinfo=None)
        for bound in (old.start, old.end)
    )
    assert first is not None
    unit: Unit = "quarter" if old.grain == "season" else old.grain
    try:
        start = by.after(first, sign)
        whole = last == shift(first, unit, 1)
        if whole and first == floor(first, unit):
            start = floor(start, unit)
        end = shift(start, unit, 1) if whole else last and by.after(last, sign)
        when = Interval(start.replace(tzinfo=area), end and end.replace(tzinfo=area), old.grain)
    except (OverflowError, ValueError):
        return None
    return ChangedTime(when, said) if when.start and when.start > turn.said_at else None


def _read_beside_plan(ref: TimeRef, turn: Turn, plan: Interval) -> Interval | None:
    """What an expression means beside the plan: a clock is of its day, a day alone of its month."""
    when, area = ref.interval, zone_of(turn.zone)
    if when is None or plan.start is None or ref.kind not in ("point", "range"):
        return None
    old = plan.start.astimezone(area).replace(tzinfo=None)
    if when.start is None and when.end is not None:  # "until Friday": it is then
        begins = when.end.astimezone(area).replace(tzinfo=None)
        ends = shift(begins, when.grain if when.grain in ("week", "month", "year") else "day", 1)
        return Interval(when.end, ends.replace(tzinfo=area), when.grain)
    if when.start is None or when.end is None:
        return when
    if ref.kind == "range" and when.start == floor(old, "day").replace(tzinfo=area):
        return Interval(when.end - timedelta(days=1), when.end, "day")  # "from the 3rd to the 10th"
    local = when.start.astimezone(area)
    if when.grain in _CLOCKS and local.date() == turn.said_at.astimezone(area).date():
        return when.shift(days=(old.date() - local.date()).days)
    return _nearest(ref.text, turn, plan.start) or when if _DAY_ALONE.match(ref.text) else when


def _nearest(day: str, turn: Turn, start: datetime) -> Interval | None:
    """The day of a month that is nearest to the plan and still ahead."""
    near = (*resolve(day, start, turn.zone, tense="past"), *resolve(day, start, turn.zone, tense="future"))
    ahead = [
        (abs(one.interval.start - start), one.interval)
        for one in near
        if one.interval is not None and one.interval.start is not None and one.interval.start > turn.said_at
    ]
    return min(ahead, key=lambda one: one[0])[1] if ahead else None


MOST_PLANS = 100
"""Plans that a turn may speak of, those said last."""
ALIKE = 0.65
"""The cosine from which a noun and a verb mean the same: 0.83 of flight and fly, 0.53 of ticket and fly."""
BEFORE = 160
"""Characters of the turn before that are read along."""
NOUNS = ("NOUN", "PROPN")
SUBJECTS = ("nsubj", "nsubjpass")
_THEMES = (*SUBJECTS, "dobj", "attr", "ROOT")
_MODIFIERS = ("compound", "amod", "poss", "nummod", "nmod", "appos")
_NEW = frozenset({"a", "an", "another", "any", "some", "every", "each"})
_OWN = frozenset({"my", "our"})
MOVED_TO = frozenset({"to", "until", "till"})
_TARGETS = MOVED_TO | {"for", "by"}
SAYS_LITTLE = LIGHT | STATIVE | ARRANGING | {"happen", "start", "begin", "go", "hold"}


@dataclass(frozen=True, slots=True)
class PlannedEvent:
    """A dated event that was said before, and the words that describe it."""

    event: Event | ExtractedEvent
    occurred: Interval
    said: Turn
    words: frozenset[str]

    @property
    def name(self) -> str:
        """What it is called in a question."""
        own = self.event.subject.lower() == self.said.speaker.lower()
        if self.event.object or not own:
            return f"the {self.event.object or self.event.subject}"
        words = caching_parser().parse([self.event.text])[0].words
        return " ".join(["the", *(word.text for word in words if word.pos == "NOUN")])


@dataclass(frozen=True, slots=True)
class PlanSentence:
    """One sentence of a turn with its times, and what it is about."""

    turn: Turn
    words: Sequence[Word]
    text: str
    times: Sequence[TimeRef]
    before: str

    @property
    def passage(self) -> Passage:
        return Passage(self.turn.speaker, self.text, self.before)

    def at(self, word: Word) -> TimeRef | None:
        """The time expression that a word is part of."""
        place = word.start - self.words[0].start
        return next((ref for ref in self.times if ref.span[0] <= place < ref.span[1]), None)

    def themes(self) -> Iterator[Word]:
        """What the sentence says something of."""
        for word in self.words:
            if word.pos in (*NOUNS, "PRON") and word.dep in _THEMES and self.at(word) is None:
                of = next((one for one in word.children if one.lower == "of"), None)
                inner = of.child("pobj") if of is not None and word.lemma in ("date", "time", "day") else None
                yield inner or word

    def ahead(self, plans: Sequence[PlannedEvent]) -> list[PlannedEvent]:
        """Those that were said by then and are not over."""
        now = self.turn.said_at
        known = (plan for plan in plans if plan.said.said_at <= now)
        return [plan for plan in known if plan.occurred.end is None or plan.occurred.end > now]

    def name_of(self, theme: Word, plan: PlannedEvent) -> str:
        """What a question calls the plan: as the sentence does, and with whom."""
        where = [one for prep in theme.children if prep.dep == "prep" for one in prep.subtree()]
        where = [] if any(self.at(one) for one in where) else where
        words = [*(word for word in theme.subtree() if word.i < theme.i), theme, *where]
        name = " ".join("the" if word.lower in _OWN or word.lower == "the" else word.text for word in words)
        known = (word for word in self.words if word.pos == "PROPN" and not self.at(word))
        whom = [word.text for word in known if word.lower in plan.words and word.text not in name]
        return next((f"{name} with {one}" for one in whom if one != self.turn.speaker), name)


class SameMeaning:
    """Whether a noun means what a verb does: a flight is when one flies."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    def __call__(self, noun: str, verb: str) -> bool:
        if verb in SAYS_LITTLE:
            return False
        for word in {noun, verb} - self._vectors.keys():
            self._vectors[word] = self._embedder.embed([word])[0]
        return float(self._vectors[noun] @ self._vectors[verb]) >= ALIKE


def known_plans(store: Store, turns: Mapping[str, Turn], since: datetime) -> list[PlannedEvent]:
    """The plans of the calendar that are still ahead, and what was said lately and may be corrected."""
    ahead = store.graph.events(status="planned", between=Interval(since, None, "second"))
    events = [
        event for event in (*ahead, *store.graph.events_told(list(turns))) if event.superseded_at is None
    ]
    last = sorted(events, key=lambda event: event.said_at or since)[-MOST_PLANS:]
    latest = {event.id: event for event in last}.values()
    known = {turn.id: turn for turn in store.turns(ids=[event.told_in for event in latest])}
    plans = (plan_of(event, known[event.told_in]) for event in latest if event.told_in in known)
    return [plan for plan in plans if plan is not None]


def plan_of(event: Event | ExtractedEvent, turn: Turn) -> PlannedEvent | None:
    when = event.occurred
    if event.inferred or when is None or when.start is None or event.status not in ("planned", "negated"):
        return None
    return PlannedEvent(event, when, turn, _described(f"{event.subject} {event.object} {event.text}"))


@lru_cache(maxsize=1024)
def _described(text: str) -> frozenset[str]:
    words = caching_parser().parse([text])[0].words
    return frozenset(form for word in words for form in (word.lower, word.lemma.lower()))


def sentences_of(turn: Turn, before: Turn | None) -> Iterator[PlanSentence]:
    """What a turn states, sentence by sentence."""
    last = f"{before.speaker}: {before.text}" if before is not None else ""
    for passage in prose_lines(turn.text):
        for words in caching_parser().parse([passage.text])[0].sentences:
            if not words or words[-1].text.endswith("?"):
                continue
            text = passage.text[words[0].start : words[-1].end]
            yield PlanSentence(
                turn, words, text, resolve(text, turn.said_at, turn.zone, tense="future"), last[-BEFORE:]
            )


def named_plans(
    said: PlanSentence, plans: Sequence[PlannedEvent], means: SameMeaning
) -> Iterator[tuple[Word, PlannedEvent]]:
    """The plans that a sentence says something of, each with its theme."""
    for theme in said.themes():
        if theme.pos != "PRON" and (plan := _plan_described(theme, said, plans, means)) is not None:
            yield theme, plan


def _plan_described(
    theme: Word, said: PlanSentence, plans: Sequence[PlannedEvent], means: SameMeaning
) -> PlannedEvent | None:
    """The one plan that a theme describes; none where two are described equally well."""
    if any(word.lower in _NEW for word in theme.children):
        return None
    own = {word.lower for word in said.words if word.pos in NOUNS} | {said.turn.speaker.lower()}
    fitting = [(len(own & plan.words), plan) for plan in plans if _fits(theme, said, plan, means)]
    most = max((count for count, _ in fitting), default=0)
    best = [plan for count, plan in fitting if count == most]
    return best[0] if len(best) == 1 else None


def _fits(theme: Word, said: PlanSentence, plan: PlannedEvent, means: SameMeaning) -> bool:
    """Whether everything that describes the theme describes the plan as well, its time included."""
    words = [theme]
    rest = [word for word in theme.children if word.dep in (*_MODIFIERS, "prep")]
    while rest:
        word = rest.pop()
        if word.dep == "prep" and word.lower in _TARGETS and said.at(word.subtree()[-1]) is not None:
            continue  # "moved the talk to Friday": where it goes
        rest += [one for one in word.children if one.dep in (*_MODIFIERS, "pobj", "prep")]
        words.append(word)
    for word in words:
        ref = said.at(word)
        if ref is not None:
            if ref.interval is not None and not ref.interval.overlaps(plan.occurred):
                return False
        elif word.lower in _OWN:
            if said.turn.speaker != plan.said.speaker:
                return False
        elif word.pos in (*NOUNS, "ADJ", "NUM") and not (
            {word.lower, word.lemma.lower()} & plan.words
            or (word is theme and theme.child("det", "poss") and means(word.lemma, plan.event.verb))
            or (word is theme and len(words) > 1 and word.lemma in TRIPS and plan.event.verb in TRAVELLING)
        ):
            return False
    return True


MOST_SENTENCES = 24
"""Sentences of a turn that are read; more is a text that somebody pasted."""
LATELY = 3
"""Turns back to the plan that "it", or a date alone, may speak of."""
AGREES = 0.5
"""The chance of a yes, or of a no, from which the reader's answer counts."""
SHORT = 6
"""Words beside the date that a correction has at the most."""
_HERE = frozenset({"it", "that", "this", "date", "dates"})
_PUT_OFF = frozenset({"postpone", "delay", "reschedule", "defer", "put off", "push back"})
_UNREAL = frozenset({"supposed", "denied", "fiction"})

Version = tuple[ExtractedEvent, Event | ExtractedEvent]
"""An event, and the one that it replaces."""


def versions(
    store: Store,
    embedder: Embedder,
    reader: Reader | None,
    extraction: Extraction,
    turns: Mapping[str, Turn],
    mine: Sequence[str],
) -> tuple[Extraction, list[Version]]:
    """An extraction in which what changes a plan is the plan's next version; and what each of those replaces."""
    read = [turns[id_] for id_ in mine if turns[id_].role == "user"]
    if reader is None or not read:
        return extraction, []
    means, asked = SameMeaning(embedder), _Asked(reader)
    plans = known_plans(store, turns, min(turn.said_at for turn in read))
    events, found = list(extraction.events), []
    order = list(turns)
    for turn in read:
        own = [place for place, event in enumerate(events) if event.turns[:1] == (turn.id,)]
        place = order.index(turn.id)
        recent = [turns[id_] for id_ in order[max(0, place - LATELY) : place + 1]]
        lately = {one.id for one in recent if one.session == turn.session}
        before = recent[-2] if len(recent) > 1 else None
        sentences = list(islice(sentences_of(turn, before), MOST_SENTENCES)) if plans or own else []
        own_plans = [plan for place in own if (plan := plan_of(events[place], turn))]
        asked.all(  # what is asked of a sentence in any case
            [
                (question, said.passage)
                for said in sentences
                for theme, plan in named_plans(said, said.ahead([*plans, *own_plans]), means)
                for question in _asks(said, said.name_of(theme, plan))
            ]
        )
        spoken_of: PlannedEvent | None = None
        for said in sentences:
            own_plans = [
                plan
                for place in own
                if (plan := plan_of(events[place], turn))
                and 0 <= turn.text.find(plan.event.expression) < turn.text.find(said.text)
            ]
            known = said.ahead([*plans, *own_plans])
            last = [spoken_of] if spoken_of in known else [one for one in known if one.said.id in lately]
            names = {word.lower for word in said.words if word.pos == "PROPN" and said.at(word) is None}
            last = last or [
                one for one in known if names & one.words
            ]  # "not going to Lisbon, we moved it to"
            named = list(named_plans(said, known, means))
            change = _change(asked, said, named, last)
            spoken_of = named[0][1] if named else spoken_of
            if change is None:
                continue
            event, plan = change
            lemmas = {word.lemma.lower() for word in said.words}
            same = (  # it speaks of the same event
                at
                for at in own
                if events[at] is not plan.event
                and events[at].expression in said.text
                and events[at].verb.split()[0].lower() in lemmas
            )
            if (at := next(same, None)) is not None:
                event = events[at] = replace(event, entities=events[at].entities)
            else:
                events.append(event)
            found.append((event, plan.event))
            plans = [one for one in plans if one.event is not plan.event]
            if (version := plan_of(event, turn)) is not None:  # "We put off Lisbon. The new dates are …"
                spoken_of = version
                plans.append(version)
        replaced = {id(old) for _, old in found}
        replaced |= {id(plan.event) for plan in plans}
        now = [event for event in events if event.turns[:1] == (turn.id,) and id(event) not in replaced]
        plans += [plan for event in now if (plan := plan_of(event, turn)) is not None]
    return replace(extraction, events=tuple(events)), found


class _Asked:
    """What the reader says; the questions about a whole turn are read in one run."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._known: dict[tuple[str, Passage], Reading] = {}

    def all(self, pairs: Sequence[tuple[str, Passage]]) -> list[Reading]:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        self._known |= zip(new, self.reader.read_each(new) if new else (), strict=True)
        return [self._known[pair] for pair in pairs]

    def __call__(self, said: PlanSentence, *questions: str) -> list[Reading]:
        return self.all([(question, said.passage) for question in questions])


# Which plan, and how it changes


def _asks(said: PlanSentence, name: str) -> tuple[str, str, str]:
    """Without a time in it a sentence can only call the plan off."""
    other = f"Was {name} moved to another date?" if said.times else f"Is {name} still on?"
    return f"When is {name}?", other, f"Is {name} cancelled?"


def _change(
    asked: _Asked,
    said: PlanSentence,
    named: Sequence[tuple[Word, PlannedEvent]],
    last: Sequence[PlannedEvent],
) -> tuple[ExtractedEvent, PlannedEvent] | None:
    for theme, plan in named:
        if (new := _decided(asked, said, theme, plan)) is not None:
            return _version(said, plan, new), plan
    return _pronoun_or_date(asked, said, last)


def _decided(asked: _Asked, said: PlanSentence, theme: Word, plan: PlannedEvent) -> ChangedTime | None:
    """When the plan is now, or that it is off; None where it stays as it is."""
    when, other, off = asked(said, *_asks(said, said.name_of(theme, plan)))
    if not said.times:
        unsaid = when.relevance <= 0  # else it has a time that nobody can read
        return _off(plan) if unsaid and _ends(other, off, ("ended", "denied")) else None
    verb = next((word for word in (theme.head, *theme.ancestors()) if word.pos in ("VERB", "AUX")), theme)
    moved = other.status not in _UNREAL and other.relevance > 0 and _is_moved(theme, verb, said)
    disturbed = moved or (other.status not in _UNREAL and max(_yes(other), _yes(off)) >= AGREES)
    same = verb.lemma.lower() == plan.event.verb.split()[0]
    takes_part = plan.event.verb.split()[0] not in SAYS_LITTLE and not same
    inside = {id(said.at(word)) for word in theme.subtree()} if theme.dep in SUBJECTS else set()
    times = [ref for ref in said.times if id(ref) not in inside]
    new = new_time(said.text, times, said.turn, plan.occurred)
    if new is not None:
        plain = theme.dep in SUBJECTS and (same or verb.lemma in SAYS_LITTLE) and not takes_part
        is_said = max(when.relevance, other.relevance if moved else 0.0) > 0 and when.status not in _UNREAL
        return new if is_said and (plain or disturbed) else None
    for ref in times if disturbed else ():
        parts = [word for word in said.words if said.at(word) is ref]
        if ref.duration is not None and (sign := amount(parts, verb)):
            return shifted(ref.text, ref.duration, sign, said.turn, plan.occurred)
    return None


def _is_moved(theme: Word, verb: Word, said: PlanSentence) -> bool:
    """Whether something is done to the theme that leads to a time, "is moved to June 19", or puts it off."""
    puts_off = verb.lemma in _PUT_OFF or any(
        f"{verb.lemma} {word.lower}" in _PUT_OFF for word in verb.children
    )
    return theme.dep in ("nsubjpass", "dobj") and (puts_off or bool(_led_to(verb, said)))


def _led_to(verb: Word, said: PlanSentence) -> list[TimeRef]:
    """The times that a verb leads to: "moved it to May"."""
    leads = (said.at(word.subtree()[-1]) for word in verb.children if word.lower in MOVED_TO)
    return [ref for ref in leads if ref is not None]


def _ends(still: Reading, off: Reading, statuses: Sequence[str]) -> bool:
    """Whether a plan is not still on, or is cancelled."""
    denies = float(still.kinds[2]) if still.relevance > 0 else 0.0
    says = denies > _yes(still) or _yes(off) >= AGREES
    return says and still.relevance > 0 and still.status in statuses and off.relevance > 1


def _pronoun_or_date(
    asked: _Asked, said: PlanSentence, plans: Sequence[PlannedEvent]
) -> tuple[ExtractedEvent, PlannedEvent] | None:
    """A change of what was spoken of last: "it's on the 14th, not the 12th", "no wait, Thursday"."""
    themes = [word for word in said.themes() if word.dep != "ROOT"]
    about = any(word.lower in _HERE for word in themes)
    says = [word for word in themes if word.lower not in _HERE]
    does = [
        one.head for one in themes if one.lower in _HERE and one.dep == "dobj" and not one.head.child("neg")
    ]
    moved = [ref for verb in does for ref in _led_to(verb, said)]
    if any(word.lower not in ("i", "we") or not (moved or word.head.lemma in STATIVE) for word in says):
        return None
    if any(word.head.tag == "VBD" and word.head.lemma == "be" for word in themes):
        return None  # "it was on the 14th last year"
    spoken_of = [plan for plan in plans if about or plan.said.speaker == said.turn.speaker]
    others = [word for word in said.words if word.pos not in ("PUNCT", "SPACE", "INTJ") and not said.at(word)]
    named = any(word.pos in NOUNS and word.dep != "ROOT" for word in others)
    if not spoken_of or (not about and (named or len(others) > SHORT)):
        return None
    latest = max(plan.said.said_at for plan in spoken_of)
    last = [plan for plan in spoken_of if plan.said.said_at == latest]
    if len(last) != 1:
        return None
    plan = last[0]
    said = replace(said, before=f"{plan.said.speaker}: {plan.said.text}"[-BEFORE:])
    new = new_time(said.text, moved or said.times, said.turn, plan.occurred)
    question = f"When is {plan.name}?"
    if new is not None:
        pair = (Passage(plan.said.speaker, plan.said.text), said.passage)
        (when,) = asked(said, question)
        renews = float(asked.reader.renews(question, [pair])[0])
        unreal = _UNREAL - {"denied"} if moved else _UNREAL  # "we don't go in May, we moved it to June"
        if when.status in unreal or max(renews, when.relevance) <= 0:
            return None
        return _version(said, plan, new), plan
    if not about or said.times:
        return None
    still, off = asked(said, f"Is {plan.name} still on?", f"Is {plan.name} cancelled?")
    if _ends(still, off, ("ended",)):
        return _version(said, plan, _off(plan)), plan
    return None


def _off(plan: PlannedEvent) -> ChangedTime:
    return ChangedTime(plan.occurred, plan.event.expression, off=True)


def _yes(reading: Reading) -> float:
    return float(reading.kinds[1]) if reading.relevance > 0 else 0.0


def _version(said: PlanSentence, plan: PlannedEvent, new: ChangedTime) -> ExtractedEvent:
    """The plan in its own words with another time; or denied, with the words that say so."""
    old = plan.event
    text = old.text.replace(old.expression, new.expression)
    if new.off or text == old.text:
        text = f"{said.turn.speaker}: {said.text} ({old.text})"
    return ExtractedEvent(
        subject=old.subject,
        verb=old.verb,
        object=old.object,
        text=text,
        turns=tuple(dict.fromkeys((said.turn.id, *old.turns))),  # who and what is from the plan
        occurred=new.when,
        expression=new.expression,
        status="negated" if new.off else "planned",
        polarity=-1 if new.off else 1,
        quantity=old.quantity,
        aliases=old.aliases,
        confidence=old.confidence,
    )
