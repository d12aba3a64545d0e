"""The read path: plan, channels, fusion, reading, budget. One module each, composed by a frozen recipe."""

from everwhen.recall.pipeline import recall
from everwhen.recall.request import Request
from everwhen.types import Recall
from everwhen.types.recipes import FOUR_WAY, MID, TEMPR, Recipe

__all__ = ["FOUR_WAY", "MID", "TEMPR", "Recall", "Recipe", "Request", "recall"]
