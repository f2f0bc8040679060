"""Feature games of many features, exactly, from tables over those that matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.evaluation.options import Options
from fairfield.multilinear import choose
from fairfield.multilinear.choose import Source
from fairfield.multilinear.parts import PartsExtension
from games.features.models import Counted, curved, definition


def by_parts(game):
    parts = game.division().parts(False)
    return PartsExtension.of(parts, len(game.players), game.batch)


@pytest.mark.parametrize("values", [1, 2, 4, 50])
@pytest.mark.parametrize("link", [None, np.tanh])
def test_parts_add_up_to_the_definition(rng, values, link):
    """From rows that equal the background to rows that differ everywhere."""
    X = rng.integers(0, values, (4, 8)) * 1.0
    background = rng.integers(0, values, (6, 8)) * 1.0
    game = ff.FeatureGame(curved, X, background, link=link)
    wanted = np.array([definition(curved, x, background) for x in X])
    wanted = wanted if link is None else link(wanted)
    extension = by_parts(game)
    corners = brute.coalitions(8)[:, None].repeat(4, axis=1).astype(float)
    assert_allclose(extension.value(corners).T, wanted, atol=1e-10)
    assert_allclose(extension.shapley(), ff.shapley(wanted).values, atol=1e-10)
    division = game.division()
    kept = sum(part.worths.size for part in division.parts(False))
    assert kept <= max(division.numbers, 2 * 4)  # a constant is held twice
    assert division.numbers <= game.model_rows() or link is not None


def test_one_row_and_groups_of_columns(rng):
    x, background = rng.integers(0, 2, 9) * 1.0, rng.integers(0, 2, (5, 9)) * 1.0
    game = ff.FeatureGame(curved, x, background, groups=list("aabbbcdef"))
    assert_allclose(by_parts(game).shapley(), ff.shapley(game.table()).values, atol=1e-10)


@pytest.mark.parametrize("features", [30, 200])
def test_many_features_of_which_few_differ(rng, features):
    """Each background row differs in a few features of its own, so that all of them matter."""
    x = rng.standard_normal(features)
    background = np.repeat(x[None], features // 5, axis=0)
    for k, row in enumerate(background):
        row[5 * k : 5 * k + 5] += rng.standard_normal(5)

    def model(X):
        return np.sin(X @ np.cos(np.arange(features)))

    asked = Counted(model)
    game = ff.FeatureGame(asked, [x], background)
    assert not game.traits.nulls.any()
    found = ff.shapley(game)
    assert found.method == "exact tables over few players"
    assert found.stop == "1 × exact"
    assert len(asked.rows) <= game.model_rows() == 2**5 * features // 5
    wanted = np.zeros(features)
    for k, row in enumerate(background):
        own = slice(5 * k, 5 * k + 5)
        small = np.repeat(x[None], 2**5, axis=0)
        small[:, own] = np.where(brute.coalitions(5), x[own], row[own])
        wanted[own] = brute.shapley(model(small)) / len(background)
    assert_allclose(found.values[0], wanted, atol=1e-10)
    assert_allclose(found.values.sum(), found.grand - found.empty, atol=1e-10)
    settled = ff.variational_index(game, temperature=0.1)
    assert settled.converged.all()
    assert settled.residual.max() < 1e-8


def test_what_does_not_matter_has_exactly_no_value(rng):
    x, background = rng.standard_normal((2, 40)), rng.standard_normal((7, 40))
    background[:, 6:] = x[0, 6:]
    x[1, 6:] = x[0, 6:]
    game = ff.FeatureGame(curved, x, background)
    small = [definition(lambda X, x=x: curved(np.hstack([X, np.tile(x[6:], (len(X), 1))])),
                        x[:6], background[:, :6]) for x in x]  # fmt: skip
    for criterion in (ff.shapley, ff.banzhaf, ff.variational_index):
        found = criterion(game, temperature=0.5)
        assert_allclose(
            found.values[:, :6], criterion(np.array(small), temperature=0.5).values, atol=1e-9
        )
        assert_array_equal(found.values[:, 6:], 0.0)
    # The first pairs are those of player 0 with each of the others.
    pairs, wanted = (ff.interactions(each, "shapley").values for each in (game, np.array(small)))
    assert_allclose(pairs[:, :5], wanted[:, :5], atol=1e-10)
    assert_array_equal(pairs[:, 5:39], 0.0)
    triples = ff.interactions(game, "fsii", order=3, among=range(6)).values
    wanted = ff.interactions(np.array(small), "fsii", order=3).values
    assert_allclose(triples, wanted, atol=1e-10)


def test_a_budget_is_for_estimates_where_parts_cost_more(rng):
    x, background = rng.standard_normal(40), rng.standard_normal((3, 40))
    background[:, 9:] = x[9:]
    game = ff.FeatureGame(curved, x, background)
    assert game.division().evaluations == 2**9
    assert Source(game, Options(budget=2**9)).division is not None
    assert Source(game, Options(budget=2**9 - 1)).estimated
    assert Source(game, Options(tolerance=0.1)).estimated
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose, "MOST_WORTHS", 2**9 - 1)
        with pytest.raises(MemoryError, match=r"2\^40"):
            ff.shapley(game)


def test_bad_outputs_name_row_and_coalition():
    def broken(X):
        return np.where(X[:, 0] > 0, np.nan, 1.0)

    x = np.zeros(70)
    x[[0, 69]] = 1.0
    with pytest.raises(ff.WorthError, match="row 0 keeps"):
        ff.shapley(ff.FeatureGame(broken, x, np.zeros(70)))


def test_drawn_backgrounds_are_not_divided():
    game = ff.FeatureGame(curved, np.ones(30), lambda row, kept, rng: np.zeros((2, 30)))
    assert game.division() is None


def test_all_outputs_are_divided_together():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (60, 30)).astype(float)

    def predict(rows):
        score = rows[:, 0] * rows[:, 3] + rows[:, 7] - rows[:, 29]
        return np.stack([score, -score, score**2], axis=1)

    background = np.repeat(X[:1], 3, axis=0)
    background[0, [0, 7]] += 1
    background[1, [3, 7, 29]] -= 1
    background[2, 12] += 1
    rows = X[:2]
    rows[1] = rows[0]
    rows[1, 5] += 1
    game = ff.FeatureGame(predict, rows, background, output="all")
    found = ff.shapley(game)
    assert found.values.shape == (2, 3, 30)
    for column in range(3):
        alone = ff.shapley(ff.FeatureGame(predict, rows, background, output=column))
        np.testing.assert_allclose(found.values[:, column], alone.values, atol=1e-12)
        ends = predict(rows)[:, column] - predict(background)[:, column].mean()
        np.testing.assert_allclose(found.values[:, column].sum(axis=1), ends, atol=1e-12)
