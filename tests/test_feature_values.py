"""Values of features within reach: exact, in unions family by family, or estimated."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.games.choose import game_of


def wavy(X):
    return np.sin(X).prod(axis=1) + X[:, 0] * X[:, 1]


def probabilities(rng, features, used):
    """Rows and a boosted model of many features, which was fitted to the first ``used``."""
    xgboost = pytest.importorskip("xgboost")
    X = rng.standard_normal((300, features))
    known = np.where(np.arange(features) < used, X, 0.0)
    y = known.sum(axis=1) + X[:, 0] * X[:, 1] > 0
    return X, xgboost.XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1).fit(known, y)


@pytest.mark.parametrize("features", [30, 200])
def test_probabilities_of_many_features_are_exact_where_few_matter(rng, features):
    X, model = probabilities(rng, features, used=10)
    found = ff.explain(model, X[:3], X[100:110], "shapley", output="probability")
    assert found.method == "exact tables over few players"
    assert found.stderr is None
    assert found.values.shape == (3, features)

    def small(rows):
        whole = np.hstack([rows, np.zeros((len(rows), features - 10))])
        return model.predict_proba(whole)[:, 1]

    wanted = ff.shapley(ff.FeatureGame(small, X[:3, :10], X[100:110, :10]))
    assert_allclose(found.values[:, :10], wanted.values, atol=1e-10)
    assert_array_equal(found.values[:, 10:], 0.0)
    assert_allclose(found.grand, model.predict_proba(X[:3])[:, 1], atol=1e-6)


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
def test_estimates_agree_with_the_exact_values(rng, criterion):
    """The model uses 12 of 30 features; a budget below what these cost asks for an estimate."""
    X, model = probabilities(rng, 30, used=12)
    given = model, X[:2], X[100:120], criterion
    exact = ff.explain(*given, output="probability")
    assert exact.stderr is None
    found = ff.explain(*given, output="probability", budget=400)
    assert 0 < found.evaluations <= 400
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-12).all()


@pytest.mark.parametrize("features", [30, 200])
def test_what_is_out_of_reach_is_estimated_with_errors(rng, features):
    X, model = probabilities(rng, features, used=features)
    with pytest.warns(UserWarning, match=r"of reach, .*within ±\S+ from at most 16,\d+ "):
        found = ff.explain(
            model, X[0], X[100:104], "shapley", output="probability", sampler="regression"
        )
    wanted = 0.01 * abs(found.grand - found.empty)
    assert found.stop.startswith("every 95 % interval is within")
    assert found.half_widths.max() <= 1.05 * wanted
    assert found.stderr.shape == (features,)
    assert 0 < found.stderr.max() < 0.05
    assert_allclose(found.values.sum(), found.grand - found.empty, atol=1e-10)
    asked = ff.explain(model, X[0], X[100:104], "shapley", output="probability", budget=900)
    assert asked.evaluations == 900
    with pytest.raises(MemoryError, match=r"use TreeGame, .* this model's margin"):
        ff.explain(model, X[0], X[100:110], "free_energy_value", output="probability")
    alone = ff.explain(model, X[0], X[100:110], "leave_one_out", output="probability")
    assert alone.evaluations == features + 2


def test_any_model_of_many_features_is_estimated(rng):
    X = rng.standard_normal((8, 40))
    with pytest.warns(UserWarning, match=r"are out of reach.* estimated to within"):
        found = ff.explain(wavy, X[0], X, "banzhaf", sampler="regression")
    assert found.evaluations <= 2 * 40 + 2**14
    with pytest.warns(UserWarning, match=r"are out of reach.* estimated from at most"):
        ff.explain(wavy, X[0], lambda row, kept, rng: X[:1], "shapley")  # F(N) = F(∅)


def test_a_table_that_takes_long_is_filled_only_when_asked_for(rng, monkeypatch):
    X = rng.standard_normal((8, 10))
    exact = ff.explain(wavy, X[:2], X[2:], "shapley")
    monkeypatch.setattr("fairfield.feature_values.MOST_ROWS", 2**13)
    with pytest.warns(UserWarning, match=r"exact values take 12,\d+ model rows, which exact=True"):
        found = ff.explain(wavy, X[:2], X[2:], "shapley")
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-12).all()
    assert_array_equal(ff.explain(wavy, X[:2], X[2:], "shapley", exact=True).values, exact.values)
    with pytest.warns(UserWarning, match=r"at most 200 coalitions \(9,600 model rows\)"):
        ff.importance(wavy, X, wavy(X), X[2:])
    with pytest.raises(
        ValueError, match="needs all 1,024 worths, the budget allows 100; leave out"
    ):
        ff.explain(wavy, X[:2], X[2:], "shapley", exact=True, budget=100)
    with pytest.raises(ValueError, match="exact='yes' was given"):
        ff.explain(wavy, X[:2], X[2:], "shapley", exact="yes")


TREES = {"first": [0, 1, 2], "second": {"inner": [3, 4], "alone": [5]}}


@pytest.mark.parametrize("kind", ["trees", "forest", "linear", "function"])
def test_explained_features_join_in_unions_by_their_closed_form(kind, rng):
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression

    X = rng.integers(0, 3, size=(40, 8)).astype(float)
    y = X[:, 0] * X[:, 3] - X[:, 1] * X[:, 4] * X[:, 5] + X[:, 6] * X[:, 0]
    model = LinearRegression() if kind == "linear" else RandomForestRegressor(3, random_state=0)
    model = model.fit(X, y).predict if kind == "function" else model.fit(X, y)
    background = None if kind == "forest" else X[:5]
    # Columns 6 and 7 are one feature.
    groups = {"last": [6, 7]}
    found = ff.explain(model, X[:2], background, ff.shapley, unions=TREES, groups=groups)
    game = game_of(model, X[:2], background, groups=groups)
    table = ff.TableGame(game.worths(brute.coalitions(7)), game.players)
    expected = ff.owen(table, TREES)
    assert found.players == game.players
    assert_allclose(found.values, expected.values, rtol=0, atol=1e-12)
    runs = [[game.players.index(i) for i in run] for run in ([0, 1, 2], [3, 4], [3, 4, 5])]
    assert_allclose(found.values[0], brute.owen(table.worth_table[0], runs), rtol=0, atol=1e-12)
    labels = [0, 1, 2, 3, 4, 5, "last", "last"]
    again = ff.explain(model, X[:2], background, "owen", unions=TREES, groups=labels)
    order = [again.players.index(player) for player in found.players]
    assert_allclose(again.values[:, order], found.values, rtol=0, atol=1e-12)
    explainer = ff.Explainer(model, background, unions=TREES, groups=groups)
    for served in (explainer, explainer, pickle.loads(pickle.dumps(explainer))):
        assert_allclose(served(X[:2]).values, found.values, rtol=0, atol=1e-12)
    assert_allclose(explainer(X[0]).values, found.values[0], rtol=0, atol=1e-12)


def test_unions_of_a_clustering_are_those_of_shap(rng):
    """shap's partition explainer, which evaluates its own coalitions one by one."""
    shap = pytest.importorskip("shap")
    from scipy.cluster.hierarchy import linkage

    X = rng.normal(size=(40, 6))
    tree = linkage(X.T, "complete")
    masker = shap.maskers.Partition(X[:10], max_samples=10, clustering=tree)
    theirs = shap.explainers.Partition(wavy, masker)(X[20:23], max_evals=1000, silent=True)
    found = ff.explain(wavy, X[20:23], X[:10], "shapley", unions=tree)
    assert_allclose(found.values, theirs.values, rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match=r"a linkage of 6 players has shape \(5, 4\)"):
        ff.explain(wavy, X[:1], X[:10], "shapley", unions=tree[:4])


