"""Workers may be threads of this process, and leave nothing behind in it."""

import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import fairfield as ff
from fairfield.core.game import Traits
from fairfield.evaluation import workers


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


class Watching(ff.Game):
    """Worths that are right only where BLAS has one thread."""

    players, traits = tuple(range(6)), Traits(block=1)

    def worths(self, coalitions):
        return coalitions.sum(axis=1) * float(blas_threads() == {1})


def test_threads_put_everything_back():
    with threadpool_limits(limits=2), joblib.parallel_config(backend="threading", n_jobs=4):
        found = ff.shapley(Watching())
        assert blas_threads() == {2}
    np.testing.assert_allclose(found.values, 1)
    assert workers._games == {}


def test_a_game_that_cannot_travel_is_told_at_once():
    class Rooted(Watching):
        tries = 0

        def __getstate__(self):
            Rooted.tries += 1
            return {"lock": threading.Lock()}

    with pytest.raises(ff.WorthError, match=r"cannot be pickled \(TypeError.*use n_jobs=1"):
        ff.shapley(Rooted(), n_jobs=2)
    assert Rooted.tries == 1
