"""Temperatures: numbers in the units of the worths, or relative to the game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairfield.extension.table import TableExtension
from fairfield.multilinear import Extension, FloatArray


@dataclass(frozen=True)
class Relative:
    """A temperature in units of the game's own scale."""

    factor: float


Temperature: TypeAlias = float | ArrayLike | Relative


def relative(factor: float = 1.0) -> Relative:
    """``factor`` times Banzhaf's own scale Σ Ba_i² / Σ |Ba_i|.

    One gradient, for every game; not diluted by null players or by their number.
    Each game of a batch has its own.

    >>> relative(0.5)
    Relative(factor=0.5)
    """
    return Relative(float(_positive(factor)))


# The temperature where none is given.
OWN_SCALE = Relative(1.0)


def resolve(temperature: Temperature, extension: Extension) -> FloatArray:
    """The temperature of each game, shaped like the batch."""
    if isinstance(temperature, Relative):
        return temperature.factor * banzhaf_scale(extension)
    return absolute(temperature, extension.batch)


def absolute(temperature: float | ArrayLike, batch: tuple[int, ...]) -> FloatArray:
    """Numbers in the units of the worths, one for each game of a batch."""
    given = _positive(temperature)
    try:
        return np.broadcast_to(given, batch).copy()
    except ValueError:
        raise ValueError(
            f"temperatures of shape {given.shape} were given for a batch of {batch} "
            "games; give one number, or one per game"
        ) from None


def banzhaf_scale(extension: Extension) -> FloatArray:
    """Σ Ba_i² / Σ |Ba_i|, or the standard deviation of the worths where all Ba are 0."""
    value, gradient = extension.centred(np.full(extension.players, 0.5))
    scale, largest = _own_scale(gradient), np.abs(gradient).max(axis=-1)
    if isinstance(extension, TableExtension):
        top = extension.highest.reshape(extension.batch) - extension.offset - value
        # Differences that should cancel leave rounding behind; that is no scale.
        flat = largest <= 1e-13 * np.abs(top)
        if flat.any():
            scale = np.where(flat, _standard_deviation(extension), scale)
    return _checked(scale)


def scale_of(banzhaf: FloatArray) -> FloatArray:
    """Σ Ba_i² / Σ |Ba_i| of known or estimated Banzhaf values (*batch, n)."""
    return _checked(_own_scale(banzhaf))


def _own_scale(banzhaf: FloatArray) -> FloatArray:
    sizes = np.abs(banzhaf)
    largest = sizes.max(axis=-1)
    # Divided by the largest first: squares of very large or small worths leave the range.
    shares = sizes / np.where(largest > 0, largest, 1.0)[..., None]
    total = np.maximum(shares.sum(axis=-1), 1.0)
    return np.asarray(largest * np.sum(shares**2, axis=-1) / total)


def _checked(scale: FloatArray) -> FloatArray:
    if not (scale > 0).all():
        game = "the game" if not scale.ndim else f"game {int(np.argmin(scale > 0))} of the batch"
        raise ValueError(
            f"every Banzhaf value of {game} is 0, so it gives no scale for a relative temperature; "
            "pass temperature= as a number in the units of the worths"
        )
    return np.asarray(scale)


def _square(_: Any, deviations: Any) -> Any:
    return deviations * deviations


def _standard_deviation(extension: TableExtension) -> FloatArray:
    uniform = np.full(extension.players, 0.5)
    mean = extension.value(uniform)
    squares = extension.lifted(mean, 1.0, _square)
    return np.sqrt(squares.value(uniform))


def _positive(number: ArrayLike) -> FloatArray:
    given = np.asarray(number, dtype=float)
    if not (np.isfinite(given) & (given > 1e-290)).all():
        raise ValueError(
            f"a temperature of {number!r} was given; it must be a finite number above 0, in the "
            "units of the worths, or fairfield.relative(c)"
        )
    return given
