"""What functions of the user do to their arguments stays with them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairfield.core.copies import lent, measured
from fairfield.core.game import Game, Measured


def test_rows_of_every_kind_are_copied(xp):
    ours = [[3.0], [1.0]]
    lent(ours)[0][0] = 9.0
    assert ours == [[3.0], [1.0]]
    array = np.array([3, 1])
    lent(array)[0] = 9
    assert_array_equal(array, [3, 1])
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2]})
    copy = lent(frame)
    copy.loc[0, "a"] = 9
    assert frame["a"].tolist() == [1, 2]
    assert lent("a text") == "a text"
    other = xp.asarray([3.0, 1.0])
    copy = lent(other)
    if copy is not other:  # a library without copies hands out the thing itself
        copy[0] = 9.0
    assert float(other[0]) == 3.0


class Careless(Game):
    """Writes into the coalitions it is given, and later into what it answered."""

    def __init__(self):
        self.players = (0, 1)
        self.answer = np.zeros(4)

    def measure(self, coalitions):
        self.answer[:] = coalitions.sum(axis=1)
        coalitions[:] = False
        return Measured(self.answer, self.answer)


def test_a_game_may_write_into_its_argument_and_its_answer():
    game, coalitions = Careless(), np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool)
    found = measured(game, coalitions)
    assert coalitions.sum() == 4
    game.answer[:] = 7.0
    assert_array_equal(found.worths, [0, 1, 1, 2])
    assert_array_equal(found.variances, [0, 1, 1, 2])
