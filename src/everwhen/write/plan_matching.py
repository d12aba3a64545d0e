"""Which plan of the calendar a sentence speaks of: its theme has to describe one, and only one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from everwhen.models.embed import Embedder
from everwhen.models.reader import Passage
from everwhen.store.base import Store
from everwhen.store.graph import Vectors
from everwhen.types import Event, Turn
from everwhen.write.extract.base import ExtractedEvent
from everwhen.write.extract.grammar.cleaning import passages
from everwhen.write.extract.grammar.parsing import Word, parser
from everwhen.write.extract.grammar.word_lists import ARRANGING, LIGHT, STATIVE, TRAVELLING, TRIPS
from everwhen_time import Interval, TimeRef, resolve

MOST_PLANS = 100
"""Plans that a turn may speak of, those told last."""
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
        """Those that were told by then and are not over."""
        now = self.turn.said_at
        told = (plan for plan in plans if plan.said.said_at <= now)
        return [plan for plan in told if plan.occurred.end is None or plan.occurred.end > now]

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
    """The plans of the calendar that are still ahead, and what was told lately and may be put right."""
    ahead = store.graph.events(status="planned", between=Interval(since, None, "second"))
    told = [event for event in (*ahead, *store.graph.events_told(list(turns))) if event.superseded_at is None]
    last = sorted(told, key=lambda event: event.said_at or since)[-MOST_PLANS:]
    events = {event.id: event for event in last}
    known = {turn.id: turn for turn in store.turns(ids=[event.told_in for event in events.values()])}
    plans = (plan_of(event, known[event.told_in]) for event in events.values() if event.told_in in known)
    return [plan for plan in plans if plan is not None]


def plan_of(event: Event | ExtractedEvent, turn: Turn) -> PlannedEvent | None:
    when = event.occurred
    if event.inferred or when is None or when.start is None or event.status not in ("planned", "negated"):
        return None
    return PlannedEvent(event, when, turn, _described(f"{event.subject} {event.object} {event.text}"))


@lru_cache(maxsize=1024)
def _described(text: str) -> frozenset[str]:
    words = parser().parse([text])[0].words
    return frozenset(form for word in words for form in (word.lower, word.lemma.lower()))


def sentences_of(turn: Turn, before: Turn | None) -> Iterator[PlanSentence]:
    """What a turn states, sentence by sentence."""
    last = f"{before.speaker}: {before.text}" if before is not None else ""
    for passage in passages(turn.text):
        for words in parser().parse([passage.text])[0].sentences:
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
        if theme.pos != "PRON" and (plan := _meant(theme, said, plans, means)) is not None:
            yield theme, plan


def _meant(
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
