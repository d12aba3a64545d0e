"""Whether a clause is about the past or the future, by its words alone, and which of two times is meant where no verb
decides. No parser is needed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from everwhen_time.interval import Interval
from everwhen_time.language import Language, language
from everwhen_time.meaning import Side
from everwhen_time.tokens import Token, english_words, fold, word_set

_LISTS = english_words("tense")
_PAST = _LISTS["past"]
_NOT_PAST = _LISTS["not_past"]
_FUTURE = _LISTS["future"]
_BE = _LISTS["be"]
_PRESENT = _BE | _LISTS["present"]
_PASSIVE = _BE | word_set("be being get gets getting")
_AUXILIARIES = _LISTS["auxiliaries"]
_PREFIX = re.compile(r"^(?:over|under|out|mis|re|un|with|fore|up)(?=\w{3})")
_MODALS = _LISTS["modals"]
_PREDICATES = _LISTS["predicates"]
"""After a form of "be" they say how things will stand: "I'm back in one day"."""
_REPORTS = _LISTS["reports"]
_ING_NOUNS = _LISTS["ing_nouns"]
_ARRANGED = _LISTS["arranged"]
_ARTICLES = _LISTS["articles"]
_HAVE = word_set("have has 've 's i've we've you've they've he's she's")
_COUNTS = word_set("no one two three four five six another several")
_HAVE_DONE = word_set("i've we've you've they've")
_BEFORE_MAY = word_set("in last next since until till by of from this early late mid every")
_PRONOUNS = word_set("i we they you")
_NOT_VERBS = _LISTS["not_verbs"]
_OPENERS = _LISTS["openers"]
_TURNS = _LISTS["turns"]
"""After these a bare verb with "me" or "us" may ask for something."""
BREAKS = frozenset({".", "!", "?", ";"})
_JOINTS = frozenset(
    {",", ":", "but", "and", "because", "so", "while", "although", "though", "when", "that", "if", "(", ")"}
)
_REACH = 14  # tokens looked at on either side
_SURE = 0.9  # the strength from which a verb surely speaks of what is to come


class VerbDirection(NamedTuple):
    """Whether a verb points to the past or the future, and how certain that is."""

    side: Side | None
    certain: bool = False  # a sure sign, not a mere hint
    present: bool = False  # a verb in the present tense: what it speaks of may be today
    word: str = ""  # the verb
    behind: bool = False  # it comes after the phrase
    distance: float = 0.0  # in words; a joint between clauses counts as four
    same_clause: bool = False


def side_of(tokens: list[Token], start: int, end: int) -> VerbDirection:
    """The way that the verb nearest to the tokens `start` to `end` looks."""
    if _arranged(tokens, start):
        return VerbDirection("future", True)
    best: tuple[float, VerbDirection] | None = None
    for step, origin in ((-1, start - 1), (1, end)):
        index, distance, own, has_verb = origin, 0.0, True, False
        while 0 <= index < len(tokens) and distance <= _REACH:
            word = tokens[index].lower
            if word in BREAKS or (has_verb and word in _JOINTS):
                break  # "I've left the bank, I start at a clinic on Monday": its own clause has a verb
            own = own and word not in _JOINTS
            distance += 4 if word in _JOINTS else 1
            found = word_direction(tokens, index)
            if found is not None:
                has_verb = has_verb or own
                side, strength = found
                if word == "'s" and index == end:  # "Friday's meeting went well": a verb says more than it
                    strength /= 2
                cost = distance / strength + (0.5 if step > 0 else 0) + (0 if own else 1)
                if best is None or cost < best[0]:
                    certain = strength > 0.5 or distance <= 1
                    best = (
                        cost,
                        VerbDirection(
                            side,
                            certain,
                            side == "future" and (strength < _SURE or word == "due"),
                            word,
                            step > 0,
                            distance,
                            own,
                        ),
                    )
            index += step
    return best[1] if best else VerbDirection(None)


_REACH = 40
"""Words to each side of a time in which its clause is looked for: a pasted text may have no end of a sentence."""


def asked_side(tokens: list[Token], start: int, end: int) -> VerbDirection:
    """The way that a question looks at the tokens `start` to `end`: that of its auxiliary, "did Ana do" and "will she
    have sent"; where another clause has the time, that of the nearest verb ("what did she say she will do in June")."""
    if _arranged(tokens, start):
        return VerbDirection("future", True)
    first, last = start, end
    while first > max(0, start - _REACH) and tokens[first - 1].lower not in BREAKS:
        first -= 1
    while last < min(len(tokens), end + _REACH) and tokens[last].lower not in BREAKS:
        last += 1
    place = next((at for at in range(start - 1, first - 1, -1) if _is_auxiliary(tokens, at, first)), None)
    if place is None and all(word_direction(tokens, at) is None for at in range(first, start)):
        place = next(
            (at for at in range(end, last) if _is_auxiliary(tokens, at, first)), None
        )  # "in June, did"
    if place is None or _other_clause(tokens, place, start):
        look = side_of(tokens, start, end)
        if look.certain or place is None:
            return look
    return _of_auxiliary(tokens[place].lower, [one.lower for one in tokens[place + 1 : max(start, last)]])


