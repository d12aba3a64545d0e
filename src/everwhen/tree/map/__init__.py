"""The memory map: where a bank's memories lie, level by level, and measures of how they lie there.

Above: the front door and the command line. Below: NumPy; UMAP and matplotlib where they are installed.
"""

from everwhen.tree.map.chart import Chart, Layer, LevelMeasures, chart
from everwhen.tree.map.project import METHODS, Method

__all__ = ["METHODS", "Chart", "Layer", "LevelMeasures", "Method", "chart"]
