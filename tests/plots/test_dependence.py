"""Values of a feature beside what the feature is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield import plots

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def game(rng):
    X = rng.normal(size=(120, 4))
    model = lambda Z: Z[:, 0] ** 2 + 2 * Z[:, 0] * Z[:, 2] + Z[:, 3]  # noqa: E731
    return ff.FeatureGame(model, X, X[:10], groups=["age", "sex", "job", "pay"])


def test_the_line_is_the_exact_partial_dependence(game):
    v = ff.shapley(game)
    ax = plots.dependence(v, "age", game=game)
    x, others = game.given[:, 0], game.given[:10]
    expected = [
        np.mean(a**2 + 2 * a * others[:, 2]) - np.mean(others[:, 0] ** 2 + 2 * others[:, 0] * others[:, 2])
        for a in np.sort(x)
    ]  # fmt: skip
    assert_allclose(ax.lines[1].get_xdata(), np.sort(x))
    assert_allclose(ax.lines[1].get_ydata(), expected, atol=1e-12)
    dots = ax.collections[0].get_offsets()
    assert_allclose(dots, np.column_stack([x, v[:, "age"]]))


def test_the_colour_is_the_feature_that_goes_with_what_is_left(game):
    ax = plots.dependence(ff.shapley(game), "age")
    assert [each.get_ylabel() for each in ax.figure.axes] == ["shapley of age", "job"]
    jobs = game.given[:, 2]
    ends = [each.get_text() for each in ax.figure.axes[1].get_yticklabels()]
    assert ends[::2] == [f"{jobs.min():.4g}", f"{jobs.max():.4g}"]
    # A mark is where dots of its number have their colour.
    shade = dict(zip(jobs, ax.collections[0].get_array(), strict=True))
    middle = np.unique(jobs)[len(np.unique(jobs)) // 2]
    assert_allclose(ax.figure.axes[1].get_yticks(), [0, shade[middle], 1])
    ax = plots.dependence(ff.shapley(game), "age", color=None)
    assert len(ax.figure.axes) == 1


def test_categories_and_missing_values_have_places_of_their_own():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"kind": ["b", "a", None, "b"], "size": [1.0, np.nan, 3.0, 4.0]})
    game = ff.FeatureGame(lambda Z: (Z["kind"] == "b") * Z["size"].fillna(0), rows, rows[:2])
    v = ff.shapley(game)
    ax = plots.dependence(v, "kind", game=game)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "missing"]
    assert ax.collections[0].get_offsets()[:, 0].tolist() == [1, 0, -1, 1]
    ax = plots.dependence(v, "size", color="kind")
    assert ax.get_xticklabels()[-1].get_text() == "missing"


def test_rows_of_a_category_with_one_value_stand_side_by_side():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"kind": list("aaab")})
    v = ff.explain(lambda Z: (Z["kind"] == "a") * 1.0, rows, rows[3:], "shapley")
    drawn = plots.dependence(v, "kind").collections[0].get_offsets()[:, 0]
    assert len(set(drawn.tolist())) == 4
    assert np.abs(drawn - [0, 0, 0, 1]).max() <= 0.4


def test_what_cannot_be_drawn_is_refused(game):
    v = ff.shapley(game)
    with pytest.raises(KeyError, match="there is no feature 'height'"):
        plots.dependence(v, "height")
    with pytest.raises(ValueError, match="not the one that was valued"):
        plots.dependence(v, "age", game=game.explaining(game.given[:5]))
    with pytest.raises(ValueError, match="has no data to draw"):
        plots.dependence(ff.shapley(np.ones((2, 4))), 0)


def test_a_line_in_another_unit_is_refused(rng):
    linear = pytest.importorskip("sklearn.linear_model")
    X = rng.normal(size=(40, 2))
    model = linear.LogisticRegression().fit(X, X[:, 0] > 0)
    v = ff.explain(model, X, X[:10], "shapley")
    with pytest.raises(
        ValueError, match="values are in log-odds, the worths of the game in probab"
    ):
        plots.dependence(v, 0, game=ff.FeatureGame(model, X, X[:10], output="probability"))
