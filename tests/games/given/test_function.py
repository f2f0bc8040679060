"""Worth functions, here and on devices."""

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from conftest import needs
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.given import function as functions


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_worth_function_fills_its_table_on_the_device(dtype, rng, monkeypatch):
    torch = needs("torch", "torch")
    monkeypatch.setattr(functions, "CHUNK", 2**5)
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
    monkeypatch.setattr(functions, "CHUNK", 2**3)
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


def test_bad_devices_and_answers_are_reported():
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


def test_a_table_too_large_for_its_device_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(functions, "free_bytes", lambda _: 10**9)
    game = ff.FunctionGame(
        lambda S: strict.sum(strict.astype(S, strict.float64), axis=1),
        33,
        device=strict.Device("CPU_DEVICE"),
    )
    with pytest.raises(MemoryError, match=r"2\^33 worths takes 68.7 GB, and .* has 1 GB free"):
        ff.shapley(game)


def test_an_error_on_the_device_tells_where(monkeypatch):
    needs("torch", "torch")
    monkeypatch.setattr(functions, "CHUNK", 2**2)

    def worths(coalitions):
        return 1 / 0 if coalitions[:, 2].any() else coalitions.sum(dim=1)

    with pytest.raises(ZeroDivisionError) as caught:
        ff.shapley(ff.FunctionGame(worths, 4, device="cpu"))
    assert "at rows 4 to 7 of the 16 coalitions" in caught.value.__notes__[0]


def test_a_function_of_names_is_called_by_coalition():
    seen = []

    def worth(names):
        seen.append(names)
        return len(names) ** 2

    game = ff.FunctionGame(worth, ["ann", "bob", "eve"], takes="names")
    assert ff.shapley(game).values == pytest.approx([3, 3, 3])
    assert sorted(seen, key=len)[0] == ()
    assert len(seen) == len(set(seen)) == 8
    assert ff.shapley(game, n_jobs=2).values == pytest.approx([3, 3, 3])


def test_a_function_of_names_returns_a_number_or_a_worth():
    async def later(names):
        return 1.0

    game = ff.FunctionGame(lambda names: ff.Worth(len(names)), 3, takes="names")
    assert ff.shapley(game).values == pytest.approx([1, 1, 1])
    for wrong, sentence in (
        (lambda names: later(names), "async def"),
        (lambda names: "0.7", "text"),
    ):
        with pytest.raises(ff.WorthError, match=sentence):
            ff.shapley(ff.FunctionGame(wrong, 3, takes="names"))


def test_one_failing_coalition_repeats_no_other():
    seen = []

    def worth(names):
        seen.append(names)
        if names == ("ann", "bob"):
            raise ValueError("refused")
        return 1.0

    with pytest.raises(ff.WorthError, match=r"coalition \{ann, bob\}: ValueError: refused"):
        ff.shapley(ff.FunctionGame(worth, ["ann", "bob", "eve"], takes="names"))
    assert len(seen) == len(set(seen))


def test_what_a_function_takes_is_checked():
    async def later(names):
        return 1.0

    with pytest.raises(ValueError, match="takes='rows' is not known"):
        ff.FunctionGame(len, 2, takes="rows")
    with pytest.raises(ValueError, match="pass takes='names'"):
        ff.FunctionGame(later, 2)
    with pytest.raises(ValueError, match="leave out device="):
        ff.FunctionGame(len, 2, takes="names", device="cpu")
    assert ff.FunctionGame(later, 2, takes="names").worths(np.ones((3, 2), dtype=bool)).sum() == 3


@pytest.mark.parametrize(
    "function",
    [
        lambda S: S @ np.ones(5),
        lambda S: (S * np.ones(3)).sum(axis=1),
        lambda S: S[:, 7],
        lambda S: float(S[0] + S[1]),
        lambda S: 1.0 if S[0] else 0.0,
    ],
)
def test_a_function_of_other_arrays_is_told_what_it_takes(function):
    with pytest.raises(ff.WorthError) as failed:
        ff.shapley(function, players=4)
    wanted = "; a worth function takes bool[m, n], here m = 1, n = 4, and returns m worths"
    assert wanted in str(failed.value)


WEIGHTS = {"a": 1.0, "b": 2.0, "c": 3.0}


@pytest.mark.parametrize(
    ("of_one", "values"),
    [
        (lambda row: float((row * np.arange(1.0, 4.0)).sum()), [1, 2, 3]),
        (lambda row: np.arange(1.0, 4.0)[row].sum(), [1, 2, 3]),
        (lambda row: 1.0 if row[0] and row[1] else 0.0, [0.5, 0.5, 0]),
        (lambda row: row.sum(), [1, 1, 1]),
    ],
)
def test_a_function_of_one_row_is_told_how_to_be_given(of_one, values):
    with pytest.raises(ff.WorthError, match=r"as lambda S: \[f\(row\) for row in S\], one of"):
        ff.shapley(of_one, players=3)
    np.testing.assert_allclose(
        ff.shapley(lambda S: [of_one(r) for r in S], players=3).values, values
    )


@pytest.mark.parametrize(
    "of_names",
    [
        lambda names: len(names),
        lambda names: sum(WEIGHTS[each] for each in names),
        lambda names: float({"a"} <= set(names)),
        lambda names: 2.0 if "a" in names else 0.0,
        lambda names: len(frozenset(names) & {"a", "b"}),
        lambda names: {("a",): 1.0}.get(tuple(names), 0.0),
    ],
)
def test_a_function_of_names_is_told_how_to_be_given(of_names):
    with pytest.raises(ff.WorthError, match=r'as FunctionGame\(f, players, takes="names"\)$'):
        ff.shapley(of_names, players=list("abc"))
    ff.shapley(ff.FunctionGame(of_names, list("abc"), takes="names"))


def test_a_function_of_sets_is_told_how_to_be_given():
    for of_set in (lambda S: len(S & {"a"}), lambda S: S.issuperset({"a"}), lambda S: {"a"} <= S):
        with pytest.raises(ff.WorthError, match='takes="names"'):
            ff.shapley(of_set, players=list("abc"))


@pytest.mark.parametrize("error", [ValueError("the service is down"), KeyError("shape")])
def test_other_errors_are_left_as_they_are(error):
    def fails(S):
        raise error

    with pytest.raises(ff.WorthError) as failed:
        ff.shapley(fails, players=4)
    assert str(failed.value).endswith(f": {type(error).__name__}: {error}")


def test_a_hint_is_given_where_it_helps():
    with pytest.raises(ff.WorthError, match=r"object has no attribute 'foo'$"):
        ff.shapley(lambda S: S.foo, players=3)
