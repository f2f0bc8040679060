"""Lines over steps, temperatures and removals."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fairfield as ff
import pictures
from fairfield import plots


def test_paths_name_their_players():
    ax = pictures.draw("trajectory", 12)
    assert len([line for line in ax.lines if len(line.get_xdata()) == 11]) == 12
    assert {t.get_text() for t in ax.texts} == set(pictures.FEATURES)
    crowded = pictures.draw("annealing", 60)
    assert "grey: 48 other players" in {t.get_text() for t in crowded.texts}
    assert len(crowded.texts) == 13


def test_curves_and_annealing_show_their_decoupling_errors():
    table = ff.compare(np.random.default_rng(0).standard_normal(16), temperature=0.5)
    ax = plots.curves([pictures.curve("shapley", 2.0)], errors=table)
    (label,) = [t.get_text() for t in ax.get_legend().get_texts()]
    assert label == f"shapley (decoupling error {table['shapley'].decoupling_error:.3g})"
    game = np.random.default_rng(0).standard_normal(16)
    ax = plots.curves([ff.removal_curve(ff.TableGame(game), table["banzhaf"])], errors=table)
    (label,) = [t.get_text() for t in ax.get_legend().get_texts()]
    assert label.startswith("banzhaf, highest removed first (decoupling error")
    many = ff.TableGame(np.random.default_rng(0).standard_normal((3, 16)))
    curve = ff.removal_curve(many, [3.0, 1.0, 2.0, 0.0])
    (line,) = plots.curves([curve]).lines
    assert_allclose(line.get_ydata(), curve.worths.mean(axis=0))
    path = ff.annealing(np.random.default_rng(0).standard_normal(16))
    ax = plots.annealing(path, what="decoupling_errors")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(path.comparisons[0])
    with pytest.raises(ValueError, match="choose values, marginals or"):
        plots.annealing(path, what="energies")


def test_critical_temperatures_are_marked():
    path = ff.annealing([0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.6, 0.4, 0.2])
    dotted = [line for line in plots.annealing(path).lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in dotted] == list(path.critical)


def test_one_curve_may_be_given_as_it_is():
    worth = lambda S: S @ [3.0, 2.0, 1.0]  # noqa: E731
    ax = plots.curves(ff.removal_curve(worth, [3, 2, 1]))
    assert_array_equal(ax.lines[0].get_ydata(), [6, 3, 1, 0])


def test_explanations_name_features_and_units():
    path = ff.annealing(pictures.game(60))
    explained = ff.Comparison(
        {
            k: dataclasses.replace(v, words=pictures.EXPLAINED)
            for k, v in path.comparisons[0].items()
        }
    )
    ax = plots.annealing(dataclasses.replace(path, comparisons=(explained, *path.comparisons[1:])))
    assert "grey: 48 other features" in {t.get_text() for t in ax.texts}
    assert ax.get_ylabel() == "value, variational_index (log-odds)"
    curve = ff.removal_curve(lambda S: S.sum(axis=1), explained["shapley"])
    ax = plots.curves(curve)
    assert ax.get_xlabel() == "share of the features"
    assert ax.get_ylabel() == "log-odds of an income above 50K"
