"""Nouns, their numbers and the unit of the worths."""

from fairfield.results.words import PLAYERS, Words, no_player

FEATURES = Words("feature", "row", "log-odds of class 1", "log-odds")


def test_counts_and_ends():
    assert [PLAYERS.players(1), PLAYERS.games(1200)] == ["1 player", "1,200 games"]
    assert [FEATURES.players(2), FEATURES.games(1)] == ["2 features", "1 row"]
    assert [PLAYERS.empty, PLAYERS.grand, PLAYERS.gain] == ["F(∅)", "F(N)", "F(N) − F(∅)"]
    assert [FEATURES.empty, FEATURES.grand] == ["no features", "all features"]
    assert FEATURES.gain == "the log-odds of class 1 with all features minus with none"


def test_units_follow_quantities():
    assert PLAYERS.with_unit("value") == "value"
    assert FEATURES.with_unit("value") == "value (log-odds)"


def test_a_name_that_is_not_there():
    assert (
        no_player("zed", ["age"], FEATURES) == "there is no feature 'zed'; the features are {age}"
    )
