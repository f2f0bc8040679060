"""Pictures of valuations: functions that take a result and an ``ax``, and return the ``ax``.

Without an ``ax`` they make one, large enough for all players. Colours are those of Okabe
and Ito, which colour-blind readers can distinguish, and never the only mark.
"""

from fairfield.plots.batches import beeswarm, box
from fairfield.plots.criteria import criteria, ranks
from fairfield.plots.dependence import dependence
from fairfield.plots.pairs import interactions, network
from fairfield.plots.paths import annealing, curves, trajectory
from fairfield.plots.rows import cohorts, heatmap
from fairfield.plots.shown import image, text
from fairfield.plots.values import bar, waterfall

__all__ = [
    "annealing",
    "bar",
    "beeswarm",
    "box",
    "cohorts",
    "criteria",
    "curves",
    "dependence",
    "heatmap",
    "image",
    "interactions",
    "network",
    "ranks",
    "text",
    "trajectory",
    "waterfall",
]
