"""Criteria side by side: their table, their totals, saved and loaded."""

import numpy as np

import fairfield as ff


def test_a_comparison_shows_errors_and_why_it_stopped():
    found = ff.compare(
        lambda S: S.sum(axis=1) ** 2.0, players=12, temperature=2.0, budget=60, progress=False
    )
    shown = repr(found)
    shapley = found["shapley"]
    assert shown.count("±") == 3 * 12 + 1
    assert f"± {1.959964 * shapley.stderr[0]:.2g}" in shown
    assert "± is half the width of a 95 % interval" in shown
    assert found.evaluations <= 60
    assert f"temperature 2, {found.evaluations} coalitions evaluated" in shown
    assert "not to be trusted" in shapley.stop
    for name, v in found.items():
        assert f"{name}: {v.stop}" in shown.splitlines()
        assert f"<div>{name}: {v.stop}</div>" in found._repr_html_()
    assert "± is half the width of a 95 % interval" in repr(shapley)


def test_exact_comparisons_have_nothing_to_say_of_their_end():
    found = ff.compare(np.arange(8.0), temperature=1.0)
    assert not found.caveats
    assert "±" not in repr(found)
    assert "temperature 1, no coalitions evaluated" in repr(found)


def test_a_comparison_on_one_output(classes_game):
    found = ff.compare(classes_game)
    alone = found.output("low")
    assert list(alone) == list(found)
    np.testing.assert_array_equal(alone["banzhaf"].values, found["banzhaf"].values[:, 0])
    assert alone.evaluations == found.evaluations
