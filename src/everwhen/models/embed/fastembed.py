"""Models that the fastembed package runs on the CPU; it downloads them on first use."""

from __future__ import annotations

from typing import Any

from everwhen.errors import ModelError
from everwhen.models.embed.chunking import cut, words_by
from everwhen.models.embed.downloaded import DownloadedModel


class FastEmbed(DownloadedModel):
    """`fastembed:<model>`, such as `fastembed:BAAI/bge-small-en-v1.5`."""

    package = "fastembed"

    def pieces(self, text: str) -> list[str]:
        tokenizer = self._model().model.tokenizer
        window = int((tokenizer.truncation or {}).get("max_length", 512))

        def count(word: str) -> int:
            return len(tokenizer.encode(word, add_special_tokens=False).ids)

        return cut(text, window - 2, window // 8, words_by(count))

    def _rows(self, texts: list[str]) -> Any:
        return list(self._model().embed(texts))

    def _load(self) -> Any:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise ModelError(f"{self.name} needs the fastembed package: pip install fastembed") from error
        try:
            return TextEmbedding(model_name=self.model)
        except Exception as error:
            raise ModelError(f"fastembed cannot load the model {self.model!r}: {error}") from error
