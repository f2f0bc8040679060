"""Worths with errors: a game of noisy fits, and the coefficients that errors pass through."""

import numpy as np

import fairfield as ff
from fairfield.multilinear.table import TableExtension


def linear(read, players):
    """The coefficients (n, 2^n) of a linear reading: its answers to all unit tables."""
    return read(TableExtension.of(ff.TableGame(np.eye(2**players)))).T


def noisy(table, variances):
    return TableExtension.of(ff.TableGame(table, variances=variances))


def data_game(rng):
    """Four groups of rows, and a model whose fits depend on chance."""
    from sklearn.linear_model import SGDClassifier

    X, X_test = rng.standard_normal((40, 3)), rng.standard_normal((60, 3))
    y, y_test = (Z @ [1, -1, 0.5] + 0.5 * Z[:, 1] ** 2 > 0 for Z in (X, X_test))
    model = SGDClassifier(max_iter=2, tol=None)
    scoring = {"hits": "accuracy", "area": "roc_auc"}
    return ff.DataGame(
        model, X, y, X_test, y_test, groups=np.arange(40) % 4, scoring=scoring, repeats=3
    )
