"""Voting games: exact for whole weights, rounded within a stated bound for real ones."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from math import comb
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.given.table import TableGame
from fairfield.multilinear.table import TableExtension
from games.examples import assert_same, table_of

rng = np.random.default_rng(3)


@settings(deadline=None, max_examples=60)
@given(
    weights=st.lists(st.integers(-12, 20), min_size=1, max_size=7),
    quota=st.integers(-30, 70),
    data=st.data(),
)
def test_whole_weights_of_either_sign_are_exact(
    weights: list[int], quota: int, data: st.DataObject
) -> None:
    game = ff.VotingGame(weights, quota)
    probability = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
    x = np.array(data.draw(st.lists(probability, min_size=len(weights), max_size=len(weights))))
    closed, table = game.extension(), table_of(game)
    assert_same(closed.value(x), table.value(x), within=1e-12)
    assert_same(closed.gradient(x), table.gradient(x), within=1e-12)
    assert_same(closed.hessian(x), table.hessian(x), within=1e-12)
    assert_same(closed.shapley(), table.shapley(), within=1e-12)
    assert game.error_bound(x) == 0


@pytest.mark.parametrize("resolution", [20, 300, 10_000])
def test_real_weights_equal_the_table_of_the_rounded_game(resolution: int) -> None:
    weights = rng.normal(size=10)
    game = ff.VotingGame(weights, quota=0.7, resolution=resolution)
    assert game.unit == pytest.approx(np.abs(weights).sum() / resolution)
    closed, table = game.extension(), table_of(game.rounded)
    x = rng.random((20, 10))
    x[::3, :2], x[1::3, 3:6] = 0.0, 1.0
    assert_same(closed.value(x), table.value(x))
    assert_same(closed.gradient(x), table.gradient(x))
    assert_same(closed.hessian(x), table.hessian(x))
    assert_same(closed.shapley(), table.shapley())


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_on_rounding_holds(seed: int) -> None:
    draw = np.random.default_rng(seed)
    game = ff.VotingGame(draw.normal(size=8), quota=draw.normal(), resolution=60)
    closed, given_, n = game.extension(), table_of(game), 8
    x = draw.random((30, n))
    bound = game.error_bound(x)
    assert (np.abs(closed.value(x) - given_.value(x)) <= bound + 1e-12).all()
    # The plain bound: P(|sum - quota| ≤ n · unit / 2), of the rounded sum.
    sums = enumerate_coalitions(n) @ game.rounded.weights * game.unit
    near = np.abs(sums - game.quota) <= n * game.unit / 2 + 1e-12
    assert (bound <= TableExtension.of(TableGame(near)).value(x) + 1e-12).all()
    # Slopes: the bound with the player in, and with him out.
    off = np.abs(closed.gradient(x) - given_.gradient(x))
    for i in range(n):
        with_him, without = x.copy(), x.copy()
        with_him[:, i], without[:, i] = 1.0, 0.0
        limit = game.error_bound(with_him) + game.error_bound(without)
        assert (off[:, i] <= limit + 1e-12).all()


def test_the_bound_shrinks_with_the_unit() -> None:
    weights, x = rng.random(30), np.full(30, 0.5)
    bounds = [
        ff.VotingGame(weights, 7.5, resolution=r).error_bound(x) for r in (10**3, 10**4, 10**5)
    ]
    assert bounds[0] > 5 * bounds[1] > 25 * bounds[2] > 0


def test_decimal_weights_reach_the_quota_they_add_up_to() -> None:
    # Eight times 0.1 is 0.7999999999999999 in floating point.
    game = ff.VotingGame([0.1] * 8, quota=0.8)
    everyone = np.ones((1, 8), dtype=bool)
    assert game.worths(everyone) == 1
    assert game.extension().value(np.ones(8)) == 1


def test_two_hundred_voters_take_milliseconds() -> None:
    weights = rng.multinomial(5000, np.full(200, 1 / 200))
    extension, x = ff.VotingGame(weights, quota=2501).extension(), rng.random(200)
    extension.gradient(x)
    start = time.perf_counter()
    for _ in range(10):
        extension.gradient(x)
    assert (time.perf_counter() - start) / 10 < 0.05
    values = extension.shapley()
    assert values.sum() == pytest.approx(1.0, abs=1e-12)
    order = np.argsort(weights, kind="stable")
    assert (np.diff(values[order]) >= -1e-14).all()


def test_the_council_of_the_european_union() -> None:
    council = council_example()
    assert (len(council.WEIGHTS), sum(council.WEIGHTS.values()), council.QUOTA) == (27, 345, 255)
    # Its sixteen greatest members, with the quota in proportion, by enumeration.
    weights = list(council.WEIGHTS.values())[:16]
    game = ff.VotingGame(weights, quota=round(255 / 345 * sum(weights)))
    closed, table = game.extension(), table_of(game)
    assert_same(closed.shapley(), table.shapley(), within=1e-12)
    half = np.full(16, 0.5)
    assert_same(closed.gradient(half), table.gradient(half), within=1e-12)


def test_all_27_members_by_counting_coalitions_in_whole_numbers() -> None:
    council = council_example()
    weights, quota = list(council.WEIGHTS.values()), council.QUOTA
    closed = ff.VotingGame(weights, quota).extension()
    banzhaf, shapley = closed.gradient(np.full(27, 0.5)), closed.shapley()
    for member in (0, 4, 6, 26):
        # How many coalitions of the others have each size and weight.
        counts = Counter({(0, 0): 1})
        for other, weight in enumerate(weights):
            if other != member:
                joined = {(s + 1, w + weight): many for (s, w), many in counts.items()}
                counts.update(joined)
        swings = Counter[int]()
        for (size, weight), many in counts.items():
            if quota - weights[member] <= weight < quota:
                swings[size] += many
        assert banzhaf[member] == pytest.approx(swings.total() / 2**26, abs=1e-15)
        exact = sum(Fraction(many, 27 * comb(26, size)) for size, many in swings.items())
        assert shapley[member] == pytest.approx(float(exact), abs=1e-14)


def test_the_example_of_the_council_runs(capsys: pytest.CaptureFixture[str]) -> None:
    council_example().main()
    printed = capsys.readouterr().out
    assert "Germany" in printed
    assert "Malta" in printed


def council_example() -> ModuleType:
    path = Path(__file__).parents[3] / "examples" / "european_council.py"
    spec = spec_from_file_location("european_council", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("weights", "quota", "sentence"),
    [
        ([1, np.nan], 1, r"weights\[1\] is nan"),
        ([1, 2], np.inf, "the quota.* is inf"),
        ([], 1, "at least one"),
        ([[1, 2]], 1, "1 axis"),
        (["a"], 1, "array of numbers"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    weights: list[float], quota: float, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        ff.VotingGame(weights, quota)
