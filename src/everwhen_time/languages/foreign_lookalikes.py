"""Rejects phrases of other languages that look like times but are not: names, titles, streets, measures, wishes."""

from __future__ import annotations

import re
from functools import cache

from everwhen_time.bounded import Between, Bound, Onward
from everwhen_time.cycles import Cycle, DayOfMonth, MonthDay, Months, Season, SlashDay, Weekday
from everwhen_time.languages.language import Language, codes, language
from everwhen_time.lookalikes import whole_text
from everwhen_time.meaning import Fixed
from everwhen_time.parser import Item
from everwhen_time.tokenizer import Token

_FIGURES = frozenset({"number", "slash", "decimal", "dotted", "ordinal", "dmy", "ymd"})
_ENDS = frozenset({".", ",", ";", "!", "?", ")", ":", "…", '"', "'", "»", "”"})
_NEAR = 3  # tokens before a date in which "street" or "square" makes it a name


def stands(item: Item, tokens: list[Token], told: Language, day_first: bool) -> bool:
    """Whether the phrase, seen beside its neighbours, speaks of time."""
    if not told.spaced:
        return _stands_unspaced(item, tokens, told)
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
    if before is not None and _named(before.lower, tokens[first].kind in _FIGURES, told):
        return False
    if last.kind in _FIGURES and (follows in told.words("measures") or follows == "%"):
        return False
    if tokens[item.start].lower in told.words("wishes"):
        return False
    dated = isinstance(value, (Weekday, Fixed)) or not {"day then month", "days of a month"}.isdisjoint(
        item.trace()
    )
    if dated and _street(tokens, item.start, first, told):
        return False
    if item.category == "<recurrence>" and not told.flag("capital_nouns") and last.text[0].isupper():
        return False  # Los Lunes al Sol
    match value:
        case DayOfMonth(weekday=None) if item.rule and item.rule.name == "on a day of the month":
            return after is None or follows in _ENDS
        case DayOfMonth() if item.rule and item.rule.name == "weekday and day in words":
            return after is None or follows in _ENDS
        case Between() if last.kind == "number" and "date to day" in item.trace():
            return after is None or follows in _ENDS
        case Bound(edge=DayOfMonth(weekday=None)) | Onward(edge=DayOfMonth(weekday=None)):
            return after is None or follows in _ENDS
        case MonthDay() if "month then day" in item.trace():
            return after is None or after.kind != "word" or last.kind != "number"
        case SlashDay() if last.kind == "slash":
            return follows not in told.words("of")
        case Weekday() if before is not None and before.lower in told.words("ones"):
            return False  # un viernes: any
        case Fixed(unit="year") if last.kind == "number" and after is not None and told.flag("capital_nouns"):
            counted = after.kind == "word" and after.text[0].isupper() and tokens[first - 1].lower == "in"
            return not counted  # in 2000 Haushalten
    if (
        isinstance(value, (Weekday, Months))
        and not item.start
        and not item.trim
        and _subject(item.end, tokens, told)
    ):
        return False
    if first + 1 == item.end and last.lower in told.words("ambiguous") and not isinstance(value, Season):
        return _clear(after, told)
    return True


def _street(tokens: list[Token], start: int, first: int, told: Language) -> bool:
    """Whether a street or square is called so: la plaza del Dos de Mayo."""
    while first > start - _NEAR and first > 0:
        word = tokens[first - 1].lower
        if word in told.words("places"):
            return True
        if word not in told.words("of") and word not in told.words("on") and word not in told.words("from"):
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


def _named(before: str, figures: bool, told: Language) -> bool:
    """Whether the word before it says that it is a page, a person or a wish."""
    return (
        (figures and before in _labels()) or before in told.words("titles") or before in told.words("wishes")
    )


@cache
def _labels() -> frozenset[str]:
    """Version, chapter, page: a number behind them is none of a date, whichever language the sentence is taken for."""
    return frozenset(word for code in codes() for word in language(code).words("labels"))


def _subject(end: int, tokens: list[Token], told: Language) -> bool:
    """Whether a weekday or month that opens the sentence is somebody's name: "Vendredi est l'ami de Robinson"."""
    if len(tokens) < end + 2 or not tokens[0].text[0].isupper():
        return False
    second, third = tokens[end], tokens[end + 1]
    if second.text.lower() in told.text("copulas").split():
        return third.lower in told.words("on") | told.words("ones") or second.lower == "-"
    if second.lower in told.words("and") and third.text[0].isupper() and not told.flag("capital_nouns"):
        return True
    return told.flag("days_need_article") and second.kind == "word"


def _clear(after: Token | None, told: Language) -> bool:
    """An ambiguous word with a preposition counts where no noun follows: "na segunda", not "na segunda vez"."""
    if after is None or after.kind != "word":
        return True
    return (after.lower in told.cues or after.text.lower() in told.cues) and after.lower not in told.words(
        "of"
    )


# Quotations

_QUOTED = re.compile(
    r"“[^“”\n]{1,60}”|\"[^\"\n]{1,60}\"|«[^«»\n]{1,60}»|„[^„“”\n]{1,60}[“”]|(?<!\w)['‘][^\n'‘’]{1,60}['’](?!\w)"
    r"|『[^』]{1,40}』|《[^》]{1,40}》|「[^」]{1,40}」"
)
_MARKS = re.compile(r"[\"'“‘«„『《「]")


def quotations(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where something short stands between quotation marks."""
    if _MARKS.search(text, start, end) is None:
        return []
    return [match.span() for match in _QUOTED.finditer(text, start, end)]


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


def _stands_unspaced(item: Item, tokens: list[Token], told: Language) -> bool:
    after = tokens[item.end].lower if item.end < len(tokens) else ""
    before = tokens[item.start - 1].lower if item.start else ""
    rest = "".join(token.lower for token in tokens[item.end : item.end + 4])
    if item.bare:
        outside = (*tokens[: item.start], *tokens[item.end :])
        return all(token.lower in _POINTS for token in outside)
    if rest.startswith((*told.words("titles"), *told.words("places"))):
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
        case DayOfMonth(weekday=None) if told.words("particles"):
            return not after or after in _POINTS or after in told.words("particles")
        case Weekday() if told.words("particles") and not last.text.endswith("日"):
            return not after or after in _POINTS or after in told.words("particles")
    return True