def _is_auxiliary(tokens: list[Token], place: int, first: int) -> bool:
    """Whether a finite auxiliary stands there. "Do" and "have" are none behind another one, or behind "to"."""
    word, before = tokens[place].lower, tokens[place - 1].lower if place else ""
    if word == "'s":
        return before in _WH
    if word not in _FINITE or before in ("to", "have", "has"):
        return False
    return word not in ("do", "have") or all(one.lower not in _FINITE for one in tokens[first:place])


def _other_clause(tokens: list[Token], place: int, start: int) -> bool:
    """Whether a clause begins between an auxiliary and its subject, and the time: "do you know what she did in"."""
    for at in range(place + 2, start):
        word, after = tokens[at].lower, tokens[at + 1]
        if word in _OPENS_CLAUSE or (
            word in _SUBJECTS and after.kind == "word" and after.lower not in _LEADS
        ):
            return True
    return False


def _of_auxiliary(word: str, rest: list[str]) -> VerbDirection:
    """The side of an auxiliary and of the words behind it."""
    done = next((at for at, one in enumerate(rest) if _is_participle(one)), None)
    if word in _LOOKS_BACK:
        return VerbDirection("past", True, word=word)
    if {"know", "remember", "recall"}.intersection(rest[1:2]):
        return VerbDirection(None)  # "what do you know about the party in June"
    perfect = done is not None and "to" not in rest[:done]
    if perfect and (
        (word in ("has", "have", "hasn't", "haven't") and rest[done or 0] not in (*_ARRANGED, "got"))
        or (word == "'s" and rest[0] in ("been", "happened", "changed"))
        or ("have" in rest[:done] and word not in _LOOKS_AHEAD)
    ):
        return VerbDirection("past", True, word=word)
    is_be = word in _BE
    return VerbDirection("future", not is_be, is_be or word in _PRESENT, word)


def _is_participle(word: str) -> bool:
    regular = word.endswith("ed") and (word not in _NOT_PAST or word in _ARRANGED)
    return regular or word in _PAST or word in ("come", "become", "run")


_LOOKS_BACK = word_set("did didn't was wasn't were weren't had hadn't what'd where'd when'd why'd how'd")
_LOOKS_AHEAD = word_set(
    "will won't shall shan't who'll what'll when'll where'll i'll we'll you'll he'll she'll they'll"
)
_FINITE = _LOOKS_BACK | _LOOKS_AHEAD | _AUXILIARIES | word_set("am isn't aren't don't doesn't hasn't haven't")
_FINITE |= word_set("wouldn't can't couldn't shouldn't must might")
_WH = word_set("who what when where why how which")
_OPENS_CLAUSE = _WH | word_set("whom whose that if because while before after until although though since")
_SUBJECTS = word_set("i he she we they")  # "you" and "it" may be objects: "did Tom give you money"
_LEADS = word_set("in on at by for from to until till since between during before after around about and or")


def _obliged(tokens: list[Token], index: int) -> bool:
    """Whether it had to be: "it had to be signed on Monday"."""
    word = tokens[index].lower if index >= 0 else ""
    return word in _PAST or word in _MODALS or (word.endswith("ed") and word not in _NOT_PAST)


