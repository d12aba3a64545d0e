"""Numbers, counts and amounts of time: twenty-five, a few, two and a half hours, a year and three months."""

from __future__ import annotations

from everwhen_time.calendar import Unit
from everwhen_time.offsets import Amount, Count, amount
from everwhen_time.parser import RuleBook

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same


add("tens and nth", lambda tens, ones: tens + ones, "<tens> -? <nth-ones>", gives="nth")
add("tens and ones", lambda tens, ones: tens + ones, "<tens> -? <ones>", gives="num")
add("hundreds", lambda ones=1: ones * 100, "<ones> hundred", "a hundred", gives="num")


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
add("and a half", lambda value: Count(value + 0.5, value + 0.5), "<num> and a half", gives="count")


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
add(
    "so many units",
    amount,
    "<count> - <unit>",
    "<count> full|whole|long|short|more|calendar|consecutive|straight? <unit>|<units>",
    gives="amount",
)
fixed("quarter of an hour", amount(15, "minute"), "a? quarter of an hour", gives="amount")
fixed("three quarters of an hour", amount(45, "minute"), "three quarters of an hour", gives="amount")
same("glued amount", "<glued-amount>", gives="amount")
fixed("one fortnight", amount(2, "week"), "a|one|the? fortnight", gives="amount")


@rule("<num> fortnights", gives="amount")
def fortnights(count: float) -> Amount:
    return amount(2 * count, "week")


add(
    "nights",
    lambda count: Amount(amount(count, "day").parts, nights=True),
    "<count> nights|sleeps",
    gives="amount",
)
# Counted as plain days: whose weekends and holidays is not said.
add("working days", lambda count: amount(count, "day"), "<count> working|business days", gives="amount")


@rule("<count> <unit>|<units> and a half", gives="amount")
def units_and_a_half(count: Count, unit: Unit) -> Amount:
    return amount(Count(count.low + 0.5, count.high + 0.5), unit)


@rule("<amount> and|, <amount>", "<amount> <amount>", gives="amount")
@rule("<glued-amount> <letter-amount>", gives="amount", name="glued amounts")
def amounts_together(more: Amount, less: Amount) -> Amount | None:
    return more.plus(less)
