"""Rejects text that looks like a time but is not one: ports, prices, floors, fractions, idioms."""

from __future__ import annotations

from everwhen_time.bounded import Between, Bound
from everwhen_time.cycles import (
    Cycle,
    DayOfMonth,
    MonthDay,
    Months,
    Pick,
    Season,
    SlashDay,
    Weekday,
    Weekend,
    WeekNumber,
)
from everwhen_time.lexicon import MONTHS, PLAIN_MONTHS, SEASON_WORDS, UNITS
from everwhen_time.meaning import AtClock, Days, Fixed, Hours, Meaning, NoSuchDay, UnitAt
from everwhen_time.offsets import InAmount, Window
from everwhen_time.parser import Item
from everwhen_time.tokenizer import Token
from everwhen_time.word_lists import english_words

WORDS = english_words("lookalikes")
MEASURES = WORDS["measures"]
LABELS = WORDS["labels"]
_MONEY = WORDS["money"]
_AFTER_DAY = WORDS["after_day"]
_BEFORE_A_NUMBER = frozenset({"at", "room", "gate", "platform", "number", "until", "till", "by", "flat"})
_CLOCK = frozenset({"am", "pm", "a.m", "p.m", "o'clock", ".", ",", "!", "?", ";"})
_IS = frozenset({"is", "are", "was", "were", "isn't", "aren't", "will", "would", "seems", "sounds"})
_HANGS_ON = frozenset({"before", "after", "following", "preceding"})
_ARRANGED = english_words("tense")["arranged"]
_REACH_OF_A_VERB = 8
"""Words from "moved" on in which the times stand: "moved the final exam from the 23rd to the 30th"."""
_OFTEN = frozenset({"once", "twice", "thrice", "times", "time"})
_ENDS = frozenset({".", ",", "!", "?", ";", ":", ")", "]", '"', "'", "-", "…", "'s", "(", "*", "/"})


def stands(item: Item, tokens: list[Token]) -> bool:
    """Whether the phrase, seen beside its neighbours, speaks of time."""
    before = tokens[item.start - 1].lower if item.start else ""
    after = tokens[item.end].lower if item.end < len(tokens) else ""
    value = item.value
    if item.bare and not _alone(item, tokens, before, after):
        return False
    if before == "-" and item.start > 1 and tokens[item.start].kind == "number":
        return tokens[item.start - 2].kind not in ("number", "word") or not item.bare
    if isinstance(value, InAmount) and (
        before in UNITS or before.removesuffix("s") in UNITS or before in _OFTEN
    ):
        return False  # "seven days in a week", "twice in a year"
    if tokens[item.start].kind in ("number", "slash", "compact", "ym", "my", "decimal") and before in LABELS:
        return False
    if isinstance(value, Weekday) and before in ("a", "an") and tokens[item.start].kind == "word":
        return False  # on a Tuesday: any
    if isinstance(value, Weekday) and after == "'s" and _person_at(tokens, item.end + 1):
        return False  # a day has meetings and weather, but no children: "Friday's child" is a saying
    if before in ("happy", "merry"):
        return False  # a wish
    if _is_written_short(item, tokens) and not whole_text(item, tokens):
        return False
    if isinstance(value, Season) and after == "of":
        return False  # the spring of my senior year
    if (
        isinstance(value, Season)
        and tokens[item.end - 1].lower == "spring"
        and _wells_up(item, tokens, after)
    ):
        return False
    if isinstance(value, NoSuchDay):
        return after not in MEASURES  # "in June 31 people came"
    if isinstance(value, Between) and _is_moved(item, tokens):
        return False  # "moved from the 23rd to the 30th": the day before, and the day now
    if item.rule is not None and item.rule.name == "so long since" and before in WORDS["stretches"]:
        return False  # "in the three years since the fire we moved twice"
    if item.rule is not None and item.rule.name == "so long from" and _is_rate(item, tokens, before):
        return False  # "60 a month from August"
    if item.rule is not None and item.rule.name == "since so long" and after in _IS:
        return False  # "since two weeks is too long": because
    if tokens[item.start].lower in ("through", "thru") and before in WORDS["passes"]:
        return False  # "we got through 2020": it was passed, not its end reached
    if isinstance(value, Cycle) and after in _HANGS_ON and "the" in (before, tokens[item.start].lower):
        return False  # "the weekend after my birthday": only the memory knows when that was
    return not isinstance(value, Meaning) or _plausible(item, value, tokens, before, after)