def test_explaining_in_unions_refuses_other_criteria_and_estimates_by_a_budget(rng):
    X = rng.normal(size=(6, 9))
    with pytest.raises(ValueError, match=r"unions= have Owen's values, .* criterion='banzhaf'"):
        ff.explain(lambda Z: Z[:, 0], X, X, ff.banzhaf, unions={})
    found = ff.explain(lambda Z: Z.sum(axis=1), X, X, unions={"a": [0, 1]}, budget=50)
    assert found.stderr is not None
    assert_allclose(found.values, X - X.mean(axis=0), atol=1e-12)


def test_unions_never_mix_the_units_of_two_games(rng, monkeypatch):
    """Whether trees are refused depends on how many features a path has, joined as they are."""
    from sklearn.ensemble import GradientBoostingClassifier

    X = rng.integers(0, 2, size=(200, 6)).astype(float)
    model = GradientBoostingClassifier(n_estimators=2, max_depth=6).fit(X, X.sum(axis=1) % 3 == 1)
    monkeypatch.setattr("fairfield.games.trees.products.terms.MOST", 4)
    unions = {"a": [0, 1], "b": [2, 3, 4]}
    with pytest.warns(UserWarning, match=r"probability.*since TreeGame refused") as warned:
        found = ff.explain(model, X[:2], X[2:6], unions=unions)
    assert {each.filename for each in warned} == {__file__}
    mixed = np.where(brute.coalitions(6)[:, None], X[:2, None, None], X[2:6]).reshape(-1, 6)
    tables = model.predict_proba(mixed)[:, 1].reshape(2, -1, 4).mean(axis=2)
    wanted = [brute.owen(worths, [[0, 1], [2, 3, 4]]) for worths in tables]
    assert_allclose(found.values, wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["trees", "linear", "function"])
def test_labels_of_columns_and_unions_beside_a_background_that_names_them(kind, rng):
    pd = pytest.importorskip("pandas")
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression

    X = rng.integers(0, 3, size=(60, 5)).astype(float)
    frame, y = pd.DataFrame(X, columns=list("abcde")), X[:, 0] * X[:, 1] - X[:, 2]
    model = LinearRegression() if kind == "linear" else RandomForestRegressor(3, random_state=0)
    model = model.fit(frame, y)
    model = model.predict if kind == "function" else model
    asked = {"groups": list("xxyzz"), "unions": {"u": ["x", "z"]}}
    wanted = ff.explain(model, frame[:3], frame[20:24], **asked)
    found = ff.explain(model, X[:3], frame[20:24], **asked)
    assert_array_equal(found.values, wanted.values)
    if kind != "trees":  # which are read once, with their names
        explainer = ff.Explainer(model, frame[20:24], **asked)
        assert_array_equal(explainer(X[:3]).values, wanted.values)


def test_an_explainer_of_drawn_backgrounds_takes_rows_with_and_without_names(rng):
    pd = pytest.importorskip("pandas")
    X = rng.normal(size=(6, 4))
    asked = {"groups": list("xxyz"), "unions": {"u": ["x", "z"]}}
    explainer = ff.Explainer(lambda Z: np.prod(Z, axis=1), lambda row, kept, rng: X[2:], **asked)
    found = explainer(X[:2]).values
    assert_allclose(explainer(pd.DataFrame(X[:2], columns=list("abcd"))).values, found)
