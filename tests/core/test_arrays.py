"""Games and tables on other devices give what they give in NumPy."""

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from conftest import needs
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.given import tabulate
from fairfield.multilinear import worth_matrix as matrix
from fairfield.multilinear.table import TableExtension

HOT = {"temperature": 0.7}


@pytest.fixture(params=["strict", "torch"])
def xp(request):
    """A library other than NumPy, whose arrays no NumPy function takes by accident."""
    return strict if request.param == "strict" else needs("torch", "torch")


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


def test_compiled_passes_are_the_same(rng, monkeypatch):
    torch = needs("torch", "torch")
    worths = rng.standard_normal(2**9).astype("float32")
    game = ff.TableGame(torch.asarray(worths))
    # What a compiler does is not the subject here, but what it is given to compile.
    monkeypatch.setattr(matrix, "compiler", lambda _: lambda function: function)
    monkeypatch.setattr(matrix, "COMPILED", 1)
    monkeypatch.setattr(matrix, "ONE_CALL", 2**6)
    monkeypatch.setattr(matrix, "MANY", 1)
    for criterion in (ff.banzhaf, ff.variational_index):
        found, wanted = criterion(game, **HOT), criterion(worths, **HOT)
        assert_allclose(found.values, wanted.values, rtol=1e-12, atol=1e-12)
        assert_allclose(found.decoupling_error, wanted.decoupling_error, rtol=1e-6)


