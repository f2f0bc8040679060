"""Values on texts and pictures."""

from dataclasses import replace

import numpy as np
import pytest

import fairfield as ff
from fairfield import plots

plt = pytest.importorskip("matplotlib.pyplot")

IMAGE = {"style": "default", "tolerance": 12, "savefig_kwargs": {"dpi": 36}}
TEXT = "Of all the lamps that I ever bought this one is by far the best, though not the first."


def game_of_image():
    image = np.add.outer(np.arange(12.0), np.arange(16.0))
    weights = np.sin(image / 3)
    return ff.ImageGame(lambda images: (images * weights).sum(axis=(1, 2)), image, segments=(3, 4))


@pytest.mark.mpl_image_compare(**IMAGE)
def test_image_text(texts_of):
    players = ff.TextGame(len, TEXT).players
    values = np.sin(np.arange(len(players)))
    v = ff.shapley(ff.PairwiseGame(values, np.zeros((len(values),) * 2), players=players))
    ax = plots.text(v)
    drawn = [text.get_text() for text in texts_of(ax)]
    assert drawn == TEXT.split()  # repeated words without their places
    return ax.figure


@pytest.mark.mpl_image_compare(**IMAGE)
def test_image_image():
    game = game_of_image()
    ax = plots.image(ff.shapley(game), game)
    assert ax.images[1].get_array().shape == (12, 16)
    return ax.figure


def test_what_does_not_fit_is_refused():
    game = game_of_image()
    v = ff.shapley(game)
    with pytest.raises(ValueError, match="other segments"):
        plots.image(v, game.refined(v))
    with pytest.raises(ValueError, match="image draws one"):
        plots.image(replace(v, values=v.values[None]), game)
