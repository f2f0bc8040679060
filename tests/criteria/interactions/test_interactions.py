"""Interactions of every order, by their definitions."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_integral_of_the_derivative_is_the_shapley_interaction(order, rng):
    """∫ Δ_S f(t, …, t) dt is the interaction index, for |S| = 1, 2, 3."""
    table = rng.standard_normal(2**6)
    found = ff.interactions(table, "shapley", order=order)
    wanted = [brute.shapley_interaction(table, s) for s in combinations(range(6), order)]
    assert found.coalitions == list(combinations(range(6), order))
    assert_allclose(found.values, wanted, atol=1e-12)
    if order == 1:
        assert_allclose(found.values, ff.shapley(table).values, atol=1e-12)


def test_banzhaf_and_variational_interactions_are_hessians(rng):
    table = rng.standard_normal(2**6)
    assert_allclose(
        ff.interactions(table, "banzhaf").matrix(),
        brute.hessian(table, np.full(6, 0.5)),
        atol=1e-12,
    )
    index = ff.variational_index(table, temperature=0.7)
    found = ff.interactions(table, ff.variational_index, temperature=0.7)
    assert_allclose(found.matrix(), brute.hessian(table, index.marginals), atol=1e-10)


def test_given_coalitions_and_given_players(rng):
    table = rng.standard_normal(2**5)
    names = ["ann", "bob", "cid", "dan", "eve"]
    game = ff.TableGame(table, names)
    pairs = ff.interactions(game, among=[("ann", "eve"), ("cid", "bob")])
    assert_allclose(
        pairs.values,
        [brute.shapley_interaction(table, [0, 4]), brute.shapley_interaction(table, [1, 2])],
        atol=1e-12,
    )
    three = ff.interactions(game, "banzhaf", order=3, among=["ann", "bob", "dan"])
    assert three.coalitions == [("ann", "bob", "dan")]
    assert_allclose(three.values, [brute.derivative(table, [0, 1, 3], np.full(5, 0.5))], atol=1e-12)


def test_a_whole_float_is_an_order():
    found, wanted = (ff.interactions(np.arange(8.0) ** 2, order=order) for order in (2.0, 2))
    assert found.coalitions == wanted.coalitions


def test_batches_of_games(rng):
    tables = rng.standard_normal((3, 2**5))
    for name in ("shapley", "banzhaf", "variational_index"):
        found = ff.interactions(tables, name, temperature=1.0)
        assert found.values.shape == (3, 10)
        alone = ff.interactions(tables[1], name, temperature=1.0)
        assert_allclose(found.values[1], alone.values, atol=1e-9)
        assert found.matrix().shape == (3, 5, 5)


def test_constant_games_need_no_temperature():
    assert (ff.interactions(np.ones(8)).values == 0).all()


def test_results_can_be_looked_at(rng):
    found = ff.interactions(ff.TableGame(rng.standard_normal(8), ["a", "b", "<c>"]))
    assert len(found.top(2)) == 2
    assert abs(found.top(2)[0][1]) >= abs(found.top(2)[1][1])
    assert "{a, b}" in repr(found)
    assert "&lt;c&gt;" in found._repr_html_()
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_frame(), pandas.DataFrame)


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"order": 0}, "1 or more"),
        ({"order": 4}, "between 1 and 3"),
        ({"criterion": "loo"}, "choose from shapley"),
        ({"among": [(0, 1, 2)]}, "is not a coalition of 2"),
        ({"among": [(0, 9)]}, "is not a coalition of 2"),
        ({"among": ["zoe"]}, "names 'zoe', who is neither"),
        ({"among": [0, (1, 2)]}, "not both"),
        ({"among": []}, "name between"),
        ({"among": [0]}, "name between"),
        ({"among": [(0, 1, 1)]}, "is not a coalition of 2"),
        ({"order": 2.5}, "whole number"),
    ],
)
def test_bad_questions_get_one_sentence(keywords, sentence):
    with pytest.raises(ValueError, match=sentence):
        ff.interactions(np.arange(8.0), **keywords)


@pytest.mark.parametrize("among", [5, "ann"])
def test_among_takes_a_list(among):
    with pytest.raises(ValueError, match=f"among= is {among!r}; give a list of players"):
        ff.interactions([0, 1, 1, 5], players=["ann", "bob"], among=among)
