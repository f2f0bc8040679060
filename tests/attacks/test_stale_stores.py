"""A store never passes the worths of one function off as those of another."""

import json
import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pytest

import fairfield as ff
from fairfield.evaluation.store import recheck

WEIGHTS = np.array([3.0, 1.0, 2.0, 0.5])


def weighted(weights, power=1, extra=0.0):
    def worth(S, shift=0.0):
        return (S @ weights) ** power + shift + extra * S.all(axis=1)

    return worth


def changed_constant(S):
    return 2.0 * S[:, 0] + S.all(axis=1)


class Scaled(ff.Game):
    players = (0, 1, 2, 3)
    factor = 2.0

    def worths(self, coalitions):
        return self.factor * coalitions.sum(axis=1)


class Taxed(Scaled):
    def worths(self, coalitions):
        return self.factor * coalitions.sum(axis=1) - coalitions.all(axis=1)


Taxed.__name__ = Taxed.__qualname__ = "Scaled"


class Callable:
    def __init__(self, weights):
        self.weights, self.calls = weights, 0

    def __call__(self, S):
        self.calls += len(S)
        return S @ self.weights


class Slotted:
    __slots__ = ("weights",)

    def __init__(self, weights):
        self.weights = weights

    def __call__(self, S):
        return S @ self.weights


PAIRS = {
    "a captured array": (weighted(WEIGHTS), weighted(WEIGHTS + 1e-12)),
    "a captured number": (weighted(WEIGHTS), weighted(WEIGHTS, extra=1e-12)),
    "a constant": (
        lambda S: S[:, 0] + 1.0 * S.all(axis=1),
        lambda S: S[:, 0] + 2.0 * S.all(axis=1),
    ),
    "an object's data": (Callable(WEIGHTS), Callable(WEIGHTS[::-1])),
    "data in slots": (Slotted(WEIGHTS), Slotted(WEIGHTS[::-1])),
}


@pytest.mark.parametrize("what", PAIRS)
def test_a_changed_function_is_refused_before_any_worth(what, tmp_path):
    first, second = PAIRS[what]
    ff.shapley(first, players=4, store=tmp_path / "s.db")
    with pytest.raises(ff.StoreError, match="other code; use another file, or give the game name="):
        ff.shapley(second, players=4, store=tmp_path / "s.db")
    assert ff.shapley(first, players=4, store=tmp_path / "s.db").evaluations == 4


def test_a_changed_class_is_refused(tmp_path):
    ff.shapley(Scaled(), store=tmp_path / "s.db")
    with pytest.raises(ff.StoreError, match="other code"):
        ff.shapley(Taxed(), store=tmp_path / "s.db")


def test_a_changed_scoring_is_refused(tmp_path):
    from sklearn.linear_model import LinearRegression

    X, y = np.arange(12.0)[:, None] ** 2, np.arange(12.0)

    def scored(unit):
        def scoring(model, X, y):
            return unit * model.score(X, y)

        groups = np.arange(12) % 3
        return ff.DataGame(LinearRegression(), X, y, X, y, groups=groups, scoring=scoring)

    ff.shapley(scored(1.0), store=tmp_path / "s.db")
    with pytest.raises(ff.StoreError, match="scoring"):
        ff.shapley(scored(1.0 + 1e-12), store=tmp_path / "s.db")


def test_what_a_function_writes_to_is_no_part_of_it(tmp_path):
    calls, cache, count, buffer = [], {}, 0, np.empty(64)

    def worth(S):
        nonlocal count
        count += 1
        calls.append(len(S))
        cache[count] = S.sum()
        buffer[: len(S)] = S.sum(axis=1)
        return buffer[: len(S)]

    for evaluations in (16, 4):
        assert ff.shapley(worth, players=4, store=tmp_path / "s.db").evaluations == evaluations


def test_a_name_stands_for_the_code(tmp_path):
    for factor, evaluations in ((1.0, 16), (1.0 + 1e-14, 4)):
        game = ff.FunctionGame(lambda S, f=factor: f * S.sum(axis=1), 4, name="sum")
        assert ff.shapley(game, store=tmp_path / "s.db").evaluations == evaluations


def test_a_name_that_is_given_later_stands_for_the_code_too(tmp_path):
    def total(S):
        return S.sum(axis=1)

    store = tmp_path / "s.db"
    ff.shapley(ff.FunctionGame(total, 4), store=store)

    def total(S):
        return S.astype(float).sum(axis=1)

    name = "test_a_name_that_is_given_later_stands_for_the_code_too.<locals>.total"
    with pytest.raises(ff.StoreError, match=f"give the game name='{name}'"):
        ff.shapley(ff.FunctionGame(total, 4), store=store)
    assert ff.shapley(ff.FunctionGame(total, 4, name=name), store=store).evaluations == 4
    with pytest.raises(ff.StoreError, match="had other worths"):
        ff.shapley(ff.FunctionGame(lambda S: 2 * total(S), 4, name=name), store=store)


def test_the_worths_tried_again_are_random_and_never_the_empty_coalition():
    seen = set()

    class Noted(ff.Game):
        players = tuple(range(6))

        def worths(self, coalitions):
            seen.update(map(tuple, coalitions.tolist()))
            return coalitions.sum(axis=1)

    rows = (np.arange(64)[:, None] >> np.arange(6)) & 1
    keys = np.packbits(rows.astype(bool), axis=1, bitorder="little").view("S1").ravel()
    for _ in range(8):
        assert recheck(Noted(), keys, rows.sum(axis=1, keepdims=True) * 1.0, "s.db") == 4
    assert len(seen) > 8
    assert not any(not any(row) for row in seen)


def test_a_service_is_never_asked_for_stored_worths(tmp_path):
    """That costs money."""
    asked = []
    game = ff.RemoteGame(lambda names: asked.append(names) or len(names) ** 2.0, 4, name="paid")
    first = ff.shapley(game, store=tmp_path / "s.db")
    assert len(asked) == 16
    assert (ff.shapley(game, store=tmp_path / "s.db").values == first.values).all()
    assert len(asked) == 16


def test_a_random_function_resumes(tmp_path):
    rng = np.random.default_rng(0)

    def worth(S):
        return S.sum(axis=1) + rng.random(len(S))

    first = ff.shapley(ff.FunctionGame(worth, 4, random=True), store=tmp_path / "s.db")
    second = ff.shapley(ff.FunctionGame(worth, 4, random=True), store=tmp_path / "s.db")
    assert second.evaluations == 0
    assert (first.values == second.values).all()
    ff.shapley(ff.FunctionGame(worth, 4), store=tmp_path / "undeclared.db")
    with pytest.raises(ff.StoreError, match="random=True"):
        ff.shapley(ff.FunctionGame(worth, 4), store=tmp_path / "undeclared.db")


def test_other_versions_are_warned_of_and_another_python_compiles_otherwise(tmp_path):
    path = tmp_path / "s.db"
    ff.shapley(changed_constant, players=4, store=path)
    with closing(sqlite3.connect(path)) as base, base:
        held, about = base.execute("SELECT description, versions FROM game").fetchone()
        description = json.loads(held) | {"code": "<code 0000000000000000>"}
        versions = json.loads(about) | {"python": "3.9", "numpy": "1.0"}
        base.execute(
            "UPDATE game SET description = ?, versions = ?",
            (json.dumps(description), json.dumps(versions)),
        )
    with pytest.warns(UserWarning, match=r"made with python 3.9 \(now .*numpy 1.0"):
        assert ff.shapley(changed_constant, players=4, store=path).evaluations == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ff.shapley(changed_constant, players=4, store=tmp_path / "new.db")
