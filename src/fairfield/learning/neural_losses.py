"""Losses of observed coalitions under a neural set function, differentiable by PyTorch.

The objectives are those of :mod:`fairfield.learning.objectives`; the constant of the noise
contrast is the last bias of the network. One more is for ground sets whose optimal coalition
z* is given, its cross-entropy under K steps of mean-field inference:

    -Σ_i z*_i log x_i + (1 - z*_i) log (1 - x_i),   x ← σ(∇f(x)), K times from ½.

It is differentiated through all K steps. ∇f is exact over all 2^n coalitions of few players;
of more it is the mean over coalitions drawn from x, with log-probabilities that carry its
derivatives in x.

Source: Ou, Xu, Su, Li, Zhao, Bian, Learning neural set functions under the optimal subset
oracle, NeurIPS 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.deep_sets import import_torch

# The most players for which ∇f, and the likelihood, sum over all coalitions.
MOST_SUMMED = 8
MOST_LISTED = 16
# Coalitions drawn for each mean-field step of more players.
DRAWN = 32


@dataclass(frozen=True)
class NeuralLoss:
    """Mean losses of coalitions z (m, n) of players with features (m, n, d), as tensors.

    ``frequencies`` of the players are those of the noise, ``noise`` coalitions for each
    observed one; ``inference`` is the number K of mean-field steps.
    """

    network: Any
    frequencies: Any
    noise: int
    inference: int

    def pseudolikelihood(self, z: Any, features: Any) -> Any:
        """Σ_i -log σ((2z_i - 1) Δ_i)."""
        return _softplus(self._flips(z, features)).sum(1).mean()

    def ratio_matching(self, z: Any, features: Any) -> Any:
        """Σ_i σ(-(2z_i - 1) Δ_i)²."""
        return self._flips(z, features).sigmoid().square().sum(1).mean()

    def _flips(self, z: Any, features: Any) -> Any:
        """What flipping each player adds to the worth."""
        return (1 - 2 * z) * self.gains(z[:, None], features)[:, 0]

    def nce(self, z: Any, features: Any) -> Any:
        """-log σ(G(z)) - Σ log σ(-G(noise)), G = F - log(ν p_noise)."""
        drawn = import_torch().bernoulli(self.frequencies.expand(len(z), self.noise, -1))
        real, noise = (self._against_noise(each, features) for each in (z[:, None], drawn))
        return (_softplus(-real).sum(1) + _softplus(noise).sum(1)).mean()

    def _against_noise(self, z: Any, features: Any) -> Any:
        p = self.frequencies
        log_noise = (z * p.log() + (1 - z) * (1 - p).log()).sum(-1)
        return self.network(z, features) - log_noise - float(np.log(self.noise))

    def likelihood(self, z: Any, features: Any) -> Any:
        """log Z - F(z), over all 2^n coalitions."""
        if z.shape[1] > MOST_LISTED:
            raise ValueError(
                f"the likelihood sums over all 2^{z.shape[1]} coalitions; it is offered up to "
                f"{MOST_LISTED} players; use objective='pseudolikelihood' or 'nce'"
            )
        worths = self.network(_all_coalitions(z.shape[1]), features)
        return (worths.logsumexp(1) - self.network(z[:, None], features)[:, 0]).mean()

    def mean_field(self, z: Any, features: Any) -> Any:
        """The cross-entropy of z under the marginals of K mean-field steps."""
        return _softplus((1 - 2 * z) * self.infer(features)).sum(1).mean()

    def infer(self, features: Any) -> Any:
        """The logits of x after K steps x ← σ(∇f(x)) from ½."""
        few = features.shape[-2] <= MOST_SUMMED
        gradient = self._summed(features) if few else self._drawn(features)
        logits = features.new_zeros(features.shape[:2])
        for _ in range(self.inference):
            logits = gradient(logits.sigmoid())
        return logits

    def _summed(self, features: Any) -> Callable[[Any], Any]:
        """∇f by its definition: Σ_S F(S) (2z_i - 1) Π_{j≠i} q_j(z_j)."""
        torch = import_torch()
        every = _all_coalitions(features.shape[-2])
        worths = self.network(every, features)
        own = torch.eye(features.shape[-2], dtype=torch.bool)

        def gradient(x: Any) -> Any:
            q = every * x[:, None] + (1 - every) * (1 - x[:, None])
            factors = torch.where(own, (2 * every - 1)[:, None, :], q[:, :, None, :])
            return (worths[:, :, None] * factors.prod(-1)).sum(1)

        return gradient

    def _drawn(self, features: Any) -> Callable[[Any], Any]:
        """∇f as a mean of gains; weights that equal 1 carry its derivatives in x."""

        def gradient(x: Any) -> Any:
            z = import_torch().bernoulli(x.detach()[:, None].expand(-1, DRAWN, -1))
            logs = (z * x[:, None] + (1 - z) * (1 - x[:, None])).clamp_min(1e-12).log()
            others = logs.sum(-1, keepdim=True) - logs
            return (self.gains(z, features) * (others - others.detach()).exp()).mean(1)

        return gradient

    def gains(self, z: Any, features: Any) -> Any:
        """Δ_iF (m, k, n) of coalitions (m, k, n)."""
        torch = import_torch()
        own = torch.eye(z.shape[-1], dtype=z.dtype)
        inside = torch.maximum(z[..., None, :], own).flatten(1, 2)
        outside = (z[..., None, :] * (1 - own)).flatten(1, 2)
        gains = self.network(inside, features) - self.network(outside, features)
        return gains.reshape(z.shape)


def _softplus(t: Any) -> Any:
    return import_torch().nn.functional.softplus(t)


def _all_coalitions(players: int) -> Any:
    return import_torch().as_tensor(enumerate_coalitions(players).astype(float))


OBJECTIVES: dict[str, Callable[[NeuralLoss, Any, Any], Any]] = {
    "pseudolikelihood": NeuralLoss.pseudolikelihood,
    "nce": NeuralLoss.nce,
    "ratio-matching": NeuralLoss.ratio_matching,
    "likelihood": NeuralLoss.likelihood,
    "mean-field": NeuralLoss.mean_field,
}
