"""Following a fixed point of the mean-field iteration as the temperature falls.

In β = 1/T the logits of a fixed point move by dθ/dβ = (I - βHD)⁻¹ g, with g and H the gradient
and Hessian of f at x = σ(θ) and D = diag x(1-x). The path is smooth until T meets
λ_max(D^½ H D^½): there it splits, or ends and the answer jumps.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.special import expit
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import log_odds
from fairfield.mean_field.stability import FLAT, saddle_eigenvalue

# Halvings of an interval of log T in which the answer splits, to about 2e-7 of T, or jumps, to 4e-6.
# Closer to a critical temperature the iteration slows down without bound, sooner where it jumps.
HALVINGS, OF_JUMPS = 20, 16
# Marginals that differ by more than this across such an interval have jumped.
JUMP = 1e-3
# Logits are not predicted farther than this.
LONGEST = 5.0


def predicted(
    extension: Extension, x: FloatArray, temperature: FloatArray, colder: FloatArray
) -> FloatArray:
    """Where the fixed point x at ``temperature`` goes at another temperature, to first order.

    One Hessian; beyond 256 players x itself, since that is then too large.
    """
    if extension.players > extension.dense:
        return x
    spread, gradient = x * (1 - x), extension.gradient(x)
    bend = extension.hessian(x) * spread[..., None, :] / temperature[..., None, None]
    try:
        tangent = np.linalg.solve(np.eye(extension.players) - bend, gradient[..., None])[..., 0]
    except np.linalg.LinAlgError:  # exactly at a critical temperature
        return x
    step = (1 / colder - 1 / temperature)[..., None] * tangent
    return expit(log_odds(x) + np.clip(step, -LONGEST, LONGEST))


def critical_temperatures(
    extension: Extension,
    temperatures: FloatArray,
    marginals: FloatArray,
    prior: FloatArray | None = None,
) -> list[float]:
    """Where the fixed point of one game splits or jumps, between falling ``temperatures``.

    ``marginals`` are the fixed points there, found with the log-odds of a ``prior``. An interval
    is critical if the path turns from a maximum of the ELBO into a saddle in it, or if the
    marginals at its ends differ by more than the tangent predicts; then it is halved, up to 20
    solutions.
    """
    found = []
    path = list(zip(temperatures, marginals, strict=True))
    bends = [float(saddle_eigenvalue(extension, x, t)) for t, x in path]
    for k, ((hot, start), (cold, end)) in enumerate(pairwise(path)):
        turns = bends[k] <= FLAT < bends[k + 1]
        ahead = predicted(extension, start, hot, cold)
        if turns or np.max(np.abs(ahead - end)) > 50 * JUMP:
            at = _between(extension, hot, cold, start, end, turns, prior)
            if at is not None:
                found.append(at)
    return found


def _between(
    extension: Extension,
    hot: FloatArray,
    cold: FloatArray,
    start: FloatArray,
    end: FloatArray,
    turns: bool,
    prior: FloatArray | None,
) -> float | None:
    """Where the path from ``start`` becomes a saddle, or jumps; None if it does neither."""
    for _ in range(HALVINGS if turns else OF_JUMPS):
        middle = np.sqrt(hot * cold)
        guess = predicted(extension, start, hot, middle)
        x = mean_field.solve(anderson, extension, guess, middle, prior).x[0]
        saddle = float(saddle_eigenvalue(extension, x, middle)) > FLAT
        # A jump lies where the marginals change most; a turn where the saddle begins.
        near_end = saddle if turns else np.max(np.abs(x - end)) < np.max(np.abs(x - start))
        if near_end:
            cold, end = middle, x
        else:
            hot, start = middle, x
    if not turns and np.max(np.abs(end - start)) < JUMP:
        return None
    return float(np.sqrt(hot * cold))
