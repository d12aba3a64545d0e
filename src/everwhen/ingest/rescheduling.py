"""Plans that change: what moves, cancels or corrects an event of the calendar becomes its next version.

Grammar says which plan a sentence may speak of: its theme has to describe one, and only one. The reader says whether
it changes. The plan itself stays as it was told; the new version replaces it from the turn on that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import islice

from everwhen.ingest.changed_times import Changed, amount, new_time, shifted
from everwhen.ingest.extract.base import ExtractedEvent, Extraction
from everwhen.ingest.extract.rules.cleaning import passages
from everwhen.ingest.extract.rules.lexicon import ARRANGING, LIGHT, STATIVE
from everwhen.ingest.extract.rules.parsing import Word, parser
from everwhen.models.embed import Embedder
from everwhen.models.reader import Passage, Reader, Reading
from everwhen.store import Store
from everwhen.store.graph import Vectors
from everwhen.types import Event, Turn
from everwhen.when import Interval, TimeRef, resolve

MOST_PLANS = 100
"""Plans that a turn may speak of, those told last."""
MOST_SENTENCES = 24
"""Sentences of a turn that are read; more is a text that somebody pasted."""
LATELY = 3
"""Turns back to the plan that "it", or a date alone, may speak of."""
AGREES = 0.5
"""The chance of a yes, or of a no, from which the reader's answer counts."""
ALIKE = 0.65
"""The cosine from which a noun and a verb mean the same: 0.83 of flight and fly, 0.53 of ticket and fly."""
BEFORE = 160
"""Characters of the turn before that are read along."""
SHORT = 6
"""Words beside the date that a correction has at the most."""
_NOUNS = ("NOUN", "PROPN")
_SUBJECTS = ("nsubj", "nsubjpass")
_THEMES = (*_SUBJECTS, "dobj", "attr", "ROOT")
_MODIFIERS = ("compound", "amod", "poss", "nummod", "nmod", "appos")
_NEW = frozenset({"a", "an", "another", "any", "some", "every", "each"})
_HERE = frozenset({"it", "that", "this"})
_OWN = frozenset({"my", "our"})
_MOVED_TO = frozenset({"to", "until", "till"})
_TARGETS = _MOVED_TO | {"for", "by"}
_UNREAL = frozenset({"supposed", "denied", "fiction"})
_SAYS_LITTLE = LIGHT | STATIVE | ARRANGING | {"happen", "start", "begin", "go", "hold"}

Version = tuple[ExtractedEvent, Event | ExtractedEvent]
"""An event, and the one that it replaces."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A dated event that was told before, and the words that describe it."""

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
        words = parser().parse([self.event.text])[0].words
        return " ".join(["the", *(word.text for word in words if word.pos == "NOUN")])


@dataclass(frozen=True, slots=True)
class _Said:
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
            if word.pos in (*_NOUNS, "PRON") and word.dep in _THEMES and self.at(word) is None:
                of = next((one for one in word.children if one.lower == "of"), None)
                inner = of.child("pobj") if of is not None and word.lemma in ("date", "time", "day") else None
                yield inner or word


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
    means, asked = _Means(embedder), _Asked(reader)
    plans = _known(store, turns, min(turn.said_at for turn in read))
    events, found = list(extraction.events), []
    order = list(turns)
    for turn in read:
        own = [place for place, event in enumerate(events) if event.turns[:1] == (turn.id,)]
        recent = [
            turns[id_] for id_ in order[max(0, order.index(turn.id) - LATELY) : order.index(turn.id) + 1]
        ]
        lately = {one.id for one in recent if one.session == turn.session}
        before = recent[-2] if len(recent) > 1 else None
        sentences = list(islice(_sentences(turn, before), MOST_SENTENCES)) if plans or own else []
        told = [plan for place in own if (plan := _plan(events[place], turn))]
        asked.all([one for said in sentences for one in _questions(said, [*plans, *told], means)])
        spoken_of: _Plan | None = None
        for said in sentences:
            told = [plan for place in own if (plan := _plan(events[place], turn)) and _precedes(plan, said)]
            known = _ahead(said, [*plans, *told])
            last = [spoken_of] if spoken_of in known else [one for one in known if one.said.id in lately]
            named = list(_named_plans(said, known, means))
            change = _change(asked, said, named, last)
            spoken_of = named[0][1] if named else spoken_of
            if change is None:
                continue
            event, plan = change
            same = [
                place for place in own if _retells(events[place], said) and events[place] is not plan.event
            ]
            if same:
                events[same[0]] = replace(event, text=events[same[0]].text, entities=events[same[0]].entities)
            else:
                events.append(event)
            place = same[0] if same else len(events) - 1
            found.append((events[place], plan.event))
            plans = [one for one in plans if one.event is not plan.event]
        gone = {id(old) for _, old in found}
        now = [event for event in events if event.turns[:1] == (turn.id,) and id(event) not in gone]
        plans += [plan for event in now if (plan := _plan(event, turn)) is not None]
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

    def __call__(self, said: _Said, *questions: str) -> list[Reading]:
        return self.all([(question, said.passage) for question in questions])


