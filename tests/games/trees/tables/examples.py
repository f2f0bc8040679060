"""Tables of some models."""

import numpy as np

from fairfield.core.extension import legendre
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.tables.diagonal import _sizes
from fairfield.games.trees.tables.fill import fill
from fairfield.games.trees.tables.groups import cut
from fairfield.games.trees.tables.look_up import count_codes
from games.trees.models import BACKGROUND, COLUMNS, X, fitted

NAMES = {"boosting": None, "histogram with categories": None, "boosting of three classes": "all",
         "forest of classes": "all", "boosting of constants": None}  # fmt: skip


def made(name, background=X[BACKGROUND], order=1):
    """A game, the groups of its trees, and their tables for Shapley values."""
    model, _, _, _ = fitted(name)
    game = TreeGame(model, X[:20], background, output=NAMES[name])
    forest = game.forest
    short = np.flatnonzero(forest.degree <= COLUMNS)
    groups = cut(forest.nodes, short)
    start = np.cumsum(np.append(0, 1 << np.diff(groups.bit)))
    counts = np.empty(0)
    if background is not None:
        counts = count_codes(forest.nodes, groups, forest.background, start)
        counts /= forest.background.shape[1]
    sizes = _sizes(groups, order)
    entry = np.append(0, np.cumsum(sizes)[:-1])
    table = np.zeros((groups.value.shape[1], sizes.sum()))
    at, weights = legendre(COLUMNS)
    fill(groups, 0, len(sizes), start, counts, at, weights, order, entry, table)
    return game, groups, entry, table