def _is_owned(tokens: list[Token], index: int) -> bool:
    """Whether a noun follows a "have", and not what was done: "I've a concert", "I've two exams"."""
    if index >= len(tokens):
        return False
    token = tokens[index]
    return token.kind not in ("word", "mark") or token.lower in _ARTICLES or token.lower in _COUNTS


def _arranged(tokens: list[Token], start: int) -> bool:
    """Whether something was arranged for it: "booked it for the second weekend in July"."""
    words = [token.lower for token in tokens[max(0, start - 5) : start + 1]]
    return bool({"for", "to", "until"} & set(words[-2:])) and not _ARRANGED.isdisjoint(words)


def word_direction(tokens: list[Token], index: int) -> tuple[Side, float] | None:
    """The side that one word speaks for and how strongly: 1 for a sure sign, less for a hint."""
    token = tokens[index]
    if token.kind not in ("word", "mark"):
        return None
    word = token.lower
    before = tokens[index - 1].lower if index else ""
    if before == "may" and index > 1 and tokens[index - 2].lower in _BEFORE_MAY:
        before = ""  # the month
    if word == "see" and index + 1 < len(tokens) and tokens[index + 1].lower in ("you", "ya", "u"):
        return "future", 0.9
    if word == "due" and index + 1 < len(tokens) and tokens[index + 1].lower == "to":
        return None  # because of
    if word == "due" and before in ("was", "were", "wasn't", "weren't"):
        return None  # the verb shows
    if word == "would" and not _REPORTS.isdisjoint(one.lower for one in tokens[max(0, index - 5) : index]):
        return "future", 1.0  # "she said she would come"
    if word == "be" and before == "to" and not _obliged(tokens, index - 2):
        return "future", 0.7  # "contract to be signed on Monday"
    if word in _FUTURE:
        return (
            None
            if word in ("can", "book", "plan", "due", "let") and before in ("the", "a", "my", "this")
            else ("future", 1.0)
        )
    if before in _PASSIVE or before in _MODALS:
        return None if word not in _BE else ("future", 0.5)  # "is held", "will cut": the word before decides
    if word == "got" and before in _HAVE:
        return "future", 0.5  # "I've got the exam on Friday": have
    if word in _HAVE_DONE and _is_owned(tokens, index + 1):
        return "future", 0.5  # "I've a concert on Friday": have
    if word in _PAST or _PREFIX.sub("", word) in _PAST:
        return "past", 1.0
    if word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST:
        if before in _ARTICLES:
            return None  # "my guided sessions"
        return ("future", 0.8) if before in _BE and word in ("scheduled", "planned") else ("past", 0.9)
    if word.endswith("ing") and len(word) > 4 and before in _BE:
        return "future", 0.9
    if word in _BE and index + 1 < len(tokens) and tokens[index + 1].lower in _PREDICATES:
        return "future", 0.6
    if word in _PRESENT or word in ("deadline", "eta"):
        return "future", 0.5 if word in _BE else 0.6
    if before in _PRONOUNS and token.kind == "word" and word not in _NOT_VERBS and not word.endswith("ed"):
        asked = index > 1 and tokens[index - 2].lower in _AUXILIARIES  # "did we fix": "did" decides
        return None if asked else ("future", 0.4)
    opening = index == 0 or tokens[index - 1].lower in (*BREAKS, ":")
    if opening and word in _OPENERS:
        return "future", 0.6
    heading = index + 1 < len(tokens) and tokens[index + 1].lower == ":"
    if opening and word.endswith("ing") and len(word) > 4 and word not in _ING_NOUNS and not heading:
        return "future", 0.5  # "Signing on Monday!"
    asked = index + 1 < len(tokens) and tokens[index + 1].lower in ("me", "us")
    if asked and before in _TURNS and word in _OPENERS:
        return "future", 0.9  # "sleep on it, and ask me on Monday": nobody else is there who could do it
    return None


# Other languages: by the words and endings in the data file

_SHORTEST = 4  # letters of a word that an ending may decide
_REACH_OF_VERBS = 24  # tokens looked at on either side
_WITHIN = 12  # tokens between "haben" and what it helps to say
_SPOKEN = 3  # words beside the time from which on somebody says something, with a verb


