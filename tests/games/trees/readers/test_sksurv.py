"""Reading the survival forests of scikit-survival."""

import numpy as np
import pytest

import fairfield as ff
from conftest import needs
from fairfield.games.trees.game import TreeGame
from games.trees import models
from games.trees.models import BACKGROUND, COLUMNS, ROWS, X, Y, fitted, with_gaps

TIMES = [0.0, 0.5, 1.0, 2.0]
EVERYONE = np.ones((1, COLUMNS), bool)


def survival_models():
    ensemble, tree = needs("sksurv.ensemble", "survival"), needs("sksurv.tree", "survival")
    few = {"n_estimators": 5, "min_samples_leaf": 5, "random_state": 0}
    return {
        "forest": ensemble.RandomSurvivalForest(**few),
        "extra trees": ensemble.ExtraSurvivalTrees(**few),
        "tree": tree.SurvivalTree(min_samples_leaf=5, random_state=0),
        "forest of little memory": ensemble.RandomSurvivalForest(low_memory=True, **few),
    }


def survivors(name, seen=X):
    """A fitted model of times until an event, some of them censored."""
    model = survival_models()[name]
    rng = np.random.default_rng(2)
    answers = np.empty(len(Y), dtype=[("event", bool), ("time", float)])
    answers["event"], answers["time"] = (
        rng.random(len(Y)) < 0.7,
        np.exp(Y / 3) * rng.exponential(size=len(Y)),
    )
    return model.fit(seen, answers)


def check(game, own, rows, background, rng):
    """Worths are mean outputs by the model itself, and the closed form is that of the table."""
    coalitions = rng.random((12, COLUMNS)) < 0.5
    mixed = np.where(coalitions[:, None], rows[:, None, None], background)
    found = own(mixed.reshape(-1, COLUMNS))
    means = found.reshape(*mixed.shape[:3], *found.shape[1:]).mean(axis=2)
    wanted = np.moveaxis(means, 1, -1)  # the coalitions last
    size = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(game.worths(coalitions), wanted, rtol=0, atol=1e-10 * size)
    models.assert_is_its_table(game, rng)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("name", ["forest", "extra trees", "tree", "forest of little memory"])
def test_the_risk_score(name, gaps, rng):
    if gaps and name == "extra trees":
        pytest.skip("the model takes no missing values")
    seen = with_gaps(X) if gaps else X
    model = survivors(name, seen)
    game = TreeGame(model, seen[ROWS], seen[BACKGROUND])
    assert game.info.worth_name == "risk score"
    check(game, model.predict, seen[ROWS], seen[BACKGROUND], rng)
    dependent = TreeGame(model, seen[ROWS])
    np.testing.assert_allclose(dependent.worths(EVERYONE)[:, 0], model.predict(seen[ROWS]))
    models.assert_is_its_table(dependent, rng)


@pytest.mark.parametrize("output", [None, "cumulative hazard"])
@pytest.mark.parametrize("name", ["forest", "extra trees", "tree"])
def test_functions_at_some_times(name, output, rng):
    model = survivors(name)
    method = f"predict_{'survival' if output is None else 'cumulative_hazard'}_function"

    def own(rows):
        return np.array([function(TIMES) for function in getattr(model, method)(rows)])

    game = TreeGame(model, X[ROWS], X[BACKGROUND], output=output, times=TIMES)
    assert game.batch == (4, 4)
    assert game.info.worth_name == ("survival probability" if output is None else output)
    check(game, own, X[ROWS], X[BACKGROUND], rng)
    alone = TreeGame(model, X[ROWS], X[BACKGROUND], output=output, times=TIMES[2])
    assert alone.batch == (4,)
    assert alone.info.worth_name.endswith(" at time 1")
    np.testing.assert_allclose(
        alone.extension().shapley(), game.extension().shapley()[:, 2], atol=1e-12
    )
    dependent = TreeGame(model, X[ROWS], output=output, times=TIMES)
    np.testing.assert_allclose(dependent.worths(EVERYONE)[..., 0], own(X[ROWS]), atol=1e-12)
    models.assert_is_its_table(dependent, rng)


def test_explain_takes_times():
    model = survivors("forest")
    found = ff.explain(model, X[ROWS], X[BACKGROUND], "shapley", times=TIMES)
    assert found.game == "TreeGame: 4 rows of 6 features, for the survival probability of 4 times"
    own = np.array([function(TIMES) for function in model.predict_survival_function(X[ROWS])])
    np.testing.assert_allclose(found.grand, own, atol=1e-12)
    np.testing.assert_allclose(found.values.sum(axis=-1), found.grand - found.empty, atol=1e-12)
    one = ff.explain(model, X[0], times=1.5, criterion="shapley")
    assert one.values.shape == (COLUMNS,)


def test_what_has_no_such_function_is_refused():
    model, last = survivors("forest"), r"from 0 to .*, the last time that it has seen"
    for times, complaint in (
        ([1.0, -1.0], last),
        (1e9, last),
        ([np.nan], last),
        ([], last),
        ([[1.0]], last),
    ):
        with pytest.raises(ValueError, match=complaint):
            TreeGame(model, X[ROWS], times=times)
    with pytest.raises(ValueError, match=r"output='density' .*'survival', the default, or"):
        TreeGame(model, X[ROWS], times=1.0, output="density")
    with pytest.raises(TypeError, match=r"low_memory=True\) keeps no functions of time"):
        TreeGame(survivors("forest of little memory"), X[ROWS], times=1.0)
    other, _, _, _ = fitted("forest")
    with pytest.raises(
        ValueError, match=r"RandomForestRegressor has no function of time in closed"
    ):
        ff.explain(other, X[ROWS], X[BACKGROUND], times=1.0)
    with pytest.raises(ValueError, match="times= and y= were given"):
        ff.explain(model, X[ROWS], X[BACKGROUND], times=1.0, y=Y[ROWS])
    with pytest.raises(TypeError, match="is not a tree model"):
        ff.explain(lambda rows: rows[:, 0], X[ROWS], X[BACKGROUND], times=1.0)
