"""How much a question needs: one fact, several put together, or a judgement (TiMem's simple, hybrid and complex).

The precedence is TiMem's: what asks for a judgement, a prediction, advice or somebody's character is complex; what
asks for several facts at once is hybrid; the rest is simple. A preference that somebody stated ("her favourite book")
is one recorded fact, and simple.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

Complexity: TypeAlias = Literal["simple", "hybrid", "complex"]

# "Could you remind me" asks for no judgement.
_COURTESY = re.compile(
    r"\bi (?:was|am|'m) wondering(?: if)?(?: you (?:could|can|would))?\b"
    r"|\b(?:can|could|would|will) you(?: please)?\b(?! (?:\w+ )?(?:suggest|recommend|advise|help))",
    re.IGNORECASE,
)
_AUXILIARY = r"(?:has|have|had|does|do|did|is|are|was|were|will|can|could|might|would)"
_NOT_PLURAL = r"(?:news|series|this|his|its|does|is|was|has|us)\b"
_PLURAL = rf"(?!{_NOT_PLURAL})\w{{2,30}}(?<!ss)(?<!us)(?<!is)s"
_WORD = rf"(?!{_AUXILIARY}\b)[\w\-/.']{{1,30}}"

COMPLEX: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "modal": r"\b(?:would|wouldn['’]t|might|could|couldn['’]t|may(?! \d)|should|ought)\b",
        "likelihood": r"\b(?:likely|unlikely|probably|possibly|potentially|presumably|considered|suitable|"
        r"appropriate|prone|open to|willing)\b",
        "inference": r"\b(?:based on|judging (?:by|from)|given (?:his|her|their|my|that)|assuming|suppose)\b",
        "character": r"\b(?:personalit\w+|traits?|attributes?|characteristics?|temperament|mindset|"
        r"(?:kind|type|sort) of person|habits?|tendenc(?:y|ies))\b",
        "advice": r"\bany (?:\w+ )?(?:suggestions?|ideas?|tips?|advice|recommendations?|thoughts?)\b"
        r"|\b(?:can|could|would|will) you (?:please )?(?:suggest|recommend|advise|help)\b"
        r"|^\W*(?:please )?(?:suggest|recommend)\b",
    }.items()
}
"""What asks for a judgement, a prediction, advice, or what somebody is like."""

HYBRID: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        # "what books has", "which areas of the country did": a plural before the verb
        "plural": rf"\b(?:what|which)\s+(?:{_WORD}\s+){{0,3}}?{_PLURAL}\s+"
        rf"(?:(?:of|for|at|in|with|from)\s+(?:[\w.']{{1,30}}\s+){{1,3}}?)?(?:that\s+)?(?:\w{{1,30}}\s+)?{_AUXILIARY}\b",
        "are": r"\b(?:what|who) (?:are|were) (?!the \w+ing|\w+ \w+ing)",
        # "what has she painted": all that happened until now
        "perfect": r"\b(?:what|which|where|who|how)\b(?! (?:long|much|old))"
        r"(?:\s+(?!do\b|does\b|did\b|is\b|are\b)[\w\-'/]{1,30}){0,5}?\s+(?:has|have)\s+(?!to\b)",
        "count": r"\bhow many (?!days|weeks|months|years|hours|minutes|seconds)",
        "repeated": r"\bmultiple\b|\bmost (?:often|frequently)\b|\bso far\b|\bover (?:time|the years)\b|\bthroughout\b",
        # a stretch of time has two ends, told apart
        "span": r"\bhow many (?:days|weeks|months|years|hours|minutes)\b(?! (?:ago|does|do|a )\b)",
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
    judged = tuple(name for name, cue in COMPLEX.items() if cue.search(query if name == "advice" else plain))
    if judged:
        return "complex", judged
    several = tuple(name for name, cue in HYBRID.items() if cue.search(plain))
    return ("hybrid", several) if several else ("simple", ())
