"""Numbers, counts and amounts of time: twenty-five, a few, zwei Wochen, a year and three months."""

from __future__ import annotations

from functools import partial

from everwhen_time.calendar import Unit
from everwhen_time.offsets import FEW, Amount, Count, amount
from everwhen_time.parser import RuleBook

book = RuleBook()
add, rule, fixed, same = book.add, book.rule, book.fixed, book.same

add("tens and nth", lambda tens, ones: tens + ones, gives="nth")
add("hundreds", lambda ones=1: ones * 100, gives="num")


@rule(gives="year", bare=True)
def thousand_and(thousands: int, rest: float) -> int | None:
    return thousands * 1000 + int(rest) if thousands in (1, 2) and 0 < rest < 100 else None


@rule(gives="year", bare=True)
def spoken_year(century: float, rest: float) -> int | None:
    """Nineteen ninety-four, twenty twelve; digits beside digits are not one."""
    return int(century * 100 + rest) if century in (18, 19, 20) and 10 <= rest <= 99 else None


@rule("<num>", gives="count")
def number(value: float) -> Count | None:
    return Count(value, value) if 0 < value < 1000 else None


fixed("one", Count(1, 1), gives="count")
fixed("couple", Count(2, 2), gives="count")
fixed("few", FEW, "<few>", "<num> <few>", "<few> <of>", gives="count")
fixed("several", Count(3, 7), "<several>", gives="count")
fixed("half", Count(0.5, 0.5), gives="count")
fixed("dozen", Count(12, 12), gives="count")
add("and a half", lambda value: Count(value + 0.5, value + 0.5), gives="count")


@rule(gives="count")
def and_a_half_in_figures(value: float, half: float) -> Count:
    """2 1/2."""
    return Count(value + half, value + half)


@rule(gives="count")
def this_or_that_many(low: float, high: float) -> Count | None:
    return Count(low, high) if 0 < low < high <= 60 else None


same("roughly", gives="count")
add("so many units", amount, "<count> <of>? <units>", "<count> <of>? <unit>", gives="amount")
fixed("quarter of an hour", amount(15, "minute"), gives="amount")
fixed("three quarters of an hour", amount(45, "minute"), gives="amount")
same("glued amount", gives="amount")
fixed("one fortnight", amount(2, "week"), gives="amount")


@rule(gives="amount")
def fortnights(count: float) -> Amount:
    return amount(2 * count, "week")


add("nights", lambda count: Amount(amount(count, "day").parts, nights=True), gives="amount")
# Counted as plain days: whose weekends and holidays is not said.
add("working days", lambda count: amount(count, "day"), gives="amount")


@rule(gives="amount")
def units_and_a_half(count: Count, unit: Unit) -> Amount:
    return amount(Count(count.low + 0.5, count.high + 0.5), unit)


@rule("<amount> <and>? <amount>", gives="amount")
@rule(gives="amount", name="glued amounts")
def amounts_together(more: Amount, less: Amount) -> Amount | None:
    return more.plus(less)


@rule("<tens> <and>? <num>", "<tens> - <num>", gives="num")
def tens_and_ones(tens: int, ones: int) -> int | None:
    return tens + ones if 1 <= ones <= 19 and tens >= 20 else None


same("only tens", "<tens>", gives="num")


add(
    "two or three", lambda first, second: Count(first, second) if second == first + 1 else None, gives="count"
)


@rule("<half> <unit>", "<num> <half> <unit>", gives="amount")
def half_a_unit(*parts: int | Unit) -> Amount | None:
    return amount(0.5, parts[-1]) if parts[0] == 1 or len(parts) == 1 else None  # type: ignore[arg-type]


add(
    "so many and a half",
    lambda count, unit: amount(count + 0.5, unit),
    "<num> <unit>|<units> <and> <half>",
    gives="amount",
)


add("half a year", lambda years: amount(years, "year"), "<half-a-year>", gives="amount")


_ONE_AND_A_HALF = ("<one-and-half> <unit>|<units>", "<unit> <and> <half>")
add("one and a half", partial(amount, 1.5), *_ONE_AND_A_HALF, gives="amount")
