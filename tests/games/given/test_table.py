"""Tables of worths."""

import numpy as np

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