@cache
def looker(code: str) -> Callable[[list[Token], int, int], VerbDirection]:
    """The side of the nearest verb that shows one; a verb that does not is in the present and looks ahead."""
    spoken = language(code)
    if not spoken.spaced:
        return _without_spaces(spoken)
    helping, being = spoken.words("auxiliaries"), spoken.words("being")
    kind_of = _kinds(code)

    def side_of(tokens: list[Token], start: int, end: int) -> VerbDirection:
        best: tuple[int, Side, bool] | None = None
        spoken = 0
        for index in range(max(0, start - _REACH_OF_VERBS), min(len(tokens), end + _REACH_OF_VERBS)):
            token = tokens[index]
            if start <= index < end or token.kind not in ("word", "mark"):
                continue
            spoken += token.kind == "word"
            side: Side | None = None
            kind = kind_of(token.lower, token.text)
            if (token.lower in helping or token.lower in being) and _helps(tokens, index, kind_of):
                side = "past"
            elif kind.future:
                side = "future"
            elif kind.past:
                side = "past"
            distance = start - index if index < start else index - end + 1
            if side is not None and (best is None or distance < best[0]):
                best = (distance, side, token.lower not in being)
        if best is not None:
            return VerbDirection(best[1], best[2])
        return VerbDirection("future", False, True) if spoken >= _SPOKEN else VerbDirection(None)

    return side_of


def _without_spaces(spoken: Language) -> Callable[[list[Token], int, int], VerbDirection]:
    """Where words are not apart the signs are looked for in the text itself, what is past first."""
    past, future = (re.compile("|".join(spoken.text(name).split())) for name in ("past", "future"))

    def side_of(tokens: list[Token], start: int, end: int) -> VerbDirection:
        around = (*tokens[max(0, start - _REACH_OF_VERBS) : start], *tokens[end : end + _REACH_OF_VERBS])
        text = "".join(token.lower for token in around)
        if past.search(text):
            return VerbDirection("past", True)
        return VerbDirection("future", True) if future.search(text) else VerbDirection(None)

    return side_of


def _helps(tokens: list[Token], index: int, kind_of: Callable[[str, str], Kind]) -> bool:
    """Whether a participle is near: "hat … gekauft", "ai vu"."""
    near = tokens[max(0, index - _WITHIN) : index + _WITHIN]
    return any(kind_of(token.lower, token.text).participle for token in near if token.kind == "word")


class Kind(NamedTuple):
    """What a word may be to a verb."""

    future: bool
    past: bool
    participle: bool


@cache
def _kinds(code: str) -> Callable[[str, str], Kind]:
    """What a word shows, kept for the words that come again."""
    spoken = language(code)
    future, past, participle = (_matcher(spoken, name) for name in ("future", "past", "participles"))

    @lru_cache(maxsize=1 << 14)
    def kind_of(word: str, written: str) -> Kind:
        return Kind(future(word, written), past(word, written), participle(word, written))

    return kind_of


def _matcher(spoken: Language, name: str) -> Callable[[str, str], bool]:
    """Whether a word is one of them, or has one of the forms: `*ré`, `ge*t`, as they are written."""
    entries = spoken.text(name).lower().split()
    words = frozenset(fold(entry) for entry in entries if "*" not in entry)
    shapes = "|".join(re.escape(entry).replace(r"\*", r"\w*") for entry in entries if "*" in entry)
    shape = re.compile(rf"(?:{shapes})$") if shapes else None

    def matches(word: str, written: str) -> bool:
        if word in words:
            return True
        return shape is not None and len(word) >= _SHORTEST and shape.match(written.lower()) is not None

    return matches


# Which of two times is meant, the one before or the one to come: "dentist on Friday", "in May", "the 31st".
#
# Verbs say it only sometimes: "appointment Tuesday" has none, and "the trial moved to September" has one in the past.
# So there the chance is a logistic curve over the verbs of the sentence, how near each of the two is, and the words
# that lead into the phrase. It was fitted on phrases of conversations that readers judged
# (`training/fit_direction.py`).

