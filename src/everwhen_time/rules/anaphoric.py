"""Times relative to a date mentioned before: two days later, the following week, the morning after."""

from __future__ import annotations

from everwhen_time.anaphora import Later, NextTo
from everwhen_time.cycles import Holiday, Season, Weekday, Weekend
from everwhen_time.meaning import PartOfDay
from everwhen_time.parser import RuleBook, ends_in

book = RuleBook()
add = book.add

_COMES_ROUND = ends_in(Weekday, Weekend, Season, Holiday)
_AFTER, _BEFORE = "after that|this?", "before that|this?"

_LATER = (f"<amount> {_AFTER}", "<amount> later|afterwards|afterward")
add("so long later", lambda so_long: Later(so_long, 1), *_LATER)
add("so long earlier", lambda so_long: Later(so_long, -1), "<amount> earlier", f"<amount> {_BEFORE}")
add("the unit after", lambda unit: NextTo(unit, 1), "the following <unit>", f"the <unit> {_AFTER}")
# The next day is never tomorrow; the next week may be.
add("the next unit", lambda unit: NextTo(unit, 1, of_a_story=unit != "day"), "the next <unit>")
_UNIT_BEFORE = (f"the <unit> {_BEFORE}", "the previous|preceding <unit>")
add("the unit before", lambda unit: NextTo(unit, -1), *_UNIT_BEFORE)
_CYCLE_AFTER = ("the following <cycle>", f"the <cycle> {_AFTER}")
add("the cycle after", lambda cycle: NextTo(cycle, 1), *_CYCLE_AFTER, where=_COMES_ROUND)
_NEXT_CYCLE = "the next <cycle>"
add("the next cycle", lambda cycle: NextTo(cycle, 1, of_a_story=True), _NEXT_CYCLE, where=_COMES_ROUND)
add("the cycle before", lambda cycle: NextTo(cycle, -1), f"the <cycle> {_BEFORE}", where=_COMES_ROUND)
_NEXT_PART = ("the? next|following <daypart>", f"the <daypart> {_AFTER}")
add("the next daypart", lambda part: PartOfDay(part, NextTo("day", 1)), *_NEXT_PART)
add("the daypart before", lambda part: PartOfDay(part, NextTo("day", -1)), f"the <daypart> {_BEFORE}")
