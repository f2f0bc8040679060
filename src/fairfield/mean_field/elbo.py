"""The ELBO of a product law q(S; x), in logits, so that nothing is lost near 0 and 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.special import expit

# The logit of a certain player: no worth outweighs it, and sums of it stay finite.
CERTAIN = 1e300


def log_odds(x: ArrayLike) -> FloatArray:
    """log x/(1-x), with ±CERTAIN at 0 and 1."""
    # SciPy's logit differs from this in the last bit, and with it every estimate would.
    inside = np.asarray(x, dtype=float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log(inside) - np.log1p(-inside), -CERTAIN, CERTAIN))


def entropy(logits: FloatArray) -> FloatArray:
    """H(q) = Σ_i h(σ(θ_i)), exact in the tails."""
    far = np.abs(logits)
    return np.asarray(np.sum(np.log1p(np.exp(-far)) + far * expit(-far), axis=-1))


def sides(logits: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """σ(θ), σ(-θ) and H(q), from one exponential; H to the rounding of a sum of n log 2."""
    far = np.abs(logits)
    share = np.exp(-far)
    whole = 1 + share
    large, small = 1 / whole, share / whole
    above = logits > 0
    # Σ log(1 + e^-|θ|) by one logarithm for 512 players, whose product is below 2^512.
    starts = np.arange(0, logits.shape[-1], 512)
    logs = np.log(np.multiply.reduceat(whole, starts, axis=-1)).sum(axis=-1)
    disorder = logs + np.einsum("...n,...n->...", far, small)
    return np.where(above, large, small), np.where(above, small, large), disorder


def elbo(
    value: FloatArray, logits: FloatArray, temperature: FloatArray | float, prior: FloatArray | None
) -> FloatArray:
    """f(x)/T + H(x) + E_q[log prior], from f(x) and the logits of x."""
    log_prior = prior_energy(expit(logits), logits, prior)
    return np.asarray(value / temperature + entropy(logits) + log_prior)


def prior_logits(prior: ArrayLike | None, players: int) -> FloatArray | None:
    """The log-odds of a prior over players; 0 and 1 fix a player out or in."""
    if prior is None:
        return None
    given = np.asarray(prior, dtype=float)
    if given.shape not in ((), (players,)) or not ((given >= 0) & (given <= 1)).all():
        raise ValueError(
            f"the prior must be one probability in [0, 1], or one for each of the {players} players; "
            f"{'shape ' + str(given.shape) if given.ndim else given} was given"
        )
    return np.broadcast_to(log_odds(given), (players,))


def prior_energy(x: FloatArray, logits: FloatArray, prior: FloatArray | None) -> FloatArray:
    """E_q[log prior] = Σ x log π + (1-x) log(1-π), 0 without a prior.

    ``logits`` are those of x, which keep 1-x exact where x is close to 1.
    """
    if prior is None:
        return np.zeros(x.shape[:-1])
    if not prior.any():  # a prior of ½, as solvers have where none was given
        return np.full(x.shape[:-1], -x.shape[-1] * np.log(2))
    log_in, log_out = -np.logaddexp(0, -prior), -np.logaddexp(0, prior)
    return np.asarray(np.sum(x * log_in + expit(-logits) * log_out, axis=-1))
