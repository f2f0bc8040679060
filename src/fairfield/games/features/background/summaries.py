"""A few rows that stand for a background, and how far worths are off with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.runtime.imports import needed_for
from fairfield.games.features.frames import is_frame
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.rows import as_table


@dataclass(frozen=True, eq=False)
class Summary:
    """Rows of a background, ``data``, with the share of all its rows that each stands for.

    It is given as the background in place of the ``whole``.
    """

    data: Any
    weights: FloatArray
    whole: Any

    def error(
        self, model: Any, rows: Any, *, coalitions: int = 32, seed: int = 0, **about: Any
    ) -> float:
        """How far worths with this summary are from those with all rows, in units of the output.

        The root mean square over these rows and random coalitions, all sizes alike; ``about``
        are the keywords of :class:`fairfield.FeatureGame`. A value is a mean of differences of two
        worths. It costs coalitions × rows × background rows of the model.
        """
        games = [FeatureGame(model, rows, each, **about) for each in (self.whole, self)]
        rng, count = np.random.default_rng(seed), len(games[0].players)
        sizes = rng.integers(0, count + 1, size=(coalitions, 1))
        drawn = rng.permuted(np.tile(np.arange(count), (coalitions, 1)), axis=1) < sizes
        whole, few = (game.worths(drawn) for game in games)
        return float(np.sqrt(np.mean((few - whole) ** 2)))


def summary(background: Any, count: int, *, seed: int = 0) -> Summary:
    """Rows of a background that stand for all of it: those nearest to the centres of k-means.

    They are rows as they were given, categories and whole numbers included, where
    ``shap.kmeans`` makes new ones. Columns weigh alike: numbers by their standard deviation, texts
    and categories by whether they agree. Trees and linear models need no summary.

    >>> few = summary(np.array([[0.0], [0.1], [0.1], [9.0]]), 2)
    >>> few.data[:, 0], few.weights
    (array([0.1, 9. ]), array([0.75, 0.25]))
    >>> few.error(lambda X: X[:, 0] ** 2, [[3.0]]) < 0.01
    True
    """
    _, table = as_table(background)
    if not 1 <= count <= len(table):
        raise ValueError(f"{count} rows of {len(table)} were asked for; give 1 to {len(table)}")
    with needed_for("summary"):
        from sklearn.cluster import KMeans
        from sklearn.metrics import pairwise_distances_argmin
    frame = is_frame(table)
    columns = [table.iloc[:, j] if frame else table[:, j] for j in range(table.shape[1])]
    points = np.hstack([_coordinates(np.asarray(each)) for each in columns])
    centres = KMeans(count, n_init=4, random_state=seed).fit(points)
    places = np.unique(centres.transform(points).argmin(axis=0))
    # Every row goes to the nearest that was chosen, which need not be its own centre's.
    nearest = pairwise_distances_argmin(points, points[places])
    weights = np.bincount(nearest, minlength=len(places)) / len(table)
    return Summary(table.iloc[places] if frame else table[places], weights, table)


def _coordinates(column: Any) -> FloatArray:
    """A column as coordinates (rows, k) in which its values are about 1 apart."""
    try:
        numbers = column.astype(float)
    except (TypeError, ValueError):
        known, place = np.unique(column.astype(str), return_inverse=True)
        return np.asarray((place[:, None] == np.arange(len(known))) / np.sqrt(2))
    missing = np.isnan(numbers)
    filled = np.where(missing, np.nanmean(numbers) if not missing.all() else 0.0, numbers)
    spread = filled.std() or 1.0
    return np.stack([(filled - filled.mean()) / spread, missing], axis=1)
