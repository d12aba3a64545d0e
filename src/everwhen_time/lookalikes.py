"""Rejects what looks like a time but is none: ports, prices, floors, names, titles, streets, wishes, files."""

from __future__ import annotations

import re
from functools import cache

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
from everwhen_time.language import Language, codes, language
from everwhen_time.lexicon import MONTHS, PLAIN_MONTHS, SEASON_WORDS, UNITS
from everwhen_time.meaning import AtClock, Days, Fixed, Hours, Meaning, NoSuchDay, UnitAt
from everwhen_time.offsets import Between, Bound, InAmount, Onward, Window
from everwhen_time.parser import Item
from everwhen_time.tokens import Token, english_words

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
    """Whether "the spring" is where water rises: a place is said behind it, or water and drinking before it."""
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


# Other languages: names, titles, streets, measures, wishes

_FIGURES = frozenset({"number", "slash", "decimal", "dotted", "ordinal", "dmy", "ymd"})
_CLAUSE_ENDS = frozenset({".", ",", ";", "!", "?", ")", ":", "…", '"', "'", "»", "”"})
_NEAR = 3  # tokens before a date in which "street" or "square" makes it a name


def stands_in(item: Item, tokens: list[Token], spoken: Language, day_first: bool) -> bool:
    """Whether the phrase, seen beside its neighbours, speaks of time."""
    if not spoken.spaced:
        return _stands_unspaced(item, tokens, spoken)
    first, value = item.start + item.trim, item.value
    if item.bare:
        points = tokens[item.start].kind == "decimal" and isinstance(value, SlashDay)
        return whole_text(item, tokens) and (day_first or not points)
    before = tokens[item.start - 1] if item.start else None
    after = tokens[item.end] if item.end < len(tokens) else None
    follows, last = after.lower if after else "", tokens[item.end - 1]
    if _in_a_number(tokens, first, item.end):
        return False
    if before is not None and before.kind == "number" and tokens[first].kind == "number":
        return False  # the rest of a telephone number
    if before is not None and _names_something_else(before.lower, tokens[first].kind in _FIGURES, spoken):
        return False
    if last.kind in _FIGURES and (follows in spoken.words("measures") or follows == "%"):
        return False
    if tokens[item.start].lower in spoken.words("wishes"):
        return False
    dated = isinstance(value, (Weekday, Fixed)) or not {"day then month", "days of a month"}.isdisjoint(
        item.trace()
    )
    if dated and _street(tokens, item.start, first, spoken):
        return False
    if item.category == "<recurrence>" and not spoken.flag("capital_nouns") and last.text[0].isupper():
        return False  # Los Lunes al Sol
    match value:
        case DayOfMonth(weekday=None) if item.rule and item.rule.name == "on a day of the month":
            return after is None or follows in _CLAUSE_ENDS
        case DayOfMonth() if item.rule and item.rule.name == "weekday and day in words":
            return after is None or follows in _CLAUSE_ENDS
        case Between() if last.kind == "number" and "date to day" in item.trace():
            return after is None or follows in _CLAUSE_ENDS
        case Bound(edge=DayOfMonth(weekday=None)) | Onward(edge=DayOfMonth(weekday=None)):
            return after is None or follows in _CLAUSE_ENDS
        case MonthDay() if "month then day" in item.trace():
            return after is None or after.kind != "word" or last.kind != "number"
        case SlashDay() if last.kind == "slash":
            return follows not in spoken.words("of")
        case Weekday() if before is not None and before.lower in spoken.words("ones"):
            return False  # un viernes: any
        case Fixed(unit="year") if (
            last.kind == "number" and after is not None and spoken.flag("capital_nouns")
        ):
            counted = after.kind == "word" and after.text[0].isupper() and tokens[first - 1].lower == "in"
            return not counted  # in 2000 Haushalten
    if (
        isinstance(value, (Weekday, Months))
        and not item.start
        and not item.trim
        and _subject(item.end, tokens, spoken)
    ):
        return False
    if first + 1 == item.end and last.lower in spoken.words("ambiguous") and not isinstance(value, Season):
        return _clear(after, spoken)
    return True


