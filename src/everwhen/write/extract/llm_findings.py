"""What a language model answered, and what of it the turns bear out: the rest is left out, and the reason noted.

The schema is explained to the model field by field in `models/prompts/extract.txt`. Every field is asked for (a model
held to a schema forgets none), yet all but the essential ones may be missing from an answer. Nothing of it is
believed: words have to stand in a turn and not in the prompt, and of a time the model only points at the words:
`everwhen_time` says what they mean.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from everwhen.settings import Settings
from everwhen.types import Turn
from everwhen.write.extract.base import (
    Batch,
    CausalLink,
    EntityType,
    ExtractedEntity,
    ExtractedEvent,
    ExtractedFact,
    ExtractedNarrative,
    Extraction,
    Failure,
    Network,
    Status,
)
from everwhen.write.extract.clauses import day_of
from everwhen_time import Interval, TimeRef, resolve
from everwhen_time.calendar import shift
from everwhen_time.language import language_of
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from everwhen.write.extract.llm import ExtractionPrompt

NARRATIVES, EVENTS, FACTS, ENTITIES, ALIASES = 5, 40, 20, 30, 4
"""How many of each are asked for at the most. Servers that constrain what is written hold the model to it, so
that a small one does not repeat itself for ever; what comes from others is bounded when it is read."""


def _all_required(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])
    for shape in schema["properties"].values():
        shape.pop("default", None)


def _share(value: Any) -> Any:
    """A confidence between 0 and 1, also where a model speaks in percent."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(1.0, max(0.0, value / 100 if value > 1 else float(value)))
    return value


Words = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Share = Annotated[float, BeforeValidator(_share)]
Aliases = Annotated[list[str], Field(json_schema_extra={"maxItems": ALIASES})]


class Item(BaseModel):
    model_config = ConfigDict(extra="ignore", json_schema_extra=_all_required)


class Event(Item):
    turn: str
    quote: Words = ""
    subject: str
    verb: str
    object: Words = ""
    text: Words = ""
    status: Status = "happened"
    time: Words = ""
    date: Words = ""
    quantity: Words = ""
    aliases: Aliases = []
    network: Network = "world"
    confidence: Share = 0.8
    cause: int = -1


class Narrative(Item):
    text: str
    turns: list[str]
    time: Words = ""
    network: Network = "world"
    confidence: Share = 0.7


class Fact(Item):
    subject: str
    predicate: str
    object: str
    turn: str
    quote: Words = ""
    time: Words = ""
    domain: Words = "general"
    confidence: Share = 0.8


class Entity(Item):
    name: str
    type: EntityType = "OTHER"
    aliases: Aliases = []


class Findings(Item):
    """What the turns tell that is worth knowing later."""

    # Narratives first: a small model that has written the story finds the events in it.
    narratives: list[Narrative] = Field(json_schema_extra={"maxItems": NARRATIVES})
    events: list[Event] = Field(json_schema_extra={"maxItems": EVENTS})
    facts: list[Fact] = Field(default=[], json_schema_extra={"maxItems": FACTS})
    entities: list[Entity] = Field(default=[], json_schema_extra={"maxItems": ENTITIES})

    def __bool__(self) -> bool:
        return bool(self.events or self.narratives or self.facts)


class SameEntity(BaseModel):
    """Whether two names are one person's, place's or thing's."""

    same: bool


_KINDS: dict[str, type[Item]] = {
    "events": Event, "narratives": Narrative, "facts": Fact, "entities": Entity,
}  # fmt: skip


def salvage(text: str) -> tuple[Findings, int]:
    """What is good in an answer that does not fit as a whole, and how many items are not.

    An answer that breaks off keeps the items before the break.
    """
    lists: dict[str, list[Any]] = {name: [] for name in _KINDS}
    start = text.find("{")
    try:
        answer = from_json(text[start:], allow_partial=True) if start >= 0 else {}
    except ValueError:
        answer = {}
    left_out = 0
    for name, kind in _KINDS.items():
        found = answer.get(name) if isinstance(answer, dict) else None
        for item in found if isinstance(found, list) else ():
            try:
                lists[name].append(kind.model_validate(item))
            except ValidationError:
                left_out += 1
                if name == "events":
                    lists[name].append(None)  # `cause` counts places in the list as it was written
    events = lists["events"]
    places = {old: new for new, old in enumerate(n for n, event in enumerate(events) if event is not None)}
    lists["events"] = [
        event.model_copy(update={"cause": places.get(event.cause, -1)})
        for event in events
        if event is not None
    ]
    return Findings.model_construct(_fields_set=None, **lists), left_out


