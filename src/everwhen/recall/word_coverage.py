"""Word coverage: whether the evidence talks about what was asked, word by word, compared by meaning.

Exact words would reject what was told in other words ("relocate" for "moved"); the vector of a whole sentence would
not notice that the one important word is missing. So each word of the question is compared with each word of the
evidence by their token vectors; the rarer a word is in this memory, the more it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder
from everwhen.models.embed.base import gives_tokens
from everwhen.models.rerank.maxsim import best_matches, weighted_maxsim
from everwhen.models.rerank.token_codes import decode
from everwhen.store.search import Filter, SearchQuery
from everwhen.store.sql.store import Store

Array = NDArray[np.float32]
_TURN = Filter(kinds=frozenset({"turn"}))


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question: their token vectors, and how much each says in this memory (`telling`, its idf)."""

    words: tuple[str, ...]
    """The word that each token is of."""
    vectors: Array
    telling: Array
    """The idf of the word; 0 for one that does not count, such as a function word."""

    def without(self, names: Collection[str]) -> QuestionWords:
        """The same, but the words of some names (in lower case) do not count: "I" is not similar to a name, so
        `recall/question_subject.py` compares names."""
        kept = np.array([word.lower() not in names for word in self.words], np.bool_)
        return replace(self, telling=np.where(kept, self.telling, np.float32(0.0)))


def read_words(store: Store, embedder: Embedder, text: str) -> tuple[Array, QuestionWords | None]:
    """The vector of a text, and its words where the model tells them apart; both from one run."""
    piece = embedder.pieces(text)[0]
    if not gives_tokens(embedder):
        return embedder.embed([piece])[0], None
    vectors, tokens, words = embedder.embed_question(piece)
    telling = store.search(SearchQuery(words=piece, where=_TURN)).evidence((), tokens=words).terms.telling
    return vectors[0], QuestionWords(tuple(words), tokens, telling)


def coverage(asked: QuestionWords, embedder: Embedder, texts: Sequence[str]) -> list[float] | None:
    """How much of the question each text speaks of: the mean over the question's words of the best cosine among the
    text's words, weighted by how telling a word is; one of several tokens counts once. None where no word counts."""
    if not gives_tokens(embedder) or not asked.telling.any():
        return None
    tokens = Counter(asked.words)
    weights = asked.telling * np.array([1 / tokens[word] for word in asked.words], np.float32)
    _, codes = embedder.embed_with_codes([embedder.pieces(text)[0] for text in texts])
    best = np.nan_to_num(best_matches(asked.vectors, *decode(codes)), nan=0.0).clip(0.0)
    return [float(one) for one in weighted_maxsim(best, weights)]
