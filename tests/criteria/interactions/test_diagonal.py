"""One reading for all criteria along the diagonal: tables, closed forms, parts, errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.criteria.interactions.criterion import registry
from fairfield.criteria.interactions.diagonal import Diagonal

CRITERIA = sorted(name for name, kind in registry().items() if issubclass(kind, Diagonal))


def games(rng):
    cover = rng.random((9, 7)) * (rng.random((9, 7)) < 0.5)
    half = np.triu(rng.standard_normal((7, 7)), 1)
    return {
        "voting": ff.VotingGame([5, 4, 3, 3, 2, 1, 1], 10),
        "coverage": ff.CoverageGame(cover, rng.random(9)),
        "pairs": ff.PairwiseGame(rng.standard_normal(7), half + half.T),
        "sizes": ff.CardinalityGame(rng.standard_normal(8)),
        "sum": ff.FacilityLocationGame(rng.random((7, 3))) + 2 * ff.UnanimityGame([1, 3, 4, 6], 7),
    }


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_closed_forms_are_read_as_tables_are(criterion, order, rng):
    for name, game in games(rng).items():
        table = game.worths(brute.coalitions(7))
        found, wanted = (ff.interactions(g, criterion, order=order) for g in (game, table))
        assert found.method.startswith("closed form"), name
        assert_allclose(found.values, wanted.values, atol=1e-10, err_msg=name)
        assert_allclose(found.baseline, wanted.baseline, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_some_coalitions_are_read_as_all_are(criterion, rng):
    table = rng.standard_normal((2, 2**7))
    for game in (table, games(rng)["coverage"]):
        every = ff.interactions(game, criterion, order=3)
        some = [(6, 2, 0), (4, 1, 5)]
        found = ff.interactions(game, criterion, order=3, among=some)
        assert found.coalitions == some
        which = [every.coalitions.index(tuple(sorted(each))) for each in some]
        assert_allclose(found.values, every.values[..., which], atol=1e-11)
        among = ff.interactions(game, criterion, order=3, among=[5, 0, 3])
        whole = {frozenset(each): k for k, each in enumerate(every.coalitions)}
        which = [whole[frozenset(each)] for each in among.coalitions]
        assert_allclose(among.values, every.values[..., which], atol=1e-11)
        assert len(among.coalitions) == (7 if registry()[criterion].every_size else 1)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_errors_of_the_worths_are_passed_on(criterion, rng):
    """The interactions are linear: Var I(A) = Σ_S c_A(S)² V(S)."""
    worths, variances = rng.standard_normal(2**4), rng.random(2**4)
    found = ff.interactions(ff.TableGame(worths, variances=variances), criterion, order=3)
    rows = [ff.interactions(row, criterion, order=3).values for row in np.eye(2**4)]
    wanted = np.sqrt(variances @ np.array(rows) ** 2)
    assert_allclose(found.stderr, wanted, atol=1e-12)
    assert "±" in repr(found)


def test_errors_that_are_not_passed_on_are_unknown(rng):
    game = ff.TableGame(rng.standard_normal(8), variances=rng.random(8))
    assert np.isnan(ff.interactions(game, "variational_index", temperature=1.0).stderr).all()


def test_batches_and_their_shapes(rng):
    tables = rng.standard_normal((2, 3, 2**5)) + 1e6  # an offset that costs digits
    for criterion in CRITERIA:
        found = ff.interactions(tables, criterion, order=3)
        assert found.stderr.shape == found.values.shape
        alone = ff.interactions(tables[1, 2] - 1e6, criterion, order=3).values
        assert_allclose(found.values[1, 2], alone, atol=1e-8)


def test_many_passes_are_one(rng, monkeypatch):
    table = rng.standard_normal(2**9)
    wanted = ff.interactions(table, "shapley", order=4).values
    monkeypatch.setattr("fairfield.multilinear.size_weights.MOST_COLUMNS", 4)
    from fairfield.multilinear import size_weights

    size_weights._plan.cache_clear()
    assert_allclose(ff.interactions(table, "shapley", order=4).values, wanted, atol=1e-12)
    size_weights._plan.cache_clear()


def test_the_strongest_are_kept(rng):
    table = rng.standard_normal((3, 2**5))
    every = ff.interactions(table, "k_sii", order=3)
    kept = ff.interactions(table, "k_sii", order=3, top=2)
    assert [len(each) for each in kept.coalitions] == [1] * 5 + [2] * 2 + [3] * 2
    assert [pair for pair, _ in every.of_size(2).top(2)] == kept.coalitions[5:7]
    assert kept.of_size(3).top(2) == every.of_size(3).top(2)
    many = ff.interactions(games(rng)["coverage"], "shapley", order=3, top=3)
    assert len(many.coalitions) == 3


def test_pairs_of_many_players_come_with_all_players_alone(rng):
    n = 130
    half = np.triu(rng.standard_normal((n, n)), 1)
    game = ff.PairwiseGame(rng.standard_normal(n), half + half.T)
    every = ff.interactions(game, "fsii")
    found = ff.interactions(game, "fsii", top=4)
    assert found.coalitions[:n] == [(i,) for i in range(n)]
    assert found.coalitions[n:] == [pair for pair, _ in every.of_size(2).top(4)]
    assert_allclose(found.values, [every[each] for each in found.coalitions], atol=1e-9)
