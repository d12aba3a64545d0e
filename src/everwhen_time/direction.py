"""Which of two times is meant, the one before or the one to come: "dentist on Friday", "in May", "the 31st".

Verbs say it only sometimes: "appointment Tuesday" has none, and "the trial moved to September" has one in the past. So
there the chance is a logistic curve over the verbs of the sentence, how near each of the two is, and the words that
lead into the phrase. It was fitted on phrases of conversations that readers judged (`training/fit_direction.py`).

Above: `resolver`. Below: the tense of a clause.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files

from everwhen_time.interval import Interval
from everwhen_time.tense import BREAKS, VerbDirection, word_direction
from everwhen_time.tokenizer import Token, word_set
from everwhen_time.word_lists import english_words

_DAY = 86_400.0
_CYCLES = ((2.5, "day"), (9.0, "week"), (70.0, "month"), (math.inf, "year"))
"""The two are a cycle apart: at most so many days for each."""
_LEADS = frozenset({"after", "at", "before", "by", "for", "from", "in", "on", "the", "this", "till", "until"})
_BEFORE = word_set("to for on in from at the now is be maybe : ,")
_FAR = 8.0
"""Words from which on a verb is far away."""
_SETS = english_words("tense")["sets"]
_REACH = 40
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
    while first > max(0, start - _REACH) and tokens[first - 1].lower not in BREAKS:
        first -= 1
    while last < min(len(tokens), end + _REACH) and tokens[last].lower not in BREAKS:
        last += 1
    around = (*range(first, start), *range(end, last))
    sides = [one[0] for place in around if (one := word_direction(tokens, place)) is not None]
    word, before = tokens[start].lower, tokens[start - 1].lower if start else ""
    lead = word if word in _LEADS else "another"
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
