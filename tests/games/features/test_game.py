"""Feature games: sub-cubes equal the definition, models and tables of every kind are played."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.games.features import corners as asking
from fairfield.games.features import subcubes
from fairfield.games.features.subcubes import spread


def curved(X):
    """A function of all columns with interactions of every order."""
    return np.sin(X @ np.arange(1, X.shape[1] + 1)) + X[:, 0] * X[:, -1]


def definition(predict, x, background):
    """mean_b predict(x on S, b elsewhere), coalition by coalition."""
    return np.array([predict(np.where(S, x, background)).mean() for S in brute.coalitions(len(x))])


class Counted:
    """A model that remembers the rows it was asked for."""

    def __init__(self, function):
        self.function, self.seen = function, []

    def __call__(self, X):
        self.seen.append(np.array(X))
        return self.function(X)

    @property
    def rows(self):
        return np.concatenate(self.seen)


@settings(max_examples=60, deadline=None)
@given(
    players=st.integers(1, 7),
    rows=st.integers(1, 12),
    values=st.integers(1, 5),
    seed=st.integers(0, 10_000),
    room=st.sampled_from([1, 3, 8, 40, 2**18]),
)
def test_subcubes_equal_the_definition(players, rows, values, seed, room):
    """With ties of every degree and buffers from one row to many; each row is asked once."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (3, players)).astype(float)
    background = rng.integers(0, values, (rows, players)).astype(float)
    model = Counted(curved)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "MOST_ROWS", room)
        table = ff.FeatureGame(model, X, background).table()
    assert_allclose(table, [definition(curved, x, background) for x in X], atol=1e-12)
    if room == 2**18:
        per_row = [
            {tuple(np.where(S, x, b)) for b in background for S in brute.coalitions(players)}
            for x in X
        ]
        assert len(model.rows) == sum(map(len, per_row))
    assert max(map(len, model.seen)) <= room


def test_worths_are_the_definition_in_bounded_memory(rng, monkeypatch):
    X, background = rng.integers(0, 3, (4, 6)) * 1.0, rng.integers(0, 3, (9, 6)) * 1.0
    game = ff.FeatureGame(curved, X, background)
    wanted = [definition(curved, x, background) for x in X]
    assert_allclose(game.worths(brute.coalitions(6)), wanted, atol=1e-12)
    monkeypatch.setattr(asking, "MOST_ROWS", 7)
    assert_allclose(game.worths(brute.coalitions(6)), wanted, atol=1e-12)


def test_models_may_work_in_place_and_answer_in_one_buffer(rng, monkeypatch):
    rows, others = rng.standard_normal((3, 5)), rng.standard_normal((6, 5))
    held = np.empty(2**18)

    def reckless(X):
        held[: len(X)] = curved(X)
        X *= -1
        return held[: len(X)]

    monkeypatch.setattr(asking, "FIRST_CALL", 4)
    game, calm = ff.FeatureGame(reckless, rows, others), ff.FeatureGame(curved, rows, others)
    told = game.describe()
    assert told["data"] == calm.describe()["data"] == game.describe()["data"]
    assert_allclose(game.table(), calm.table(), atol=1e-12)
    coalitions = brute.coalitions(5)
    assert_allclose(game.worths(coalitions), calm.worths(coalitions), atol=1e-12)


def test_many_values_per_column_need_several_keys(rng, monkeypatch):
    """Where one key cannot tell the values of all columns, several do."""
    background = np.repeat(rng.permutation(60)[:, None], 6, axis=1) // 2 * 1.0
    background = rng.permuted(background, axis=0)
    model = Counted(curved)
    wanted = ff.FeatureGame(model, background[0] + 0.5, background).table()
    once = len(model.rows)
    monkeypatch.setattr(subcubes, "LARGEST_KEY", 40)
    monkeypatch.setattr(asking, "LARGEST_KEY", 40)
    model.seen.clear()
    assert_allclose(ff.FeatureGame(model, background[0] + 0.5, background).table(), wanted)
    assert len(model.rows) == once == len(np.unique(model.rows, axis=0))


def test_spread_is_a_sum_over_patterns(rng):
    sums = {pattern: rng.standard_normal(2 ** pattern.bit_count()) for pattern in range(0, 64, 3)}
    found = spread({p: t.copy() for p, t in sums.items()}, 6)
    for row in range(64):
        total = 0.0
        for pattern, table in sums.items():
            bits = [row >> i & 1 for i in range(6) if pattern >> i & 1]
            total += table[sum(bit << k for k, bit in enumerate(bits))]
        assert_allclose(found[row], total)