def _street(tokens: list[Token], start: int, first: int, spoken: Language) -> bool:
    """Whether a street or square is called so: la plaza del Dos de Mayo."""
    while first > start - _NEAR and first > 0:
        word = tokens[first - 1].lower
        if word in spoken.words("places"):
            return True
        if (
            word not in spoken.words("of")
            and word not in spoken.words("on")
            and word not in spoken.words("from")
        ):
            return False
        first -= 1
    return False


def _in_a_number(tokens: list[Token], first: int, end: int) -> bool:
    """Whether the figures go on before or behind it, as in a telephone number."""
    if tokens[first].kind == "number" and first and tokens[first - 1].kind == "number":
        return True
    return (
        tokens[end - 1].kind == "number"
        and end < len(tokens)
        and tokens[end].kind in ("number", "glued", "phone")
    )


def _names_something_else(before: str, figures: bool, spoken: Language) -> bool:
    """Whether the word before it says that it is a page, a person or a wish."""
    return (
        (figures and before in _labels())
        or before in spoken.words("titles")
        or before in spoken.words("wishes")
    )


@cache
def _labels() -> frozenset[str]:
    """Version, chapter, page: a number behind them is none of a date, whichever language the sentence is taken for."""
    return frozenset(word for code in codes() for word in language(code).words("labels"))


def _subject(end: int, tokens: list[Token], spoken: Language) -> bool:
    """Whether a weekday or month that opens the sentence is somebody's name: "Vendredi est l'ami de Robinson"."""
    if len(tokens) < end + 2 or not tokens[0].text[0].isupper():
        return False
    second, third = tokens[end], tokens[end + 1]
    if second.text.lower() in spoken.text("copulas").split():
        return third.lower in spoken.words("on") | spoken.words("ones") or second.lower == "-"
    if second.lower in spoken.words("and") and third.text[0].isupper() and not spoken.flag("capital_nouns"):
        return True
    return spoken.flag("days_need_article") and second.kind == "word"


def _clear(after: Token | None, spoken: Language) -> bool:
    """An ambiguous word with a preposition counts where no noun follows: "na segunda", not "na segunda vez"."""
    if after is None or after.kind != "word":
        return True
    return (
        after.lower in spoken.cues or after.text.lower() in spoken.cues
    ) and after.lower not in spoken.words("of")


# Quotations

_QUOTATIONS = re.compile(
    r"“[^“”\n]{1,60}”|\"[^\"\n]{1,60}\"|«[^«»\n]{1,60}»|„[^„“”\n]{1,60}[“”]|(?<!\w)['‘][^\n'‘’]{1,60}['’](?!\w)"
    r"|『[^』]{1,40}』|《[^》]{1,40}》|「[^」]{1,40}」"
)
_QUOTE_MARKS = re.compile(r"[\"'“‘«„『《「]")


