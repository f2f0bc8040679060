"""Data sets whose rows are valued."""

import numpy as np
import pytest

from games.data.examples import PLAYERS


@pytest.fixture
def sets(rng):
    """Training and test sets of two classes, 40 and 30 rows; the first group has one class."""
    X, X_test = rng.standard_normal((40, 3)), rng.standard_normal((30, 3))
    y, y_test = ((Z @ [1, -1, 0.5] + 0.5 * Z[:, 1] ** 2 > 0).astype(int) for Z in (X, X_test))
    y[::PLAYERS] = 1
    return X, y, X_test, y_test


@pytest.fixture
def groups():
    return np.arange(40) % PLAYERS
