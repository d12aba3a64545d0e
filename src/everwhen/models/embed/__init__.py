from everwhen.models.embed.base import Embedder


def open_embedder(spec):
    from everwhen.models.embed.minilm import MiniLM

    return MiniLM()


class CachedEmbedder:
    def __init__(self, inner, path, max_entries=0):
        self.inner = inner
        self.dim = inner.dim
        self.name = inner.name
        self.pieces = inner.pieces
        self.embed = inner.embed
