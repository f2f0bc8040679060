"""Conditional backgrounds against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff

RNG = np.random.default_rng(0)
MIXED = RNG.normal(size=(400, 4)) @ RNG.normal(size=(4, 4)) + [1.0, 2.0, 3.0, 4.0]


def normal_given(X, row, inside):
    """E and Cov of a normal law given some coordinates, by its precision matrix."""
    precision, mean = np.linalg.inv(np.cov(X.T)), X.mean(axis=0)
    free = np.flatnonzero(~inside)
    at, covariance = np.array(row, dtype=float), np.zeros((len(row), len(row)))
    if len(free):
        inner = np.linalg.inv(precision[np.ix_(free, free)])
        across = precision[np.ix_(free, np.flatnonzero(inside))]
        at[free] = mean[free] - inner @ across @ (row - mean)[inside]
        covariance[np.ix_(free, free)] = inner
    return at, covariance


def test_models_of_degree_two_have_the_exact_worths_of_a_normal_law():
    slopes, curve = np.array([1.0, -2.0, 0.5, 3.0]), RNG.normal(size=(4, 4))

    def model(Z):
        return Z @ slopes + np.einsum("ki,ij,kj->k", Z, curve, Z)

    table = []
    for S in brute.coalitions(4):
        at, covariance = normal_given(MIXED, MIXED[7], S)
        table.append(model(at[None])[0] + np.sum(curve * covariance))
    found = ff.shapley(ff.FeatureGame(model, MIXED[7], ff.conditional(MIXED, draws=20)))
    assert_allclose(found.values, brute.shapley(np.array(table)), rtol=0, atol=1e-10)


def test_linear_models_have_exact_conditional_means_of_frames_and_of_few_draws():
    pd = pytest.importorskip("pandas")
    slopes, frame = np.array([1.0, -2.0, 0.5, 3.0]), pd.DataFrame(MIXED, columns=list("abcd"))
    table = np.array([normal_given(MIXED, MIXED[3], S)[0] @ slopes for S in brute.coalitions(4)])
    given = ff.conditional(frame, draws=2)
    found = ff.explain(lambda Z: np.asarray(Z) @ slopes, frame[3:4], given, "shapley")
    assert_allclose(found.values[0], brute.shapley(table), rtol=0, atol=1e-10)
    turned = frame[["b", "d", "c", "a"]]
    again = ff.explain(lambda Z: Z[list("abcd")] @ slopes, turned[3:4], given, "shapley")
    assert_allclose(again.values[0], found.values[0][[1, 3, 2, 0]], rtol=0, atol=1e-10)


def test_a_kept_effect_tells_nothing_about_its_causes():
    """Chain 0 → 1 → {2, 3}: means by regressions on what comes before, kept or predicted."""
    given = ff.conditional(MIXED, order=[[0], [1], [2, 3]], draws=2)
    mean, covariance = MIXED.mean(axis=0), np.cov(MIXED.T)

    def predicted(free, known, at):
        slopes = covariance[np.ix_(free, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
        return mean[free] + slopes @ (at - mean)[known]

    row = MIXED[11]
    rng = np.random.default_rng(0)
    effect = given(row, np.array([False, False, True, False]), rng).mean(axis=0)
    assert_allclose(effect[:2], mean[:2], atol=1e-12)
    at = np.array([*mean[:2], row[2], 0.0])
    assert_allclose(effect[[3]], predicted([3], [0, 1, 2], at), atol=1e-10)
    cause = given(row, np.array([False, True, False, False]), rng).mean(axis=0)
    assert_allclose(cause[0], mean[0], atol=1e-12)
    at = np.array([mean[0], row[1], 0.0, 0.0])
    assert_allclose(cause[2:], predicted([2, 3], [0, 1], at), atol=1e-10)


@pytest.mark.parametrize("slopes", [(0.0, 1.5), (-2.0, 0.7)])
def test_two_features_have_the_published_closed_forms(slopes):
    """Standard normal features of correlation ρ and f = a x₁ + b x₂.

    Conditional values are a x₁ + ρ(b x₁ - a x₂)/2 and b x₂ - ρ(b x₁ - a x₂)/2, as the definition of Aas,
    Jullum and Løland (2021, shapr's "gaussian") gives them. In the order x₁ → x₂ with a = 0 they are
    causal, and in the order x₂ → x₁ they are those of the marginal law: the chain and the fork of
    Heskes, Sijben, Bucur and Claassen (2020).
    """
    rho, (a, b) = 0.6, slopes
    plain = RNG.normal(size=(200, 2))
    white = (plain - plain.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(plain.T)).T)
    X = white @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    x, z = X[:5].T
    told = rho * (b * x - a * z) / 2

    def values(**order):
        given = ff.conditional(X, draws=4, **order)
        return ff.explain(lambda Z: Z @ [a, b], X[:5], given, "shapley").values.T

    assert_allclose(values(), [a * x + told, b * z - told], rtol=0, atol=1e-10)
    if a == 0:
        chain, fork = values(order=[[0], [1]]), values(order=[[1], [0]])
        assert_allclose(chain, [b * rho * x / 2, b * z - b * rho * x / 2], rtol=0, atol=1e-10)
        assert_allclose(fork, [0 * x, b * z], rtol=0, atol=1e-10)


def test_a_copula_depends_on_ranks_alone_and_keeps_to_seen_values():
    kept = np.array([True, False, True, False])
    plain = ff.conditional(MIXED, "copula")(MIXED[5], kept, np.random.default_rng(1))
    curved = ff.conditional(np.exp(MIXED), "copula")
    drawn = curved(np.exp(MIXED[5]), kept, np.random.default_rng(1))
    assert_allclose(drawn[:, ~kept], np.exp(plain[:, ~kept]), rtol=1e-12)
    assert np.isin(plain[:, 1], MIXED[:, 1]).all()


def test_rows_weigh_what_the_leaves_say_of_the_kept_features(monkeypatch):
    """By hand: leaves as clusters of independent normal columns, tree by tree."""
    monkeypatch.setattr("fairfield.games.features.background.trees.TREES", 3)
    X, kept = MIXED[:60], np.array([True, False, False, True])
    law = ff.conditional(X, "trees").law
    expected = np.zeros(60)
    for t in range(3):
        held = [np.flatnonzero(each) for each in law.holds.toarray()[law.tree == t]]
        assert sorted(np.concatenate(held)) == list(range(60))
        fit = []
        for own in held:
            spread = X[own].var(axis=0) + 1e-3 * X.var(axis=0)
            density = np.exp(-((X[9] - X[own].mean(axis=0)) ** 2) / spread / 2) / np.sqrt(spread)
            there = 1 - 0.5 / (len(own) + 1)
            fit.append(len(own) * (there * density)[kept].prod())
        for own, weight in zip(held, np.array(fit) / sum(fit), strict=True):
            expected[own] += weight / len(own) / 3
    assert_allclose(law.weights(X[9], kept), expected, rtol=0, atol=1e-12)
    nothing = law.weights(X[9], np.zeros(4, dtype=bool))
    assert_allclose(nothing, 1 / 60, rtol=1e-12)


def test_trees_take_categories_and_missing_values(rng):
    pd = pytest.importorskip("pandas")
    colour = rng.choice(["red", "blue"], size=200)
    size = np.where(colour == "red", 1.0, 5.0) + 0.01 * rng.normal(size=200)
    size[::7] = np.nan
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size})
    given = ff.conditional(frame, "trees")
    drawn = given(frame[:1], np.array([True, False]), np.random.default_rng(0))
    near = drawn["size"].dropna().between(*((0, 2) if colour[0] == "red" else (4, 6)))
    assert near.mean() > 0.9
    assert drawn["colour"].dtype == frame["colour"].dtype
    found = ff.explain(lambda Z: (Z["colour"] == "red") * 1.0, frame[1:3], given, "shapley")
    assert np.abs(found.values[:, 1]).min() > 0.2
    with pytest.raises(ValueError, match="use how='trees'"):
        ff.conditional(frame)


def test_missing_texts_are_missing_and_categories_have_no_order(rng):
    """A column that the others tell by thirds: distances of names are those of their indicators."""
    pd = pytest.importorskip("pandas")
    place = rng.integers(3, size=300)
    names = pd.array(np.array(["a", "b", "c"])[place], dtype="string")
    counts = pd.array(10 * place, dtype="Int64")
    names[0], counts[1] = pd.NA, pd.NA
    texts = np.array(["x", None], dtype=object)[place % 2]
    frame = pd.DataFrame({"name": names, "count": counts, "text": texts})
    given = ff.conditional(frame, "trees")
    assert given.law.columns.values == [{"a": 0, "b": 1, "c": 2}, None, {"x": 0}]
    codes = given.law.columns.codes(frame)
    assert np.isnan(codes).sum(axis=0).tolist() == [1, 1, (place % 2).sum()]
    seen = given.law.numbers(frame[2:], np.array([True, False, False]))
    apart = np.linalg.norm(seen[:, None] - seen, axis=-1)
    other = place[2:, None] != place[2:]
    assert_allclose(apart, np.where(other, apart.max(), 0.0), atol=1e-12)
    assert given.skill(frame[2:40]) > 0.8


@pytest.mark.parametrize("how", ["gaussian", "copula", "trees"])
def test_skill_is_that_of_what_kept_features_tell(how, rng):
    shared = rng.normal(size=(600, 1))
    told = shared + 0.1 * rng.normal(size=(600, 4))
    alone = rng.normal(size=(600, 4))
    assert ff.conditional(told[:500], how).skill(told[500:]) > 0.5
    assert abs(ff.conditional(alone[:500], how).skill(alone[500:])) < 0.1


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="how='normal' was given; choose from"):
        ff.conditional(MIXED, "normal")
    with pytest.raises(ValueError, match="order= must name each column once"):
        ff.conditional(MIXED, order=[[0], [1, 2]])
    with pytest.raises(ValueError, match="order= needs how='gaussian' or 'copula'"):
        ff.conditional(MIXED, "trees", order=[[0, 1, 2, 3]])