def quotations(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where something short stands_in between quotation marks."""
    if _QUOTE_MARKS.search(text, start, end) is None:
        return []
    return [match.span() for match in _QUOTATIONS.finditer(text, start, end)]


def in_a_title(item: Item, tokens: list[Token], quoted: list[tuple[int, int]]) -> bool:
    """Whether it is a weekday, month or date in a quoted title; what counts from now is said by somebody."""
    if not quoted:
        return False
    first, last = tokens[item.start].start, tokens[item.end - 1].end
    if not any(start < first and last < end for start, end in quoted):
        return False
    opening = tokens[max(0, item.start - 1)].lower
    return (
        opening in _TITLE_MARKS or isinstance(item.value, (Cycle, Fixed)) or item.category == "<recurrence>"
    )


_TITLE_MARKS = frozenset({"『", "《"})


# Without spaces

_POINTS = frozenset('。，、！？!?,.;；:：「」（）()…~～ "“”')
_NUMBERED = frozenset("号號")
_AROUND = frozenset("在到从從至这這本我你您他她们們就是于於那呢吗嗎")


def _stands_unspaced(item: Item, tokens: list[Token], spoken: Language) -> bool:
    after = tokens[item.end].lower if item.end < len(tokens) else ""
    before = tokens[item.start - 1].lower if item.start else ""
    rest = "".join(token.lower for token in tokens[item.end : item.end + 4])
    if item.bare:
        outside = (*tokens[: item.start], *tokens[item.end :])
        return all(token.lower in _POINTS for token in outside)
    if rest.startswith((*spoken.words("titles"), *spoken.words("places"))):
        return False
    last = tokens[item.end - 1]
    match item.value:
        case DayOfMonth(weekday=None, day=1) if last.lower in ("一日", "一号"):
            return False
        case DayOfMonth(weekday=None) if last.text[-1] in _NUMBERED:
            open_before = not before or before in _POINTS or before in _AROUND
            return open_before and (
                not after or after in _POINTS or after in _AROUND or tokens[item.end].kind == "word"
            )
        case DayOfMonth(weekday=None) if spoken.words("particles"):
            return not after or after in _POINTS or after in spoken.words("particles")
        case Weekday() if spoken.words("particles") and not last.text.endswith("日"):
            return not after or after in _POINTS or after in spoken.words("particles")
    return True


# Parts of a text that never contain times, whatever their words: files, paths, addresses, titles

_EXTENSIONS = (
    "7z|avi|bak|bmp|bz2|c|cfg|conf|cpp|css|csv|db|doc|docx|env|epub|gif|go|gz|h|heic|htm|html|ics|ini|ipynb|java|jpeg|"
    "jpg|js|json|jsonl|key|lock|log|m4a|md|mkv|mov|mp3|mp4|numbers|odt|pages|parquet|pdf|php|png|ppt|pptx|ps1|py|rar|"
    "rb|rs|rst|rtf|sh|sql|sqlite|srt|svg|tar|tex|tgz|tif|tiff|toml|ts|tsv|txt|wav|webm|webp|xls|xlsx|xml|yaml|yml|zip"
)
_FILES = re.compile(
    rf"""
    (?:https?://|www\.|(?<![\w/.])(?:~|\.{{1,2}}|[a-z]:)?[/\\](?=[a-z_]))\S+  # an address, a path from its root
  | (?<![\w./\\-])[\w./\\~-]*\w\.(?:{_EXTENSIONS})\b(?!\.\d)  # report_2023-04-01.csv, logs/2023-04-01.log
  | (?<![\w-])(?!(?:mid|pre|post|early|late|since|until)-)[a-z]\w*[_-]\d{{4}}-?\d\d-?\d\d\b  # backup_2021-12-31
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(
    r"""“([^“”\n]{1,60})”|"([^"\n]{1,60})"|«([^«»\n]{1,60})»|(?<![\w'])['‘]((?!\d\ds?\b[^'’]*\s)[^\n'‘’]{1,60})['’](?!\w)"""
)
_LISTS = english_words("name_spans")
_SPOKEN = _LISTS["spoken"]
_SAYING = re.compile(
    r"(?:\b(?:sa(?:id|ys?|ying)|told(?: \w+)?|tells?(?: \w+)?|wrote|writes?|asked|asks|answered|answers|replied|"
    r"replies|texted|emailed|reads?|goes|went|like|dated?|due|on|in|by|since|until|labell?ed|marked|stamped)|[:,=])\s*$",
    re.IGNORECASE,
)
_TITLES = _LISTS["titles"]
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_CALENDAR = re.compile(rf"\b(?:{'|'.join(word.title() for word in sorted(_LISTS['calendar']))})\b")
_CAPITALS = re.compile(r"[A-Z]\w*(?:\s(?:(?:of|the|and)\s)*[A-Z]\w*)*\s[A-Z]\w*")
"""Two words or more with capitals, as titles have them."""


_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_OTHERS = re.compile(
    rf"""
    \b(?:{_DAYS}|{_MONTHS})\s(?:Street|St|Road|Rd|Lane|Ln|Avenue|Ave|Square|Drive|Court|Close|Terrace)\b  # an address
  | \b(?:{_DAYS})\s[A-Z][a-z]+\s(?:is|was)\s(?:an?|the|my|our|his|her|one|de|het|een|mijn)\b  # Tuesday Weld was a
  | \b(?:{_DAYS})\s(?:Night|Morning)\s[A-Z][a-z]+  # Saturday Night Fever
  | \bThe\s(?:{_DAYS})'s\b  # a restaurant
  | (?<!\d)\d\d(?:[\ .]\d\d){{4}}(?!\d)  # a telephone number in pairs
  | \ba\ssecond\s(?!ago|later|after|before|to|of|and|or|please|now|i|we|you|he|she|it|they|then|if|when|while|longer|
    more|too|in|at|on|for|there|here|the|this|that|my|until|as|because)[a-z]{{3,}}  # a second opinion
  | \b[Aa]\squarter\sof\s(?:the|an?|my|our|your|his|her|their|all|its|them|us)\b(?!\s(?:year|century|hour))  # a share
    """,
    re.VERBOSE,
)
_LIKELY = re.compile(r"day|second|quarter|\d\d[ .]\d\d[ .]\d\d|[A-Z]\w+ (?:St|R|L|A|Dr|Co|Cl|Te|Sq)")


def name_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where names stand whose dates are no times. A text that is nothing but a name is read for the date in it."""
    spans: list[tuple[int, int]] = []
    if _SPACE.search(text.strip()) is None:
        return spans
    if _MARKS.search(text, start, end):
        spans += [match.span() for match in _FILES.finditer(text, start, end)]
    if _LIKELY.search(text, start, end):
        spans += [match.span() for match in _OTHERS.finditer(text, start, end)]
    if _QUOTES.search(text, start, end):
        for match in _QUOTED.finditer(text, start, end):
            if _is_title(match[0][1:-1], text[max(start, match.start() - 40) : match.start()]):
                spans.append(match.span())
    if len(_CALENDAR.findall(text, start, end)) > 1:
        spans += [
            run.span() for run in _CAPITALS.finditer(text, start, end) if _is_unquoted(text, start, end, run)
        ]
    return spans


def _is_unquoted(text: str, start: int, end: int, run: re.Match[str]) -> bool:
    """Whether capitals make calendar words a title: three of them, or two behind an article, or beside what one reads
    or watches. The first word of a sentence tells nothing, nor does a sentence that is written in capitals."""
    words = [text[start : run.start()], text[run.end() : end]]
    before, behind = (_WORD.findall(part) for part in words)
    rest = [word for word in (*before, *behind) if word not in _SMALL]
    if not any(word[0].islower() for word in rest):
        return False
    capitals = len(_CALENDAR.findall(run[0])) - (not before and _CALENDAR.match(run[0]) is not None)
    near = {word.lower() for word in (*before[-3:], *behind[:3])}
    opens = bool(before) and run[0].startswith(("The ", "A ", "An "))
    return capitals > 2 or (capitals == 2 and (opens or not _TITLES.isdisjoint(near)))


_SPACE = re.compile(r"\s")
_MARKS = re.compile(r"\w[._/\\:-]\w|[/\\]\w")
_QUOTES = re.compile(r"[\"'“‘«]")


def _is_title(inside: str, before: str) -> bool:
    """Whether the quotation marks hold a name: calendar words and numbers, or words with capitals, that nobody says."""
    words = _WORD.findall(inside)
    if not words or len(words) > _LONGEST:
        return False
    capitals = sum(
        _CALENDAR.match(word) is not None for word in words[1:]
    )  # "Next Week", and not "Next week"
    if not capitals and not _SPOKEN.isdisjoint(word.lower() for word in words):
        return False
    titled = not _TITLES.isdisjoint(word.lower() for word in _WORD.findall(before)[-3:])
    if capitals < 2 and _SAYING.search(before) and not (titled and before.rstrip()[-1:].isalpha()):
        return False
    return all(word[0].isupper() or word[0].isdigit() or word in _SMALL for word in words)


_LONGEST = 8
_SMALL = _LISTS["small"]


def without_names(tokens: list[Token], spans: list[tuple[int, int]]) -> list[Token]:
    """The tokens, each name as one of a kind that no rule knows."""
    if not spans:
        return tokens
    kept: list[Token] = []
    for token in tokens:
        inside = next((span for span in spans if span[0] < token.end and token.start < span[1]), None)
        if inside is None:
            kept.append(token)
        elif not kept or kept[-1].kind != "name" or kept[-1].start != inside[0]:
            kept.append(Token("name", "", "", *inside))
    return kept
