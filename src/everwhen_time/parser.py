"""The parser. A rule is a pattern of words with a function; its results can be used by other rules.

A pattern is words and categories: `"the? <nth> <weekday> of|in <time>"`. A word matches itself, `a|b` either of them,
`?` makes it optional, and `<time>` matches anything that a rule or the lexicon calls a time. The function gets what
the categories matched, in order, and returns the meaning of the phrase, or None to decline.

The text is processed from right to left, so that everything that may follow is known when a phrase begins; each
phrase that is found is tried at once as the beginning of a longer one. A phrase has at most `LONGEST` tokens, so the
time is linear in the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import product
from typing import TypedDict, TypeVar, Unpack

from everwhen_time.tokens import Token

LONGEST = 18
_MOST = 60  # phrases that may begin at one token; only nonsense comes near it

MARK: Hashable = object()
"""The value of a word that only joins others."""
Make = Callable[..., Hashable | None]
Guard = Callable[..., bool]
M = TypeVar("M", bound=Make)
Lexicon = Callable[[list[Token], int], list[tuple[str, Hashable, bool]]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to build a phrase. `bare`: too ambiguous to be a time on its own ("may", "second")."""

    name: str
    pattern: str
    make: Make
    gives: str = "time"
    bare: bool | None = False  # None: as bare as its parts
    trim: int = 0  # leading tokens that license the phrase but are not part of it ("in May")


class Item:
    """A phrase that was found: tokens `start` to `end`, its category and meaning, and the rules that built it."""

    __slots__ = ("bare", "category", "end", "parts", "rule", "start", "trim", "value")

    def __init__(
        self,
        category: str,
        start: int,
        end: int,
        value: Hashable,
        *,
        bare: bool = False,
        rule: Rule | None = None,
        parts: tuple[Item, ...] = (),
    ) -> None:
        self.category, self.start, self.end, self.value = category, start, end, value
        self.bare, self.rule, self.parts = bare, rule, parts
        self.trim = rule.trim if rule else 0

    def trace(self) -> list[str]:
        """The names of the rules that built it, innermost first."""
        names = [name for part in self.parts for name in part.trace()]
        return [*names, self.rule.name] if self.rule else names


@dataclass(slots=True)
class _Node:
    next: dict[str, _Node] = field(default_factory=dict)
    done: list[tuple[Rule, tuple[int, ...], str]] = field(default_factory=list)


class RuleOptions(TypedDict, total=False):
    """What a rule may say beside its name, its patterns and its meaning; see `Rule`."""

    gives: str
    bare: bool | None
    trim: int


class RuleBook:
    """An ordered set of rules; `rule` and `add` add to it, `extended` makes a larger one beside it.

    `joining` are categories of words that only join others ("of", "until"): the functions of the rules do not get them.
    """

    def __init__(self, rules: Iterable[Rule] = (), joining: frozenset[str] = frozenset()) -> None:
        self.rules: list[Rule] = list(rules)
        self.joining = joining
        self.named: dict[str, Rule] = {}  # the first of each name, and those that have no pattern yet
        self._root: _Node | None = None
        self._vocabulary: frozenset[str] = frozenset()

    def rule(self, *patterns: str, name: str = "", **options: Unpack[RuleOptions]) -> Callable[[M], M]:
        """Decorate the function that turns what the categories matched into a meaning; the rule has its name, or the
        one given."""

        def added(make: M) -> M:
            self.add(name or make.__name__.strip("_").replace("_", " "), make, *patterns, **options)
            return make

        return added

    def add(
        self,
        name: str,
        make: Make,
        *patterns: str,
        where: Guard | None = None,
        **options: Unpack[RuleOptions],
    ) -> None:
        """Add a rule: the function turns what the categories matched into a meaning, `where` that holds of it."""
        made = make if where is None else guarded(make, where)
        self.rules += [Rule(name, pattern, made, **options) for pattern in patterns]
        self.named.setdefault(name, Rule(name, "", made, **options))
        self._root, self._vocabulary = None, frozenset()

    def fixed(self, name: str, value: Hashable, *patterns: str, **options: Unpack[RuleOptions]) -> None:
        """Add a rule whose phrases always have this meaning."""
        self.add(name, lambda *_: value, *patterns, **options)

    def same(
        self, name: str, *patterns: str, where: Guard | None = None, **options: Unpack[RuleOptions]
    ) -> None:
        """Add a rule whose phrases mean what their last category matched."""
        self.add(name, lambda *parts: parts[-1], *patterns, where=where, **options)

    def extended(self, *others: RuleBook) -> RuleBook:
        """A new book with these rules and the others'."""
        return RuleBook((*self.rules, *(rule for other in others for rule in other.rules)), self.joining)

    @property
    def root(self) -> _Node:
        if self._root is None:
            self._root = _compile(self.rules, self.joining)
        return self._root

    @property
    def vocabulary(self) -> frozenset[str]:
        """Every word and category that a pattern mentions; other tokens are passed over."""
        if not self._vocabulary:
            forms = (form for rule in self.rules for form in expand(rule.pattern))
            self._vocabulary = frozenset(element for form in forms for element in form)
        return self._vocabulary


