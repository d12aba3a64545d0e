"""Words against words: token F1, ROUGE-L, equality, and whether an answer says that it is not known."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = frozenset({"a", "an", "the", "and"})
_PUNCTUATION = str.maketrans(
    {mark: " " for mark in string.punctuation if mark not in "'-"} | {"'": "", "-": " "}
)
_DIGITS = {
    word: str(number)
    for number, word in enumerate(
        re.findall(r"\w+", "zero one two three four five six seven eight nine ten eleven twelve")
    )
}
_NOT_KNOWN = re.compile(
    r"\b(?:(?:not|never|n't|isn't|wasn't|aren't|don't|doesn't|didn't|cannot|can't|no|nothing|none|without|insufficient|"
    r"unable)\b[^.!?]{0,60}\b(?:know\w*|mention\w*|said|say\w*|stat\w*|told|tell\w*|inform\w*|specif\w*|provid\w*|"
    r"available|answer\w*|found|find|record\w*|remember\w*|recall\w*|evidence|enough|discuss\w*|determin\w*|clear)\b"
    r"|unknown|unanswerable|unspecified)",
    re.IGNORECASE,
)


def words(text: str) -> list[str]:
    """The words that count: lower case, without punctuation and articles, as SQuAD and LoCoMo do."""
    return [one for one in text.lower().translate(_PUNCTUATION).split() if one not in _ARTICLES]


def token_f1(answer: str, gold: str) -> float:
    """2PR / (P + R) over the words of both, each counted as often as it stands; LoCoMo stems them first, we do not."""
    said, right = words(answer), words(gold)
    if not said or not right:
        return float(said == right)
    shared = sum((Counter(said) & Counter(right)).values())
    return 2 * shared / (len(said) + len(right))


def rouge_l(answer: str, gold: str) -> float:
    """F1 of the longest common subsequence: with L its length, 2L / (m + n) for m and n words (Lin, 2004; beta 1)."""
    said, right = words(answer), words(gold)
    if not said or not right:
        return float(said == right)
    return 2 * _common_subsequence(said, right) / (len(said) + len(right))


def exact(answer: str, gold: str) -> bool:
    """Whether both are the same words."""
    return words(answer) == words(gold)


def holds(answer: str, gold: str) -> bool:
    """Whether the answer has every word of the right one, numbers alike as words and as digits.

    Of a right answer with an addition ("14 days. 15 days is also acceptable") the first sentence will do.
    """
    said = {_DIGITS.get(one, one) for one in words(answer)}
    sides = (gold, re.split(r"[.;(](?:\s|$)", gold)[0])
    wanted = [{_DIGITS.get(one, one) for one in words(side)} for side in sides]
    return any(side and side <= said for side in wanted)


def first_number(text: str) -> str:
    """The first number of a text, as digits; empty where there is none."""
    said = (_DIGITS.get(one, one) for one in words(text.replace(",", "")))
    return next((one for one in said if one.isdigit()), "")


def names(text: str, name: str) -> bool:
    """Whether a text has every word of a name, or a form of it: "increased" names "increase"."""
    said = words(text)
    return all(any(one.startswith(word) for one in said) for word in words(name))


def says_not_known(answer: str) -> bool:
    """Whether the answer says that it is not known; an empty one says nothing."""
    return bool(_NOT_KNOWN.search(answer))


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    row = [0] * (len(second) + 1)
    for one in first:
        before = 0
        for place, other in enumerate(second, 1):
            before, row[place] = row[place], before + 1 if one == other else max(row[place], row[place - 1])
    return row[-1]
