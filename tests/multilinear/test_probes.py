"""Many columns in one product on a device give what NumPy gives."""

import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from conftest import needs
from fairfield.multilinear import worth_matrix as matrix
from fairfield.multilinear.table import TableExtension

HOT = {"temperature": 0.7}


@pytest.mark.parametrize("many", [1, 2**26])
def test_second_derivatives_and_pairs_of_members(xp, many, rng, monkeypatch):
    """Players of the same side of the table and of both sides, with either way of making laws."""
    monkeypatch.setattr(matrix, "MANY", many)
    for count in (5, 8, 9):
        worths, x = rng.standard_normal(2**count), rng.random(count)
        found, wanted = (
            TableExtension.of(ff.TableGame(each)) for each in (xp.asarray(worths), worths)
        )
        assert_allclose(found.hessian(x), wanted.hessian(x), atol=1e-12)
        assert_allclose(found.gradient(x), wanted.gradient(x), atol=1e-12)
        laws = (ff.Boltzmann(ff.TableGame(each), 0.7) for each in (xp.asarray(worths), worths))
        assert_allclose(*(law.pair_marginals for law in laws), atol=1e-12)


def test_float32_tables_on_a_device_are_the_same(rng, monkeypatch):
    torch = needs("torch", "torch")
    worths = rng.standard_normal(2**9).astype("float32")
    game = ff.TableGame(torch.asarray(worths))
    monkeypatch.setattr(matrix, "ON_DEVICE", 2**6)
    monkeypatch.setattr(matrix, "MANY", 1)
    for criterion in (ff.banzhaf, ff.variational_index):
        found, wanted = criterion(game, **HOT), criterion(worths, **HOT)
        assert_allclose(found.values, wanted.values, rtol=1e-12, atol=1e-12)
        assert_allclose(found.decoupling_error, wanted.decoupling_error, rtol=1e-6)
