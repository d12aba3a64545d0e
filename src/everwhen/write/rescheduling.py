"""Plans that change: what moves, cancels or corrects an event of the calendar becomes its next version.

Grammar says which plan a sentence may speak of (`plans`), the reader whether it changes. The plan itself stays
as it was told; the new version replaces it from the turn on that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from everwhen.models.embed import Embedder
from everwhen.models.reader import Passage, Reader, Reading
from everwhen.store.base import Store
from everwhen.types import Event, Turn
from everwhen.write.changed_times import ChangedTime, amount, new_time, shifted
from everwhen.write.extract.base import ExtractedEvent, Extraction
from everwhen.write.extract.grammar.parsing import Word
from everwhen.write.extract.grammar.word_lists import STATIVE
from everwhen.write.plan_matching import (
    BEFORE,
    MOVED_TO,
    NOUNS,
    SAYS_LITTLE,
    SUBJECTS,
    PlannedEvent,
    PlanSentence,
    SameMeaning,
    known_plans,
    named_plans,
    plan_of,
    sentences_of,
)
from everwhen_time import TimeRef

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
        told = [plan for place in own if (plan := plan_of(events[place], turn))]
        asked.all([one for said in sentences for one in _questions(said, [*plans, *told], means)])
        spoken_of: PlannedEvent | None = None
        for said in sentences:
            told = [plan for place in own if (plan := plan_of(events[place], turn)) and _precedes(plan, said)]
            known = said.ahead([*plans, *told])
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
            same = (at for at in own if _retells(events[at], said) and events[at] is not plan.event)
            if (at := next(same, None)) is not None:
                event = events[at] = replace(event, entities=events[at].entities)
            else:
                events.append(event)
            found.append((event, plan.event))
            plans = [one for one in plans if one.event is not plan.event]
            if (version := plan_of(event, turn)) is not None:  # "We put off Lisbon. The new dates are …"
                spoken_of = version
                plans.append(version)
        gone = {id(old) for _, old in found}
        gone |= {id(plan.event) for plan in plans}
        now = [event for event in events if event.turns[:1] == (turn.id,) and id(event) not in gone]
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


def _precedes(plan: PlannedEvent, said: PlanSentence) -> bool:
    place = said.turn.text.find(said.text)
    return 0 <= said.turn.text.find(plan.event.expression) < place


def _retells(event: ExtractedEvent, said: PlanSentence) -> bool:
    if event.expression and event.expression not in said.text:
        return False
    own = {word.lemma.lower() for word in said.words}
    return event.verb.split()[0].lower() in own


# Which plan, and how it changes


def _questions(
    said: PlanSentence, plans: Sequence[PlannedEvent], means: SameMeaning
) -> Iterator[tuple[str, Passage]]:
    """What is asked of a sentence in any case."""
    for theme, plan in named_plans(said, said.ahead(plans), means):
        for question in _asks(said, said.name_of(theme, plan)):
            yield question, said.passage


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
        told = max(when.relevance, other.relevance if moved else 0.0) > 0 and when.status not in _UNREAL
        return new if told and (plain or disturbed) else None
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
    says = _no(still) > _yes(still) or _yes(off) >= AGREES
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
    told = [plan for plan in plans if about or plan.said.speaker == said.turn.speaker]
    others = [word for word in said.words if word.pos not in ("PUNCT", "SPACE", "INTJ") and not said.at(word)]
    named = any(word.pos in NOUNS and word.dep != "ROOT" for word in others)
    if not told or (not about and (named or len(others) > SHORT)):
        return None
    latest = max(plan.said.said_at for plan in told)
    last = [plan for plan in told if plan.said.said_at == latest]
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


def _no(reading: Reading) -> float:
    return float(reading.kinds[2]) if reading.relevance > 0 else 0.0


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
