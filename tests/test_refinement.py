"""Pictures looked at closely where values are large."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff

IMAGE = np.random.default_rng(0).random((24, 24, 3))
# 144 segments of four pixels, numbered from 5 on.
BLOCKS = np.add.outer(np.arange(24) // 2 * 12, np.arange(24) // 2) + 5


def two_spots(images):
    return 3 * images[:, 3, 8, 0] - 2 * images[:, 20, 15].sum(axis=-1)


def test_segments_that_matter_are_found_and_valued_whole():
    game = ff.ImageGame(two_spots, IMAGE, segments=BLOCKS, mask=0.0)
    coarse = game.coarser(16)
    assert len(coarse.players) == 16
    # Every segment lies in one, and they are of one size.
    parts = {tuple(pair) for pair in zip(BLOCKS.ravel(), coarse.segments.ravel(), strict=True)}
    assert len(parts) == 144
    assert np.unique([part for _, part in parts], return_counts=True)[1].tolist() == [9] * 16
    closer, found = ff.refine(game, most=2, rounds=5, budget=1200)
    values = dict(zip(found.players, found.values, strict=True))
    for (row, column), worth in (
        ((3, 8), 3 * IMAGE[3, 8, 0]),
        ((20, 15), -2 * IMAGE[20, 15].sum()),
    ):
        own = closer.segments == closer.segments[row, column]
        assert (own == (BLOCKS[row, column] == BLOCKS)).all()
        assert_allclose(values[closer.segments[row, column]], worth, atol=1e-10)
    assert_allclose(found.values.sum(), found.grand - found.empty, atol=1e-10)


def test_a_grid_is_divided_down_to_pixels():
    game = ff.ImageGame(lambda images: images[:, 5, 2], np.ones((8, 8)), segments=(2, 2), mask=0.0)
    closer, found = ff.refine(game, most=1, budget=6000)
    assert np.argwhere(closer.segments == found.ranking()[0]).tolist() == [[5, 2]]
    assert found.stop.startswith("exact")


def test_what_cannot_be_divided_does_not_end_it():
    """Segments that were found whole leave the rounds to those that can be divided."""
    spots = [(1, 1), (1, 3), (20, 15), (9, 9)]
    weights = np.zeros((24, 24))
    for k, at in enumerate(spots):
        weights[at] = 100.0 - k
    game = ff.ImageGame(
        lambda images: (images[..., 0] * weights).sum(axis=(1, 2)),
        np.ones((24, 24, 1)),
        segments=BLOCKS,
        mask=0.0,
    )
    closer, found = ff.refine(game, most=1, rounds=12, budget=3000)
    for at in spots:
        assert len(np.unique(BLOCKS[closer.segments == closer.segments[at]])) == 1
    assert_allclose(found.values[found.players.index(closer.segments[9, 9])], 97, atol=1e-9)


def test_segments_around_each_other_are_parted():
    rings = np.maximum(*np.abs(np.indices((65, 65)) - 32))  # 33 of them have one centre
    game = ff.ImageGame(lambda images: images[:, 32, 32], np.ones((65, 65)), segments=rings, mask=0)
    closer, _ = ff.refine(game, most=1)
    assert (closer.segments == closer.segments[32, 32]).sum() == 1


def test_games_that_cannot_be_divided_are_told():
    game = ff.ImageGame(two_spots, IMAGE, segments=BLOCKS, mask=0.0)
    with pytest.raises(ValueError, match=r"budget=50 is 10 for each of 5 .* give 650 or more"):
        ff.refine(game, budget=50)
    with pytest.raises(TypeError, match="no players that can be divided; give an ImageGame"):
        ff.refine(ff.VotingGame([1, 2], quota=2))