class _Means:
    """Whether a noun means what a verb does: a flight is when one flies."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    def __call__(self, noun: str, verb: str) -> bool:
        if verb in _SAYS_LITTLE:
            return False
        for word in {noun, verb} - self._vectors.keys():
            self._vectors[word] = self._embedder.embed([word])[0]
        return float(self._vectors[noun] @ self._vectors[verb]) >= ALIKE


def _known(store: Store, turns: Mapping[str, Turn], since: datetime) -> list[_Plan]:
    """The plans of the calendar that are still ahead, and what was told lately and may be put right."""
    ahead = store.graph.events(status="planned", between=Interval(since, None, "second"))
    told = [event for event in (*ahead, *store.graph.events_told(list(turns))) if event.superseded_at is None]
    last = sorted(told, key=lambda event: event.said_at or since)[-MOST_PLANS:]
    events = {event.id: event for event in last}
    known = {turn.id: turn for turn in store.turns(ids=[event.told_in for event in events.values()])}
    plans = (_plan(event, known[event.told_in]) for event in events.values() if event.told_in in known)
    return [plan for plan in plans if plan is not None]


def _plan(event: Event | ExtractedEvent, turn: Turn) -> _Plan | None:
    when = event.occurred
    if event.inferred or when is None or when.start is None or event.status not in ("planned", "negated"):
        return None
    return _Plan(event, when, turn, _described(f"{event.subject} {event.object} {event.text}"))


@lru_cache(maxsize=1024)
def _described(text: str) -> frozenset[str]:
    words = parser().parse([text])[0].words
    return frozenset(form for word in words for form in (word.lower, word.lemma.lower()))


def _sentences(turn: Turn, before: Turn | None) -> Iterator[_Said]:
    """What a turn states, sentence by sentence."""
    last = f"{before.speaker}: {before.text}" if before is not None else ""
    for passage in passages(turn.text):
        for words in parser().parse([passage.text])[0].sentences:
            if not words or words[-1].text.endswith("?"):
                continue
            text = passage.text[words[0].start : words[-1].end]
            yield _Said(
                turn, words, text, resolve(text, turn.said_at, turn.zone, tense="future"), last[-BEFORE:]
            )


def _precedes(plan: _Plan, said: _Said) -> bool:
    """Whether a plan of the same turn was told before a sentence of it."""
    place = said.turn.text.find(said.text)
    return 0 <= said.turn.text.find(plan.event.expression) < place


def _retells(event: ExtractedEvent, said: _Said) -> bool:
    """Whether an extracted event comes from a sentence."""
    if event.expression and event.expression not in said.text:
        return False
    own = {word.lemma.lower() for word in said.words}
    return event.verb.split()[0].lower() in own


# Which plan, and how it changes


def _ahead(said: _Said, plans: Sequence[_Plan]) -> list[_Plan]:
    """Those that were told by then and are not over."""
    now = said.turn.said_at
    return [
        plan
        for plan in plans
        if plan.said.said_at <= now and (plan.occurred.end is None or plan.occurred.end > now)
    ]


def _named_plans(said: _Said, plans: Sequence[_Plan], means: _Means) -> Iterator[tuple[Word, _Plan]]:
    """The plans that a sentence says something of, each with its theme."""
    for theme in said.themes():
        if theme.pos != "PRON" and (plan := _meant(theme, said, plans, means)) is not None:
            yield theme, plan


def _questions(said: _Said, plans: Sequence[_Plan], means: _Means) -> Iterator[tuple[str, Passage]]:
    """What is asked of a sentence in any case."""
    for theme, plan in _named_plans(said, _ahead(said, plans), means):
        for question in _asks(said, _named(theme, said, plan)):
            yield question, said.passage


def _asks(said: _Said, name: str) -> tuple[str, str, str]:
    """Without a time in it a sentence can only call the plan off."""
    other = f"Was {name} moved to another date?" if said.times else f"Is {name} still on?"
    return f"When is {name}?", other, f"Is {name} cancelled?"


def _change(
    asked: _Asked, said: _Said, named: Sequence[tuple[Word, _Plan]], last: Sequence[_Plan]
) -> tuple[ExtractedEvent, _Plan] | None:
    for theme, plan in named:
        if (new := _decided(asked, said, theme, plan)) is not None:
            return _version(said, plan, new), plan
    return _pronoun_or_date(asked, said, last)


def _meant(theme: Word, said: _Said, plans: Sequence[_Plan], means: _Means) -> _Plan | None:
    """The one plan that a theme describes; none where two are described equally well."""
    if any(word.lower in _NEW for word in theme.children):
        return None
    own = {word.lower for word in said.words if word.pos in _NOUNS} | {said.turn.speaker.lower()}
    fitting = [(len(own & plan.words), plan) for plan in plans if _fits(theme, said, plan, means)]
    most = max((count for count, _ in fitting), default=0)
    best = [plan for count, plan in fitting if count == most]
    return best[0] if len(best) == 1 else None


def _fits(theme: Word, said: _Said, plan: _Plan, means: _Means) -> bool:
    """Whether everything that describes the theme describes the plan as well, its time included."""
    words = [theme]
    rest = [word for word in theme.children if word.dep in (*_MODIFIERS, "prep")]
    while rest:
        word = rest.pop()
        if word.dep == "prep" and word.lower in _TARGETS and said.at(_last(word)) is not None:
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
        elif word.pos in (*_NOUNS, "ADJ", "NUM") and not (
            {word.lower, word.lemma.lower()} & plan.words
            or (word is theme and theme.child("det", "poss") and means(word.lemma, plan.event.verb))
        ):
            return False
    return True


def _last(word: Word) -> Word:
    return list(word.subtree())[-1]


def _decided(asked: _Asked, said: _Said, theme: Word, plan: _Plan) -> Changed | None:
    """When the plan is now, or that it is off; None where it stays as it is."""
    when, other, off = asked(said, *_asks(said, _named(theme, said, plan)))
    if not said.times:
        unsaid = when.relevance <= 0  # else it has a time that nobody can read
        return _off(plan) if unsaid and _ends(other, off, ("ended", "denied")) else None
    verb = next((word for word in (theme.head, *theme.ancestors()) if word.pos in ("VERB", "AUX")), theme)
    disturbed = other.status not in _UNREAL and (
        max(_yes(other), _yes(off)) >= AGREES or (other.relevance > 0 and _is_moved(theme, verb, said))
    )
    same = verb.lemma.lower() == plan.event.verb.split()[0]
    takes_part = plan.event.verb.split()[0] not in _SAYS_LITTLE and not same
    inside = {id(said.at(word)) for word in theme.subtree()} if theme.dep in _SUBJECTS else set()
    times = [ref for ref in said.times if id(ref) not in inside]
    new = new_time(said.text, times, said.turn, plan.occurred)
    if new is not None:
        plain = theme.dep in _SUBJECTS and (same or verb.lemma in _SAYS_LITTLE) and not takes_part
        told = when.relevance > 0 and when.status not in _UNREAL
        return new if told and (plain or disturbed) else None
    for ref in times if disturbed else ():
        parts = [word for word in said.words if said.at(word) is ref]
        if ref.duration is not None and (sign := amount(parts, verb)):
            return shifted(ref.text, ref.duration, sign, said.turn, plan.occurred)
    return None


def _is_moved(theme: Word, verb: Word, said: _Said) -> bool:
    """Whether something is done to the theme that leads to a time: "is moved to June 19"."""
    leads = (word for word in verb.children if word.lower in _MOVED_TO)
    return theme.dep in ("nsubjpass", "dobj") and any(said.at(_last(word)) is not None for word in leads)


def _ends(still: Reading, off: Reading, statuses: Sequence[str]) -> bool:
    """Whether a plan is not still on, or is cancelled."""
    says = _no(still) > _yes(still) or _yes(off) >= AGREES
    return says and still.relevance > 0 and still.status in statuses and off.relevance > 1


def _named(theme: Word, said: _Said, plan: _Plan) -> str:
    """What a question calls the plan: as the sentence does, and with whom."""
    words = [*(word for word in theme.subtree() if word.i < theme.i), theme]
    name = " ".join("the" if word.lower in _OWN or word.lower == "the" else word.text for word in words)
    known = [
        word.text
        for word in said.words
        if word.pos == "PROPN" and not said.at(word) and word.lower in plan.words
    ]
    whom = [word for word in known if word not in name and word != said.turn.speaker]
    return f"{name} with {whom[0]}" if whom else name


def _pronoun_or_date(
    asked: _Asked, said: _Said, plans: Sequence[_Plan]
) -> tuple[ExtractedEvent, _Plan] | None:
    """A change of what was spoken of last: "it's on the 14th, not the 12th", "no wait, Thursday"."""
    themes = [word for word in said.themes() if word.dep != "ROOT"]
    about = any(word.lower in _HERE for word in themes)
    says = [word for word in themes if word.lower not in _HERE]
    if any(word.lower != "i" or word.head.lemma not in STATIVE for word in says):
        return None
    if any(word.head.tag == "VBD" and word.head.lemma == "be" for word in themes):
        return None  # "it was on the 14th last year"
    told = [plan for plan in plans if about or plan.said.speaker == said.turn.speaker]
    others = [word for word in said.words if word.pos not in ("PUNCT", "SPACE", "INTJ") and not said.at(word)]
    named = any(word.pos in _NOUNS and word.dep != "ROOT" for word in others)
    if not told or (not about and (named or len(others) > SHORT)):
        return None
    latest = max(plan.said.said_at for plan in told)
    last = [plan for plan in told if plan.said.said_at == latest]
    if len(last) != 1:
        return None
    plan = last[0]
    said = replace(said, before=f"{plan.said.speaker}: {plan.said.text}"[-BEFORE:])
    new = new_time(said.text, said.times, said.turn, plan.occurred)
    question = f"When is {plan.name}?"
    if new is not None:
        pair = (Passage(plan.said.speaker, plan.said.text), said.passage)
        (when,) = asked(said, question)
        renews = float(asked.reader.renews(question, [pair])[0])
        if when.status in _UNREAL or max(renews, when.relevance) <= 0:
            return None
        return _version(said, plan, new), plan
    if not about or said.times:
        return None
    still, off = asked(said, f"Is {plan.name} still on?", f"Is {plan.name} cancelled?")
    if _ends(still, off, ("ended",)):
        return _version(said, plan, _off(plan)), plan
    return None


def _off(plan: _Plan) -> Changed:
    return Changed(plan.occurred, plan.event.expression, off=True)


def _yes(reading: Reading) -> float:
    return float(reading.kinds[1]) if reading.relevance > 0 else 0.0


def _no(reading: Reading) -> float:
    return float(reading.kinds[2]) if reading.relevance > 0 else 0.0


def _version(said: _Said, plan: _Plan, new: Changed) -> ExtractedEvent:
    """The plan with another time, or denied. What does not name it is told in the plan's own words."""
    old = plan.event
    text = f"{said.turn.speaker}: {said.text}"
    nouns = [word for word in said.words if word.pos in _NOUNS and said.at(word) is None]
    if not any({word.lower, word.lemma.lower()} & plan.words for word in nouns):
        again = old.text.replace(old.expression, new.expression)
        text = f"{text} ({old.text})" if new.off or again == old.text else again
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
