"""Numbers, counts and amounts of time: twenty-five, a few, two and a half hours, a year and three months."""

from __future__ import annotations

from everwhen.when.calendar import Unit
from everwhen.when.offsets import Amount, Count, amount
from everwhen.when.parser import RuleBook

book = RuleBook()
rule, fixed, same = book.rule, book.fixed, book.same


@rule("<tens> -? <ones>", gives="num")
@rule("<tens> -? <nth-ones>", gives="nth", name="tens and nth")
def tens_and_ones(tens: int, ones: int) -> int:
    return tens + ones


@rule("<ones> hundred", "a hundred", gives="num")
def hundreds(ones: int = 1) -> int:
    return ones * 100


@rule("<ones> thousand and? <num>", gives="year", bare=True)
def thousand_and(thousands: int, rest: float) -> int | None:
    return thousands * 1000 + int(rest) if thousands in (1, 2) and 0 < rest < 100 else None


@rule("<num> <num>", gives="year", bare=True)
def spoken_year(century: float, rest: float) -> int | None:
    """Nineteen ninety-four, twenty twelve; digits beside digits are not one."""
    return int(century * 100 + rest) if century in (18, 19, 20) and 10 <= rest <= 99 else None


@rule("<ones>", "<num>", gives="count")
def number(value: float) -> Count | None:
    return Count(value, value) if 0 < value < 1000 else None


fixed("one", Count(1, 1), "a|an|one", gives="count")
fixed("couple", Count(2, 2), "a? couple of?", "a? pair of", gives="count")
fixed("few", Count(2, 5), "a? few", "some", gives="count")
fixed("several", Count(3, 7), "several", gives="count")
fixed("half", Count(0.5, 0.5), "half a|an", "half", gives="count")
fixed("dozen", Count(12, 12), "a? dozen", gives="count")


@rule("<num> and a half", gives="count")
def and_a_half(value: float) -> Count:
    return Count(value + 0.5, value + 0.5)


@rule("<num> <half>", gives="count")
def and_a_half_in_figures(value: float, half: float) -> Count:
    """2 1/2."""
    return Count(value + half, value + half)


@rule("<num> or|to|- <num>", gives="count")
def this_or_that_many(low: float, high: float) -> Count | None:
    return Count(low, high) if 0 < low < high <= 60 else None


same(
    "roughly",
    "about|around|roughly|approximately|almost|nearly|over|exactly <count>",
    "just|like|maybe|perhaps|another|some|under <count>",
    "more|less than <count>",
    "at least <count>",
    "~ <count>",
    gives="count",
)


rule(
    "<count> - <unit>",
    "<count> full|whole|long|short|more|calendar|consecutive|straight? <unit>|<units>",
    gives="amount",
    name="so many units",
)(amount)
fixed("quarter of an hour", amount(Count(15, 15), "minute"), "a? quarter of an hour", gives="amount")
fixed(
    "three quarters of an hour", amount(Count(45, 45), "minute"), "three quarters of an hour", gives="amount"
)
same("glued amount", "<glued-amount>", gives="amount")
fixed("one fortnight", amount(Count(2, 2), "week"), "a|one|the? fortnight", gives="amount")


@rule("<num> fortnights", gives="amount")
def fortnights(count: float) -> Amount:
    return amount(Count(2 * count, 2 * count), "week")


@rule("<count> working|business days", gives="amount")
@rule("<count> nights|sleeps", gives="amount", name="nights")
def working_days(count: Count) -> Amount:
    """Counted as plain days: whose weekends and holidays is not said."""
    return amount(count, "day")


@rule("<count> <unit>|<units> and a half", gives="amount")
def units_and_a_half(count: Count, unit: Unit) -> Amount:
    return amount(Count(count.low + 0.5, count.high + 0.5), unit)


@rule("<amount> and|, <amount>", "<amount> <amount>", gives="amount")
@rule("<glued-amount> <letter-amount>", gives="amount", name="glued amounts")
def amounts_together(more: Amount, less: Amount) -> Amount | None:
    return more.plus(less)
