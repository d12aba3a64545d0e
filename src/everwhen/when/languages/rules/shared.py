"""How the shared rules are written: as in English, but joining words are not passed to the function."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps

from everwhen.when.languages.language import MARK
from everwhen.when.parser import M, Rule, RuleBook


class SharedRules(RuleBook):
    """Rules over categories of words; each language adds its words and its own word orders."""

    def __init__(self, rules: tuple[Rule, ...] = ()) -> None:
        super().__init__(rules)
        self.named: dict[str, Rule] = {}  # what a language's own orders may refer to

    def rule(
        self, *patterns: str, gives: str = "time", bare: bool | None = False, trim: int = 0, name: str = ""
    ) -> Callable[[M], M]:
        """Decorate the function that gets what the categories mean, without those that only join."""

        def add(make: M) -> M:
            called = name or make.__name__.replace("_", " ")

            @wraps(make)
            def meant(*parts: Hashable) -> Hashable | None:
                return make(*[part for part in parts if part is not MARK])

            RuleBook.rule(self, *patterns, gives=gives, bare=bare, trim=trim, name=called)(meant)
            self.named.setdefault(called, Rule(called, "", gives, meant, bare, trim))
            return make

        return add