@pytest.fixture(scope="module")
def census():
    """A small table with the ties of a census, a label, and models fitted to it."""
    xgboost = pytest.importorskip("xgboost")
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(3)
    X = np.column_stack(
        [
            rng.integers(18, 70, 400), rng.integers(0, 7, 400), rng.integers(0, 2, 400),
            rng.choice([0, 0, 0, 0, 500, 2000], 400), rng.choice([40, 40, 40, 20, 60], 400),
            rng.choice([1, 1, 1, 2, 3], 400), rng.standard_normal(400),
        ]
    ).astype(float)  # fmt: skip
    y = (X[:, 0] / 50 + X[:, 2] + X[:, 3] / 1000 + X[:, 6] + rng.standard_normal(400) > 2).astype(
        int
    )
    models = {
        "xgboost": xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1),
        "logistic": LogisticRegression(max_iter=2000),
        "mlp": MLPClassifier((16,), max_iter=30, random_state=0),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fits need not have converged
        return X, y, {name: model.fit(X, y) for name, model in models.items()}


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


def test_a_links_worths_are_linked_means(census):
    X, _, models = census
    plain = ff.FeatureGame(models["logistic"], X[7], X[:20])
    for link, wanted in (("logit", lambda p: np.log(p / (1 - p))), (np.square, np.square)):
        linked = ff.FeatureGame(models["logistic"], X[7], X[:20], link=link)
        assert_allclose(linked.table(), wanted(plain.table()), atol=1e-12)
        S = brute.coalitions(7)[::9]
        assert_allclose(linked.worths(S), wanted(plain.worths(S)), atol=1e-12)
    with pytest.raises(ValueError, match="no link 'probit'"):
        ff.FeatureGame(models["logistic"], X[7], X[:20], link="probit")
    with pytest.raises(ValueError, match="cell by cell"):
        ff.FeatureGame(models["logistic"], X[7], X[:20], link=np.sum).table()


def test_outputs_are_chosen_by_class(census):
    X, y, models = census
    model, background = models["logistic"], X[:20]
    second = ff.FeatureGame(model, X[:4], background).table()
    first = ff.FeatureGame(model, X[:4], background, output=0).table()
    assert_allclose(first + second, 1.0)
    true = ff.FeatureGame(model, X[:4], background, output="label", y=y[:4])
    wanted = np.where(y[:4, None] == 1, second, first)
    assert_allclose(true.table(), wanted)
    assert_allclose(true.worths(brute.coalitions(7)[::5]), wanted[:, ::5])
    one = ff.FeatureGame(model.predict_proba, X[0], background, output="label", y=y[0])
    assert_allclose(one.table(), wanted[0])
    probability = ff.FeatureGame(model, X[:4], background, output="probability")
    assert_allclose(probability.table(), second)


def test_margins_of_models_without_probabilities(census):
    from sklearn.svm import LinearSVC

    X, y, _ = census
    model = LinearSVC().fit(X, y)
    margin = ff.FeatureGame(model, X[0], X[:9]).table()
    assert_allclose(margin[-1], model.decision_function(X[:1])[0])
    assert_allclose(ff.FeatureGame(model, X[0], X[:9], output=0).table(), -margin)
    with pytest.raises(ValueError, match="needs probabilities"):
        ff.FeatureGame(model, X[0], X[:9], output="label", y=[1])


def test_several_classes_must_be_named(census):
    from sklearn.naive_bayes import GaussianNB

    X, _, _ = census
    letters = np.array(["a", "b", "c"])[X[:, 5].astype(int) - 1]
    model = GaussianNB().fit(X, letters)
    with pytest.raises(ValueError, match=r"3 classes, \{a, b, c\}; pass output="):
        ff.FeatureGame(model, X[0], X[:9])
    with pytest.raises(ValueError, match="output='d' is no class"):
        ff.FeatureGame(model, X[0], X[:9], output="d")
    with pytest.raises(ValueError, match="y holds the label 'z'"):
        ff.FeatureGame(model, X[0], X[:9], output="label", y=["z"])
    with pytest.raises(ValueError, match="one label each"):
        ff.FeatureGame(model, X[:3], X[:9], output="label", y=["a"])
    with pytest.raises(ValueError, match="go together"):
        ff.FeatureGame(model, X[:3], X[:9], y=["a", "b", "c"])
    game = ff.FeatureGame(model, X[:3], X[:9], output="label", y=letters[:3])
    place = [list("abc").index(letter) for letter in letters[:3]]
    assert_allclose(game.table()[:, -1], model.predict_proba(X[:3])[range(3), place])


def test_boosters_and_regressors_are_played(census):
    import lightgbm
    import xgboost

    X, y, models = census
    booster = models["xgboost"].get_booster()
    assert_allclose(
        ff.FeatureGame(booster, X[0], X[:9]).table(),
        ff.FeatureGame(models["xgboost"], X[0], X[:9]).table(),
        atol=1e-6,
    )
    for regressor in (
        lightgbm.LGBMRegressor(n_estimators=5, verbose=-1).fit(X, y),
        xgboost.XGBRegressor(n_estimators=5).fit(X, y),
    ):
        grand = ff.FeatureGame(regressor, X[0], X[:9]).table()[-1]
        assert_allclose(grand, regressor.predict(X[:1])[0], atol=1e-6)


