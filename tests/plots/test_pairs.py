"""Interactions as a matrix or as bars."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
import pictures
from fairfield import plots


def test_coalitions_that_make_no_matrix_are_bars():
    game = pictures.game(12)
    three = ff.interactions(game + ff.UnanimityGame(game.players[:3], players=game.players),
                            "banzhaf", order=3)  # fmt: skip
    ax = plots.interactions(three)
    assert len(ax.patches) == 20
    assert ax.patches[0].get_width() == pytest.approx(1.0)
    assert ax.get_yticklabels()[0].get_text() == "{Age, Workclass, Education-Num}"
    many = ff.interactions(pictures.game(120), "banzhaf", top=5)
    assert len(plots.interactions(many).patches) == 5
    some = ff.interactions(pictures.game(12), "banzhaf", top=5)
    assert len(plots.interactions(some).patches) == 5
    errors = dataclasses.replace(many, stderr=np.full(5, 0.1))
    assert len(plots.interactions(errors).containers) == 2


def test_interactions_fill_a_matrix():
    found = ff.interactions(pictures.game(12), "banzhaf")
    ax = plots.interactions(found)
    shown = ax.images[0].get_array()
    assert_allclose(shown.filled(0), found.matrix())
    assert len(ax.texts) == 12 * 11
    batch = ff.interactions(np.random.default_rng(0).standard_normal((5, 8)))
    drawn = plots.interactions(batch)
    mean = np.abs(batch.matrix()).mean(axis=0)
    assert_allclose(drawn.images[0].get_array().filled(0), mean)
    assert drawn.images[0].get_clim() == (0, mean.max())
    assert drawn.figure.axes[1].get_ylabel() == "mean |shapley interaction|, 5 games"


def test_players_alone_stand_on_the_diagonal_and_batches_of_triples_are_bars():
    tables = np.random.default_rng(0).standard_normal((5, 8))
    found = ff.interactions(tables[0], "k_sii")
    assert_allclose(plots.interactions(found).images[0].get_array().filled(0), found.matrix())
    triples = ff.interactions(tables, "k_sii", order=3)
    ax = plots.interactions(triples)
    assert ax.get_xlabel() == "mean |k_sii interaction|, 5 games"
    assert [each.get_width() for each in ax.patches] == [size for _, size in triples.top(20)]
