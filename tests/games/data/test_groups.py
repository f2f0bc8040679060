"""Rows belong to groups, or to themselves."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import (
    LogisticRegression,
)
from sklearn.neighbors import KNeighborsClassifier

import brute
import fairfield as ff
from games.data.examples import PLAYERS


def test_single_rows_play_where_there_are_no_groups(sets):
    X, y, X_test, y_test = sets
    game = ff.DataGame(KNeighborsClassifier(1), X[:8], y[:8], X_test, y_test, scoring="accuracy")
    assert game.players == tuple(range(8))
    S = brute.coalitions(8)[[255, 5]]
    wanted = [KNeighborsClassifier(1).fit(X[:8][s], y[:8][s]).score(X_test, y_test) for s in S]
    assert_array_equal(game.worths(S), wanted)


def test_groups_are_labels_or_a_column(sets, groups):
    X, y, X_test, y_test = sets
    names = np.array(["ann", "bob", "cat", "dan", "eve"])[groups]
    by_label = ff.DataGame(LogisticRegression(), *sets, groups=names)
    frame = pd.DataFrame(X, columns=list("abc")).assign(vendor=names)
    test = pd.DataFrame(X_test, columns=list("abc"))
    by_column = ff.DataGame(LogisticRegression(), frame, y, test, y_test, groups="vendor")
    with_it = test.assign(vendor="ann")
    in_both = ff.DataGame(LogisticRegression(), frame, y, with_it, y_test, groups="vendor")
    assert by_label.players == by_column.players == ("ann", "bob", "cat", "dan", "eve")
    S = brute.coalitions(PLAYERS)
    assert_array_equal(by_column.worths(S), by_label.worths(S))
    assert_array_equal(in_both.worths(S), by_label.worths(S))


def test_an_unknown_column_lists_the_known_ones(sets):
    X, y, X_test, y_test = sets
    frame = pd.DataFrame(X, columns=list("abc"))
    with pytest.raises(ValueError, match=r"groups='seller' is no column of X, which has a, b, c"):
        ff.DataGame(LogisticRegression(), frame, y, X_test, y_test, groups="seller")
    labels = pd.Series(["a"] * 39 + [pd.NA], dtype="string")
    with pytest.raises(ValueError, match="row 39 has the group"):
        ff.DataGame(LogisticRegression(), frame, y, X_test, y_test, groups=labels)


def test_single_rows_are_named_as_neighbors_are(sets):
    X, y, X_test, y_test = sets
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(len(X))])
    twice = frame.set_axis(["same"] * len(X))
    for rows in (frame, frame.to_numpy(), twice):
        data = ff.DataGame(LogisticRegression(), rows, y, pd.DataFrame(X_test), y_test)
        assert data.players == ff.NeighborGame(rows, y, X_test, y_test).players
    assert data.players[1] == 1