Span: TypeAlias = tuple[int, int]

_WORD = re.compile(r"\w+")
_GAP = re.compile(r"\s*(?:\.\.\.|…|\[…\])\s*")
_MARK = re.compile(r"EXAMPLE_([A-Z]+)")
"""The names in the prompts' examples, which nobody else bears."""
_QUOTED = re.compile(r'"([^"]*)"')
SHINGLE = 6
"""So many words in a row that also stand in the prompt, and in no turn, are the prompt's."""
STEM = 5


def find(quote: str, text: str) -> Span | None:
    """Where a quotation stands in a text, whatever its case, spacing and punctuation. "…" may leave words out.

    >>> find("the RED one", 'I took "the red" one.')
    (7, 20)
    """
    start = end = -1
    for part in _GAP.split(quote):
        if not part.strip():
            continue
        span = _stands(part, text, max(end, 0))
        if span is None:
            return None
        start, end = span[0] if start < 0 else start, span[1]
    return None if end < 0 else (start, end)


def _stands(part: str, text: str, after: int) -> Span | None:
    wanted = [match[0].casefold() for match in _WORD.finditer(part)]
    words = [(match[0].casefold(), match.span()) for match in _WORD.finditer(text, after)]
    if wanted:
        for place in range(len(words) - len(wanted) + 1):
            if all(words[place + n][0] == word for n, word in enumerate(wanted)):
                return words[place][1][0], words[place + len(wanted) - 1][1][1]
    # Scripts that put no space between words, and quotations that are only signs.
    at = text.casefold().find(part.strip().casefold(), after)
    spaced = any(word.isascii() for word in wanted)
    return None if at < 0 or spaced else (at, at + len(part.strip()))


def stems(text: str) -> frozenset[str]:
    """The beginnings of the words that carry meaning: "kayaks" and "kayaking" have one in common."""
    return frozenset(
        word[:STEM] for word in _WORD.findall(text.casefold()) if len(word) > 3 or not word.isascii()
    )


def names_in(text: str) -> frozenset[str]:
    """The words with a capital that make names, as `stems`. One that only begins a phrase may be any word."""
    words = [word for word in _WORD.findall(text) if word not in ("I", "The", "A", "An", "My", "Our")]
    capitals = [word for word in words if word[0].isupper()]
    begins = capitals == words[:1] and len(words) > 1
    return frozenset(word.casefold()[:STEM] for word in capitals) if not begins else frozenset()


class Echoes:
    """Tells what a model took from its prompt instead of the turns."""

    def __init__(self, prompt: str, texts: Iterable[str]) -> None:
        self._said = " ".join(texts)
        names = "|".join(sorted(set(_MARK.findall(prompt)))) or "PERSON"
        self._marked = re.compile(rf"\bexample[\W_]*(?:{names})", re.IGNORECASE)
        self._phrases = _phrases(prompt)
        self._foreign = _shingles(prompt) - _shingles(self._said)

    def __contains__(self, text: str) -> bool:
        """Whether a text bears a name of the prompt's examples, is one of its quotations, or has many of its words
        in a row."""
        marked = self._marked.search(text)
        if marked and find(marked[0], self._said) is None:
            return True
        if _bare(text) in self._phrases and find(text, self._said) is None:
            return True
        return not self._foreign.isdisjoint(_shingles(text))


@lru_cache(maxsize=8)
def _phrases(prompt: str) -> frozenset[str]:
    """What stands in quotation marks in a prompt, single words apart: those are names of fields and the like."""
    return frozenset(bare for quoted in _QUOTED.findall(prompt) if " " in (bare := _bare(quoted)))


def _bare(text: str) -> str:
    return " ".join(word.casefold() for word in _WORD.findall(text))