_DAY = 86_400.0
_CYCLES = ((2.5, "day"), (9.0, "week"), (70.0, "month"), (math.inf, "year"))
"""The two are a cycle apart: at most so many days for each."""
_LEADING = frozenset(
    {"after", "at", "before", "by", "for", "from", "in", "on", "the", "this", "till", "until"}
)
_BEFORE = word_set("to for on in from at the now is be maybe : ,")
_FAR = 8.0
"""Words from which on a verb is far away."""
_SETS = english_words("tense")["sets"]
_SENTENCE_REACH = 40
"""Words on either side that are looked at: a sentence without end is not read from end to end for each phrase."""
_MANY = 3
"""So many verbs that point one way say as much as more of them."""


def chance_ahead(found: Mapping[str, float]) -> float:
    """The probability that the later of the two is meant: `1 / (1 + exp(-(sum of w f)))`."""
    weights = _weights()
    return 1 / (1 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in found.items())))


@cache
def _weights() -> dict[str, float]:
    found: dict[str, float] = json.loads(files("everwhen_time").joinpath("direction.json").read_text("utf-8"))
    return found


def direction_features(
    look: VerbDirection, times: tuple[Interval, Interval], now: datetime, words: Mapping[str, float]
) -> dict[str, float]:
    """What the chance is computed from. `look` is the nearest verb, one in the past or none, `times` the one before and
    the one to come, `now` the moment of saying, and `words` the features of the sentence."""
    before, ahead = max(0.0, -_days_ahead(times[0], now)), max(0.0, _days_ahead(times[1], now))
    apart = before + ahead
    cycle = next(name for most, name in _CYCLES if apart < most)
    if cycle == "year" and times[0].length is not None and times[0].length <= timedelta(days=1):
        cycle = "year, of a day"  # of a day eleven months ago one says the year, of a month hardly
    verb = "past" if look.side == "past" else "none"
    found = {
        "one": 1.0,
        f"verb {verb}": 1.0,
        f"a {cycle} apart": 1.0,
        f"nearer by {cycle}, {verb}": (before - ahead) / apart if apart else 0.0,
        **words,
    }
    if look.side == "past":
        found |= {
            f"past verb: {look.word}": 1.0,
            "past verb behind": float(look.behind),
            "past verb far": min(look.distance, _FAR) / _FAR,
            "past verb in the clause": float(look.same_clause),
        }
    return found


def sentence_features(tokens: list[Token], start: int, end: int, look: VerbDirection) -> dict[str, float]:
    """The verbs of the sentence around the tokens `start` to `end`, where these stand in it, and what leads to them."""
    first, last = start, end
    while first > max(0, start - _SENTENCE_REACH) and tokens[first - 1].lower not in BREAKS:
        first -= 1
    while last < min(len(tokens), end + _SENTENCE_REACH) and tokens[last].lower not in BREAKS:
        last += 1
    around = (*range(first, start), *range(end, last))
    sides = [one[0] for place in around if (one := word_direction(tokens, place)) is not None]
    word, before = tokens[start].lower, tokens[start - 1].lower if start else ""
    lead = word if word in _LEADING else "another"
    if lead == "the" and tokens[min(start + 1, end - 1)].kind == "word":
        lead = "the, a word"  # "the summer", not "the 31st"
    found = {
        "past verbs": min(sides.count("past"), _MANY) / _MANY,
        "verbs to come": min(sides.count("future"), _MANY) / _MANY,
        "no verb": float(not sides),
        f"led by {lead}": 1.0,
        "asked": float(last < len(tokens) and tokens[last].lower == "?"),
        "opens": float(start == first),
        "closes": float(end == last),
    }
    if before in _BEFORE:
        found[f"behind {before}"] = 1.0
    if look.side == "past":
        found[f"past verb, {before if lead == 'another' and before in ('to', 'for') else lead}"] = 1.0
    return found


def is_arranged(words: Mapping[str, float], verb: str) -> bool:
    """Whether something was put there: "moved to the 31st", "booked for May", "raised the rent from September"."""
    if verb in _SETS and "past verb, from" in words:
        return True
    return any(name in words for name in ("behind to", "behind for", "past verb, to", "past verb, for"))


def _days_ahead(interval: Interval, now: datetime) -> float:
    side = interval.start or interval.end
    return 0.0 if side is None else (side - now).total_seconds() / _DAY
