"""A smooth surrogate: kernel regression of the odd part of a game.

With c = ±1 for players in and out, a kernel is a sum of three odd ones:
    size       r₋(s, s'),                 the same for all players;
    player     c·c'/n · (a + r₊(s, s')),  slopes that change with the size;
    degree     odd part of Π_i (1 + τ/n c_i c'_i), all interactions, less of the higher;
r± being the even and odd part of a bell curve in the sizes. Each section k(·, c') has
Shapley and Banzhaf values in closed form, so the fitted game has them too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.estimation.surrogates.registry import surrogate
from fairfield.estimation.surrogates.sample import Diagonal, Fit, Sample

# The prior variance of slopes, so large that it hardly shrinks them.
SLOPES = 10.0
# Pairs to choose the kernel on, and the most to fit it to: p pairs cost O(p³).
CHOOSING, FITTED = 600, 2000
# The others are predicted so many at a time, for the sake of memory and its caches.
AT_ONCE = 256
# Interactions beyond this share of the linear part vary too much to be fitted.
STEEPEST = 0.95


@dataclass(frozen=True)
class Kernel:
    """How fast interactions fade with their degree (1/τ), and what is taken for noise."""

    degrees: float | None
    noise: float


KERNELS = (*(Kernel(scale, 0.01) for scale in (None, 1.0, 3.0, 6.0, 12.0)), Kernel(4.0, 0.1))


@surrogate("kernel", lambda sample: True)
def kernel_surrogate(sample: Sample, diagonal: Diagonal, seed: int, rival: FloatArray) -> Fit:
    """The best of a few kernels, fitted to as many pairs as can be afforded."""
    scale = np.sqrt(np.mean(sample.odd**2, axis=1, keepdims=True))
    scale = np.where(scale > 0, scale, 1.0)
    odd = sample.odd / scale
    few = slice(0, CHOOSING)
    weights = sample.weights[few] ** 2 * (1 - sample.fraction[few])

    def left(kernel: Kernel) -> float:
        _, _, outside = _fit(sample.signs[few], odd[:, few], kernel)
        return float(np.sum(weights * outside**2))

    kernel = min(KERNELS, key=left)
    signs, most = sample.signs, min(FITTED, len(sample.signs))
    alpha, inside, outside = _fit(signs[:most], odd[:, :most], kernel)
    if most < len(signs):
        rest = odd[:, most:] - _predict(alpha, signs[:most], signs[most:], kernel)
        inside, outside = np.append(inside, rest, axis=1), np.append(outside, rest, axis=1)
    values = _values(signs[:most], alpha, kernel, diagonal)
    name = "by size" if kernel.degrees is None else f"of degree scale {kernel.degrees:g}"
    return Fit(f"kernel {name}", values * scale, inside * scale, outside * scale)


def _fit(
    signs: FloatArray, odd: FloatArray, kernel: Kernel
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients (games, p), and the residuals with a pair fitted and with it left out."""
    gram = _gram(signs, signs, kernel)
    gram[np.diag_indices_from(gram)] += kernel.noise
    inverse = np.linalg.inv(gram)
    alpha = odd @ inverse
    return alpha, kernel.noise * alpha, alpha / np.diagonal(inverse)


def _predict(
    alpha: FloatArray, fitted: FloatArray, others: FloatArray, kernel: Kernel
) -> FloatArray:
    """The fitted odd parts (games, pairs) of other pairs."""
    blocks = [others[start : start + AT_ONCE] for start in range(0, len(others), AT_ONCE)]
    return np.concatenate([alpha @ _gram(fitted, block, kernel) for block in blocks], axis=1)


def _gram(left: FloatArray, right: FloatArray, kernel: Kernel) -> FloatArray:
    players = left.shape[1]
    agreement = 4 * left @ right.T  # c·c'
    size, other = _sizes(left), _sizes(right)
    odd, even = _bells(players)
    gram = (SLOPES + even)[size][:, other]
    gram *= agreement
    gram /= players
    gram += odd[size][:, other]
    if kernel.degrees is not None:
        at = (agreement + (players + 0.5)).astype(np.intp)
        gram += _by_degree(players, kernel.degrees)[at]
    return np.asarray(gram)


def _values(signs: FloatArray, alpha: FloatArray, kernel: Kernel, diagonal: Diagonal) -> FloatArray:
    """Values (games, n) of Σ_j alpha_j k(·, c_j)."""
    players, size, c = signs.shape[1], _sizes(signs), 2 * signs
    odd, even = _bells(players)
    steps, share = np.arange(players), diagonal.shares
    # Of h(|S|): every player adds h(s+1) - h(s).
    every = share @ np.diff(odd, axis=0)
    # Of c_j h(|S|): player j adds h(s+1) + h(s), another c_j (h(s+1) - h(s)), c_j on average.
    own = share @ (even[1:] + even[:-1])
    others = share * (2 * steps / max(players - 1, 1) - 1) @ np.diff(even, axis=0)
    values = (alpha * (2 * SLOPES + own - others)[size] / players) @ c
    pull = (alpha * others[size] / players) @ c.sum(axis=1)
    values += (pull + alpha @ every[size])[:, None]
    if kernel.degrees is not None:
        values += _degree_values(c, size, alpha, kernel.degrees, diagonal)
    return np.asarray(values)


def _degree_values(
    c: FloatArray, size: FloatArray, alpha: FloatArray, degrees: float, diagonal: Diagonal
) -> FloatArray:
    """Values of sections of the odd part of Π(1 + ρ c c'); its even part has none.

    ∂_i at the point t of the diagonal is 2ρ c'_i Π_{j≠i} (1 + ρ (2t-1) c'_j).
    """
    players = c.shape[1]
    rate = min(degrees / players, STEEPEST)
    reach = rate * (2 * diagonal.nodes[:, None] - 1)
    exponent = np.arange(players + 1)
    up, down = np.log1p(reach), np.log1p(-reach)
    top = players * np.log1p(rate)
    whole = exponent * up + (players - exponent) * down - np.log(_largest(rate, players)) - top
    inside = diagonal.weights @ np.exp(whole - up)
    outside = diagonal.weights @ np.exp(whole - down)
    added = np.where(c > 0, inside[size][:, None], -outside[size][:, None])
    return np.asarray(2 * rate * (alpha @ added))


def _by_degree(players: int, degrees: float) -> FloatArray:
    """The odd part of Π(1 + ρ c_i c'_i) for c·c' = -n … n, 1 at n."""
    rate = min(degrees / players, STEEPEST)
    agreement = np.arange(-players, players + 1)
    logs = (players + agreement) / 2 * np.log1p(rate) + (players - agreement) / 2 * np.log1p(-rate)
    powers = np.exp(logs - players * np.log1p(rate))
    return np.asarray((powers - powers[::-1]) / 2 / _largest(rate, players))


def _largest(rate: float, players: int) -> float:
    """The odd part at c = c', of (1 + ρ)^n: what kernels are divided by."""
    return float((1 - ((1 - rate) / (1 + rate)) ** players) / 2)


def _bells(players: int) -> tuple[FloatArray, FloatArray]:
    """Odd and even part of exp(-(u - u')²/2), u = (2s - n)/√n, for sizes s and s'."""
    at = (2 * np.arange(players + 1) - players) / np.sqrt(players)
    bell = np.exp(-((at[:, None] - at) ** 2) / 2)
    return (bell - bell[:, ::-1]) / 2, (bell + bell[:, ::-1]) / 2


def _sizes(signs: FloatArray) -> FloatArray:
    return np.asarray((signs > 0).sum(axis=1))
