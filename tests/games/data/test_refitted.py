"""Several scores of the same fits: one game each, one store for all, never an average of them."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import brute
import fairfield as ff

SCORES = {"hits": "accuracy", "auc": "roc_auc"}


@pytest.fixture
def game(sets, groups):
    return ff.DataGame(LogisticRegression(), *sets, groups=groups, scoring=SCORES)


def test_one_score_is_a_game_whose_worths_are_stored_with_all(game, sets, groups, tmp_path):
    store = tmp_path / "scores.db"
    area = ff.shapley(game["auc"], store=store)
    alone = ff.shapley(ff.DataGame(LogisticRegression(), *sets, groups=groups, scoring="roc_auc"))
    assert_allclose(area.values, alone.values, atol=1e-14)
    assert_allclose(area.covariance, alone.covariance, atol=1e-16)
    # Worths of the other score, and of both, are there already.
    hits, both = ff.banzhaf(game["hits"], store=store), ff.shapley(game, store=store)
    assert (area.evaluations, hits.evaluations, both.evaluations) == (2**5, 0, 0)
    assert_array_equal(both["auc"].values, area.values)
    assert ff.leave_one_out(game["auc"], store=store).evaluations == 0
    assert ff.verify_store(store, game["auc"]) == 2**5
    S = brute.coalitions(5)
    assert_array_equal(game["hits"].worths(S), game.worths(S)[0])
    assert repr(game["auc"]) == area.game == "DataGame: 5 groups, for the auc"
    with pytest.raises(KeyError, match=r"has no score 'log'; the scores are {hits, auc}"):
        game["log"]


def test_estimates_of_one_score_are_its_own(game, sets, groups):
    alone = ff.DataGame(LogisticRegression(), *sets, groups=groups, scoring="roc_auc")
    found, wanted = (ff.shapley(each, budget=24) for each in (game["auc"], alone))
    assert_allclose(found.values, wanted.values, atol=1e-12)


def test_a_report_keeps_scores_apart(game, tmp_path):
    found = ff.compare(game, criteria=["shapley"], temperature=1.0)
    curve = ff.removal_curve(game, found["shapley"]["hits"])
    report = json.loads(ff.report(found, tmp_path / "r.json", curves=curve).read_text())
    assert report["means"] == 0
    assert report["rows"] == ["hits", "auc"]
    assert_allclose(report["criteria"][0]["values"], found["shapley"].values)
    assert [each["label"].rpartition(", ")[2] for each in report["curves"]] == ["hits", "auc"]
    assert_allclose([each["worths"] for each in report["curves"]], np.asarray(curve.worths))
