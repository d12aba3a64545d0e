"""When something that looks like a time is not one: ports, prices, floors, fractions, idioms."""

from __future__ import annotations

from everwhen.when.bounds import Between, Bound
from everwhen.when.chart import Item
from everwhen.when.cycles import Cycle, DayOfMonth, MonthDay, Months, Pick, Season, SlashDay, Weekend
from everwhen.when.lexicon import MONTHS, PLAIN_MONTHS, SEASON_WORDS, UNITS
from everwhen.when.meaning import AtClock, Days, Fixed, Meaning, UnitAt
from everwhen.when.offsets import InAmount, Window
from everwhen.when.tokens import Token, word_set

# What a number before them counts.
MEASURES = word_set(
    """dollars dollar bucks euros euro pounds pound yen people persons users rows lines words tokens steps
    miles mile km kms kilometers kilometres meters metres feet foot inches inch kg kgs grams lbs calories kcal
    points votes seats copies pages items units requests records files bytes mb gb tb kb mhz ghz px pixels
    percent times students employees men women kids children guests attendees customers members followers
    subscribers views likes shares cups cup tbsp tsp tablespoons teaspoons servings pieces bottles boxes
    rooms houses apartments cars square cubic volts watts degrees rpm mg ml liters litres gallons ounces oz
    k million billion thousand hundred minutes hours seconds days weeks months years nights reps sets games
    goals tests commits errors questions tickets songs books photos pictures emails messages calls cats dogs
    others employees soldiers tons tonnes acres hectares shares chairs tables beds bags more"""
)
# What a number after them names.
LABELS = word_set(
    """port room page pages line lines seat seats flight route chapter model version item bus gate unit
    apartment apt suite channel extension ext code pin id no number isbn zip order ticket invoice bug issue
    pr error python node java windows office ubuntu iphone lot box building block level step grade question
    exercise figure table act section highway interstate hwy exit platform track row floor house verse rfc
    iso cve psalm error status http account serial sku ref reference batch season episode players aged
    # size sizes area codes rooms ports score scored won lost beat by"""
)
_MONEY = word_set("costs cost paid pay worth price priced spent raised earned weighs about around")
# Words that may follow a day of the month; before anything else ("the 3rd floor") it was an adjective.
_AFTER_DAY = word_set(
    """i we you he she they it my our his her their your the a an this that these and or but so because when
    while after before if in at for with to from by on of until till is was were will would are am has have
    had i'm we're i'll we'll there as since then not also who which where due instead works work it's
    there's please can could should did do does maybe i've we've around about during around sounds
    he's she's they're you're we'd i'd"""
)
_OFTEN = frozenset({"once", "twice", "thrice", "times", "time"})
_ENDS = frozenset({".", ",", "!", "?", ";", ":", ")", "]", '"', "'", "-", "…", "'s", "(", "*", "/"})
_FALLING = word_set("apart off down into over through short on back out behind asleep ill flat under")
_RUNS_ON = word_set(
    """run runs running ran work works worked working tested test tests based build builds built break breaks
    fails fail failed depends supported still stay stuck rely fixed available python node version"""
)


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
    return not isinstance(value, Meaning) or _plausible(item, value, tokens, before, after)


def _alone(item: Item, tokens: list[Token], before: str, after: str) -> bool:
    """Whether an ambiguous phrase is all that is said, or stands where only a time can stand."""
    outside = [t for t in (*tokens[: item.start], *tokens[item.end :]) if t.kind != "mark"]
    if not outside:
        return True
    value = item.value
    if isinstance(value, (Months, Season)) and _in_a_list(item, tokens):
        return True
    if isinstance(value, Weekend):
        return before not in ("a", "an", "every", "-") and (not after or after in (".", ",", "!", "?"))
    if isinstance(value, UnitAt) and value.unit == "day":  # "the day before", with nothing after it
        return not after or after in (".", "!", "?", ",")
    if isinstance(value, Fixed) and value.unit == "year":
        if before in _DETERMINERS and item.end < len(tokens) and tokens[item.end].kind == "word":
            return tokens[item.end].text[0].isupper() or after in _EVENTS  # the 2018 World Cup
        opening = item.start == 0 or before in (".", "!", "?")
        return (opening and after in ("was", "is", "will", "has", "had", "brought", "saw")) or (
            before,
            after,
        ) == ("(", ")")
    return False


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


_JOINTS = frozenset({"and", "or", ",", "&", "/"})
_LICENCES = frozenset({"in", "since", "during", "this", "last", "between", "for", "early", "late"})
_DETERMINERS = word_set("the my our this their his her your a that")
_EVENTS = word_set(
    """trip season election elections budget conference report tour vacation holiday wedding reunion race
    championship olympics marathon pandemic campaign release show festival party harvest edition summit
    recession crisis flood fire earthquake heatwave tournament retreat roadmap plan goals cohort intake
    graduation finals draft taxes tax return review audit"""
)


def _plausible(item: Item, value: Meaning, tokens: list[Token], before: str, after: str) -> bool:
    counted = after in MEASURES
    last = tokens[item.end - 1].kind
    match value:
        case Bound(edge=edge):
            return _plausible(item, edge, tokens, before, after)
        case Between(last=edge):
            return (
                not (counted and last == "number")
                and before not in LABELS
                and _plausible(item, edge, tokens, before, after)
            )
        case DayOfMonth(weekday=None):
            return not after or after in _AFTER_DAY or after in _ENDS
        case DayOfMonth() | MonthDay() if last == "number":
            return not counted
        case Fixed(unit="year") if last == "number":
            prior = tokens[item.start - 1].lower if item.start else ""
            return not counted and prior not in _MONEY and prior not in LABELS
        case SlashDay():
            fraction = value.second in (2, 3, 4, 5, 8) and value.first < value.second
            licensed = tokens[item.start].lower in ("on", "due") or item.start == 0
            return not counted and after != "of" and (licensed or not fraction) and before not in _RUNS_ON
        case Window() | UnitAt():
            return after not in _GOES_ON or item.rule is None or item.rule.name not in _NEEDS_END
        case Pick(cycle=Season(name="autumn")) | Season(name="autumn"):
            return not (tokens[item.end - 1].lower == "fall" and after in _FALLING)
        case Days():
            return not (
                tokens[item.end - 1].lower == "soon"
                and (before in ("as", "too", "how", "so") or after in ("as", "enough"))
            )
        case AtClock(clock=clock):
            return not (counted and clock.minute is None) and before not in (
                "john",
                "luke",
                "matthew",
                "mark",
                "psalm",
            )
        case Cycle() | Months():
            return True
    return True


# "The last three days of the trip", "for the week before the exam": the time hangs on something else.
_NEEDS_END = frozenset(
    {"the last so long", "the next so long", "the last units", "for the unit", "in the unit"}
)
_GOES_ON = frozenset({"of", "before", "after", "that", "when", "following", "leading"})
