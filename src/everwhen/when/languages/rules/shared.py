"""How the shared rules are written: as in English, but joining words are not passed to the function."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Unpack

from everwhen.when.languages.language import MARK
from everwhen.when.parser import Guard, Make, Rule, RuleBook, RuleOptions, guarded


class SharedRules(RuleBook):
    """Rules over categories of words; each language adds its words and its own word orders."""

    def __init__(self, rules: tuple[Rule, ...] = ()) -> None:
        super().__init__(rules)
        self.named: dict[str, Rule] = {}  # what a language's own orders may refer to

    def add(
        self,
        name: str,
        make: Make,
        *patterns: str,
        where: Guard | None = None,
        **options: Unpack[RuleOptions],
    ) -> None:
        """Add a rule whose function gets what the categories mean, without those that only join."""
        whole = make if where is None else guarded(make, where)

        def meant(*parts: Hashable) -> Hashable | None:
            return whole(*[part for part in parts if part is not MARK])

        super().add(name, meant, *patterns, **options)
        self.named.setdefault(name, Rule(name, "", meant, **options))
