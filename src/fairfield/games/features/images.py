"""The segments of a picture behind the output of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.checks import whole
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, GameInfo
from fairfield.games.features.model_output import output_of

# Pictures reach the model in batches of so many numbers at most.
MOST_NUMBERS = 2**23
# A blur is as wide as this share of the picture.
BLUR = 1 / 8
CHANNELS = (1, 3, 4)
# What is this share of the largest value, or less, is nothing but rounding.
NOTHING = 1e-9


class ImageGame(Game):
    """A model's output for a picture of which some segments are hidden; the players are segments.

    - ``predict``: a function of pictures (m, \\*shape of the image) that returns a number for each, or
      a column per class, or a fitted classifier of such; ``output`` names the class.
    - ``image``: (height, width), (height, width, channels) or (channels, height, width).
    - ``segments``: the number of each pixel's segment (height, width), as superpixels are given; or the
      rows and columns of a grid, (4, 4).
    - ``mask``: what hidden pixels show: the "mean" of each channel, a "blur" of the picture, or a value
      (or values in a shape that fits the image).

    ``refined(valuation, most)`` divides the segments of the largest \\|value\\| into four, and ``coarser(most)``
    joins neighbours, so that a large picture is looked at closely where it matters: :func:`fairfield.refine`
    does so round by round.

    >>> game = ImageGame(lambda images: images[:, 2:, 2:].sum(axis=(1, 2)), np.ones((4, 4)),
    ...                  segments=(2, 2), mask=0.0)
    >>> game.worths(np.eye(4, dtype=bool)).tolist()
    [0.0, 0.0, 0.0, 4.0]
    """

    def __init__(
        self,
        predict: Any,
        image: Any,
        *,
        segments: Any = (4, 4),
        mask: Any = "blur",
        output: Any = None,
    ) -> None:
        self.image = np.asarray(image)
        ends = self.image.shape[:1] + self.image.shape[-1:]
        if self.image.ndim not in (2, 3) or (
            self.image.ndim == 3 and not set(ends) & set(CHANNELS)
        ):
            raise ValueError(
                f"the image has shape {self.image.shape}; give (height, width), or one more axis, "
                "last or first, of 1, 3 or 4 channels"
            )
        channels_first = self.image.shape[0] in CHANNELS and self.image.shape[-1] not in CHANNELS
        # The axes of height and width.
        self.axes = (1, 2) if self.image.ndim == 3 and channels_first else (0, 1)
        self._predict, self._mask, self._output = predict, mask, output
        self.segments = _segments(segments, tuple(self.image.shape[axis] for axis in self.axes))
        known, places = np.unique(self.segments, return_inverse=True)
        self.players = tuple(known.tolist())
        shape = [1] * self.image.ndim
        for axis in self.axes:
            shape[axis] = self.image.shape[axis]
        # Of each pixel the place of its segment among the players.
        self.places = places.reshape(shape)
        # The number of the part to which each pixel belongs that is never divided: here itself.
        self._parts = np.arange(self.segments.size).reshape(self.segments.shape)
        self.hidden = _hidden(self.image, mask, self.axes)
        self.output = output_of(predict, output, None, self.image[None])
        what = self.output.what
        self.batch = () if what.outputs is None else (len(what.outputs),)
        self.info = GameInfo(
            worth_name=what.name,
            unit=what.unit,
            noun="segment",
            row_noun="image",
            advice="use ff.refine(game), which divides segments where they matter",
            outputs=what.outputs,
            output_noun=what.noun,
        )

    def images_of(self, coalitions: BoolArray) -> Any:
        """The pictures that show these segments only, (m, *shape of the image)."""
        return np.where(coalitions[:, self.places], self.image, self.hidden).astype(
            self.hidden.dtype, copy=False
        )

    def worths(self, coalitions: BoolArray) -> FloatArray:
        step = max(1, MOST_NUMBERS // self.image.size)
        found = [
            self.output(self.images_of(coalitions[start : start + step]))
            for start in range(0, len(coalitions), step)
        ]
        return np.asarray(
            np.concatenate(found)[:, self.output.column[0]].T.reshape((*self.batch, -1))
        )

    def refined(self, valuation: Any, most: int = 4) -> ImageGame:
        """The game in which the segments of the largest |value| are divided into four each.

        A segment is divided at the middle of its extent; new ones have new numbers. Where neighbours
        were joined by ``coarser``, these are parted and stay whole. What has no value, or cannot be
        divided, is passed over.
        """
        if valuation.players != self.players:
            raise ValueError("the valuation is of other segments; give one of this game")
        size = np.abs(valuation.values).reshape(-1, len(self.players)).max(axis=0)
        finer, left = self.segments.copy(), whole("most", most)
        centres = _centres(self._parts)
        for i in np.argsort(-size, kind="stable"):
            if not left or size[i] <= NOTHING * size.max():
                break
            inside = self.segments == self.players[i]
            parts, which = np.unique(self._parts[inside], return_inverse=True)
            row, column = centres[:, parts]
            middle = (row.min() + row.max()) / 2, (column.min() + column.max()) / 2
            quarter = 2 * (row > middle[0]) + (column > middle[1])
            if not np.ptp(quarter):  # parts around each other have one centre
                quarter = np.arange(len(parts)) * 2 // len(parts)
            if len(parts) > 1:
                finer[inside] = finer.max() + 1 + quarter[which]
                left -= 1
        return self._divided(finer, self._parts)

    def coarser(self, most: int = 16) -> ImageGame:
        """The game in which neighbouring segments are joined, so that there are so many at most.

        The largest is halved at the median of its segments, along its longer side, while there are fewer.
        """
        places = self.places.reshape(self.segments.shape)
        centres = _centres(places)
        joined = [np.arange(len(self.players))]
        while len(joined) < min(whole("most", most), len(self.players)):
            joined.sort(key=len)
            own = joined.pop()
            longer = int(np.ptp(centres[:, own], axis=1).argmax())
            order = own[np.argsort(centres[longer, own], kind="stable")]
            joined += [order[: len(order) // 2], order[len(order) // 2 :]]
        number = np.empty(len(self.players), dtype=np.int64)
        for k, own in enumerate(sorted(joined, key=min)):
            number[own] = k
        return self._divided(number[places], places)

    def _divided(self, segments: IntArray, parts: IntArray) -> ImageGame:
        given = {"mask": self._mask, "output": self._output}
        other = ImageGame(self._predict, self.image, segments=segments, **given)
        other._parts = parts
        return other

    def describe(self) -> dict[str, Any]:
        ends = np.repeat([[False], [True]], len(self.players), axis=1)
        outputs = self.worths(ends).astype(np.float32)  # they identify the model here
        about = digest(self.image, self.hidden, self.segments, outputs)
        return {**super().describe(), "model": self.output.name, "data": about}


def _centres(parts: IntArray) -> FloatArray:
    """The mean row and column of each of the parts, which are numbered from 0."""
    count, places = np.bincount(parts.ravel()), np.indices(parts.shape)
    return np.array([np.bincount(parts.ravel(), each.ravel()) / count for each in places])


def _segments(given: Any, size: tuple[int, ...]) -> IntArray:
    """The number of each pixel's segment, from a map of them or a grid."""
    segments = np.asarray(given)
    if segments.shape == (2,) and segments.dtype.kind in "iu":
        counts = [whole("segments", each) for each in segments.tolist()]
        rows, columns = (np.arange(n) * k // n for n, k in zip(size, counts, strict=True))
        return np.asarray(rows[:, None] * counts[1] + columns)
    if segments.shape != size or segments.dtype.kind not in "iu":
        raise ValueError(
            f"segments of shape {segments.shape} were given for a picture of {size[0]} × {size[1]} "
            "pixels; give a whole number for each pixel, or (rows, columns) of a grid"
        )
    return segments.astype(np.int64)


def _hidden(image: Any, mask: Any, axes: tuple[int, int]) -> Any:
    """The picture with everything hidden; whole numbers stay whole, as models read these otherwise."""
    whole_numbers = image.dtype.kind in "iu"
    numbers = image.astype(np.result_type(image.dtype, np.float32), copy=False)
    if not isinstance(mask, str):
        hidden = _fitted(np.asarray(mask), image, image.dtype if whole_numbers else numbers.dtype)
        return np.broadcast_to(hidden, image.shape)
    if mask == "mean":
        found = np.broadcast_to(numbers.mean(axis=axes, keepdims=True), image.shape)
    elif mask == "blur":
        from scipy.ndimage import gaussian_filter

        found = gaussian_filter(numbers, [BLUR * image.shape[axis] for axis in axes], axes=axes)
    else:
        raise ValueError(f"mask={mask!r} was given; choose from 'blur' and 'mean', or give a value")
    return np.rint(found).astype(image.dtype) if whole_numbers else found


def _fitted(value: Any, image: Any, dtype: Any) -> Any:
    """What stands in place of hidden pixels, in this dtype."""
    try:
        np.broadcast_to(value, image.shape)
    except ValueError:
        raise ValueError(
            f"mask of shape {value.shape} does not fit an image of shape {image.shape}"
        ) from None
    with np.errstate(invalid="ignore"):
        found = value.astype(dtype)
    if dtype.kind in "iu" and (found != value).any():
        wrong = value[found != value].ravel()[0]
        raise ValueError(
            f"mask={wrong} cannot be shown in a picture of {dtype}; give such numbers, or the picture as "
            "floats"
        )
    return found
