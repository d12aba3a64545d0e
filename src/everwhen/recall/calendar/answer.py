"""`when`: the interval of the event that a question asks about, with a confidence and the evidence; or nothing.

Recall ranks the turns. The events, time expressions and facts of the best ones are evidence; each piece is scored
against the question (`recall/calendar/features.py`), and pieces with the same interval add up. The answer is as
exact as the words are, never finer. Something said without a date is taken as just done: the answer is then the day on
which it was said, with less confidence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from unicodedata import normalize

from everwhen.models.comparison import Passage, Reader, Reading
from everwhen.models.embedder import Embedder
from everwhen.recall.calendar.evidence import (
    TURNS,
    TimeEvidence,
    gather_evidence,
    similar_events,
    similar_facts,
    unit_around,
)
from everwhen.recall.calendar.features import (
    QuestionWords,
    coverage,
    features,
    has_content,
    probabilities,
    question_subject,
    read_words,
    speakers_of,
    weights,
)
from everwhen.recall.candidates import Request
from everwhen.recall.fusion import is_readable
from everwhen.recall.names import DescribedNames
from everwhen.recall.pipeline import recall
from everwhen.recall.question import Question, beside, parse
from everwhen.store.rows import NOW, AsOf, Filter, SearchQuery, Wanted
from everwhen.store.sql.store import Store
from everwhen.types import Evidence, TimeAnswer
from everwhen.types.recall import MID, Recipe
from everwhen_time import Constraint, Interval
from everwhen_time.interval import Duration, coarser
from everwhen_time.sentences import sentence_at, sentence_texts
from everwhen_time.zones import zone_of

LONGEST = 1_000
"""Characters of a question that are read: what it asks stands in its first sentences."""
EVERYTHING = 100_000
"""Tokens that leave the ranking of recall uncut."""
NEAREST = 150
"""Turns whose cosine is known; for the others the lowest of these stands in."""
READ = 6
"""Best turns that the reader reads: which of them answers, and which of its words."""
QUOTES = 3
"""Pieces of evidence that an answer shows."""
AMONG = 0.1
"""For "first" and "last": an interval takes part when it is at least so likely, relative to the likeliest."""
_TURN, _EVENT = frozenset({"turn"}), frozenset({"event"})
_RANKED = frozenset({"turn", "fact"})
# "Since" of "since when" names no event.
_BOUND_ASKED = re.compile(r"\b(?:since|until|till|from|by)\s+(?:when|what|which)\b", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class WhenRequest:
    """A question about time, when it is asked, and how it is to be answered."""

    query: str
    at: datetime
    zone: str = "UTC"
    between: Interval | None = None
    recipe: Recipe = field(default=MID)
    reader: Reader | None = None
    """What reads the first turns beside the question."""
    moment: AsOf = NOW
    """Only what had been said and recorded by then counts, and plans and facts as they stood."""
    anchor: bool = False
    """Whether it is the event that another question leans on: that event leans on no other."""


@dataclass(frozen=True, slots=True)
class WeighedInterval:
    """One interval with the evidence for it, best first, and its share of the probability."""

    interval: Interval
    share: float
    clues: tuple[TimeEvidence, ...]
    row: dict[str, float]
    """The features of the best clue."""


def when(store: Store, embedder: Embedder, ask: WhenRequest) -> TimeAnswer | None:
    """The interval of the event asked about, or None if the memory does not say."""
    described = DescribedNames(store, ask.reader, ask.at, ask.moment)
    ask = replace(ask, query=described.put_in(ask.query[:LONGEST])[0])
    question = parse(ask.query, ask.at, ask.zone)
    if not has_content(question.event):
        return None
    is_bound = question.form == "since" or _BOUND_ASKED.search(ask.query)
    if question.time is not None and question.time.anchor and not is_bound and not ask.anchor:
        moved, question = _anchored(store, embedder, ask, question, question.time)
        if moved is not None:
            return moved
    scored = evidence_for(store, embedder, ask, question)
    weighed = weigh(scored, ask.between)
    if not weighed:
        return None
    chosen = choose(weighed, question, ask.at)
    sure = confidence(evidence_features(chosen, scored.asked, embedder))
    if sure < weights()["least"] or (chosen.clues[0].denied and not question.denied):
        return None
    zone = chosen.clues[0].turn.zone
    return TimeAnswer(
        interval=_at_grain(chosen.interval, question, zone),
        confidence=round(sure, 3),
        evidence=_evidence(chosen),
        zone=zone,
    )


@dataclass(frozen=True, slots=True)
class ScoredEvidence:
    """Evidence with its features and probabilities."""

    clues: Sequence[TimeEvidence]
    rows: Sequence[dict[str, float]]
    shares: Sequence[float]
    asked: QuestionWords | None = None
    """The words of the question, where the model gives them."""


def evidence_for(store: Store, embedder: Embedder, ask: WhenRequest, question: Question) -> ScoredEvidence:
    """Everything that may date the event, each with its probability."""
    moment = ask.moment
    request = Request(
        query=ask.query,
        max_tokens=EVERYTHING,
        at=ask.at,
        where=Filter(between=moment.said, known_at=moment.known_at, kinds=_RANKED),
        recipe=replace(ask.recipe, dates=False),
        reader=ask.reader,
    )
    ranked = list(dict.fromkeys(id_ for one in recall(store, embedder, request) for id_ in one.turns))
    if not moment.is_now:  # a fact may rest on turns that came later
        seen = {turn.id for turn in store.turns(ids=ranked) if moment.sees(turn)}
        ranked = [id_ for id_ in ranked if id_ in seen]
    vector, words = read_words(store, embedder, ask.query)
    only = Filter(between=moment.said, known_at=moment.known_at, kinds=_EVENT)
    units = similar_events(store, vector, question.event, only)
    turns = store.search(SearchQuery(vector, where=replace(only, kinds=_TURN)))
    [near] = turns.candidates(Wanted(NEAREST, words=False)).meaning
    rows = store.units([found.unit for found in near])
    near_turns = {rows[found.unit].id: found.score for found in near if found.unit in rows}
    begun = similar_facts(store, vector, question.event, 1, moment)
    found = [*gather_evidence(store, ranked[:TURNS], units, moment), *begun]
    # "8 years and I still hate scales" says since when, and no more.
    found = [one for one in found if one.reaches_now or question.form == "since"]
    if question.kind == "when" and (question.ahead or (question.ahead is None and not question.past)):
        # "When is it?", "when did she plan to come?": never the day on which it was said.
        found = [one for one in found if one.dated or one.ahead]
    numbers = numbered_things(question.event)
    found = [one for one in found if not is_of_another(numbers, one.text)]
    clues = at_edges(found, question, ask.at)
    changed = {clue.turn.id: clue.event.text for clue in clues if clue.event and clue.event.replaces}
    read = _read(store, ask, [*ranked[:READ], *list(changed)[:READ]], changed)
    feature_rows = features(question, clues, near_turns, read)
    if words is not None:
        words = words.without(question_subject(question, speakers_of(clues)).names)
    return ScoredEvidence(clues, feature_rows, probabilities(feature_rows, weights()["match"]), words)


def weigh(scored: ScoredEvidence, between: Interval | None = None) -> list[WeighedInterval]:
    """The intervals of the evidence, most probable first; only those inside the window, if there is one."""
    groups: dict[tuple[datetime | None, datetime | None], list[int]] = {}
    for place, clue in enumerate(scored.clues):
        if between is None or clue.interval.overlaps(between):
            groups.setdefault((clue.interval.start, clue.interval.end), []).append(place)
    out = []
    for places in groups.values():
        ordered = sorted(places, key=lambda place: -scored.shares[place])
        best = ordered[0]
        share = math.fsum(scored.shares[place] for place in places)
        clues = tuple(scored.clues[place] for place in ordered)
        out.append(WeighedInterval(scored.clues[best].interval, share, clues, scored.rows[best]))
    return sorted(out, key=lambda one: -one.share)


def confidence(found: Mapping[str, float]) -> float:
    """The probability that the interval is right: `1 / (1 + exp(-(sum of w f)))` over the features of the evidence."""
    sure = weights()["sure"]
    return 1 / (1 + math.exp(-sum(sure[name] * value for name, value in found.items())))


def evidence_features(
    chosen: WeighedInterval, asked: QuestionWords | None, embedder: Embedder
) -> dict[str, float]:
    """What the confidence is computed from: how clearly one interval stands out, whether the reader finds the answer
    there, and whether its best clue speaks of what was asked, of whom it was asked, and of something that happened."""
    row, clue = chosen.row, chosen.clues[0]
    spoken = coverage(asked, embedder, (clue.text, clue.around)) if asked else None
    # A model without token vectors leaves the words themselves.
    own, around = spoken or (row["text_cover"], row["turn_cover"])
    return {
        "one": 1.0,
        "share": chosen.share,
        "cosine": row["cosine"],
        "text_cover": row["text_cover"],
        "own_words": own,
        "near_words": max(own, around),
        "dated": row["dated"],
        "unnamed": 1.0 - row["named"],
        "somebody_else": float(row["same_subject"] < 0),
        "unreal": row["unreal"],
        "read": row["read"],
        "pointed": row["pointed"],
    }


def _read(
    store: Store, ask: WhenRequest, turns: Sequence[str], changed: Mapping[str, str]
) -> dict[str, Reading]:
    """What the reader says of some turns, by their ids; nothing where nothing reads. `changed` has the words of
    plans for the turns that changed one: "no wait, Thursday" does not name it."""
    if ask.reader is None or not is_readable(ask.query):
        return {}
    read_turns = list(store.turns(ids=list(dict.fromkeys(turns))))
    passages = [Passage(turn.speaker, changed.get(turn.id, turn.text)) for turn in read_turns]
    read = ask.reader.read(ask.query, passages)
    return {turn.id: reading for turn, reading in zip(read_turns, read, strict=True)}


# First, last, grain


def choose(weighed: Sequence[WeighedInterval], question: Question, at: datetime) -> WeighedInterval:
    """The most probable interval. Of several that match: the earliest or latest, if the question asks for it; and if it
    asks since when, one that says how something began."""
    best = weighed[0]
    if question.form == "since":
        begun = [one for one in weighed if one.clues[0].begins or one.clues[0].fact is not None]
        return next((one for one in begun if one.share >= AMONG * best.share), best)
    if question.order is None:
        return best
    matching = [one for one in weighed if one.share >= AMONG * best.share and one.row["text_cover"] > 0]
    dated = [one for one in matching if one.clues[0].dated]
    past = [
        one
        for one in dated or matching
        if question.ahead or one.interval.start is None or one.interval.start <= at
    ]
    if not past:
        return best
    # It is the right one as surely as all of them are what was asked about.
    share = math.fsum(one.share for one in past)
    if question.order == "first":
        chosen = min(past, key=lambda one: (one.interval.start or at, -one.share))
    else:
        chosen = max(past, key=lambda one: (one.interval.end or at, one.share))
    return replace(chosen, share=share)


def _at_grain(interval: Interval, question: Question, zone: str) -> Interval:
    """The unit that was asked for ("in which month"), where the evidence is finer and lies in one such unit."""
    grain = question.grain
    if grain is None or not coarser(grain, interval.grain) or interval.start is None or interval.end is None:
        return interval
    unit = unit_around(interval.start, grain, zone)
    return unit if unit.covers(interval) else interval


# Events that a question hangs on


def _anchored(
    store: Store, embedder: Embedder, ask: WhenRequest, question: Question, time: Constraint
) -> tuple[TimeAnswer | None, Question]:
    """Find the anchor's own date: the answer itself ("the week after my vacation"), or a window for the answer
    ("when did I move, after the wedding")."""
    assert time.anchor is not None
    anchor, rest = beside(time.anchor, question)
    found = when(store, embedder, replace(ask, query=anchor, between=None, anchor=True))
    if found is None:
        return None, question
    reach = _reach(found.interval, time, found.zone)
    if not rest:
        if reach is None or time.distance is None:
            return None, question
        return replace(found, interval=reach), question
    window = time.interval or (reach if reach != found.interval else None)
    return None, replace(question, event=rest, time=replace(time, interval=window))


def _reach(anchor: Interval, time: Constraint, zone: str) -> Interval | None:
    """The stretch that stands in the relation to the anchor, as far away as the question says."""
    length = time.distance
    match time.relation:
        case "after" | "since" if anchor.end is not None:
            return _next_to(anchor, length, 1, zone) if length else Interval(anchor.end, None, anchor.grain)
        case "before" | "until" if anchor.start is not None:
            return (
                _next_to(anchor, length, -1, zone) if length else Interval(None, anchor.start, anchor.grain)
            )
        case "during":
            return anchor
    return None


def _next_to(anchor: Interval, length: Duration, sign: int, zone: str) -> Interval | None:
    """ "The week after": from the end of the event on; "the week before": up to its beginning."""
    side = anchor.end if sign > 0 else anchor.start
    if side is None:
        return None
    area = zone_of(zone)
    far = length.after(side.astimezone(area).replace(tzinfo=None), sign).replace(tzinfo=area)
    grain = "year" if length.years else "month" if length.months else "week" if length.weeks else "day"
    return Interval(min(side, far), max(side, far), grain)  # type: ignore[arg-type]


# Evidence


def _evidence(chosen: WeighedInterval) -> tuple[Evidence, ...]:
    """What says so: one piece for each turn, the best first."""
    seen: dict[str, Evidence] = {}
    for clue in chosen.clues:
        known = seen.get(clue.turn.id)
        if known is not None:
            if known.event is None and clue.event is not None:
                seen[clue.turn.id] = replace(known, event=clue.event.id)
            continue
        if len(seen) == QUOTES:
            continue
        here = (one for one in chosen.clues if one.turn.id == clue.turn.id and one.kind != "fact")
        seen[clue.turn.id] = Evidence(
            turn=None if clue.fact == clue.turn.id else clue.turn.id,
            quote=_quote(next(here, clue)),  # of a fact's turn rather the sentence about the event
            speaker=clue.turn.speaker,
            said_at=clue.turn.said_at,
            interval=clue.interval,
            expression=clue.expression if clue.kind != "fact" else "",
            inferred=not clue.dated,
            event=clue.event.id if clue.event else None,
            fact=clue.fact,
        )
    return tuple(seen.values())


def _quote(clue: TimeEvidence) -> str:
    """The sentence of the turn that the clue is from, as it was said."""
    wanted = set(_LETTERS.findall(f"{clue.text} {clue.expression}".lower()))
    said = sentence_texts(clue.turn.text)
    if not said or clue.kind == "said":
        return clue.turn.text if len(clue.turn.text) <= 240 else f"{clue.turn.text[:239]}…"
    held = [one for one in said if clue.expression and clue.expression in one] or said
    return max(held, key=lambda one: len(wanted & set(_LETTERS.findall(one.lower()))))


# How something begins or ends


_RANGE = re.compile(r"\b(?:to|until|till?|through|thru)\b|[-–—]", re.IGNORECASE)
_DOUBT = re.compile(
    r"^(?:in|within|between)\b|\b(?:mid|middle|early|late|beginning|start of|around|about)\b", re.I
)
_UP_TO = re.compile(r"^(?:up\s+)?(?:until|till|'?til|to)\b", re.IGNORECASE)
_INCLUDED = re.compile(r"^(?:by|through|thru|no later than|not later than)\b", re.IGNORECASE)
_END_OF = re.compile(r"\bend of\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_MOMENT = timedelta(microseconds=1)


def at_edges(clues: Sequence[TimeEvidence], question: Question, at: datetime) -> list[TimeEvidence]:
    """The clues, those with a beginning or an end narrowed to the one that is asked for. A sentence that says it is
    not about the day on which it was said: "my contract runs until 31 August" ended on no other."""
    if question.edge is None:
        return list(clues)
    asked = _lower_words(question.event)
    found, telling = [], set[str]()
    for clue in clues:
        interval = _edge_of(clue, question, at)
        found.append(clue if interval is None else replace(clue, interval=interval))
        if interval is not None and _speaks_of(clue, asked):
            telling.add(clue.turn.id)
    return [clue for clue in found if clue.dated or clue.turn.id not in telling]


def _edge_of(clue: TimeEvidence, question: Question, at: datetime) -> Interval | None:
    """The unit of time that its words, which are English, name as the beginning or as the end; None where they name
    none, or an hour, which is exact already. What has happened did not end later than it is asked about."""
    whole = clue.interval if clue.event is None else clue.event.occurred
    words = clue.expression
    if whole is None or not clue.dated or clue.kind not in ("event", "expression") or _DOUBT.search(words):
        return None
    if whole.grain in ("second", "minute", "hour"):
        return None
    found = (
        _start(whole, words, clue.turn.zone)
        if question.edge == "start"
        else _end(whole, words, clue.turn.zone)
    )
    is_ahead = found is not None and found.start is not None and found.start > at
    return None if is_ahead and question.happened else found


def _start(whole: Interval, words: str, zone: str) -> Interval | None:
    is_whole = whole.end is not None and not _RANGE.search(words)
    return None if whole.start is None or is_whole else unit_around(whole.start, whole.grain, zone)


def _end(whole: Interval, words: str, zone: str) -> Interval | None:
    if whole.end is None:
        return None
    last = whole.end - _MOMENT
    if whole.start is not None:
        return unit_around(last, whole.grain, zone) if _RANGE.search(words) else None
    if _END_OF.search(words) and _UP_TO.match(words):
        return unit_around(last, "day", zone)
    if _INCLUDED.match(words):
        return unit_around(last, whole.grain, zone)
    return unit_around(whole.end, whole.grain, zone) if _UP_TO.match(words) else None


def _speaks_of(clue: TimeEvidence, asked: frozenset[str]) -> bool:
    """Whether no other sentence of its turn has more of the words that are asked for."""
    text = clue.turn.text
    start = max(0, text.find(clue.expression))
    here = sentence_at(text, start, start + len(clue.expression))
    return len(asked & _lower_words(here)) >= max(
        (len(asked & _lower_words(one)) for one in sentence_texts(text)), default=0
    )


def _lower_words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.lower()))


# Things that differ by a number: "release 3.3", "INF-882"


_RELEASE = r"(?:release|version|build|update)"
_ASKED = re.compile(rf"(?:^|\b{_RELEASE}\s+|\bv)(?P<version>\d+(?:\.\d+)+)(?!\w|[.,:]\d)")
"""A version in a question: what it begins with, or with its name before it; no price, time or length."""
_SAID = re.compile(
    r"(?<![\w.:$€£])(?<!\bat\s)(?<!\bto\s)(?<!\bfor\s)(?<!\bby\s)v?(?P<version>\d+(?:\.\d+)+)(?!\w|[.,:]\d|\s?[%€$£])"
)
_CODE = re.compile(r"(?<![\w.])(?P<series>[^\W\d_]+)-?(?P<number>\d+)(?!\w|[.,:/-]\d)")

Numbers = Mapping[str, set[str]]


def numbered_things(question: str) -> Numbers:
    """The numbers in a question by what they number: the letters of a code, the points of a version."""
    return _numbers(question, _ASKED)


def is_of_another(asked: Numbers, text: str) -> bool:
    """Whether a text speaks of another one than is asked for: of 3.2, where 3.3 is."""
    said = _numbers(text, _SAID) if asked else {}
    return any(what in said and said[what].isdisjoint(numbers) for what, numbers in asked.items())


def _numbers(words: str, versions: re.Pattern[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    plain = normalize("NFKC", words).casefold()
    for one in versions.finditer(plain):
        parts = [str(int(part)) for part in one["version"].split(".")]
        found.setdefault("." * (len(parts) - 1), set()).add(".".join(parts))
    for one in _CODE.finditer(plain):
        if one["series"] != "v":
            found.setdefault(one["series"], set()).add(one["number"].lstrip("0"))
    return found
