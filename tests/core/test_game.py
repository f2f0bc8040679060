"""Games in every form a user may have them, and what is refused at the door."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.games.given.convert import as_game


def test_the_same_game_in_five_forms(rng):
    table = rng.standard_normal(8)
    names = ("ann", "bob", "eve")
    by_name = {
        frozenset(n for n, inside in zip(names, row, strict=True) if inside): w
        for row, w in zip(brute.coalitions(3), table, strict=True)
    }
    forms = [
        ff.shapley(ff.TableGame(table, names)),
        ff.shapley(table, players=names),
        ff.shapley(by_name, players=names),
        ff.shapley(lambda S: table[S @ [1, 2, 4]], players=names),
        ff.shapley(ff.FunctionGame(lambda S: table[S @ [1, 2, 4]], names)),
    ]
    for found in forms:
        assert found.players == names
        assert_allclose(found.values, brute.shapley(table), atol=1e-12)


def test_a_dict_may_leave_its_players_to_be_found():
    game = as_game({(): 0, ("b",): 1, ("a",): 2, ("a", "b"): 5})
    assert set(game.players) == {"a", "b"}
    values = dict(zip(game.players, ff.shapley(game).values.tolist(), strict=True))
    assert values == {"a": 3.0, "b": 2.0}


def test_players_are_names_or_a_count():
    assert ff.TableGame(np.zeros(8)).players == (0, 1, 2)
    assert ff.shapley(lambda S: S.sum(axis=1), players=np.array(["x", "y"])).players == ("x", "y")
    assert all(type(p) is int for p in ff.TableGame(np.zeros(4), np.arange(2)).players)


def test_sums_and_multiples_of_games(rng):
    one, other = rng.standard_normal((2, 16))
    game = 2 * ff.TableGame(one) + ff.TableGame(other) - ff.TableGame(one) * 0.5
    assert_allclose(ff.shapley(game).values, brute.shapley(1.5 * one + other), atol=1e-12)
    assert "terms" in game.describe()
    games = [ff.TableGame(one), ff.TableGame(other)]
    assert_allclose(
        ff.shapley(-sum(games) / 2).values, brute.shapley(-(one + other) / 2), atol=1e-12
    )
    with pytest.raises(ValueError, match="same players"):
        ff.TableGame(one) + ff.TableGame(np.zeros(4))
    with pytest.raises(ValueError, match="finite"):
        np.nan * ff.TableGame(one)


def test_a_sum_asks_for_no_table_in_vain(monkeypatch):
    asked = []
    monkeypatch.setattr(ff.TableGame, "table", lambda self, progress=None: asked.append(self))
    with_none = as_game(lambda S: S.sum(axis=1), players=2) + ff.TableGame([0, 1, 1, 2])
    assert with_none.table() is None
    assert not asked


def test_describe_tells_games_apart(rng):
    table = rng.standard_normal(8)
    assert ff.TableGame(table).describe() == ff.TableGame(table.copy()).describe()
    assert ff.TableGame(table).describe() != ff.TableGame(table + 1).describe()
    named = ff.FunctionGame(lambda S: S.sum(axis=1), 3, name="team").describe()
    assert named["function"] == "team"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ff.TableGame([0, 1, 2]), r"shape \(3,\).*2\^n worths"),
        (lambda: ff.TableGame([1.0]), r"n ≥ 1 players"),
        (lambda: ff.TableGame([]), r"2\^n worths"),
        (lambda: ff.TableGame(3.0), r"2\^n worths"),
        (lambda: ff.TableGame([0, 1, 2, np.nan]), r"\{0, 1\} is nan"),
        (lambda: ff.TableGame([0, np.inf, 2, 3], ["a", "b"]), r"\{a\} is inf"),
        (lambda: ff.TableGame([[0, 1], [0, -np.inf]]), "of game 1 is -inf"),
        (lambda: ff.TableGame([0, 1j, 0, 0]), "real numbers"),
        (lambda: ff.TableGame([0, 1, 2, 3], ["a"]), "1 players were named"),
        (lambda: ff.TableGame([0, 1, 2, 3], ["a", "a"]), "'a' is named twice"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=0), "no players"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=[]), "no players"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players="abc"), "one string"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1)), "pass players="),
        (lambda: ff.shapley(ff.TableGame([0, 1]), players=1), "knows its players"),
        (lambda: ff.shapley({(): 0, ("a",): 1, ("b",): 1}), r"1 of the 4 .* \{a, b\} among them"),
        (lambda: ff.shapley({tuple(range(60)): 1.0}), r"of 60 players have no worth, \{\} among"),
        (lambda: ff.shapley({(): 0, ("a", "b"): 1, ("b", "a"): 2}), "given twice"),
        (lambda: ff.shapley({"ab": 1}), "does not name a coalition"),
        (lambda: ff.TableGame(np.zeros((0, 4))), "no games"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=-1), "no players"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=3.0), "no list of names"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=[["a"]]), "cannot serve as a name"),
        (lambda: ff.shapley({("a",): 1, ("z",): 1}, players=["a", "b"]), "no player 'z'"),
    ],
)
def test_bad_games_get_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_a_thing_that_is_no_game_is_named():
    with pytest.raises(TypeError, match="worth function was expected"):
        ff.FunctionGame(3, players=2)
    with pytest.raises(TypeError, match="unknown keyword 'bugdet'"):
        ff.shapley([0, 1], bugdet=3)
