"""Tables of results as text and HTML."""

import dataclasses

import numpy as np

import fairfield as ff
from fairfield.results.words import Words


def test_text_and_html(one, many):
    text = repr(one)
    assert "decoupling error" in text
    assert "marginal" in text
    assert "converged" in text
    assert "<script>" in text
    page = one._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "mean |value|" in repr(many)
    assert "4 games of 3 players" in repr(many)
    long = ff.banzhaf(lambda S: S.sum(axis=1), players=22, progress=False)
    assert "… 2 more players" in repr(long)
    table = ff.compare(np.arange(8.0), temperature=1.0)
    assert "decoupling error: variational_index 0, banzhaf 0, shapley 0" in repr(table)
    assert "<table>" in table._repr_html_()


def test_games_of_a_batch_are_shown_by_name(named, named_game):
    assert "shapley of 'loss' in Named: 2 games of 3 players" in repr(named["loss"])
    head = repr(named).splitlines()[0].split()
    assert head == ["player", "hits", "loss"]
    assert repr(named).splitlines()[1].split() == ["<script>", "1", "5"]
    head = repr(ff.compare(named_game, criteria=["shapley", "banzhaf"]))
    assert head.startswith("player    shapley, hits  shapley, loss  banzhaf, hits  banzhaf, loss")


def test_explanations_speak_of_features_rows_and_units(many):
    words = Words("feature", "row", "log-odds of class 1", "log-odds")
    batch = dataclasses.replace(many, words=words)
    assert repr(batch).split("  ")[0] == "feature"
    assert "mean value (log-odds)" in repr(batch)
    assert repr(batch[0]).splitlines()[0].split() == ["feature", "value", "(log-odds)", "marginal"]
    both = ff.Comparison({"one": batch, "two": batch})
    assert repr(both).startswith("feature")
    assert "unit of the values: log-odds" in repr(both).splitlines()
    assert "player" not in repr(dataclasses.replace(batch, game="TreeGame"))
    wide = dataclasses.replace(batch[0], players=tuple(range(22)), values=np.arange(22.0),
                               marginals=None)  # fmt: skip
    assert "… 2 more features" in repr(wide)
    numbered = dataclasses.replace(batch, labels=(7, 8, 9, 10))
    heads = [head.strip() for head in repr(numbered).splitlines()[0].split("  ") if head]
    assert heads == ["feature", "row 7", "row 8", "row 9", "row 10"]