def test_groups_play_as_one(rng):
    X, background = rng.integers(0, 3, (2, 5)) * 1.0, rng.integers(0, 3, (8, 5)) * 1.0
    for groups in ({"pair": [3, 0], "tail": [4]}, ["pair", 1, 2, "pair", "tail"]):
        game = ff.FeatureGame(curved, X, background, groups=groups)
        assert set(game.players) == {"pair", "tail", 1, 2}
        at = [game.players.index(name) for name in ("pair", 1, 2, "pair", "tail")]
        for x, table in zip(X, game.table(), strict=True):
            wanted = [curved(np.where(S[at], x, background)).mean() for S in brute.coalitions(4)]
            assert_allclose(table, wanted, atol=1e-12)
        assert_allclose(game.worths(brute.coalitions(4)), game.table(), atol=1e-12)
        assert game.info.data[0, game.players.index("pair")] == f"{X[0, 0]}, {X[0, 3]}"
    for groups, sentence in (
        ({"pair": [0, 9]}, "name a column 9"),
        ({"a": [0], "b": [0]}, "in two groups"),
        (["a"], "1 labels for 5 columns"),
        ({"a": []}, "no columns"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ff.FeatureGame(curved, X, background, groups=groups)


def test_columns_may_change_places_in_groups(rng):
    """Players of one column each, named in another order than the columns."""
    X, background = rng.integers(0, 3, (2, 4)) * 1.0, rng.integers(0, 3, (8, 4)) * 1.0
    game = ff.FeatureGame(curved, X, background, groups={"last": [3], "first": [0]})
    assert game.players == ("last", "first", 1, 2)
    assert_allclose(game.table(), game.worths(brute.coalitions(4)), atol=1e-12)
    assert_array_equal(game.info.data[:, 0], X[:, 3])


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
    with pytest.raises(ff.WorthError, match=r"returned shape \(4,\); it must return at least one"):
        ff.shapley(ff.FeatureGame(curved, rows[0], lambda row, kept, rng: row))


@pytest.mark.parametrize("shape", [(), (2, 3, 4), (0, 4)])
def test_rows_must_be_rows(shape):
    with pytest.raises(ValueError, match=r"rows of shape .* were given; give"):
        ff.FeatureGame(curved, np.zeros(shape), np.zeros((2, 4)))


def test_bad_backgrounds_are_refused():
    with pytest.raises(ValueError, match="no background"):
        ff.FeatureGame(curved, np.zeros(4), None)
    with pytest.raises(ValueError, match=r"background of shape \(0, 4\)"):
        ff.FeatureGame(curved, np.zeros(4), np.zeros((0, 4)))
    with pytest.raises(ValueError, match="rows have 4 columns, the background 5"):
        ff.FeatureGame(curved, np.zeros(4), np.zeros((3, 5)))


@pytest.mark.parametrize(
    ("predict", "sentence"),
    [
        (lambda X: 1.0, r"<lambda> returned shape \(\) for 8 rows"),
        (lambda X: X[1:, 0], r"returned shape \(7,\) for 8 rows"),
        (lambda X: X, "returned 3 columns; pass output="),
        (lambda X: np.full(len(X), "yes"), "returned values of type <U3; numbers are needed"),
        (3.0, "a fitted model or a function of rows is needed; float was given"),
    ],
)
def test_a_predict_that_returns_the_wrong_thing_is_told(predict, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        ff.FeatureGame(predict, np.ones(3), np.zeros((1, 3))).table()


def test_a_column_that_is_not_there_is_told():
    game = ff.FeatureGame(lambda X: X, np.ones(3), np.zeros((1, 3)), output=5)
    with pytest.raises(ValueError, match="3 columns and column 5 was asked for"):
        game.table()
    with pytest.raises(
        ValueError, match="has output columns, counted from 0; output='five' was given"
    ):
        ff.FeatureGame(lambda X: X, np.ones(3), np.zeros((1, 3)), output="five")


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


def test_progress_and_a_long_run_are_told(rng, capsys, monkeypatch):
    from fairfield.games.features import game as features

    monkeypatch.setattr(asking, "FIRST_CALL", 100)
    model = Counted(curved)
    game = ff.FeatureGame(model, rng.standard_normal((3, 6)), rng.standard_normal((5, 6)))
    ff.shapley(game, progress=False)
    # The corner that is all of the explained row is shared by its 5 background rows.
    assert list(map(len, model.seen)) == [100, 400, 960 - 500 - 3 * 4]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(features, "LONG", 0.0)
    ff.shapley(game, progress=True)
    shown = capsys.readouterr()
    assert "960 model rows, about" in shown.err
    assert shown.out == ""
    ff.shapley(game)  # not on a terminal
    assert capsys.readouterr().err == ""
    assert game.model_rows() == 960


@pytest.mark.parametrize("game", ["features", "ensemble"])
def test_a_store_that_keeps_nothing_is_told_of(game, rng, tmp_path):
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


def test_a_linear_model_that_works_in_place_leaves_the_rows_alone():
    class Line:
        coef_, intercept_ = np.array([1.0, 2.0]), 0.5

        def predict(self, X):
            found = X @ self.coef_ + self.intercept_
            X[:] = 0
            return found

    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    ff.LinearGame(Line(), X, X[:1])
    assert_array_equal(X, [[1, 2], [3, 4]])