@lru_cache(maxsize=64)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return frozenset(tuple(words[n : n + SHINGLE]) for n in range(len(words) - SHINGLE + 1))


EARLIEST = 1000
LATEST_AHEAD = 100
"""Years in which a date of the model's own is believed to be meant: from 1000 to a century after it was said."""

_DATE = re.compile(r"(\d{4,6})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?")


@dataclass(frozen=True, slots=True)
class Occurred:
    """An interval, the speaker's words for it, and whether it is only the day on which they were said."""

    interval: Interval
    expression: str = ""
    inferred: bool = False


def occurred(turn: Turn, within: Span | None, expression: str, status: Status) -> Occurred:
    """When the event in a turn took place.

    `expression` is what the model copied; a model that copied nothing may still have quoted a time, so the
    time inside `within`, the event's own words, is the next best. Else it is the turn's day, inferred.
    """
    words = find(expression, turn.text) if expression else None
    for span in (words, within):
        if (
            span is not None
            and (ref := _time_at(turn, span, status)) is not None
            and ref.interval is not None
        ):
            return Occurred(ref.interval, ref.text)
    return Occurred(day_of(turn), turn.text[slice(*words)] if words else "", inferred=True)


def claimed(date: str, at: datetime, zone: str) -> Interval | Literal["out of bounds"] | None:
    """The calendar date that a model gave by itself, if it is one and lies in a believable year."""
    match = _DATE.fullmatch(date.strip())
    if match is None:
        return None
    year, month, number = int(match[1]), match[2], match[3]
    if not EARLIEST <= year <= at.year + LATEST_AHEAD:
        return "out of bounds"
    grain: Literal["day", "month", "year"] = "day" if number else "month" if month else "year"
    try:
        start = datetime(year, int(month or 1), int(number or 1))
        sides = (start, shift(start, grain, 1))
    except ValueError:
        return None
    first, last = (side.replace(tzinfo=zone_of(zone)).astimezone(UTC) for side in sides)
    return Interval(first, last, grain)


def lasting(turn: Turn, expression: str) -> Interval | None:
    """Since when, or until when, a fact holds: an open side unless the words say both."""
    span = find(expression, turn.text) if expression else None
    ref = _time_at(turn, span, "happened") if span is not None else None
    if ref is None or ref.interval is None:
        return None
    if ref.interval.start is None or ref.kind == "range":
        return ref.interval
    return Interval(ref.interval.start, None, ref.interval.grain)


def _time_at(turn: Turn, span: Span, status: Status) -> TimeRef | None:
    """The time expression of the turn that a span points at, on the side of now that the status asks for."""
    ref = _best(resolve(turn.text, turn.said_at, turn.zone), span)
    if ref is None or ref.interval is None:
        return ref
    tense: Literal["past", "future"] | None = None
    if status == "planned" and ref.interval.end is not None and ref.interval.end <= turn.said_at:
        tense = "future"
    elif status == "happened" and ref.interval.start is not None and ref.interval.start > turn.said_at:
        tense = "past"
    if tense is None:
        return ref
    return _best(resolve(turn.text, turn.said_at, turn.zone, tense), span) or ref


def _best(refs: list[TimeRef], span: Span) -> TimeRef | None:
    def shared(ref: TimeRef) -> int:
        return min(span[1], ref.span[1]) - max(span[0], ref.span[0])

    dated = [ref for ref in refs if ref.interval is not None and shared(ref) > 0]
    return max(dated, key=shared, default=None)


READ = {"events": 200, "narratives": NARRATIVES, "facts": 100, "entities": 200}
"""How many items of an answer are looked at; 10,000 events of 25 turns are not events."""
WORDS_AN_EVENT = 3
"""A clause has about so many words at least, and an event is a clause."""
LONGEST_NAME, LONGEST_SENTENCE, LONGEST_NARRATIVE = 200, 1_000, 4_000
DOMAINS = frozenset({*Settings().half_lives, "general"})
INFERRED = 0.75
"""An event without a time of its own is that much less sure."""

TOO_MANY = "the model found more events in a turn than it has clauses; the rest were left out"

