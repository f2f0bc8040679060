"""The index: the paper's definitions, limits and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.naive_bayes import GaussianNB

import brute
import fairfield as ff

WORTHS = arrays(float, 2**4, elements=st.floats(-3, 3))


@given(WORTHS, st.floats(0.1, 10), st.floats(0.2, 5))
@settings(max_examples=30, deadline=None)
def test_scale_law(table, factor, temperature):
    """s(aF, aT) = a·s(F, T)."""
    plain = ff.variational_index(table, temperature=temperature)
    scaled = ff.variational_index(factor * table, temperature=factor * temperature)
    if np.max(np.abs(table)) / temperature < 1:  # hot enough for one answer only
        assert_allclose(scaled.values, factor * plain.values, atol=1e-8 * factor)
    assert scaled.converged == plain.converged


def test_hot_limit_is_banzhaf_with_its_first_correction(rng):
    """s* = Ba + H(½)Ba/(4T) + O(T⁻²)."""
    table = rng.standard_normal(2**6)
    banzhaf, hessian = brute.banzhaf(table), brute.hessian(table, np.full(6, 0.5))
    errors = []
    for temperature in (50.0, 100.0):
        index = ff.variational_index(table, temperature=temperature).values
        errors.append(np.abs(index - banzhaf - hessian @ banzhaf / (4 * temperature)).max())
    assert errors[1] < errors[0] / 3.5


def test_a_null_player_keeps_zero_under_any_prior(rng):
    table = np.concatenate([brute.mixed(rng, 4)] * 2)
    found = ff.variational_index(table, temperature=0.5, prior=[0.3, 0.8, 0.5, 0.6, 0.9])
    assert_allclose(found.values[4], 0, atol=1e-14)
    assert_allclose(found.marginals[4], 0.9, rtol=1e-12)
    law = ff.Boltzmann(table, 0.5, [0.3, 0.8, 0.5, 0.6, 0.9])
    assert_allclose(found.decoupling_error, law.decoupling_error(found), rtol=1e-10)
    flat = ff.variational_index(table, temperature=0.5, prior=0.5)
    assert_allclose(flat.values, ff.variational_index(table, temperature=0.5).values, atol=1e-9)


@pytest.mark.parametrize("temperature", [1.0, 1e-3, 1e-9])
def test_a_certain_prior_fixes_players_at_any_temperature(temperature):
    table = np.random.default_rng(0).standard_normal(8)
    rest = ff.Boltzmann(table, temperature).condition(outside=[0, 1])
    law = ff.Boltzmann(table, temperature, prior=[0, 0, 0.5])
    assert_allclose(law.marginals, [0, 0, rest.marginals[0]], atol=1e-12)
    found = ff.variational_index(table, temperature=temperature, prior=[0, 0, 0.5])
    assert_allclose(found.marginals, law.marginals, atol=1e-12)
    assert_allclose(found.decoupling_error, 0, atol=1e-9)


@pytest.mark.parametrize("temperature", [0.3, 0.03, 1e-3, 1e-5, 1e-8, 1e-20, 1e-150])
def test_random_games_converge_at_any_temperature(temperature):
    tables = np.random.default_rng(4).standard_normal((200, 16))
    found = ff.variational_index(tables, temperature=temperature)
    assert found.converged.all()
    law = ff.Boltzmann(tables, temperature)
    rounding = 1e-6 + 1e-13 / temperature  # of worths of order 1, divided by T
    errors = law.decoupling_error(found.marginals)
    assert_allclose(errors, found.decoupling_error, rtol=1e-6, atol=rounding)


def test_saturated_starts_are_left():
    table = np.random.default_rng(0).standard_normal(8)
    for start in (0, 1, [1, 0, 0], [0, 1, 1]):
        assert ff.variational_index(table, start=start).converged


def test_rounding_is_no_scale():
    half = np.random.default_rng(0).standard_normal(64)
    even = half + half[::-1]  # every Banzhaf value cancels, up to rounding
    assert_allclose(ff.variational_index(even).temperature, even.std(), rtol=1e-9)


def test_values_are_gradients_even_where_marginals_saturate(rng):
    table = 1000 * brute.mixed(rng, 5)
    found = ff.variational_index(table, temperature=1.0)
    assert np.isfinite(found.values).all()
    assert_allclose(found.values, brute.gradient(table, found.marginals), atol=1e-8)


def test_relative_temperature_is_banzhafs_scale(rng):
    tables = rng.standard_normal((3, 2**5))
    found = ff.variational_index(tables, temperature=ff.relative(0.5))
    for i in range(3):
        ba = brute.banzhaf(tables[i])
        assert_allclose(found.temperature[i], 0.5 * (ba**2).sum() / np.abs(ba).sum())
    even = np.array([0.0, 1.0, 1.0, 0.0])  # every Banzhaf value is 0
    assert_allclose(ff.variational_index(even).temperature, even.std())
    assert not ff.variational_index(np.ones(4)).values.any()  # for any temperature


def test_same_seed_same_answer(rng):
    table = brute.mixed(rng, 7)
    one, other = (ff.variational_index(table, temperature=0.1, starts=6, seed=4) for _ in range(2))
    assert (one.values == other.values).all()


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"temperature": 0}, "above 0"),
        ({"temperature": -1.0}, "above 0"),
        ({"temperature": np.nan}, "above 0"),
        ({"temperature": np.inf}, "above 0"),
        ({"temperature": [1.0, 2.0]}, "one number, or one per game"),
        ({"start": 1.5}, r"\[0, 1\]"),
        ({"start": np.nan}, r"\[0, 1\]"),
        ({"start": [0.5, 0.5, 0.5]}, "does not fit 2 players"),
        ({"prior": 2.0}, r"\[0, 1\]"),
        ({"solver": "newton"}, "no solver 'newton'"),
        ({"starts": 0}, "1 or more"),
    ],
)
def test_bad_keywords_get_one_sentence(keywords, sentence):
    with pytest.raises(ValueError, match=sentence):
        ff.variational_index([0, 1, 1, 3], **keywords)
    with pytest.raises(ValueError, match="1 or more"):
        ff.variational_values([0, 1, 1, 3], 0)


def test_a_whole_float_is_a_number_of_starts():
    table = [0.0, 1.0, 1.0, 0.0]
    found, wanted = (ff.variational_index(table, temperature=0.2, starts=k) for k in (4.0, 4))
    assert (found.values == wanted.values).all()
    assert found.stop == wanted.stop


def test_an_index_of_many_rows_is_refused_before_a_fit(rng):
    X, y = rng.normal(size=(101, 2)), np.arange(101) % 2
    game = ff.DataGame(GaussianNB(), X, y, X, y)
    sentence = "more than 100 rows cannot be estimated.*or a NeighborGame, whose index is exact"
    with pytest.raises(ValueError, match=sentence):
        ff.variational_index(game, budget=1000)
