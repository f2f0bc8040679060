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


def test_outputs_have_columns(classes, classes_game):
    lines = repr(classes).splitlines()
    assert lines[0].split("  ")[-2:] == [" low", "class 7"]
    assert "mean |value| of each class over 3 rows" in lines
    assert "ClassesGame: 3 rows of 3 features, for the margin of 2 classes, exact table" in repr(
        classes
    )
    size = np.abs(classes.values).mean(axis=0)
    assert f"{size[1].max():.4g}" in repr(classes)
    row = repr(classes["x"])
    assert "mean |value|" not in row
    assert f"{classes.values[1, 0, 0]:.4g}" in row
    alone = repr(classes["x", "low"])
    assert "variational_index of 'x' in class low in ClassesGame: 3 rows" in alone
    assert "value (log-odds)" in alone
    both = repr(ff.compare(classes_game, criteria=["shapley", "banzhaf"]))
    assert both.startswith("feature   shapley, low  shapley, class 7  banzhaf, low")


def test_many_outputs_are_shown_together(classes, rng):
    wide = dataclasses.replace(
        ff.shapley(rng.standard_normal((3, 20, 8))), outputs=tuple(range(20)), words=classes.words
    )
    assert "mean |value| over 3 rows × 20 classes" in repr(wide)
    assert repr(wide).splitlines()[0].split() == ["feature", "mean", "|value|"]
    both = repr(ff.Comparison({"one": wide, "two": wide}))
    assert both.splitlines()[0].split() == ["feature", "mean", "|one|", "mean", "|two|"]
    assert "mean |value| over 1 row × 20 classes" in repr(wide[0])
