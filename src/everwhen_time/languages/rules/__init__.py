"""The grammar shared by the other languages; `book_of` adds a language's own phrases and word orders."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from everwhen_time.languages.language import language, meant
from everwhen_time.languages.rules import amounts, bounds, clocks, dates, parts, relative
from everwhen_time.parser import Rule, RuleBook

_BOOKS = (relative.book, amounts.book, dates.book, parts.book, bounds.book, clocks.book)


@cache
def book_of(code: str) -> RuleBook:
    """The shared rules, the fixed phrases of the language and its own orders, compiled at first use."""
    rules = [rule for book in _BOOKS for rule in book.rules]
    named = {name: rule for book in _BOOKS for name, rule in book.named.items()}
    spoken = language(code)
    for name, patterns in spoken.orders.items():
        rules += [replace(named[name], pattern=pattern) for pattern in patterns]
    if spoken.spaced:
        rules += list(_phrases(code))
    return RuleBook(tuple(rules))


def _phrases(code: str) -> list[Rule]:
    """Spellings of several tokens, each a rule of fixed words."""
    from everwhen_time.languages.word_tokens import tokenize

    found = []
    for spelling, senses in language(code).senses.items():
        words = [token.lower for token in tokenize(spelling, 0, len(spelling), code)]
        if len(words) > 1:
            for category, value, bare in senses:
                meaning = partial(meant, value)
                found.append(Rule("phrase", " ".join(words), meaning, category.strip("<>"), bare))
    return found
