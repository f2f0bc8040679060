"""Tables of pairs; those of players are tested where rows are looked up in them."""

import numpy as np

from fairfield.core.extension import legendre
from fairfield.games.trees.tables.look_up import look_up
from games.trees.models import COLUMNS, table_of
from games.trees.tables.examples import made


def test_pairs():
    game, groups, entry, table = made("boosting", order=2)
    rows = game.rows
    values = np.zeros((1, COLUMNS * (COLUMNS - 1) // 2, rows.shape[1]))
    look_up(game.forest.nodes, groups, 0, len(entry), 2, entry, table, rows, values)
    wanted = table_of(game).hessian_along_diagonal(*legendre(COLUMNS))
    second, first = np.tril_indices(COLUMNS, -1)
    np.testing.assert_allclose(values[0].T, wanted[:, second, first], atol=1e-10)
