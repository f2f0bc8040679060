"""Tables on other devices give what they give in NumPy."""

import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.multilinear import worth_matrix as matrix

HOT = {"temperature": 0.7}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tables_in_one_piece_or_in_blocks(xp, dtype, rng, monkeypatch):
    worths = rng.standard_normal(2**9).astype(dtype)
    game = ff.TableGame(xp.asarray(worths))
    for size in (2**26, 2**6):
        monkeypatch.setattr(matrix, "ON_DEVICE", size)
        monkeypatch.setattr(matrix, "MANY", size)
        for criterion in (ff.shapley, ff.variational_index, ff.free_energy_value):
            found, wanted = criterion(game, **HOT), criterion(worths, **HOT)
            assert_allclose(found.values, wanted.values, rtol=1e-11, atol=1e-11)
            # Of float32 every library takes its own exponential.
            assert_allclose(found.log_z, wanted.log_z, rtol=1e-12 if dtype == "float64" else 1e-7)
        found, wanted = (ff.interactions(each, "shapley").values for each in (game, worths))
        assert_allclose(found, wanted, atol=1e-12)


def test_float32_tables_are_exponentiated_in_float32(rng):
    worths = 10 * rng.standard_normal(2**12).astype("float32")
    for temperature in (0.05, 1.0, 100.0):
        found = ff.Boltzmann(worths, temperature)
        wanted = ff.Boltzmann(worths.astype(float), temperature)
        assert_allclose(found.log_z, wanted.log_z, atol=1e-5)
        assert_allclose(found.marginals, wanted.marginals, atol=1e-5)
