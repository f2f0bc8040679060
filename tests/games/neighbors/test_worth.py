"""Weighted neighbours and their joint answers, against definitions spelled out over all coalitions."""

import numpy as np
import pytest
from scipy.special import beta

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.neighbors.joint import diagonal
from games.neighbors.examples import table_of

N, TESTS = 8, 4


def gaussian(distances):
    return np.exp(-(distances**2))


def data(rng, task):
    X, X_test = rng.normal(size=(N, 2)), rng.normal(size=(TESTS, 2))
    X[3], X_test[0] = X[5], X[1]  # two rows at equal distance, and a row at distance 0
    if task == "regression":
        return X, rng.normal(size=N), X_test, rng.normal(size=TESTS)
    return X, rng.integers(0, 3, N), X_test, rng.integers(0, 3, TESTS)


def worth(members, X, y, X_test, y_test, k, weights, vote, bits):
    """The definition, one test point and one neighbour at a time."""
    total, mean = 0.0, np.mean(y)
    for point, truth in zip(X_test, y_test, strict=True):
        far = np.sqrt(((X - point) ** 2).sum(axis=1))
        nearest = far.min()
        kernel = {
            "uniform": lambda d: 1.0,
            "distance": lambda d, least=nearest: 1.0 if d == 0 else least / d,
            gaussian: lambda d: np.exp(-(d**2)),
        }[weights]
        counted = sorted(members, key=lambda j: (far[j], j))[:k]
        if np.asarray(y).dtype.kind == "f":
            if vote == "hard":
                prediction = mean + sum(kernel(far[j]) * (y[j] - mean) for j in counted) / k
                total -= (prediction - truth) ** 2
            else:
                gains = ((mean - truth) ** 2 - (y[j] - truth) ** 2 for j in counted)
                total += sum(kernel(far[j]) * a for j, a in zip(counted, gains, strict=True)) / k
        elif vote == "hard":
            steps = 1 if weights == "uniform" else 2**bits - 1
            votes = [
                np.rint(steps * kernel(far[j])) * (1 if y[j] == truth else -1) for j in counted
            ]
            total += 0.5 + 0.5 * np.sign(sum(votes))
        else:
            total += sum(kernel(far[j]) for j in counted if y[j] == truth) / k
    return total / len(X_test)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("vote", ["soft", "hard"])
@pytest.mark.parametrize("weights", ["uniform", "distance", gaussian])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_every_worth_and_criterion_is_its_definition(rng, task, vote, weights, k):
    given = data(rng, task)
    game = ff.NeighborGame(*given, k=k, weights=weights, vote=vote, bits=2)
    coalitions = enumerate_coalitions(N)
    wanted = [worth(np.flatnonzero(S), *given, k, weights, vote, 2) for S in coalitions]
    np.testing.assert_allclose(game.worths(coalitions), wanted, atol=1e-12)
    closed, table = game.extension(), table_of(game)
    x = rng.random((3, N))
    x[0, :2], x[1, :2] = 0, 1
    np.testing.assert_allclose(closed.value(x), table.value(x), atol=1e-12)
    np.testing.assert_allclose(closed.gradient(x), table.gradient(x), atol=1e-12)
    np.testing.assert_allclose(closed.hessian(x), table.hessian(x), atol=1e-12)
    worths = ff.TableGame(np.array(wanted))
    for criterion in (ff.shapley, ff.banzhaf, ff.variational_index):
        mine, theirs = (criterion(each, temperature=0.1) for each in (game, worths))
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-10)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_lists_of_joint_answers_end_without_loss(rng, task):
    X, X_test = rng.normal(size=(150, 2)), rng.normal(size=(3, 2))
    y, y_test = X[:, 0] + rng.normal(size=150), X_test[:, 0]
    if task == "classification":
        y, y_test = y > 0, y_test > 0
    game = ff.NeighborGame(X, y, X_test, y_test, k=2, vote="hard", weights="distance", bits=2)
    closed, x = game.extension(), rng.random(150) * 0.6 + 0.3
    slopes = closed.gradient(x)
    assert closed.reach < 100
    for i in rng.choice(150, 3):
        inside, outside = x.copy(), x.copy()
        inside[i], outside[i] = 1.0, 0.0
        assert closed.value(inside) - closed.value(outside) == pytest.approx(slopes[i], abs=1e-13)
    assert closed.shapley().sum() == pytest.approx(np.diff(closed.ends())[0], abs=1e-12)


def test_quadrature_of_many_rows():
    """Polynomials that are as steep at 0 as slopes of 5000 rows, of which 300 come before."""
    at, shares = diagonal(5000)
    assert len(at) < 300
    for power in (0, 1, 5, 300, 4999):
        for k in (0, 4):
            found = shares @ (at**k * (1 - at) ** power)
            assert found == pytest.approx(beta(k + 1, power + 1), rel=1e-11, abs=1e-15)


def test_weights_of_any_library_and_place(xp, rng):
    given = data(rng, "classification")
    here = ff.NeighborGame(*given, k=3, weights="distance", vote="hard")
    there = ff.NeighborGame(*map(xp.asarray, given), k=3, weights="distance", vote="hard")
    coalitions = enumerate_coalitions(N)
    np.testing.assert_array_equal(there.worths(coalitions), here.worths(coalitions))


def test_rows_are_embedded(rng):
    X, y, X_test, y_test = data(rng, "classification")
    texts = [[" ".join(map(repr, map(float, row))) for row in rows] for rows in (X, X_test)]
    game = ff.NeighborGame(
        texts[0],
        y,
        texts[1],
        y_test,
        embed=lambda rows: [list(map(float, r.split())) for r in rows],
    )
    coalitions = enumerate_coalitions(N)
    plain = ff.NeighborGame(X, y, X_test, y_test)
    np.testing.assert_array_equal(game.worths(coalitions), plain.worths(coalitions))


def test_an_embedding_may_reuse_its_answer_and_write_into_rows(rng):
    X, y = rng.normal(size=(12, 3)), rng.integers(0, 2, 12)
    buffer = np.empty((8, 3))

    def embed(rows):
        answer = buffer[: len(rows)]
        answer[...] = 2 * rows
        rows[...] = 0.0
        return answer

    kept = X.copy()
    found, plain = (
        ff.shapley(ff.NeighborGame(X[:8], y[:8], X[8:], y[8:], k=2, embed=each)).values
        for each in (embed, None)
    )
    np.testing.assert_allclose(found, plain)
    np.testing.assert_array_equal(X, kept)


BAD = {
    "weights='nearness' is not known": {"weights": "nearness"},
    "vote='loud' is not known": {"vote": "loud"},
    "bits=0 was given": {"bits": 0},
    "a vote needs one label per row": {"vote": "hard", "y": np.full((N, 3), 1 / 3)},
    "entries from 2 to 2 .* one weight from 0 to 1": {"weights": lambda d: np.full(d.shape, 2.0)},
    "returned 7 vectors for 8 rows of X and 3 for 4": {"embed": lambda rows: rows[1:]},
    r"shape \(4,\) with": {"weights": lambda d: np.ones(len(d))},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_weights_and_votes(sentence, rng):
    X, y, X_test, y_test = data(rng, "classification")
    given = {"X": X, "y": y, "X_test": X_test, "y_test": y_test, **BAD[sentence]}
    with pytest.raises(ValueError, match=sentence):
        ff.NeighborGame(**given).worths(np.ones((1, N), dtype=bool))
