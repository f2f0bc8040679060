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


@pytest.mark.parametrize("bad", [np.ones(4), -np.ones(8), np.full(8, np.nan)])
def test_bad_variances_are_refused(bad):
    with pytest.raises(ValueError, match=r"one finite number from 0 on for each worth"):
        ff.TableGame(np.zeros(8), variances=bad)
