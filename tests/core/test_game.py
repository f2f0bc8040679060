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


class Squares(ff.Game):
    """Players and worths are all that a game needs."""

    players = ("ann", "bob", "eve")

    def worths(self, coalitions):
        return coalitions.sum(axis=1) ** 2


def test_players_and_worths_make_a_game(tmp_path):
    game = Squares()
    assert repr(game) == "Squares: 3 players"
    found = game.measure(brute.coalitions(3))
    assert_allclose(found.worths, [0, 1, 1, 4, 1, 4, 4, 9])
    assert (found.variances, found.failures.sentences()) == (None, [])
    for options in ({}, {"n_jobs": 2}, {"store": tmp_path / "worths.db"}):
        assert_allclose(ff.shapley(game, **options).values, 3)
    assert ff.compare(game).keys() == {"variational_index", "banzhaf", "shapley"}


class Fallible(Squares):
    """Pairs of players cannot be evaluated."""

    players = tuple(range(10))

    def worths(self, coalitions):
        return self.measure(coalitions).worths

    def measure(self, coalitions):
        pairs = coalitions.sum(axis=1) == 2
        failures = ff.Failures(int(pairs.sum()), "a pair: KeyError" if pairs.any() else "")
        return ff.Measured(np.where(pairs, 0.0, coalitions.sum(axis=1) ** 2), None, failures)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failures_come_back_with_the_worths(n_jobs):
    game = Fallible()
    sentence = "45 worths could not be found and took the fallback, the first of a pair: KeyError"
    for _ in range(2):  # nothing is counted twice
        for criterion in (ff.shapley, ff.variational_index):
            assert criterion(game, n_jobs=n_jobs).stop.endswith(sentence)
    assert "took the fallback" not in ff.leave_one_out(game, n_jobs=n_jobs).stop
    estimate = ff.shapley(game, n_jobs=n_jobs, budget=500)
    assert "worths could not be found and took the fallback" in estimate.stop
    one, other = ff.Failures(), ff.Failures(1, "a pair: KeyError")
    assert (one + other + other) == ff.Failures(2, "a pair: KeyError")
    assert other.sentences() == [
        "one worth could not be found and took the fallback, that of a pair: KeyError"
    ]