def guarded(make: Make, where: Guard) -> Make:
    """The same function, which declines where the condition does not hold of what the categories matched."""
    return lambda *parts: make(*parts) if where(*parts) else None


def ends_in(*kinds: type) -> Guard:
    """The condition that what was matched last is one of these kinds."""
    return lambda *parts: isinstance(parts[-1], kinds)


def not_ending_in(*kinds: type) -> Guard:
    """The condition that what was matched last is none of these kinds."""
    return lambda *parts: not isinstance(parts[-1], kinds)


def turned(make: Make) -> Make:
    """The same function for a pattern with the categories in the opposite order."""
    return wraps(make)(lambda *parts: make(*reversed(parts)))


def expand(pattern: str) -> Iterator[tuple[str, ...]]:
    """Every sequence of words and categories that the pattern stands for."""
    choices = []
    for element in pattern.split():
        optional = element.endswith("?") and element != "?"
        options = element.removesuffix("?").split("|") if element != "|" else ["|"]
        choices.append([*options, ""] if optional else options)
    for choice in product(*choices):
        yield tuple(element for element in choice if element)


def _compile(rules: list[Rule], joining: frozenset[str]) -> _Node:
    root = _Node()
    for rule in rules:
        for form in expand(rule.pattern):
            node = root
            for element in form:
                node = node.next.setdefault(element, _Node())
            kept = tuple(
                place for place, one in enumerate(form) if one.startswith("<") and one not in joining
            )
            sure = rule.bare is None and not joining.isdisjoint(form)  # what is joined to it licenses it
            node.done.append((replace(rule, bare=False) if sure else rule, kept, f"<{rule.gives}>"))
    return root


def parse(tokens: list[Token], book: RuleBook, lexicon: Lexicon) -> list[Item]:
    """Every phrase that the rules find in the tokens."""
    root, vocabulary = book.root, book.vocabulary
    # For each position: what begins there, by category. A token's own text is a category as well.
    chart: list[dict[str, list[Item]]] = [{} for _ in range(len(tokens) + 1)]
    everything: list[Item] = []
    for start in range(len(tokens) - 1, -1, -1):
        word = tokens[start].lower
        agenda: list[Item] = []
        if word in vocabulary:
            literal = Item(word, start, start + 1, None)
            chart[start][word] = [literal]
            node = root.next.get(word)
            if node is not None and (node.done or chart[start + 1]):
                _extend(chart, node, (literal,), agenda)
        for category, value, bare in lexicon(tokens, start):
            agenda.append(Item(category, start, start + 1, value, bare=bare))
        if agenda:
            everything += _grow(chart, start, agenda, root)
    return everything


def _grow(chart: list[dict[str, list[Item]]], start: int, agenda: list[Item], root: _Node) -> list[Item]:
    """Everything that can be built from the beginnings on the agenda."""
    seen: set[tuple[str, int, Hashable]] = set()
    here = chart[start]
    found = []
    for _ in range(_MOST):
        if not agenda:
            break
        item = agenda.pop()
        key = (item.category, item.end, item.value)
        if key in seen:
            continue
        seen.add(key)
        here.setdefault(item.category, []).append(item)
        if item.rule is not None:
            found.append(item)
        node = root.next.get(item.category)
        if node is not None:
            _extend(chart, node, (item,), agenda)
    return found


def _extend(
    chart: list[dict[str, list[Item]]], node: _Node, parts: tuple[Item, ...], agenda: list[Item]
) -> None:
    """Follow the rules onward from the parts matched so far; finished phrases go on the agenda."""
    start, end = parts[0].start, parts[-1].end
    for rule, kept, category in node.done:
        value = rule.make(*[parts[index].value for index in kept])
        if value is not None:
            bare = all(parts[index].bare for index in kept) if rule.bare is None else rule.bare
            agenda.append(Item(category, start, end, value, bare=bare, rule=rule, parts=parts))
    onward = node.next
    if not onward:
        return
    for name, items in chart[end].items():
        child = onward.get(name)
        if child is not None:
            for item in items:
                if item.end - start <= LONGEST:
                    _extend(chart, child, (*parts, item), agenda)