def _is_moved(item: Item, tokens: list[Token]) -> bool:
    """Whether it is said from when something was moved: "moved the exam from Monday to Friday"."""
    opening = tokens[max(0, item.start - 2) : item.start + 1]
    return any(token.lower == "from" for token in opening) and _behind(item, tokens, WORDS["moves"])


def _behind(item: Item, tokens: list[Token], verbs: frozenset[str]) -> bool:
    """Whether one of some verbs stands shortly before it."""
    before = tokens[max(0, item.start - _REACH_OF_A_VERB) : item.start]
    return any(token.lower in verbs for token in before)


def _is_rate(item: Item, tokens: list[Token], before: str) -> bool:
    """Whether a number stands before it, or a number of something: "60 euros a month from"."""
    if tokens[item.start].lower not in ("a", "an") or before in _CLOCK:
        return False
    for place in (item.start - 1, item.start - 2):
        if place >= 0 and any(letter.isdigit() for letter in tokens[place].lower):
            return place == 0 or tokens[place - 1].lower not in _BEFORE_A_NUMBER
    return False


def _alone(item: Item, tokens: list[Token], before: str, after: str) -> bool:
    """Whether an ambiguous phrase is all that is said, or stands where only a time can stand."""
    if whole_text(item, tokens):
        return True
    value = item.value
    if isinstance(value, (Months, Season)) and _in_a_list(item, tokens):
        return True
    if isinstance(value, DayOfMonth) and item.start > 1 and before in _JOINTS:
        return tokens[item.start - 2].kind == "ordinal"  # on the 3rd or the 4th
    if isinstance(value, Months) and before == "for" and _behind(item, tokens, _ARRANGED):
        return True  # booked for June
    if before == "to" and (isinstance(value, WeekNumber) or _is_ordinal_day(item, tokens)):
        return _behind(item, tokens, WORDS["moves"])  # moved to the 30th, to week 50
    if item.rule is not None and item.rule.name in ("year in two digits", "since a year in two digits"):
        return not after or after in _ENDS_OF_YEAR or after in _AFTER_DAY - {"of", "to", "or"}
    if isinstance(value, Fixed) and value.unit == "decade" and item.start > 1:
        return before in _JOINTS and tokens[item.start - 2].kind == "decade"  # the 80s and 90s
    if isinstance(value, Weekend):
        return before not in ("a", "an", "every", "-") and (not after or after in (".", ",", "!", "?"))
    if isinstance(value, UnitAt) and value.unit == "day":  # "the day before", with nothing after it
        return not after or after in (".", "!", "?", ",")
    if isinstance(value, Fixed) and value.unit == "year" and _set_apart(item, tokens, before, after):
        return True
    if isinstance(value, Fixed) and value.unit == "year" and before in _JOINTS:
        return _in_a_list_of_years(tokens, item.start)
    if isinstance(value, Fixed) and value.unit == "year":
        if before in WORDS["determiners"] and item.end < len(tokens) and tokens[item.end].kind == "word":
            if after in _EVENTS:
                return True
            # The 2018 World Cup is one of its kind; a 2014 Honda, or hers, is named by the year it was built in.
            return tokens[item.end].text[0].isupper() and (before == "the" or _event_named(tokens, item.end))
        opening = item.start == 0 or before in (".", "!", "?")
        return (opening and after in ("was", "is", "will", "has", "had", "brought", "saw")) or (
            before,
            after,
        ) == ("(", ")")
    return False


def _is_ordinal_day(item: Item, tokens: list[Token]) -> bool:
    return isinstance(item.value, DayOfMonth) and tokens[item.end - 1].kind == "ordinal"


def _set_apart(item: Item, tokens: list[Token], before: str, after: str) -> bool:
    """Whether a year stands between signs: "a present from Ida, 1994." A round number may be a price or a count."""
    first, last = item.start, item.end
    year = tokens[first].lower
    if last - first != 1 or not year.isdigit() or not 1900 < int(year) < 2100 or int(year) % 100 == 0:
        return False
    if (after and after not in _ENDS_OF_YEAR) or _number_at(tokens, last + 1):
        return False
    earlier = tokens[first - 2] if first > 1 else None
    if earlier is None or any(
        one.lower in LABELS or one.lower in _MONEY for one in tokens[max(0, first - 8) : first]
    ):
        return False
    if before == "was":
        return earlier.lower in ("it", "that", "this")
    return before in _BEFORE_YEAR and earlier.kind == "word"


