"""Segments behind the output of a model of pictures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff

IMAGE = np.arange(24.0).reshape(4, 6)


def sums(images):
    return images.reshape(len(images), -1).sum(axis=1)


def test_a_grid_of_segments_shows_the_picture_or_what_hides_it():
    game = ff.ImageGame(sums, IMAGE, segments=(2, 3), mask=-1.0)
    assert game.players == tuple(range(6))
    shown = game.images_of(brute.coalitions(6)[[0, 1, -1]])
    assert_allclose(shown[0], -1)
    assert_allclose(shown[1][:2, :2], IMAGE[:2, :2])
    assert (shown[1] == -1).sum() == 20
    assert_allclose(shown[2], IMAGE)
    expected = [IMAGE[r : r + 2, c : c + 2].sum() + 4 for r in (0, 2) for c in (0, 2, 4)]
    assert_allclose(ff.shapley(game).values, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("first", [True, False])
def test_channels_come_first_or_last(first):
    colours = np.stack([IMAGE, 2 * IMAGE, 0 * IMAGE], axis=0 if first else -1)
    segments = (IMAGE > 11).astype(int)
    game = ff.ImageGame(sums, colours, segments=segments, mask="mean")
    values = ff.shapley(game).values
    assert_allclose(values[1], 3 * (IMAGE[segments == 1] - IMAGE.mean()).sum(), rtol=1e-6)
    assert_allclose(values.sum(), 0, atol=1e-3)


def test_segments_that_matter_are_divided():
    game = ff.ImageGame(lambda images: images[:, 3, 5], IMAGE, segments=(2, 2), mask=0)
    found = ff.shapley(game)
    assert_allclose(found.values, [0, 0, 0, 23], atol=1e-12)
    finer = game.refined(found, most=1)
    assert finer.players == (0, 1, 2, 4, 5, 6, 7)
    assert_allclose(ff.shapley(finer).values, [0, 0, 0, 0, 0, 0, 23], atol=1e-12)
    with pytest.raises(ValueError, match="of other segments"):
        finer.refined(found)


def test_a_blur_hides_detail_and_keeps_the_dtype_of_floats():
    image = (np.indices((16, 16)).sum(axis=0) % 2).astype(np.float32)
    game = ff.ImageGame(sums, image)
    hidden = game.images_of(np.zeros((1, 16), dtype=bool))
    assert hidden.dtype == np.float32
    assert np.ptp(hidden) < 0.1
    assert ff.ImageGame(sums, image, mask="mean").describe() != game.describe()


@pytest.mark.parametrize("mask", ["blur", "mean", 7])
def test_bytes_stay_bytes(mask):
    game = ff.ImageGame(sums, IMAGE.astype(np.uint8), mask=mask)
    assert game.images_of(np.eye(2, 16, dtype=bool)).dtype == np.uint8


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"mask=0\.5 cannot be shown in a picture of uint8"):
        ff.ImageGame(sums, IMAGE.astype(np.uint8), mask=0.5)
    with pytest.raises(ValueError, match=r"^mask=0\.5 cannot be shown"):
        ff.ImageGame(sums, IMAGE.astype(np.uint8), mask=np.where(IMAGE > 1, 2, 0.5))
    with pytest.raises(ValueError, match=r"segments of shape \(4, 5\) were given"):
        ff.ImageGame(sums, IMAGE, segments=np.zeros((4, 5), dtype=int))
    with pytest.raises(ValueError, match="mask='black' was given"):
        ff.ImageGame(sums, IMAGE, mask="black")
    with pytest.raises(ValueError, match="does not fit an image"):
        ff.ImageGame(sums, IMAGE, mask=[1.0, 2.0])
    with pytest.raises(ValueError, match="the image has shape"):
        ff.ImageGame(sums, np.zeros(4))
