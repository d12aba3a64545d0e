"""What a question is about: the stems of its telling words, each weighed by how rare it is in the bank."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from everwhen.agent.bank import Bank
from everwhen.agent.extractive.pasts import PASTS
from everwhen.recall import Recipe
from everwhen.store.terms import STOP_WORDS, Tokenizer

MOST = 64
"""Turns with a word that are counted; a word that more have is common, however many."""
LONGEST = 12
"""Telling words of a question that take part, the first ones: a question has few."""
BY_WORDS = Recipe(
    name="words", candidates=MOST, channels=("keyword",), fusion="rrf", rerank=False, context=False,
    speaker=False, latest=False, facts=False,
)  # fmt: skip
# Words of asking: they say what kind of answer is wanted, and stand in no answer.
_ASKING = """many much often long old far ago kind type sort name named called thing happen happened happens pass passed
    come came first last earlier later before after now currently current nowadays today still time times day days date
    week weeks month months year years hour hours minute minutes different total number amount exactly ever remind
    remember know mention mentioned tell told recently recent new go going went gone get got getting make made take took
    use used start started have having lot person people way reason give gave began begin did surname nickname
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday"""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Terms:
    """Stems with their weights: ln(1 + M / (n + 0.5)) for a stem that n of at most M turns have."""

    weights: Mapping[str, float]
    never: frozenset[str]
    """Those that nobody ever said."""

    def cover(self, stems: Collection[str]) -> float:
        """The share of the weight that a text has; 0 where there is nothing to have."""
        whole = math.fsum(self.weights.values())
        return math.fsum(w for stem, w in self.weights.items() if stem in stems) / whole if whole else 0.0

    @property
    def unheard(self) -> float:
        """The share of the weight that lies on what nobody ever said."""
        return self.cover(self.never)


def read_terms(bank: Bank, words: str, names: Collection[str]) -> Terms:
    """The terms of a question, without those whom it is about: who speaks or is spoken of is another matter."""
    distinct = list(dict.fromkeys(match.group().lower() for match in _WORD.finditer(words)))
    of_names = frozenset(stem for counted in tokenizer().counts(list(names)) for stem in counted)
    stems: dict[str, str] = {}
    distinct = list(dict.fromkeys(PASTS.get(word, word) for word in distinct))
    for word, counted in zip(distinct, tokenizer().counts(distinct), strict=True):
        for stem in counted:
            if stem not in ignored() and stem not in of_names and not stem.isdigit():
                stems.setdefault(stem, word)
    kept = dict(list(stems.items())[:LONGEST])
    counts = {stem: _turns_with(bank, word, stem) for stem, word in kept.items()}
    weights = {stem: math.log(1 + MOST / (count + 0.5)) for stem, count in counts.items()}
    return Terms(weights, frozenset(stem for stem, count in counts.items() if not count))


def stems_of(texts: Sequence[str]) -> list[frozenset[str]]:
    """The stems of each text, those of verbs behind irregular pasts included."""
    return [frozenset(counted) for counted in tokenizer().counts([_with_verbs(text) for text in texts])]


def _turns_with(bank: Bank, word: str, stem: str) -> int:
    """How many turns have a word, in any form. No memory fits into no tokens, so nothing counts as recalled."""
    forms = " ".join([word, *forms_of().get(stem, ())])
    return len(bank.recall(forms, recipe=BY_WORDS, max_tokens=0, kinds=("turn",)).dropped)


def _with_verbs(text: str) -> str:
    words = [match.group().lower() for match in _WORD.finditer(text)]
    return " ".join([text, *(PASTS[word] for word in words if word in PASTS)])


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    return Tokenizer()


@lru_cache(maxsize=1)
def ignored() -> frozenset[str]:
    """Stems that tell nothing."""
    return frozenset(tokenizer().counts([f"{STOP_WORDS} {_ASKING}"])[0])


@lru_cache(maxsize=1)
def function_words() -> frozenset[str]:
    """Stems of words that have no content at all."""
    return frozenset(tokenizer().counts([STOP_WORDS])[0])


@lru_cache(maxsize=1)
def forms_of() -> Mapping[str, Sequence[str]]:
    """The irregular forms of a verb by its stem."""
    found: dict[str, list[str]] = {}
    verbs = sorted(set(PASTS.values()))
    for verb, counted in zip(verbs, tokenizer().counts(verbs), strict=True):
        for stem in counted:
            found[stem] = [verb, *(past for past, base in PASTS.items() if base == verb)]
    return found
