"""Summaries of a background: rows as they are, and how far worths are off with them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from games.features.models import curved


def test_rows_of_any_kind_and_their_shares(rng):
    X = pd.DataFrame({"age": rng.standard_normal(60), "town": rng.choice(["A", "B"], 60)})
    X.loc[::7, "age"] = np.nan
    few = ff.summary(X, 8)
    assert few.data.index.isin(X.index).all()
    assert few.data.dtypes.equals(X.dtypes)
    assert few.weights.sum() == pytest.approx(1)
    whole = ff.summary(X, 60)
    assert_allclose(whole.error(lambda rows: rows.age.fillna(3), X[:2]), 0, atol=1e-12)
    with pytest.raises(ValueError, match="give 1 to 60"):
        ff.summary(X, 61)


def test_the_error_is_the_difference_of_worths(rng):
    X = rng.standard_normal((50, 4))
    few = ff.summary(X, 5)
    found = few.error(curved, X[:3], coalitions=4000)
    whole, some = (ff.FeatureGame(curved, X[:3], each).table() for each in (X, few))
    sizes = np.array([k.bit_count() for k in range(16)])
    share = 1 / (5 * np.array([1, 4, 6, 4, 1])[sizes])
    assert found == pytest.approx(np.sqrt(((whole - some) ** 2 @ share).mean()), rel=0.05)
    assert found > 10 * ff.summary(X, 49).error(curved, X[:3])
    exact = ff.explain(curved, X[:3], few.data, "shapley", sample_weight=few.weights)
    assert_allclose(ff.explain(curved, X[:3], few, "shapley").values, exact.values)
