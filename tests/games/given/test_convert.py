"""Games in every form a user may have them."""

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


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=0), "no players"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=[]), "no players"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players="abc"), "one string"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1)), "pass players="),
        (lambda: ff.shapley(ff.TableGame([0, 1]), players=1), "has its players already"),
        (lambda: ff.shapley({(): 0, ("a",): 1, ("b",): 1}), r"1 of the 4 .* \{a, b\} among them"),
        (lambda: ff.shapley({tuple(range(60)): 1.0}), r"of 60 players have no worth, \{\} among"),
        (lambda: ff.shapley({(): 0, ("a", "b"): 1, ("b", "a"): 2}), "given twice"),
        (lambda: ff.shapley({"ab": 1}), "does not name a coalition"),
        (lambda: ff.shapley(lambda S: S.sum(axis=1), players=-1), "no players"),
        (
            lambda: ff.shapley(lambda S: S.sum(axis=1), players=3.0),
            "neither a list of names nor a number",
        ),
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
