"""One valuation, a batch of them, and a batch whose games have names."""

import numpy as np
import pytest

import fairfield as ff
import pictures

NAMES = ["ann", "bob", "<script>"]


@pytest.fixture
def one(rng):
    return ff.variational_index(ff.TableGame(rng.standard_normal(8), NAMES), temperature=0.5)


@pytest.fixture
def many(rng):
    return ff.variational_values(rng.standard_normal((4, 8)), 3, temperature=0.5)


class Named(ff.FunctionGame):
    """A batch of two games that have names."""

    batch, info = (2,), ff.GameInfo(labels=("hits", "loss"))

    def worths(self, coalitions):
        return np.stack([coalitions @ [3.0, 2.0, 1.0], coalitions @ [-1.0, 0.0, 5.0]])


@pytest.fixture
def named_game():
    return Named(len, players=NAMES)


@pytest.fixture
def named(named_game):
    return ff.shapley(named_game)


@pytest.fixture
def classes_game():
    return pictures.ClassesGame(len, players=NAMES)


@pytest.fixture
def classes(classes_game):
    return ff.variational_index(classes_game)
