"""Temperatures: numbers in the units of the worths, or relative to the game."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.multilinear.table import TableExtension


@dataclass(frozen=True)
class Relative:
    """A temperature in units of the game's own scale."""

    factor: float


@dataclass(frozen=True)
class Concentrated:
    """A temperature at which marginals are this far from ½."""

    share: float


# Temperatures that are set by the game's Banzhaf values.
RELATIVE = (Relative, Concentrated)

Temperature: TypeAlias = float | ArrayLike | Relative | Concentrated


def relative(factor: float = 1.0) -> Relative:
    """``factor`` times Banzhaf's own scale Σ Ba_i² / Σ |Ba_i|.

    One gradient, for every game; not diluted by null players or by their number.
    Each game of a batch has its own.

    >>> relative(0.5)
    Relative(factor=0.5)
    """
    return Relative(float(_positive(factor)))


def concentrated(share: float = 0.5) -> Concentrated:
    """The temperature at which Banzhaf's marginals σ(Ba_i/T) are decided to this ``share``.

    A player is decided by 1 - h(x_i)/log 2: 0 at x_i = ½, 1 at 0 and 1. The mean over players,
    weighted by |Ba_i| so that null players do not dilute it, falls from 1 to 0 as T rises.
    One gradient; each game of a batch has its own.

    >>> concentrated(0.9)
    Concentrated(share=0.9)
    """
    if not (isinstance(share, Real) and 0 < share < 1):
        raise ValueError(f"a concentration of {share!r} was given; it must lie between 0 and 1")
    return Concentrated(float(share))


# The temperature where none is given.
OWN_SCALE = Relative(1.0)


def resolve(temperature: Temperature, extension: Extension) -> FloatArray:
    """The temperature of each game, shaped like the batch."""
    if isinstance(temperature, Relative):
        return temperature.factor * banzhaf_scale(extension)
    if isinstance(temperature, Concentrated):
        return _concentrating(temperature.share, extension)
    return absolute(temperature, extension.batch)


def absolute(temperature: Temperature, batch: tuple[int, ...]) -> FloatArray:
    """Numbers in the units of the worths, one for each game, where nothing sets a scale."""
    if isinstance(temperature, RELATIVE):
        raise ValueError(
            "a relative temperature needs Banzhaf values, and this game has neither a table nor a "
            "closed form; pass temperature= as a number in the units of the worths"
        )
    given = _positive(temperature)
    try:
        return np.broadcast_to(given, batch).copy()
    except ValueError:
        raise ValueError(
            f"temperatures of shape {given.shape} were given for a batch of {batch} "
            "games; give one number, or one per game"
        ) from None


def banzhaf_scale(extension: Extension) -> FloatArray:
    """Σ Ba_i² / Σ |Ba_i|, or the standard deviation of the worths where all Ba are 0.

    1 for a constant game, whose values are 0 at any temperature.
    """
    banzhaf, flat = _banzhaf(extension)
    scale = _own_scale(banzhaf)
    if flat.any() and isinstance(extension, TableExtension):
        scale = np.where(flat, _standard_deviation(extension), scale)
    if flat.any():
        # A polynomial whose slopes are 0 at a point of no symmetry is constant.
        value, slopes = extension.centred(
            0.1 + 0.7 * np.sqrt(2) * np.arange(extension.players) % 0.8
        )
        size = np.abs(value + extension.offset)
        constant = np.abs(slopes).max(axis=-1) <= 1e-13 * size
        scale = np.where(flat & constant, 1.0, scale)
    return _checked(scale)


def _banzhaf(extension: Extension) -> tuple[FloatArray, BoolArray]:
    """Banzhaf's values (*batch, n), and the games whose values are all 0, but for rounding."""
    value, gradient = extension.centred(np.full(extension.players, 0.5))
    largest = np.abs(gradient).max(axis=-1)
    if not isinstance(extension, TableExtension):
        return gradient, np.asarray(largest == 0)
    top = extension.highest.reshape(extension.batch) - extension.offset - value
    # Differences that should cancel leave rounding behind; that is no scale.
    return gradient, np.asarray(largest <= 1e-13 * np.abs(top))


def scale_of(banzhaf: FloatArray, worths: FloatArray | None = None) -> FloatArray:
    """Σ Ba_i² / Σ |Ba_i| of known or estimated Banzhaf values (*batch, n).

    Where all are 0, the standard deviation of the ``worths`` (*batch, m) seen, or 1 if they are equal.
    """
    scale = _own_scale(banzhaf)
    if worths is not None:
        spread = worths.std(axis=-1)
        scale = np.where(scale > 0, scale, np.where(np.ptp(worths, axis=-1) > 0, spread, 1.0))
    return _checked(scale)


def scale_error(banzhaf: FloatArray, covariance: FloatArray) -> float:
    """The standard error of Σ Ba_i² / Σ |Ba_i| of estimated Banzhaf values (n,), as a share of it."""
    if not banzhaf.any():
        return 0.0
    slopes = 2 * banzhaf / np.sum(banzhaf**2) - np.sign(banzhaf) / np.abs(banzhaf).sum()
    return float(np.sqrt(slopes @ covariance @ slopes))


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


def _concentrating(share: float, extension: Extension) -> FloatArray:
    """T with Σ|Ba_i| (1 - h(σ(Ba_i/T))/log 2) = share · Σ|Ba_i|, by bisection in log T."""
    banzhaf, flat = _banzhaf(extension)
    if flat.any():
        raise ValueError(
            "every Banzhaf value is 0, so no temperature concentrates the marginals; pass "
            "temperature= as a number in the units of the worths"
        )
    scale = scale_of(banzhaf)
    sizes = np.abs(banzhaf) / scale[..., None]
    weights = sizes / sizes.sum(axis=-1, keepdims=True)
    low, high = np.full(extension.batch, -25.0), np.full(extension.batch, 25.0)
    # All games at once: SciPy's brentq, one game at a time, takes ten times as long for 1000.
    for _ in range(100):
        middle = (low + high) / 2
        logits = sizes * np.exp(-middle)[..., None]
        open_ = np.log1p(np.exp(-logits)) + logits / (1 + np.exp(np.minimum(logits, 700.0)))
        decided = np.sum(weights * (1 - open_ / np.log(2)), axis=-1)
        low, high = np.where(decided > share, middle, low), np.where(decided > share, high, middle)
    return np.asarray(scale * np.exp((low + high) / 2))


def _square(_: Any, deviations: Any) -> Any:
    return deviations * deviations


def _standard_deviation(extension: TableExtension) -> FloatArray:
    uniform = np.full(extension.players, 0.5)
    mean = extension.value(uniform)
    squares = extension.lifted(mean, 1.0, _square)
    return np.sqrt(squares.value(uniform))


def _positive(number: ArrayLike) -> FloatArray:
    try:
        given = np.asarray(number, dtype=float)
    except (TypeError, ValueError):
        given = np.asarray(np.nan)
    if not (np.isfinite(given) & (given > 1e-290)).all():
        raise ValueError(
            f"a temperature of {number!r} was given; it must be a finite number above 0, in the "
            "units of the worths, or fairfield.relative(c)"
        )
    return given
