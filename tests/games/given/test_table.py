"""Tables of worths."""

import numpy as np
import pytest

import fairfield as ff


def test_the_description_covers_worths_and_variances():
    worths = np.arange(4.0)
    described = [
        ff.TableGame(worths).describe(),
        ff.TableGame(worths + 1).describe(),
        ff.TableGame(worths, variances=worths).describe(),
        ff.TableGame(worths, variances=worths + 1).describe(),
    ]
    assert len({str(each) for each in described}) == 4
    assert ff.TableGame(worths, variances=worths).describe() == described[2]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ff.TableGame([0, 1, 2]), r"shape \(3,\).*2\^n worths"),
        (lambda: ff.TableGame([1.0]), r"n ≥ 1 players"),
        (lambda: ff.TableGame([]), r"2\^n worths"),
        (lambda: ff.TableGame(3.0), r"2\^n worths"),
        (lambda: ff.TableGame([0, 1, 2, np.nan]), r"\{0, 1\} is nan"),
        (lambda: ff.TableGame([0, np.inf, 2, 3], ["a", "b"]), r"\{a\} is inf"),
        (lambda: ff.TableGame([[0, 1], [0, -np.inf]]), "of game 1 is -inf"),
        (lambda: ff.TableGame([0, 1j, 0, 0]), "real numbers"),
        (lambda: ff.TableGame([0, 1, 2, 3], ["a"]), "1 players were named"),
        (lambda: ff.TableGame([0, 1, 2, 3], ["a", "a"]), "'a' is named twice"),
        (lambda: ff.TableGame(np.zeros((0, 4))), "no games"),
    ],
)
def test_bad_games_get_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize("bad", [np.ones(4), -np.ones(8), np.full(8, np.nan)])
def test_bad_variances_are_refused(bad):
    with pytest.raises(ValueError, match=r"one finite number from 0 on for each worth"):
        ff.TableGame(np.zeros(8), variances=bad)
