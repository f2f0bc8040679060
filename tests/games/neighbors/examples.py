"""Nearest-neighbour games of several kinds and sizes."""

import numpy as np
from scipy.spatial.distance import cdist

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.multilinear.table import TableExtension


def small_game(rng, n, k, kind, tests=6):
    X, X_test = rng.normal(size=(n, 2)), rng.normal(size=(tests, 2))
    y, y_test = rng.integers(0, 3, n), rng.integers(0, 4, tests)
    if kind == "ties":
        X, X_test = np.round(X), np.round(X_test)
    if kind == "soft labels":
        y = rng.dirichlet(np.ones(4), n)
    if kind == "answers":
        y, y_test = rng.normal(size=n), rng.normal(size=tests)
    return ff.NeighborGame(X, y, X_test, y_test, k=k), (X, y, X_test, y_test)


def big_game(rng, n=6000, tests=40, k=5, width=3, **options):
    X, X_test = rng.normal(size=(n, width)), rng.normal(size=(tests, width))
    y, y_test = X[:, 0] + rng.normal(size=n) > 0, X_test[:, 0] > 0
    return ff.NeighborGame(X, y, X_test, y_test, k=k, **options)


def table_of(game):
    worths = game.worths(enumerate_coalitions(len(game.players)))
    return TableExtension.of(ff.TableGame(worths))


def corners(rng, shape):
    """Random points with some entries 0 and some 1."""
    x = rng.random(shape)
    x[rng.random(shape) < 0.15] = 0.0
    x[rng.random(shape) < 0.15] = 1.0
    return x


def sorted_rows(X, X_test):
    """An index of one's own: a function that sorts all rows."""

    def search(points, count):
        distances = cdist(points, X)
        rows = np.argsort(distances, axis=1, kind="stable")[:, :count]
        return np.take_along_axis(distances, rows, axis=1), rows

    return search