_Item = TypeVar("_Item")
_SPEAKER = frozenset({"i", "me", "my", "myself", "user", "the user", "speaker", "the speaker"})
_ASSISTANT = frozenset({"assistant", "the assistant", "ai", "the ai"})


@dataclass(frozen=True, slots=True)
class _Place:
    turn: Turn
    span: Span | None


class Grounding:
    """One answer held against one batch."""

    def __init__(self, batch: Batch, question: ExtractionPrompt, prompt: str) -> None:
        self._batch = batch
        self._labels = question.labels
        self._own = batch.ids
        everything = (*batch.before, *batch.turns)
        heard = " ".join(f"{turn.speaker} {turn.text}" for turn in everything)
        self._heard = frozenset(word.casefold()[:STEM] for word in re.findall(r"\w+", heard))
        self._echoes = Echoes(prompt, [word for turn in everything for word in (turn.speaker, turn.text)])
        self._order = {turn.id: n for n, turn in enumerate(batch.turns)}
        self._assistant = next((turn.speaker for turn in everything if turn.role == "assistant"), None)
        self._notes: dict[str, list[str]] = {}
        for turn in question.cut:
            self._note("a turn is very long; the model read its beginning only", turn)

    def extraction(self, findings: Findings, name: str, version: str) -> Extraction:
        """What of the findings stands in the turns, in their order, with notes on the rest as failures."""
        entities = self._entities(self._bounded("entities", findings.entities))
        names = [one.name for one in entities]
        events, causes = self._events(self._bounded("events", findings.events), names)
        narratives = self._narratives(self._bounded("narratives", findings.narratives), names)
        facts = self._facts(self._bounded("facts", findings.facts))
        return Extraction(name, version, events, narratives, entities, facts, causes, self.failures)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """One for each kind of thing that was left out or put right."""
        return tuple(
            Failure(
                tuple(turn for turn in self._order if turn in turns) or tuple(self._order),
                reason if len(turns) < 2 else f"{reason} ({len(turns)} times)",
            )
            for reason, turns in self._notes.items()
        )

    def _events(
        self, found: Sequence[Event], names: Sequence[str]
    ) -> tuple[tuple[ExtractedEvent, ...], tuple[CausalLink, ...]]:
        kept: list[tuple[int, int, Event, ExtractedEvent]] = []
        seen: set[tuple[str, ...]] = set()
        count: Counter[str] = Counter()
        for number, event in enumerate(found):
            place = self._place_of(event.turn, event.quote, f"{event.object} {event.text}", "an event")
            if place is None or self._echoed(event.subject, event.object, event.text, turn=place.turn):
                continue
            turn = place.turn
            made = self._extracted_event(event, place, names)
            if self._misnames(place, made.subject, made.object):
                self._note("the model gave an event of somebody or something that no turn names", turn)
                continue
            key = (turn.id, *(word.casefold() for word in (made.subject, made.verb, made.object)))
            if not made.subject or not made.verb or key in seen:
                continue
            seen.add(key)
            count[turn.id] += 1
            # More than there can be, also in scripts without spaces.
            most = 1 + max(len(turn.text.split()) // WORDS_AN_EVENT, len(turn.text) // (8 * WORDS_AN_EVENT))
            if count[turn.id] <= most:
                kept.append((self._order[turn.id], number, event, made))
            else:
                self._note(TOO_MANY, turn)
        kept.sort(key=lambda one: one[:2])
        places = {number: place for place, (_, number, _, _) in enumerate(kept)}
        causes = tuple(
            CausalLink(places[event.cause], places[number])
            for _, number, event, _ in kept
            if event.cause in places and event.cause != number
        )
        return tuple(made for *_, made in kept), causes

    def _extracted_event(self, event: Event, place: _Place, names: Sequence[str]) -> ExtractedEvent:
        turn = place.turn
        subject = self._who(event.subject, turn)
        verb = _clean(event.verb, LONGEST_NAME).lower()
        object_ = _clean(event.object, LONGEST_NAME)
        text = _clean(event.text, LONGEST_SENTENCE)
        if not text or self._misnames(place, "", text.partition(" ")[2]):
            text = " ".join(filter(None, (subject, verb, object_))) + "."
        network: Network = "world" if event.network == "experience" else event.network
        if self._assistant is not None and subject == self._assistant:
            network = "experience"
        key = stems(object_)
        cleaned = filter(None, dict.fromkeys(_clean(alias, LONGEST_NAME) for alias in event.aliases))
        aliases = [one for one in cleaned if stems(one).isdisjoint(key) and one not in self._echoes]
        when = self._when(event, place)
        self._compare(event, when, turn)
        return ExtractedEvent(
            subject, verb, object_, text, (turn.id,),
            occurred=when.interval,
            expression=when.expression,
            inferred=when.inferred,
            status=event.status,
            polarity=-1 if event.status == "negated" else 1,
            quantity=_clean(event.quantity, LONGEST_NAME),
            aliases=tuple(aliases[:ALIASES]),
            confidence=round(event.confidence * (INFERRED if when.inferred else 1.0), 3),
            network=network,
            entities=_names_inside(names, f"{subject} {object_} {text}"),
        )  # fmt: skip

    def _compare(self, event: Event, when: Occurred, turn: Turn) -> None:
        """Note where the model has a date of its own and the turn says another."""
        own, date = (
            claimed(event.date, turn.said_at, turn.zone) if event.date else None,
            _clean(event.date, 20),
        )
        if own == "out of bounds":
            self._note(f"the model gave the date {date}, which cannot be meant; it was left out", turn)
        elif own is not None and not own.overlaps(when.interval):
            said, start = when.expression or "no time", when.interval.start
            shown = "open" if start is None else f"{start:%Y-%m-%d}"
            reason = f"the model dated an event {date}, the turn says {said!r}: {shown}; the turn's was taken"
            self._note(reason, turn)

    def _when(self, event: Event, place: _Place) -> Occurred:
        turn = place.turn
        if event.time and find(event.time, turn.text) is None:
            # "When was it?" "Two weeks ago": the time of one turn can be said in its neighbour.
            for other in reversed([*self._batch.before, *self._batch.turns]):
                if find(event.time, other.text) is not None:
                    when = occurred(other, None, event.time, event.status)
                    return (
                        when if not when.inferred else Occurred(day_of(turn), when.expression, inferred=True)
                    )
            self._note("the model gave words for a time that no turn has; they were left out", turn)
        return occurred(turn, place.span, event.time, event.status)

    def _narratives(self, found: Sequence[Narrative], names: Sequence[str]) -> tuple[ExtractedNarrative, ...]:
        made = []
        for one in found:
            text = _clean(one.text, LONGEST_NARRATIVE)
            cited = {turn.id for label in one.turns if (turn := self._labels.get(label.strip())) is not None}
            if any(label.strip() not in self._labels for label in one.turns):
                self._note("the model cited a turn that does not exist for a narrative", None)
            turns = [turn for turn in self._batch.turns if turn.id in cited]
            if not turns or not text or self._echoed(text, turn=turns[0]):
                continue
            if stems(text).isdisjoint(stems(" ".join(f"{turn.speaker} {turn.text}" for turn in turns))):
                self._note("the model said something that its turns do not say; it was left out", turns[0])
                continue
            times = (occurred(turn, None, one.time, "happened") for turn in turns)
            when = next((time.interval for time in times if not time.inferred), None)
            own = one.network != "experience" or any(turn.role == "assistant" for turn in turns)
            network, ids = one.network if own else "world", tuple(turn.id for turn in turns)
            sure = round(one.confidence, 3)
            made.append(ExtractedNarrative(text, ids, network, sure, when, _names_inside(names, text)))
        return tuple(made)

    def _facts(self, found: Sequence[Fact]) -> tuple[ExtractedFact, ...]:
        made: dict[tuple[str, ...], ExtractedFact] = {}
        for one in found:
            place = self._place_of(one.turn, one.quote, one.object, "a fact")
            if place is None or self._echoed(one.subject, one.object, turn=place.turn):
                continue
            subject, object_ = self._who(one.subject, place.turn), _clean(one.object, LONGEST_NAME)
            predicate = re.sub(r"\W+", "_", one.predicate.casefold()).strip("_")[:LONGEST_NAME]
            if self._misnames(place, subject, object_, quoted=True):
                self._note(
                    "the model gave a fact with a name that its turn does not say; left out", place.turn
                )
            elif subject and predicate and object_:
                key = (subject.casefold(), predicate, object_.casefold(), place.turn.id)
                domain = one.domain if one.domain in DOMAINS else "general"
                valid, sure = lasting(place.turn, one.time), round(one.confidence, 3)
                made[key] = ExtractedFact(subject, predicate, object_, (place.turn.id,), domain, valid, sure)
        return tuple(made.values())

    def _entities(self, found: Sequence[Entity]) -> tuple[ExtractedEntity, ...]:
        made: dict[str, ExtractedEntity] = {}
        for one in found:
            name = self._who(one.name, None)
            aliases = [alias for alias in (_clean(word, LONGEST_NAME) for word in one.aliases) if alias]
            forms = [
                form
                for form in dict.fromkeys([name, *aliases])
                if form and any(_mentions(turn, form) for turn in self._batch.turns)
            ]
            if name in forms:
                turns = [
                    turn.id for turn in self._batch.turns if any(_mentions(turn, form) for form in forms)
                ]
                made.setdefault(name.casefold(), ExtractedEntity(name, one.type, tuple(turns)))
            elif not self._echoed(name, turn=None) and not any(
                find(name, t.text) for t in self._batch.before
            ):
                self._note("the model named somebody or something that no turn names; left out", None)
        return tuple(made.values())

    def _misnames(self, place: _Place, who: str, what: str, *, quoted: bool = False) -> bool:
        """Whether there is a name that is in no turn, neither as a speaker's nor in what is said; or `what` has names,
        and the quoted words other ones. Of English turns: else it may be an English form, Lisbon for Lissabon."""
        given, said = names_in(what), place.turn.text[slice(*place.span)] if quoted and place.span else ""
        other = names_in(said) - names_in(place.turn.speaker)
        wrong = bool(given and other) and given.isdisjoint(other | stems(said))
        return (wrong or not names_in(who) | given <= self._heard) and language_of(place.turn.text) is None

    def _place_of(self, label: str, quote: str, otherwise: str, what: str) -> _Place | None:
        """The turn that says it: the one the model names if its words stand there, else one where they do."""
        cited = self._labels.get(label.strip())
        if cited is None:
            self._note(f"the model cited a turn that does not exist for {what}", None)
        if quote.strip():
            for turn in (*((cited,) if cited else ()), *self._batch.turns):
                if (span := find(quote, turn.text)) is not None:
                    return _Place(turn, span) if turn.id in self._own else None
            self._note(f"the model quoted words for {what} that no turn has; it was left out", cited)
            return None
        if cited is None or cited.id not in self._own:
            return None
        if stems(otherwise).isdisjoint(stems(cited.text)):
            self._note(f"the model gave {what} that its turn does not say; it was left out", cited)
            return None
        return _Place(cited, None)

    def _echoed(self, *texts: str, turn: Turn | None) -> bool:
        if any(text in self._echoes for text in texts):
            self._note("the model repeated its instructions; that was left out", turn)
            return True
        return False

    def _who(self, name: str, turn: Turn | None) -> str:
        name = _clean(name, LONGEST_NAME)
        if turn is not None and name.casefold() in _SPEAKER:
            return turn.speaker
        if self._assistant is not None and name.casefold() in _ASSISTANT:
            return self._assistant
        return name

    def _bounded(self, kind: str, items: Sequence[_Item]) -> Sequence[_Item]:
        if len(items) > READ[kind]:
            self._note(f"the model gave {len(items)} {kind}; the first {READ[kind]} were read", None)
        return items[: READ[kind]]

    def _note(self, reason: str, turn: Turn | None) -> None:
        self._notes.setdefault(reason, []).append(turn.id if turn else "")


def _mentions(turn: Turn, form: str) -> bool:
    return turn.speaker.casefold() == form.casefold() or find(form, turn.text) is not None


def _clean(words: str, longest: int) -> str:
    return " ".join(words.split())[:longest].strip()


def _names_inside(names: Sequence[str], text: str) -> tuple[str, ...]:
    return tuple(name for name in names if find(name, text) is not None)
