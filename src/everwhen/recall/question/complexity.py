"""How much a question needs: one fact, several put together, or a judgement (TiMem's simple, hybrid and complex).

The precedence is TiMem's: what asks for a judgement, a prediction, advice or somebody's character is complex; what
asks for several facts at once is hybrid; the rest is simple. A preference that somebody stated ("her favourite book")
is one recorded fact, and simple.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from everwhen.recall.question.word_patterns import AUXILIARY, LENGTH, MODAL, pattern
from everwhen.types.recipes import Complexity
from everwhen_time import resolve
from everwhen_time.tokens import word_table

# "Could you remind me" asks for no judgement.
_COURTESY = pattern(
    r"\bmay i (?:please )?(?:ask|know|hear|see)\b",
    r"\bi (?:was|am|'m) wondering(?: if)?(?: you (?:could|can|would))?\b",
    r"\b(?:can|could|would|will) you(?: please)?\b(?! (?:\w+ )?(?:suggest|recommend|advise|help))",
)
_AUXILIARY = rf"(?:{AUXILIARY}|{MODAL})"
_TRAITS: list[str] = (
    word_table(Path(__file__).with_name("words.toml"))["traits"].replace("-?", "[- ]?").split()
)
_TRAIT = rf"(?:{'|'.join(_TRAITS)})"
_POLAR = (
    r"(?:^|[.!?,;:]\s)\W*(?:so |and |but )?(?:is|are|was|were|am)(?:n['’]t)?\s+"
    r"(?!(?:there|the|an?|it|this|that|these|those)\b)[^?.!;]{1,60}?\s"
)
"""A question for yes or no about somebody: "is Ana …", and not "is the soup …"."""
_ATTITUDE = (
    r"(?<!the )(?:prefer|enjoy|like|love|value|cherish|care (?:more|about)|favou?r|trust|respect|admire|fear|hate|"
    r"dislike|interested|drawn|devoted|loyal|committed|attached)"
)
_NOT_PLURAL = r"(?:news|series|this|his|its|does|is|was|has|us)\b"
_PLURAL = rf"(?!{_NOT_PLURAL})\w{{2,30}}(?<!ss)(?<!us)(?<!is)s"
_WORD = rf"(?!{_AUXILIARY}\b)[\w\-/.']{{1,30}}"

COMPLEX: Mapping[str, re.Pattern[str]] = {
    name: pattern(cue)
    for name, cue in {
        "modal": r"\b(?:would|wouldn['’]t|might|could|couldn['’]t|should|ought)\b",  # and `permits`
        "likelihood": r"\b(?:likely|unlikely|probably|possibly|potentially|presumably|considered|suitable|"
        r"appropriate|prone|open to|willing)\b",
        "inference": r"\b(?:based on|judging (?:by|from)|given (?:his|her|their|my|that)|assuming|suppose)\b",
        "character": r"\b(?:personalit\w+|traits?|attributes?|characteristics?|temperament|mindset|"
        r"(?:kind|type|sort) of person|habits?|tendenc(?:y|ies))\b"
        # "is Ana a morning person", "is he shy around strangers", "how patient is she": what one is, not what one did
        rf"|{_POLAR}(?:an?|the)\s+(?:[\w-]{{1,30}}\s+){{0,2}}(?:person|type|sort|kind)\b"
        rf"|{_POLAR}(?:an?\s+)?{_TRAIT}(?=\s*(?:$|[?.!,;]|(?:person|people|man|woman|guy|boy|girl|child|kid|friend|"
        r"partner|parent|mother|father|boss|colleague|soul|with|about|when|towards?|around|enough|or|and|at|in|as)\b))"
        rf"|\bhow {_TRAIT} (?:is|are|was|were|am)\b",
        # "does she care more for A or B", "does he tend to …": what weighs with somebody
        "values": r"\b(?:tend(?:s|ed)? to|inclined to)\b"
        r"|(?<!how )\b(?:do|does|did)\b[^?.!]{0,60}\bprioriti[sz]e\b"
        rf"|\b(?:do|does|did|is|are|was|were)\b[^?.!]{{0,60}}\b{_ATTITUDE}\b[^?.!]{{0,80}}\b(?:or|over|more than)\b"
        r"|\b(?:matters?|mattered|important)\b[^?.!]{0,40}\b(?:more|most|or)\b"
        r"|\b(?:more|most) important to\b"
        r"|(?:['’]s?|\b(?:his|her|their|my|your|our|core|personal|moral|political|religious))\s+"
        r"(?:values|beliefs|priorities|principles|attitudes?|outlook|world-?view|leanings?|temper)\b",
        "advice": r"\bany (?:\w+ )?(?:suggestions?|ideas?|tips?|advice|recommendations?|thoughts?)\b"
        r"|\b(?:can|could|would|will) you (?:please )?(?:suggest|recommend|advise|help)\b"
        r"|^\W*(?:please )?(?:suggest|recommend)\b",
    }.items()
}
"""What asks for a judgement, a prediction, advice, or what somebody is like."""

HYBRID: Mapping[str, re.Pattern[str]] = {
    name: pattern(cue)
    for name, cue in {
        # "what books has", "which areas of the country did": a plural before the verb
        "plural": rf"\b(?:what|which)\s+(?:{_WORD}\s+){{0,3}}?{_PLURAL}\s+"
        rf"(?:(?:of|for|at|in|with|from)\s+(?:[\w.']{{1,30}}\s+){{1,3}}?)?(?:that\s+)?(?:\w{{1,30}}\s+)?{_AUXILIARY}\b",
        "are": r"\b(?:what|who) (?:are|were) (?!the \w+ing|\w+ \w+ing)",
        # "what has she painted": all that happened until now
        "perfect": r"\b(?:what|which|where|who|how)\b(?! (?:long|much|old))"
        r"(?:\s+(?!do\b|does\b|did\b|is\b|are\b)[\w\-'/]{1,30}){0,5}?\s+(?:has|have)\s+(?!to\b)",
        "count": rf"\bhow many (?!{LENGTH}\b)",
        "repeated": r"\bmultiple\b|\bmost (?:often|frequently)\b|\bso far\b|\bover (?:time|the years)\b|\bthroughout\b",
        # a stretch of time has two ends, told apart
        "span": rf"\bhow many {LENGTH}\b(?! (?:ago|does|do|a )\b)",
        "together": r"\b(?:both|in common|each other)\b",
        "all": r"\b(?:all|every|various|several|total|altogether|combined|overall|average|list|"
        r"(?:types|kinds|sorts) of|(?:what|which|different) ways|names of)\b",
        "comparison": r"\b(?:compared?|comparison|percentage|difference between|"
        r"(?:more|less|fewer)\b[^?]{0,60} than|higher|lower|older than|faster|instead of)\b",
        "either": r"\b(?:first|earlier|later|last|more|most recently)\b[^?,:]{0,200}[,:][^?]{0,200}\bor\b"
        r"|\border of\b|\bin (?:the|what|which) order\b",
    }.items()
}
"""What asks for several facts at once: a plural, a count, a span, a comparison."""


def complexity(query: str) -> tuple[Complexity, tuple[str, ...]]:
    """How much a question needs, and the cues that say so.

    The cues were chosen on LoCoMo dev by forward selection with one conversation left out at a time (the same six were
    chosen each time), and completed by those that LongMemEval's other kinds of question ask for; docs/tree.md has the
    tables. No cue is made for one sentence.
    """
    plain = _COURTESY.sub(" ", query)
    judged = tuple(
        name
        for name, cue in COMPLEX.items()
        if cue.search(query if name == "advice" else plain) or (name == "modal" and permits(plain))
    )
    if judged:
        return "complex", judged
    several = tuple(name for name, cue in HYBRID.items() if cue.search(plain))
    return ("hybrid", several) if several else ("simple", ())


_MAY = pattern(r"\bmay\b")
# No verb stands behind these: "in May", "last May", "the May fair", "did May call" (a name), "was May busy".
_BEFORE_A_NOUN = pattern(
    r"(?:\b(?:in|on|at|by|of|for|from|to|since|until|till|through|during|before|after|around|between|within|about|"
    r"the|an?|last|next|every|each|early|mid|late|previous|coming|following|his|her|my|our|their|your|"
    rf"{AUXILIARY}|can|could|should)|['’]s|mid-)\s*$"
)
_AFTER_A_NOUN = pattern(r"\s*(?:['’]s|is|are|was|were|has|had|did|does|will|would)\b")
_OPENING = pattern(r"(?:^|[.!?,])\s*$")
_ASKS_LEAVE = pattern(r"\s+(?:i|we)\s+(?!be\b|have\b)")
_ANY_MOMENT = datetime(2024, 1, 1, tzinfo=UTC)
MOST_MAYS = 8
AROUND_MAY = 40
"""Characters around a "may" that are read as a time expression: a pasted document costs no more than a line."""


def permits(query: str) -> bool:
    """Whether a "may" in the question is the verb: neither the month nor a name.

    What stands beside it decides, and else the time grammar: "March or May" and "May 3rd" are times, "what may 5 people
    need" is not.
    """
    for found, _ in zip(_MAY.finditer(query), range(MOST_MAYS), strict=False):
        before, after = query[max(0, found.start() - AROUND_MAY) : found.start()], query[found.end() :]
        if _BEFORE_A_NOUN.search(before) or _AFTER_A_NOUN.match(after):
            continue
        if _OPENING.search(before) and _ASKS_LEAVE.match(after):
            continue  # "May I see the photos of June?" is polite, and asks for no judgement
        if not _is_time(before, found.group() + after[:AROUND_MAY]):
            return True
    return False


def _is_time(before: str, rest: str) -> bool:
    place = len(before)
    return any(
        start <= place < end for start, end in (ref.span for ref in resolve(before + rest, _ANY_MOMENT))
    )
