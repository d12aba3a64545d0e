"""Chinese and Japanese: no spaces, so the words are cut out by longest match before the grammar sees them."""

from __future__ import annotations

import re
from collections.abc import Hashable

from everwhen.when.cycles import Pick, Season, Weekday, Weekend, Within
from everwhen.when.meaning import Days, PartOfDay, UnitAt
from everwhen.when.offsets import Count
from everwhen.when.tokens import Token

Sense = tuple[str, Hashable, bool]
_DIGITS = {"一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_WEEKDAYS_ZH = "一二三四五六"
_WEEKDAYS_JA = "月火水木金土日"


def _words() -> dict[str, Sense]:
    table: dict[str, Sense] = {}

    def add(words: str, category: str, value: Hashable, bare: bool = False) -> None:
        for word in words.split():
            table[word] = (f"<{category}>", value, bare)

    for words, offset in (
        ("大前天", -3),
        ("前天 一昨日 おととい", -2),
        ("昨天 昨日 きのう 昨晚上", -1),
        ("今天 今日 きょう 本日", 0),
        ("明天 明日 あした", 1),
        ("后天 後天 明後日 あさって", 2),
    ):
        add(words, "day", UnitAt("day", offset))
    for words, night in (("昨晚 昨夜 ゆうべ 昨晩", -1), ("今晚 今夜 今晩", 0), ("明晚 明晩", 1)):
        add(words, "day", PartOfDay("night", UnitAt("day", night)))
    add("今朝 今早 今天早上", "day", PartOfDay("morning", UnitAt("day", 0)))
    for words, unit, offset in (
        ("上上周 上上星期 先々週", "week", -2),
        ("上周 上週 上星期 上个星期 上個星期 上礼拜 先週", "week", -1),
        ("这周 本周 这个星期 這週 这星期 今週", "week", 0),
        ("下周 下週 下星期 下个星期 下個星期 下礼拜 来週", "week", 1),
        ("上个月 上個月 上月 先月", "month", -1),
        ("先々月 上上个月", "month", -2),
        ("这个月 本月 這個月 今月", "month", 0),
        ("下个月 下個月 下月 来月", "month", 1),
        ("前年 一昨年 おととし", "year", -2),
        ("去年 昨年", "year", -1),
        ("今年", "year", 0),
        ("明年 来年 來年", "year", 1),
        ("后年 再来年", "year", 2),
    ):
        add(words, "whole", UnitAt(unit, offset))  # type: ignore[arg-type]
    add("上周末 上週末 先週末", "day", Pick("last", Weekend()))
    add("这周末 本周末 這週末 今週末", "day", Pick("this", Weekend()))
    add("下周末 下週末 来週末", "day", Pick("next", Weekend()))
    add("周末 週末", "cycle", Weekend())
    for day, mark in enumerate(_WEEKDAYS_ZH):
        add(f"周{mark} 星期{mark} 礼拜{mark} 週{mark}", "cycle", Weekday(day))
        for prefix, offset in (("上", -1), ("下", 1), ("这", 0), ("本", 0)):
            add(
                f"{prefix}周{mark} {prefix}星期{mark} {prefix}个星期{mark} {prefix}週{mark}",
                "day",
                Within(Weekday(day), UnitAt("week", offset)),
            )
    add("周日 星期日 星期天 礼拜天 週日", "cycle", Weekday(6))
    for prefix, offset in (("上", -1), ("下", 1), ("这", 0), ("本", 0)):
        add(f"{prefix}周日 {prefix}星期天 {prefix}星期日", "day", Within(Weekday(6), UnitAt("week", offset)))
    for day, mark in enumerate(_WEEKDAYS_JA):
        add(f"{mark}曜日 {mark}曜", "cycle", Weekday(day))
    for words, name in (
        ("春天 春季", "spring"),
        ("夏天 夏季 夏休み", "summer"),
        ("秋天 秋季", "autumn"),
        ("冬天 冬季", "winter"),
    ):
        add(words, "cycle", Season(name))
    for words, name in (("春", "spring"), ("夏", "summer"), ("秋", "autumn"), ("冬", "winter")):
        add(words, "cycle", Season(name), bare=True)
    for words, unit in (
        ("天 日", "day"),
        ("周 週 星期 礼拜", "week"),
        ("月", "month"),
        ("年", "year"),
        ("小时 小時 時間", "hour"),
        ("分钟 分鐘 分", "minute"),
    ):
        add(words, "unit", unit)
    for words, part in (
        ("早上 上午 朝 午前", "morning"),
        ("下午 午後", "afternoon"),
        ("傍晚 夕方", "evening"),
        ("晚上 夜里 夜 晩", "night"),
    ):
        add(words, "part", part)
    add("最近 近来 近頃", "recently", Days(-14, 0))
    add("几 幾 数", "few", Count(2, 5))
    return table


WORDS = _words()
_PARTICLES = {
    *"个個ヶかカ间間前后後年份的の从自到至起初末底第",
    *("以前", "之前", "以后", "之后", "から", "まで", "以来", "以來", "为止", "直到"),
    *("自从", "开始", "过去", "過去", "上旬", "下旬", "終わり"),
}
_MARKS = sorted({*WORDS, *_PARTICLES}, key=len, reverse=True)
_NUMBER = r"\d{1,4}|[一二两兩三四五六七八九]?十[一二三四五六七八九]?|[一二两兩三四五六七八九]"
_TOKEN = re.compile(
    rf"(?P<monthday>(?:1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?!前|后|後|間|间))"
    rf"|(?P<dayday>(?:[12]\d|3[01]|[1-9]|二?十[一二三四五六七八九]?|三十一?|[一二三四五六七八九])[日号號](?!前|间|間|後|后))"
    rf"|(?P<cjkyear>(?:19|20)\d\d(?=年))"
    rf"|(?P<word>{'|'.join(map(re.escape, _MARKS))})|(?P<num>{_NUMBER})|(?P<mark>\S)"
)


def read_number(text: str) -> int:
    """十二 is 12, 二十 is 20; digits are themselves."""
    if text.isdigit():
        return int(text)
    if "十" not in text:
        return _DIGITS[text]
    tens, _, ones = text.partition("十")
    return _DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0)


def tokenize(text: str) -> list[Token]:
    """The words of a text without spaces, longest first."""
    return [
        Token(match.lastgroup or "mark", match[0], match[0], match.start(), match.end())
        for match in _TOKEN.finditer(text)
    ]


def senses(tokens: list[Token], index: int) -> list[Sense]:
    """What a token may be."""
    token = tokens[index]
    if token.kind == "monthday":
        return [("<cjk-month>", read_number(token.lower[:-1]), False)]
    if token.kind == "dayday":
        return [("<cjk-day>", read_number(token.lower[:-1]), False)]
    if token.kind == "cjkyear":
        return [("<year>", int(token.lower), True)]
    if token.kind == "num":
        return [("<num>", read_number(token.lower), False)]
    found = WORDS.get(token.lower)
    return [found] if found else []
