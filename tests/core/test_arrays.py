"""Tables on other devices give what they give in NumPy; blocks of rows; sparse matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import fairfield as ff
from conftest import needs
from fairfield.core import arrays
from fairfield.core.arrays import elsewhere, in_precision, is_sparse, parts_of, slabs
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


def test_slabs_cover_all_rows_a_block_at_a_time():
    assert slabs(5, 2, block=4) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert slabs(2, 100, block=4) == [slice(0, 1), slice(1, 2)]
    assert slabs(3, 0, block=4) == [slice(0, 3)]
    assert slabs(0, 2) == []


def test_a_matrix_is_the_same_dense_or_sparse():
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    sparse = csr_array(dense)
    assert is_sparse(sparse)
    assert not is_sparse(dense)
    assert parts_of(dense)[0] is dense
    assert_allclose(parts_of(sparse)[0], [2.0, 3.0])


def test_arrays_that_numpy_cannot_read(monkeypatch):
    torch = needs("torch", "torch")
    assert not any(map(elsewhere, (None, [1.0], np.ones(2), torch.ones(2))))
    assert elsewhere(torch.ones(2, device="meta"))
    monkeypatch.setattr(arrays, "HOSTS", ())
    assert elsewhere(torch.ones(2))


def test_another_precision_is_a_copy(xp):
    for given in (xp.asarray([0.1, 2.0], dtype=xp.float64), np.array([0.1, 2.0])):
        single = in_precision(given, "float32")
        assert float(in_precision(single, "float64")[0]) == float(np.float32(0.1))
        same = in_precision(given, "float64")
        same[0] = 5.0
        assert float(given[0]) == 0.1
