"""The grammar of a language: the shared rules with its words, its own word orders and its fixed phrases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from everwhen_time.cycles import Holiday
from everwhen_time.languages.language import JOINING, Language, language, meant
from everwhen_time.parser import Rule, RuleBook
from everwhen_time.rules import amounts, bounds, clocks, dates, parts, relative

_BOOKS = (relative.book, amounts.book, dates.book, parts.book, bounds.book, clocks.book)


@cache
def book_of(code: str) -> RuleBook:
    """The rules of a language, compiled at first use.

    English says all its word orders itself (`own_orders`), the others add theirs to those of the rules.
    """
    named = {name: rule for book in _BOOKS for name, rule in book.named.items()}
    spoken = language(code)
    rules = [] if spoken.flag("own_orders") else [rule for book in _BOOKS for rule in book.rules]
    for name, patterns in spoken.orders.items():
        rules += [replace(named[name], pattern=pattern) for pattern in patterns]
    for name, phrases in spoken.holidays.items():
        rules += [Rule("holiday", phrase, partial(Holiday, name), "cycle") for phrase in phrases]
    if spoken.spaced and not spoken.flag("own_orders"):
        rules += _phrases(spoken)
    return RuleBook(rules, JOINING)


def _phrases(spoken: Language) -> Iterator[Rule]:
    """Spellings of several tokens, each a rule of fixed words."""
    from everwhen_time.languages.word_tokens import tokenize

    for spelling, senses in spoken.senses.items():
        words = [token.lower for token in tokenize(spelling, 0, len(spelling), spoken.code)]
        if len(words) > 1:
            for category, value, bare in senses:
                yield Rule("phrase", " ".join(words), partial(meant, value), category.strip("<>"), bare)
