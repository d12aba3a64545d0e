"""Models that the sentence-transformers package runs with torch; it downloads them on first use."""

from __future__ import annotations

from typing import Any

from everwhen.errors import ModelError
from everwhen.models.embed.chunking import cut, words_by
from everwhen.models.embed.downloaded import DownloadedModel


class SentenceTransformers(DownloadedModel):
    """`sentence-transformers:<model>`, such as `sentence-transformers:all-mpnet-base-v2` or a folder."""

    package = "sentence-transformers"

    def pieces(self, text: str) -> list[str]:
        model = self._model()
        window = int(model.max_seq_length or 512)
        return cut(text, window - 2, window // 8, words_by(lambda word: len(model.tokenizer.tokenize(word))))

    def _rows(self, texts: list[str]) -> Any:
        return self._model().encode(texts, convert_to_numpy=True, show_progress_bar=False)

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            fix = "pip install sentence-transformers"
            raise ModelError(f"{self.name} needs the sentence-transformers package: {fix}") from error
        try:
            return SentenceTransformer(self.model)
        except Exception as error:
            raise ModelError(
                f"sentence-transformers cannot load the model {self.model!r}: {error}"
            ) from error
