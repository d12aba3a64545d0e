"""Storage: the Store protocol, one folder for each database, and the search index derived from its rows."""

from everwhen.store.base import BankInfo, NewTurn, Store
from everwhen.store.search import Filter, Scored
from everwhen.store.then import NOW, Then
from everwhen.store.vector_model import VectorModel

__all__ = ["NOW", "BankInfo", "Filter", "NewTurn", "Scored", "Store", "Then", "VectorModel"]
