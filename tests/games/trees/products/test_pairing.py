"""Rows and background on one walk along the diagonal."""

import numpy as np
import pytest

from fairfield.core.extension import legendre
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.products import pairing
from games.trees.models import BACKGROUND, COLUMNS, X, fitted, table_of, with_gaps


@pytest.mark.parametrize("together", [7, 4096])
@pytest.mark.parametrize("name", ["forest", "histogram with categories", "tree of constants"])
def test_parts_of_the_background_add_up(name, together, monkeypatch):
    monkeypatch.setattr(pairing, "TOGETHER", together)
    rows = with_gaps(X) if name == "histogram with categories" else X
    game = TreeGame(fitted(name)[0], rows[:9], rows[BACKGROUND])
    forest, (at, weights) = game.forest, legendre(COLUMNS)
    powers = np.arange(COLUMNS + 1)
    joint = np.einsum("q,qa,qb->ab", weights, at[:, None] ** powers, (1 - at[:, None]) ** powers)
    values = np.ones((9, COLUMNS))
    depth = int(forest.depth.max())
    pairing.add_along_diagonal(forest.nodes, depth, game.rows, forest.background, joint, values)
    np.testing.assert_allclose(values - 1, table_of(game).shapley(), rtol=0, atol=1e-12)
