"""Models behind transformers and wrappers have the closed form of their last step, in raw columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeRegressor

import fairfield as ff

NUMBERS, COLOURS = ["age", "debt"], ["red", "green", "blue", "grey"]


@pytest.fixture(name="people")
def table(rng):
    X = pd.DataFrame(rng.standard_normal((80, 2)), columns=NUMBERS)
    X.loc[rng.random(80) < 0.2, "age"] = np.nan
    X["colour"] = rng.choice(COLOURS, 80)
    X["town"] = rng.choice(["A", "B", "C"], 80)
    X["size"] = rng.choice(["s", "m", "l"], 80)
    X["unused"] = rng.standard_normal(80)
    y = X.debt * (X.colour == "red") + X.age.fillna(1) + (X.town == "A") - (X["size"] == "l") > 0
    return X, y.to_numpy().astype(int)


def encoder(**options):
    """Every kind of encoding that keeps columns apart, in transformers within transformers."""
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    texts = [
        ("town", TargetEncoder(cv=3), ["town"]),
        ("size", OrdinalEncoder(), ["size"]),
    ]
    parts = [
        ("numbers", filled, NUMBERS),
        ("colour", OneHotEncoder(handle_unknown="ignore"), ["colour"]),
        ("texts", ColumnTransformer(texts), ["size", "town"]),
    ]
    return ColumnTransformer(parts, **options)


def classifier(name):
    if name == "lightgbm":
        found = pytest.importorskip("lightgbm")
        return found.LGBMClassifier(n_estimators=8, min_child_samples=3, verbose=-1, n_jobs=1)
    if name == "xgboost":
        return pytest.importorskip("xgboost").XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1)
    if name == "forest":
        return RandomForestClassifier(8, max_depth=4, random_state=0)
    if name == "boosting":
        return GradientBoostingClassifier(n_estimators=8, random_state=0)
    return LogisticRegression()


def margin(model):
    """What is explained of a pipeline, asked of the pipeline itself."""
    last, first = model[-1], model[:-1]
    if hasattr(last, "get_booster"):
        return lambda X: last.predict(first.transform(X), output_margin=True)
    if hasattr(last, "booster_"):
        return lambda X: last.predict(first.transform(X), raw_score=True)
    if hasattr(model, "decision_function"):
        return model.decision_function
    return lambda X: model.predict_proba(X)[:, 1]


def compare(found, function, rows, background):
    """Shapley values as the definition has them, from a function of rows and all coalitions."""
    want = ff.shapley(ff.FeatureGame(function, rows, background))
    assert found.players == want.players
    assert_allclose(found.values, want.values, atol=1e-6)
    assert_allclose(found.grand, function(rows), atol=1e-6)
    np.testing.assert_array_equal(found.data, np.asarray(rows, dtype=object))


@pytest.mark.parametrize("name", ["boosting", "forest", "xgboost", "lightgbm", "logistic"])
@pytest.mark.parametrize("sparse", [0.0, 1.0])
def test_encoded_columns_are_features_again(people, name, sparse):
    X, y = people
    model = make_pipeline(encoder(sparse_threshold=sparse), classifier(name)).fit(X, y)
    rows, background = X[:4], X[20:28]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ff.explain(model, rows, background, "shapley")
    assert found.method.startswith("closed form")
    compare(found, margin(model), rows, background)
    assert (found.values[:, found.players.index("unused")] == 0).all()
    assert found.labels == (0, 1, 2, 3)


def test_sums_are_exact(people):
    """In double precision the closed form is the table to the last digits."""
    X, y = people
    for last in (GradientBoostingClassifier(n_estimators=8), LogisticRegression()):
        model = make_pipeline(encoder(), last).fit(X, y)
        game = ff.FeatureGame(model.decision_function, X[:3], X[20:28])
        found = ff.explain(model, X[:3], X[20:28], "banzhaf")
        assert_allclose(found.values, ff.banzhaf(game).values, atol=1e-10)


@pytest.mark.parametrize(
    "first",
    [
        make_union(StandardScaler(), SplineTransformer(4)),
        make_pipeline(StandardScaler(), SelectKBest(f_regression, k=3)),
        FunctionTransformer(np.exp),
        make_pipeline(StandardScaler().set_output(transform="pandas"), "passthrough"),
    ],
)
def test_arrays(rng, first):
    X = rng.standard_normal((50, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    for last in (ExtraTreesRegressor(4, max_depth=4, random_state=0), Ridge()):
        model = make_pipeline(first, last).fit(X, y)
        found = ff.explain(model, X[:3], X[10:18], "shapley")
        assert found.method.startswith("closed form")
        compare(found, model.predict, X[:3], X[10:18])
        one = ff.explain(model, X[0], X[10:18], "shapley", groups=["a", "a", "b", "b", "c"])
        game = ff.FeatureGame(model.predict, X[0], X[10:18], groups=["a", "a", "b", "b", "c"])
        assert_allclose(one.values, ff.shapley(game).values, atol=1e-10)


def test_all_classes(people, rng):
    X, _ = people
    y = rng.choice(["x", "y", "z"], len(X))
    for last in (GradientBoostingClassifier(n_estimators=3), LogisticRegression()):
        model = make_pipeline(encoder().set_params(texts="drop"), last).fit(X, y)
        found = ff.explain(model, X[:3], X[20:30], "shapley", output="all")
        assert found.outputs == ("x", "y", "z")
        assert_allclose(found.grand, model.decision_function(X[:3]), atol=1e-10)
        assert_allclose(found.values.sum(axis=-1), found.grand - found.empty, atol=1e-10)


def test_many_columns(rng):
    """Closed forms have no limit; owners are found by the bits of their numbers."""
    X = rng.standard_normal((60, 70))
    model = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=10))
    model.fit(X, X[:, 69] > X[:, 3])
    found = ff.explain(model, X[:5], X, "shapley")
    bare = ff.explain(model[-1], model[0].transform(X[:5]), model[0].transform(X), "shapley")
    assert_allclose(found.values, bare.values, atol=1e-12)


def test_wrappers_are_looked_through(people):
    X, y = people
    bare = make_pipeline(encoder(), GradientBoostingClassifier(n_estimators=4)).fit(X, y)
    depth = {"gradientboostingclassifier__max_depth": [2]}
    search = GridSearchCV(bare, depth, cv=2).fit(X, y)
    wrapped = FixedThresholdClassifier(FrozenEstimator(search), threshold=0.3).fit(X, y)
    found = ff.explain(wrapped, X[:3], X[20:28], "shapley")
    compare(found, search.decision_function, X[:3], X[20:28])
    plain = X[NUMBERS].fillna(0)
    search = GridSearchCV(GradientBoostingClassifier(n_estimators=3), {"max_depth": [2]}, cv=2)
    found = ff.explain(search.fit(plain, y), plain[:3], plain, "shapley")
    assert_allclose(
        found.values, ff.explain(search.best_estimator_, plain[:3], plain, "shapley").values
    )


@pytest.mark.parametrize(
    ("method", "last"),
    [
        ("sigmoid", GradientBoostingClassifier(n_estimators=4)),
        ("temperature", GradientBoostingClassifier(n_estimators=4)),
        ("temperature", LogisticRegression()),
        ("sigmoid", RandomForestClassifier(4, max_depth=3, random_state=0)),
    ],
)
def test_calibrated_log_odds_are_a_multiple_of_the_margin(rng, method, last):
    X = rng.standard_normal((60, 4))
    model = CalibratedClassifierCV(
        make_pipeline(StandardScaler(), last), method=method, ensemble=False, cv=2
    ).fit(X, X[:, 0] * X[:, 1] > 0)
    found = ff.explain(model, X[:3], X[10:18], "shapley")
    assert found.words.unit == "log-odds"
    compare(found, lambda rows: logit(model.predict_proba(rows)[:, 1]), X[:3], X[10:18])
    other = ff.explain(model, X[:3], X[10:18], "shapley", output=False)
    assert_allclose(other.values, -found.values, atol=1e-12)
    found = ff.explain(model, X[:3], X[10:18], "shapley", output="probability")
    assert_allclose(found.grand, model.predict_proba(X[:3])[:, 1])


def ratio(X):
    return np.column_stack([X, X[:, 0] / (3 + X[:, 1] ** 2)])


@pytest.mark.parametrize(
    ("wrap", "reason"),
    [
        (lambda last: make_pipeline(PCA(2), last), "column 'pca0' of what the transformers make"),
        (
            lambda last: make_pipeline(FunctionTransformer(ratio), last),
            r"column 3 \(counted from 0\)",
        ),
        (lambda last: CalibratedClassifierCV(last, cv=2), "averages the probabilities of 2"),
        (
            lambda last: CalibratedClassifierCV(last, method="isotonic", cv=2, ensemble=False),
            "isotonic",
        ),
    ],
)
@pytest.mark.parametrize("last", [LogisticRegression(), GradientBoostingClassifier(n_estimators=2)])
def test_what_mixes_columns_is_called(rng, wrap, reason, last):
    X = rng.standard_normal((40, 3))
    model = wrap(last).fit(X, X[:, 0] > X[:, 1])
    with pytest.warns(UserWarning, match=f"explains the probability of class True .*{reason}"):
        found = ff.explain(model, X[:2], X[5:15], "shapley")
    assert_allclose(found.grand, model.predict_proba(X[:2])[:, 1])


def test_values_that_were_not_there_before(people):
    """A category that no background row has does not belong to anyone until a row has it."""
    X, y = people
    model = make_pipeline(encoder(), GradientBoostingClassifier(n_estimators=8)).fit(X, y)
    background = X[X.colour != "red"][:20]
    explainer = ff.Explainer(model, background, criterion="shapley")
    for rows in (X[X.colour == "red"][:3], X[X.colour != "red"][:2], X[:1]):
        want = ff.shapley(ff.FeatureGame(model.decision_function, rows, background))
        assert_allclose(explainer(rows).values, want.values, atol=1e-10)


def test_path_dependent_games_need_rows_that_differ(people):
    X, y = people
    model = make_pipeline(encoder(), GradientBoostingClassifier(n_estimators=4)).fit(X, y)
    found = ff.explain(model, X, criterion="shapley")
    assert_allclose(found.grand, model.decision_function(X), atol=1e-10)
    with pytest.raises(TypeError, match="give a background"):
        ff.explain(model, X[:1], criterion="shapley")


def test_a_column_made_of_two_is_seen_even_where_no_row_has_both():
    joined = FunctionTransformer(lambda Z: np.column_stack([Z, Z[:, 0] * Z[:, 1]]))
    seen = np.zeros((4, 12))
    seen[:, :2] = [[0, 0], [1, 0], [0, 1], [1, 1]]
    tree = DecisionTreeRegressor(max_depth=1)
    model = make_pipeline(joined, tree).fit(seen, seen[:, 0] * seen[:, 1])
    rows, background = np.zeros((20, 12)), np.zeros((20, 12))
    rows[0, 0] = background[7, 1] = 1.0
    found = ff.explain(model, rows, background, criterion="shapley")
    # One of twenty background rows has the other column, and lends it to half of the orders.
    assert_allclose(found.values[0, 0], 1 / 40, atol=1e-12)


def test_what_wraps_a_fitted_model_keeps_its_own_predictions():
    class Exponential:
        def __init__(self, inner):
            self.best_estimator_ = inner

        def predict(self, Z):
            return np.exp(self.best_estimator_.predict(Z))

    X = np.random.default_rng(0).normal(size=(30, 3))
    model = Exponential(DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0]))
    found = ff.explain(model, X[:2], X[:5], criterion="shapley")
    assert_allclose(found.grand, model.predict(X[:2]))


def test_what_draws_rows_in_fitting_is_passed_over(rng):
    """Samplers of imbalanced-learn stand among the steps, and predictions know nothing of them."""
    from sklearn.pipeline import Pipeline

    class Sampler:
        def fit_resample(self, X, y):
            raise AssertionError

    X = rng.normal(size=(50, 3))
    plain = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=3))
    plain.fit(X, X[:, 0] > 1)
    (_, scaling), (_, trees) = plain.steps
    want = ff.explain(plain, X[:2], X[:9], "shapley")
    for steps in ((scaling, Sampler()), (Sampler(), scaling), (Sampler(), scaling, Sampler())):
        model = Pipeline([*((str(k), step) for k, step in enumerate(steps)), ("trees", trees)])
        found = ff.explain(model, X[:2], X[:9], "shapley")
        assert found.method == "closed form: trees"
        assert_array_equal(found.values, want.values)
        assert len(model.steps) == len(steps) + 1
    model = Pipeline([("0", Sampler()), ("trees", trees)])
    assert_array_equal(ff.explain(model, X[:2]).values, ff.explain(trees, X[:2]).values)
