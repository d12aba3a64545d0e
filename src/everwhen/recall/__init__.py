"""The read path: plan, channels, fusion, reading, budget. One module each, composed by a frozen recipe."""

from everwhen.recall.pipeline import Request, recall
from everwhen.recall.recipe import FOUR_WAY, MID, TEMPR, Recipe
from everwhen.recall.result import Recall

__all__ = ["FOUR_WAY", "MID", "TEMPR", "Recall", "Recipe", "Request", "recall"]