_BEFORE_YEAR = frozenset({",", "(", "."})
_ENDS_OF_YEAR = frozenset({".", ",", "!", "?", ";", ")"})


def _is_written_short(item: Item, tokens: list[Token]) -> bool:
    """Whether it begins with a form that needs a preposition, or nothing around it: "18th at 5pm", "24. June"."""
    first = item.start + item.trim
    if tokens[first].kind not in ("ordinal", "number", "decimal"):
        return False
    return (not first or tokens[first - 1].lower not in WORDS["leads"]) and not _SHORT.isdisjoint(
        item.trace()
    )


_SHORT = frozenset({"bare ordinal", "day point month", "day and month with points"})


def _wells_up(item: Item, tokens: list[Token], after: str) -> bool:
    """Whether "the spring" is where water rises: a place is told behind it, or water and drinking before it."""
    if after in WORDS["places"]:
        return True
    words = {token.lower for token in tokens[max(0, item.start - 6) : item.start]}
    opener = tokens[item.start].lower
    return opener in ("from", "at", "by", "near", "to", "the") and not words.isdisjoint(WORDS["waters"])


def _event_named(tokens: list[Token], index: int) -> bool:
    """Whether the words from there on name something that takes place: my 2018 Japan trip."""
    for token in tokens[index : index + 4]:
        if token.kind != "word":
            return False
        if token.lower in _NAMED_EVENTS:
            return True
    return False


