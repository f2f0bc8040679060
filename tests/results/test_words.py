"""Nouns, their numbers and the unit of the worths."""

import fairfield as ff
from fairfield.results.words import PLAYERS, Words, no_player

FEATURES = Words("feature", "row", "log-odds of class 1", "log-odds")


def test_counts_and_ends():
    assert [PLAYERS.players(1), PLAYERS.games(1200)] == ["1 player", "1,200 games"]
    assert [FEATURES.players(2), FEATURES.games(1)] == ["2 features", "1 row"]
    assert [PLAYERS.empty, PLAYERS.grand] == ["F(∅)", "F(N)"]
    assert [FEATURES.empty, FEATURES.grand] == ["no features", "all features"]


def test_units_follow_quantities():
    assert PLAYERS.with_unit("value") == "value"
    assert FEATURES.with_unit("value") == "value (log-odds)"


def test_a_name_that_is_not_there():
    assert (
        no_player("zed", ["age"], FEATURES) == "there is no feature 'zed'; the features are {age}"
    )


def test_sentences_are_put_into_these_words():
    sentence = "What a player adds to the game, in units of the worths; all sum to F(N) − F(∅)."
    assert PLAYERS.spoken(sentence) == sentence
    assert FEATURES.spoken(sentence) == (
        "What a feature adds to the log-odds of class 1, in units of the log-odds of class 1; all "
        "sum to the log-odds of class 1 with all features minus with none."
    )


def test_words_are_those_of_the_game():
    assert Words.of(ff.GameInfo()) == PLAYERS
    info = ff.GameInfo(noun="feature", row_noun="row", worth_name="margin", unit="log-odds")
    assert Words.of(info) == Words("feature", "row", "margin", "log-odds")


def test_outputs_have_a_noun():
    words = Words("feature", "row", "margin", output_noun="class")
    assert words.name_games((2, 2), ("first", 8), ("a", 1)) == [
        "first, a", "first, class 1", "row 8, a", "row 8, class 1",
    ]  # fmt: skip
    assert words.name_games((2,), None, ("a", 1)) == ["a", "class 1"]
    assert words.name_games((2, 2)) == ["row 0, 0", "row 0, 1", "row 1, 0", "row 1, 1"]
