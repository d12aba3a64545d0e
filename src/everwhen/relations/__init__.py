"""The ordinary relations of life and work, as data: `table.toml`."""

from everwhen.relations.table import Relation, asked_of, in_words, relations

__all__ = ["Relation", "asked_of", "in_words", "relations"]
