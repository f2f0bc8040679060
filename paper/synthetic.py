"""The generator of the paper's synthetic points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.special import expit

TEMPERATURE = 0.5
FEATURES, IMPORTANT, TESTS = 10, 4, 100
# At 1.1^30 = 17 labels are all but certain.
MOST_RAISES = 30


def synthetic(rows: int, seed: int, training: int) -> tuple[FloatArray, BoolArray]:
    """The paper's generator: normal features, labels by a quadratic form of four of them.

    P(y = 1) = σ(c·score), the score standardised, and c raised from 1 by 10 % until a model
    that is fitted on the first ``training`` rows is right on more than 70 % of the others; a
    quadratic form on which no c makes it so is drawn anew.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import PolynomialFeatures

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, FEATURES))
    terms = PolynomialFeatures(2, include_bias=False).fit_transform(X[:, :IMPORTANT])
    while True:
        score, chance = terms @ rng.normal(size=terms.shape[1]), rng.random(rows)
        score = (score - score.mean()) / score.std()
        for times in range(MOST_RAISES):
            y: NDArray[np.bool_] = chance < expit(1.1**times * score)
            if y[:training].min() == y[:training].max():
                continue
            model = LogisticRegression(solver="liblinear").fit(X[:training], y[:training])
            if model.score(X[training:], y[training:]) > 0.7:
                return X, y
