"""Time: interval algebra, expressions, query constraints. Imports nothing else of the house."""

from everwhen.when.interval import Grain, Interval

__all__ = ["Grain", "Interval"]