def _capital_at(tokens: list[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].text[0].isupper() and tokens[index].lower != "i"


def _number_at(tokens: list[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].kind == "number"


def whole_text(item: Item, tokens: list[Token]) -> bool:
    """Whether nothing but a little punctuation stands around the phrase."""
    if len(tokens) - (item.end - item.start) > 12:
        return False
    return all(token.kind == "mark" for token in (*tokens[: item.start], *tokens[item.end :]))


def _in_a_list(item: Item, tokens: list[Token]) -> bool:
    """Whether a sure month stands beside it: "in March and April", "June or July"."""
    for joint, other, licence in (
        (item.start - 1, item.start - 2, item.start - 3),
        (item.end, item.end + 1, None),
    ):
        if not (0 <= other < len(tokens) and tokens[joint].lower in _JOINTS):
            continue
        word = tokens[other].lower
        said = licence is not None and licence >= 0 and tokens[licence].lower in _LICENCES
        if word in PLAIN_MONTHS or (said and (word in MONTHS or word in SEASON_WORDS)):
            return True
    return False


def _in_a_list_of_years(tokens: list[Token], index: int) -> bool:
    """Whether the years before it begin with a preposition: in 2010, 2011 and 2012."""
    for place in range(index - 1, max(-1, index - 24), -1):
        token = tokens[place]
        if token.lower in _JOINTS or (token.kind == "number" and len(token.lower) == 4):
            continue
        return token.lower in ("in", "since", "during", "of", "between", "summers", "winters")
    return False


_JOINTS = frozenset({"and", "or", ",", "&", "/"})
_LICENCES = frozenset({"in", "since", "during", "this", "last", "between", "for", "early", "late"})
_EVENTS = WORDS["events"]
_NAMED_EVENTS = _EVENTS | WORDS["named_events"]


def _plausible(item: Item, value: Meaning, tokens: list[Token], before: str, after: str) -> bool:
    counted = after in MEASURES
    last = tokens[item.end - 1].kind
    match value:
        case Bound(edge=edge):
            return _plausible(item, edge, tokens, before, after)
        case Between(last=edge):
            return (
                not (counted and last == "number")
                and not (tokens[item.start].kind == "number" and before in LABELS)
                and _plausible(item, edge, tokens, before, after)
            )
        case DayOfMonth(weekday=None):
            spelled = tokens[item.end - 1].kind == "word"
            if spelled and _one_of_several(tokens, item.start):
                return False  # "three floors … on the second"
            return not after or after in _AFTER_DAY or after in _ENDS
        case DayOfMonth() if last == "word" and tokens[item.end - 2].lower == ",":
            return not after or after in _ENDS  # "on Friday, first round is on me"
        case MonthDay() if after in WORDS["streets"]:
            return False  # 12 March Street
        case DayOfMonth() | MonthDay() if last == "number":
            return not counted and not _is_amount_of(item, tokens, before, after)
        case Fixed(unit="month") if last == "number" and len(tokens[item.end - 1].lower) == 2:
            return not counted  # "in June 86 people came"
        case Fixed(unit="year") if last == "number":
            prior = tokens[item.start - 1].lower if item.start else ""
            amounts = after == "of" or (after in ("to", "-") and _number_at(tokens, item.end + 1))
            if tokens[item.start].lower == "of" and (prior in WORDS["quantities"] or value.start.year < 1700):
                return False  # a total of 1600
            labelled = tokens[item.start].kind == "number" and prior in LABELS
            return not counted and not amounts and prior not in _MONEY and not labelled
        case SlashDay():
            fraction = value.second in (2, 3, 4, 5, 8) and value.first < value.second
            licensed = tokens[item.start].lower in ("on", "due") or item.start == 0
            return (
                not counted
                and after != "of"
                and (licensed or not fraction)
                and before not in WORDS["runs_on"]
            )
        case Window() if tokens[item.start].lower == "last" and before and before not in WORDS["before_last"]:
            return False  # tomatoes typically last 3 days
        case WeekNumber():
            return after != "of"  # week 3 of the course
        case Season() if tokens[item.end - 1].text[0].isupper() and _capital_at(tokens, item.end):
            return False  # in Winter Park
        case Window() | UnitAt():
            return after not in _GOES_ON or item.rule is None or item.rule.name not in _NEEDS_END
        case Pick(cycle=Season(name="autumn")) | Season(name="autumn"):
            return not (tokens[item.end - 1].lower == "fall" and after in WORDS["falling"])
        case Days() if tokens[item.end - 1].lower == "late":
            return not after or after in _ENDS  # too many late nights
        case Days():
            return not (
                tokens[item.end - 1].lower == "soon"
                and (before in ("as", "too", "how", "so") or after in ("as", "enough", "after"))
            )
        case AtClock() | Hours() if last == "number" and len(tokens[item.end - 1].lower) == 4:
            return not after or after in _AFTER_DAY or after in _ENDS  # "on Monday 1200 workers struck"
        case AtClock(clock=clock):
            return not (counted and (clock.minute is None or last == "decimal")) and before not in (
                "john",
                "luke",
                "matthew",
                "mark",
                "psalm",
            )
    return True


def _is_amount_of(item: Item, tokens: list[Token], before: str, after: str) -> bool:
    """Whether a number behind a month is no day of it: "in April, 12 in May", "in May, 12 new members"."""
    if tokens[item.end - 2].lower != ",":
        return False
    return "in" in (before, tokens[item.start].lower) or bool(after and after not in _ENDS)


def _person_at(tokens: list[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].lower in WORDS["persons"]


def _one_of_several(tokens: list[Token], index: int) -> bool:
    """Whether things were counted or numbered before it in the sentence: then "the second" is one of them."""
    for place in range(max(0, index - _FAR), index - 3):  # right before it they are what takes place then
        word, thing = tokens[place].lower, tokens[place + 1]
        if thing.kind != "word" or thing.lower in UNITS or thing.lower.removesuffix("s") in UNITS:
            continue
        counted = word in WORDS["counts"] or (tokens[place].kind == "number" and len(word) < 3)
        if counted and thing.lower.endswith("s") and thing.lower not in MEASURES - WORDS["things"]:
            return True
        if word in WORDS["nth"] and thing.lower not in _AFTER_DAY and thing.lower not in MONTHS:
            return True
    return False


_FAR = 16
"""Tokens before an ordinal in which what it numbers is looked for."""

# "The last three days of the trip", "for the week before the exam": the time hangs on something else.
_NEEDS_END = frozenset(
    {"the last so long", "the next so long", "the last units", "within", "for the unit", "in the unit"}
)
_GOES_ON = frozenset({"of", "-", "before", "after", "that", "when", "following", "leading"})