def test_float32_tables_are_exponentiated_in_float32(rng):
    worths = 10 * rng.standard_normal(2**12).astype("float32")
    for temperature in (0.05, 1.0, 100.0):
        found = ff.Boltzmann(worths, temperature)
        wanted = ff.Boltzmann(worths.astype(float), temperature)
        assert_allclose(found.log_z, wanted.log_z, atol=1e-5)
        assert_allclose(found.marginals, wanted.marginals, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_worth_function_fills_its_table_on_the_device(dtype, rng, monkeypatch):
    torch = needs("torch", "torch")
    monkeypatch.setattr(tabulate, "CHUNK", 2**5)
    pairs = rng.standard_normal((8, 8))
    there = torch.asarray(pairs)
    seen = []

    def worths(coalitions):
        seen.append(len(coalitions))
        inside = coalitions.to(torch.float64)
        return ((inside @ there) * inside).sum(dim=1).to(getattr(torch, dtype))

    game = ff.FunctionGame(worths, 8, device="cpu")
    table = game.table()
    assert set(seen) == {2**5}
    assert isinstance(table, torch.Tensor)
    assert table.dtype == getattr(torch, dtype)
    wanted = ff.shapley(lambda S: ((S @ pairs) * S).sum(axis=1), players=8).values
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    assert_allclose(ff.shapley(game).values, wanted, rtol=tolerance, atol=tolerance)
    one = np.eye(8, dtype=bool)[:1]
    assert_allclose(game.worths(one), [pairs[0, 0]], rtol=tolerance)


def test_a_worth_function_on_a_device_may_write_into_its_argument(monkeypatch):
    torch = needs("torch", "torch")
    monkeypatch.setattr(tabulate, "CHUNK", 2**3)
    held = torch.zeros(2**5, dtype=torch.float64)
    weights = torch.asarray(2.0 ** np.arange(5))

    def worths(coalitions):
        torch.matmul(coalitions.double(), weights, out=held[: len(coalitions)])
        coalitions[:] = False
        return held[: len(coalitions)]

    game = ff.FunctionGame(worths, 5, device="cpu")
    assert_allclose(game.table(), np.arange(32))
    S = enumerate_coalitions(5)
    first, second = game.worths(S[:4]), game.worths(S[4:8])
    assert_allclose([*first, *second], np.arange(8))
    assert (enumerate_coalitions(5) == S).all()


def test_a_worth_function_on_a_strict_device(rng):
    weights = strict.asarray(rng.standard_normal(5))
    game = ff.FunctionGame(
        lambda S: strict.astype(S, strict.float64) @ weights, 5, device=strict.Device("CPU_DEVICE")
    )
    assert_allclose(ff.banzhaf(game).values, np.asarray(weights))


def test_a_table_too_large_for_its_device_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(tabulate, "free_bytes", lambda _: 10**9)
    game = ff.FunctionGame(
        lambda S: strict.sum(strict.astype(S, strict.float64), axis=1),
        33,
        device=strict.Device("CPU_DEVICE"),
    )
    with pytest.raises(MemoryError, match=r"2\^33 worths takes 68.7 GB, and .* has 1 GB free"):
        ff.shapley(game)


def test_bad_devices_and_answers_are_told():
    torch = needs("torch", "torch")
    with pytest.raises(ValueError, match="device=7 was given"):
        ff.shapley(ff.FunctionGame(len, 3, device=7))
    with pytest.raises(ValueError, match=r"returned shape \(8, 3\) for 8 coalitions"):
        ff.shapley(ff.FunctionGame(lambda S: S.to(torch.float64), 3, device="cpu"))
    with pytest.raises(ValueError, match="returned complex worths"):
        ff.shapley(ff.FunctionGame(lambda S: S.sum(dim=1) * 1j, 3, device="cpu"))
    nan = ff.FunctionGame(lambda S: S.sum(dim=1) / 0 * 0, 3, device="cpu")
    with pytest.raises(ValueError, match=r"coalition \{\} is nan"):
        ff.shapley(nan)


def test_an_error_on_the_device_tells_where(monkeypatch):
    needs("torch", "torch")
    monkeypatch.setattr(tabulate, "CHUNK", 2**2)

    def worths(coalitions):
        return 1 / 0 if coalitions[:, 2].any() else coalitions.sum(dim=1)

    with pytest.raises(ZeroDivisionError) as caught:
        ff.shapley(ff.FunctionGame(worths, 4, device="cpu"))
    assert "at rows 4 to 7 of the 16 coalitions" in caught.value.__notes__[0]


def test_sums_of_maxima_on_any_device(xp, rng):
    gains, weights = rng.standard_normal(7), rng.standard_normal((7, 3))
    here, there = ff.FLIDGame(gains, weights), ff.FLIDGame(gains, xp.asarray(weights))
    assert_same_game(here, there, rng)
    assert there.describe() == here.describe()


def test_pairs_and_cuts_on_any_device(xp, rng):
    linear, arcs = rng.standard_normal(7), np.abs(rng.standard_normal((7, 7)))
    quadratic = np.triu(arcs, 1) + np.triu(arcs, 1).T
    assert_same_game(
        ff.PairwiseGame(linear, quadratic), ff.PairwiseGame(linear, xp.asarray(quadratic)), rng
    )
    assert_same_game(ff.CutGame(arcs), ff.CutGame(xp.asarray(arcs)), rng)
    with pytest.raises(ValueError, match="must be symmetric"):
        ff.PairwiseGame(linear, xp.asarray(arcs))


def test_neighbours_on_any_device(xp, rng):
    # Whole numbers, so that there are many rows at equal distance.
    X, X_test = rng.integers(0, 4, (40, 2)).astype(float), rng.integers(0, 4, (9, 2)).astype(float)
    y, y_test = rng.integers(0, 2, 40), rng.integers(0, 2, 9)
    here = ff.NeighborGame(X, y, X_test, y_test, k=3)
    there = ff.NeighborGame(*map(xp.asarray, (X, y, X_test, y_test)), k=3)
    assert_same_game(here, there, rng)
    assert there.describe() == here.describe()
    with pytest.raises(ValueError, match="on a device, where distances are Euclidean"):
        ff.NeighborGame(*map(xp.asarray, (X, y, X_test, y_test)), metric="cosine")


def assert_same_game(here, there, rng):
    coalitions = rng.random((20, len(here.players))) < 0.4
    assert_allclose(there.worths(coalitions), here.worths(coalitions), atol=1e-13)
    x = rng.random((3, len(here.players)))
    for of in ("value", "gradient", "hessian"):
        found, wanted = (getattr(game.extension(), of)(x) for game in (there, here))
        assert isinstance(found, np.ndarray)
        assert_allclose(found, wanted, atol=1e-12)
    for criterion in (ff.shapley, ff.variational_index):
        found, wanted = criterion(there, temperature=0.5), criterion(here, temperature=0.5)
        assert_allclose(found.values, wanted.values, atol=1e-11)
