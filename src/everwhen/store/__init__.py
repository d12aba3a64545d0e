"""Storage: the Store protocol, one folder for each database, and the search index derived from its rows."""

from everwhen.store.base import BankInfo, Filter, NewTurn, Scored, Store
from everwhen.store.model import Model
from everwhen.store.then import NOW, Then

__all__ = ["NOW", "BankInfo", "Filter", "Model", "NewTurn", "Scored", "Store", "Then"]
