"""Feature games: worths by definition, groups, backgrounds, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.evaluation.outcomes import WorthError
from fairfield.games.features import corners as asking
from games.features.models import Counted, curved, definition


def test_worths_are_the_definition_in_bounded_memory(rng, monkeypatch):
    X, background = rng.integers(0, 3, (4, 6)) * 1.0, rng.integers(0, 3, (9, 6)) * 1.0
    game = ff.FeatureGame(curved, X, background)
    wanted = [definition(curved, x, background) for x in X]
    assert_allclose(game.worths(brute.coalitions(6)), wanted, atol=1e-12)
    monkeypatch.setattr(asking, "MOST_ROWS", 7)
    assert_allclose(game.worths(brute.coalitions(6)), wanted, atol=1e-12)


@pytest.mark.parametrize("name", ["xgboost", "logistic", "mlp"])
def test_shapley_equals_shaps(census, name):
    """shap keeps 100 background rows unless told otherwise; here all 150 count."""
    shap = pytest.importorskip("shap")
    X, _, models = census
    background, rows = X[:150], X[200:204]

    def predict(table):
        return models[name].predict_proba(table)[:, 1]

    masker = shap.maskers.Independent(background, max_samples=len(background))
    theirs = shap.explainers.Exact(predict, masker)(rows)
    ours = ff.shapley(ff.FeatureGame(models[name], rows, background))
    assert_allclose(ours.values, theirs.values, atol=1e-8, rtol=0)
    assert_allclose(ours.empty, theirs.base_values, atol=1e-8, rtol=0)


def test_all_criteria_read_the_same_table(census):
    X, _, models = census
    game = ff.FeatureGame(models["logistic"], X[200:203], X[:50])
    direct = game.worths(brute.coalitions(7))
    for criterion in (ff.shapley, ff.banzhaf, ff.variational_index):
        assert_allclose(
            criterion(game, temperature=0.1).values,
            criterion(direct, temperature=0.1).values,
            atol=1e-12,
        )
    found = ff.shapley(game)
    assert found.evaluations == 2**7
    assert_array_equal(found.data, X[200:203])


def test_constant_features_are_worth_exactly_nothing(census):
    X, _, models = census
    x, background = X[9].copy(), X[:30].copy()
    background[:, [1, 5]] = x[[1, 5]]
    for criterion in (ff.shapley, ff.banzhaf, ff.variational_index):
        values = criterion(ff.FeatureGame(models["xgboost"], x, background)).values
        assert_array_equal(values[[1, 5]], 0.0)


def test_a_baseline_row_is_a_background_of_one(rng):
    x, baseline = rng.standard_normal(5), rng.standard_normal(5)
    game = ff.FeatureGame(curved, x, baseline)
    assert game.batch == ()
    assert_allclose(game.table(), definition(curved, x, baseline[None]), atol=1e-12)
    assert game.model_rows() == 2**5
    assert ff.FeatureGame(curved, [x], [baseline]).batch == (1,)


def test_missing_values_are_equal_to_each_other(rng):
    background = rng.integers(0, 2, (6, 4)) * 1.0
    background[:4, 1] = np.nan
    x = np.array([1.0, np.nan, 0.0, 1.0])
    model = Counted(lambda X: curved(np.nan_to_num(X, nan=7.0)))
    game = ff.FeatureGame(model, x, background)
    assert_allclose(game.table(), definition(model.function, x, background), atol=1e-12)
    assert len(model.rows) < game.model_rows() < 6 * 2**4


def test_a_function_draws_the_background(rng):
    rows = rng.standard_normal((30, 4))

    def nearest(row, kept, rng):
        """The rows nearest in what is kept, and a random one."""
        apart = np.abs(rows[:, kept] - row[kept]).sum(axis=1)
        return rows[[*np.argsort(apart)[:4], rng.integers(30)]]

    game = ff.FeatureGame(curved, rows[:2] + 0.1, nearest)
    assert game.table() is None
    found = ff.shapley(game)
    assert_allclose(found.values.sum(axis=1), found.grand - found.empty, atol=1e-12)
    assert_allclose(found.grand, curved(rows[:2] + 0.1))
    S = brute.coalitions(4)
    assert_array_equal(game.worths(S), game.worths(S[::-1])[:, ::-1])
    # Draws belong to the columns that are kept, whatever features these make up.
    joined = ff.FeatureGame(curved, rows[:2] + 0.1, nearest, groups={"b": [2, 1], "a": [3], "c": 0})
    S = brute.coalitions(3)
    assert_array_equal(joined.worths(S), game.worths(S[:, [2, 0, 0, 1]]))
    with pytest.raises(ff.WorthError, match=r"returned shape \(4,\); it must return at least one"):
        ff.shapley(ff.FeatureGame(curved, rows[0], lambda row, kept, rng: row))


def test_drawn_backgrounds_ask_for_all_their_draws_at_every_coalition(rng):
    X = rng.standard_normal((30, 4))
    given, asked = ff.conditional(X, draws=6), []

    def counting(rows):
        asked.append(len(rows))
        return rows[:, 0]

    game = ff.FeatureGame(counting, X[:3], given)
    ff.shapley(game)
    assert sum(asked) == game.model_rows() == 3 * 6 * 2**4
    assert game.model_rows(5) == 3 * 6 * 5


@pytest.mark.parametrize("shape", [(), (2, 3, 4), (0, 4)])
def test_rows_must_be_rows(shape):
    with pytest.raises(ValueError, match=r"rows of shape .* were given; give"):
        ff.FeatureGame(curved, np.zeros(shape), np.zeros((2, 4)))


def test_bad_backgrounds_are_refused():
    with pytest.raises(ValueError, match="no background"):
        ff.FeatureGame(curved, np.zeros(4), None)
    with pytest.raises(ValueError, match="the background has no rows; give at least one"):
        ff.FeatureGame(curved, np.zeros(4), np.zeros((0, 4)))
    with pytest.raises(ValueError, match="rows have 4 columns, the background 5"):
        ff.FeatureGame(curved, np.zeros(4), np.zeros((3, 5)))


def test_an_output_that_is_not_a_number_names_row_and_coalition():
    def predict(X):
        return np.where((X[:, 0] == 5) & (X[:, 2] == 0), np.nan, X[:, 1])

    rows = np.array([[1.0, 2.0, 3.0], [5.0, 2.0, 3.0]])
    sentence = r"output is nan where row 1 keeps \{0\} and a background row"
    with pytest.raises(ff.WorthError, match=sentence):
        ff.shapley(ff.FeatureGame(predict, rows, np.zeros((2, 3))))
    drawn = ff.FeatureGame(predict, rows, lambda row, kept, rng: np.zeros((2, 3)))
    with pytest.raises(ff.WorthError, match=r"row 1 keeps \{0\} and the others are drawn"):
        ff.shapley(drawn)


def test_too_many_players_are_refused_before_the_model_is_asked(census):
    asked = Counted(curved)
    with pytest.raises(MemoryError, match=r"2\^40 worths.*use a game with a closed form"):
        ff.shapley(ff.FeatureGame(asked, np.ones(40), np.zeros(40)))
    with pytest.raises(ValueError, match="need all 1,024 worths, the budget allows 9"):
        ff.free_energy_value(ff.FeatureGame(asked, np.ones(10), np.zeros(10)), budget=9)
    with pytest.raises(ValueError, match=r"budget=9 is too small .* are needed"):
        ff.shapley(ff.FeatureGame(asked, np.ones(10), np.zeros(10)), budget=9)
    assert not asked.seen
    _, _, models = census
    with pytest.raises(MemoryError, match="use TreeGame, which has a closed form for this model"):
        ff.shapley(ff.FeatureGame(models["xgboost"], np.ones(40), np.zeros(40)))


@pytest.mark.parametrize("game", ["features", "ensemble"])
def test_a_store_that_keeps_nothing_is_reported(game, rng, tmp_path):
    played = {
        "features": ff.FeatureGame(curved, rng.standard_normal(3), rng.standard_normal((4, 3))),
        "ensemble": ff.EnsembleGame(rng.random((3, 20)), None, np.arange(20) % 2),
    }[game]
    with pytest.warns(UserWarning, match=r"worths\.db' is left as it was: .* at once"):
        ff.shapley(played, store=tmp_path / "worths.db")
    assert not (tmp_path / "worths.db").exists()


def test_what_identifies_a_game(rng, tmp_path):
    rows, others = rng.standard_normal((2, 3)), rng.standard_normal((4, 3))
    first = ff.FeatureGame(curved, rows, others).describe()
    assert first == ff.FeatureGame(curved, rows.copy(), others).describe()
    for other in (
        ff.FeatureGame(lambda X: curved(X) + 1, rows, others),
        ff.FeatureGame(curved, rows + 1, others),
        ff.FeatureGame(curved, rows, others[:3]),
        ff.FeatureGame(curved, rows, others, link=np.tanh),
    ):
        assert other.describe() != first


def test_samplers_and_links_may_write_into_what_they_get(rng):
    X, held = rng.standard_normal((3, 4)), np.empty((2, 4))
    buffer = np.empty(2**10)

    def draw(row, kept, rng):
        held[:] = rng.standard_normal((2, 4))
        row[:], kept[:] = 0, False
        return held

    def calm(row, kept, rng):
        return rng.standard_normal((2, 4))

    def link(means):
        linked = buffer[: means.size].reshape(means.shape)
        np.tanh(means, out=linked)
        means[:] = 0
        return linked

    coalitions = brute.coalitions(4)
    wanted = ff.FeatureGame(curved, X, calm, link=np.tanh).worths(coalitions)
    assert_allclose(ff.FeatureGame(curved, X.copy(), draw, link=link).worths(coalitions), wanted)
    one, other = (ff.FeatureGame(curved, X, b, link=link).table() for b in (X[:1], X[1:]))
    assert_allclose(one, ff.FeatureGame(curved, X, X[:1], link=np.tanh).table())
    assert_allclose(other, ff.FeatureGame(curved, X, X[1:], link=np.tanh).table())


def test_frames_may_be_written_into(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": rng.standard_normal(5), "b": rng.integers(0, 9, 5)})

    def calm(table):
        return (table["a"] * table["b"]).to_numpy(dtype=float)

    def reckless(table):
        found = calm(table)
        table["a"] = 0.0
        table.loc[len(table)] = 0
        return found

    def draw(row, kept, rng):
        row.iloc[:, 0] = 7.0
        kept[:] = True
        return X

    kept = X.copy()
    for background in (X[2:], draw):
        game, wanted = (ff.FeatureGame(f, X[:2], background) for f in (reckless, calm))
        assert_allclose(game.worths(brute.coalitions(2)), wanted.worths(brute.coalitions(2)))
    assert_allclose(ff.shapley(game).values, ff.shapley(wanted).values)
    pd.testing.assert_frame_equal(X, kept)


class Triple:
    """A model of three classes that counts the rows it was asked for."""

    classes_ = ("a", "b", "c")

    def __init__(self):
        self.rows = 0

    def predict_proba(self, X):
        self.rows += len(X)
        odds = np.exp(np.stack([X[:, 0] * X[:, 1], np.sin(X).sum(axis=1), X[:, 2]], axis=1))
        return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("link", [None, "logit"])
@pytest.mark.parametrize("many", [True, False])
def test_all_classes_are_each_class_at_the_cost_of_one(rng, many, link):
    X = rng.integers(0, 3, (30, 4)) / 2.0
    rows, background = X[:3] if many else X[0], X[10:]
    S = brute.coalitions(4)
    every, cost = ff.FeatureGame(Triple(), rows, background, output="all", link=link), {}
    assert every.batch == (*np.shape(rows)[:-1], 3)
    model = every.output.function.__self__
    model.rows = 0
    table = every.table()
    cost["all"] = model.rows
    assert_allclose(every.worths(S), table, atol=1e-12)
    found = {"shapley": ff.shapley(every), "variational_index": ff.variational_index(every)}
    for at, name in enumerate("abc"):
        one = ff.FeatureGame(Triple(), rows, background, output=name, link=link)
        one.output.function.__self__.rows = 0
        assert_allclose(table[..., at, :], one.table(), atol=1e-12)
        cost[name] = one.output.function.__self__.rows
        for criterion, v in found.items():
            alone = getattr(ff, criterion)(one)
            assert_allclose(v.output(name).values, alone.values, atol=1e-10)
            assert_array_equal(v.output(name).data, alone.data)
    assert len({*cost.values()}) == 1
    wanted = "logit of the probability" if link else "probability"
    assert found["shapley"].output("b").words.worth_name == f"{wanted} of class b"


def test_all_outputs_of_drawn_backgrounds_and_margins(rng):
    from sklearn.svm import LinearSVC

    X = rng.standard_normal((30, 3))
    model = LinearSVC().fit(X, X[:, 0] > 0)
    drawn = lambda row, kept, rng: X[rng.integers(0, 30, 5)]  # noqa: E731
    S = brute.coalitions(3)
    for background in (X[:7], drawn):
        every = ff.FeatureGame(model, X[:2], background, output="all")
        assert every.info.outputs == (False, True)
        for at, name in enumerate((False, True)):
            one = ff.FeatureGame(model, X[:2], background, output=name)
            assert_allclose(every.worths(S)[:, at], one.worths(S), atol=1e-12)


def test_all_columns_of_a_function(rng):
    X = rng.standard_normal((9, 3))
    two = ff.FeatureGame(lambda rows: rows[:, :2], X[:2], X, output="all")
    assert (two.batch, two.info.outputs, two.info.output_noun) == ((2, 2), (0, 1), "column")
    assert_allclose(ff.shapley(two).values[:, 1, 1], X[:2, 1] - X[:, 1].mean(), atol=1e-12)
    one = ff.FeatureGame(lambda rows: rows[:, 0], X[0], X, output="all")
    assert one.batch == (1,)
    wide = np.tile(X, 3)
    many = ff.FeatureGame(lambda rows: rows[:, :2], wide[:2], wide, output="all")
    estimated = ff.shapley(many, budget=100, progress=False)
    assert estimated.output(1).stderr.shape == (2, 9)
    assert_allclose(estimated.values, ff.shapley(many).values, atol=1e-10)  # an additive game


def test_what_is_not_finite_is_named_for_all_outputs(rng):
    X = rng.standard_normal((5, 2))

    def bad(rows):
        return np.stack([rows[:, 0], np.where(rows[:, 1] == X[0, 1], np.nan, 0.0)], axis=1)

    with pytest.raises(WorthError, match="output is nan where row 0 keeps"):
        ff.FeatureGame(bad, X[:1], X[1:], output="all").table()
    with pytest.raises(WorthError, match="output is nan where row 0 keeps"):
        ff.shapley(ff.FeatureGame(bad, X[:1], lambda row, kept, rng: X[1:], output="all"))
