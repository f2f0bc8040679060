"""Definitions over a batch of tables (games, 2^n): sums over all coalitions, nothing else."""

from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.special import logsumexp

import brute


@lru_cache
def coalitions(n):
    return brute.coalitions(n)


@lru_cache
def rows(name, n, *arguments):
    """A linear function of tables as a matrix (numbers, 2^n): its values on unit tables."""
    function, units = getattr(brute, name), np.eye(2**n)
    if name.startswith("faithful"):  # solves equations, one table at a time
        found = np.array([function(unit, *arguments) for unit in units]).T
        return found[1:]  # without the constant
    found = np.asarray(
        function(units, *(list(a) if isinstance(a, tuple) else a for a in arguments))
    )
    return found.reshape(-1, 2**n)


def linear(tables, name, *arguments):
    """The values by a definition of brute.py, which is linear in the table."""
    n = tables.shape[-1].bit_length() - 1
    return tables @ rows(name, n, *arguments).T


def derivatives(tables, order):
    """The interactions of all coalitions of a size by Shapley's definition."""
    n = tables.shape[-1].bit_length() - 1
    parts = [linear(tables, "shapley_interaction", each) for each in combinations(range(n), order)]
    return np.concatenate(parts, axis=-1)


def law(x):
    """The chances (points, 2^n) of coalitions whose players join with x (points, n)."""
    inside = coalitions(x.shape[-1])
    return np.where(inside, x[:, None, :], 1 - x[:, None, :]).prod(axis=-1)


def value(tables, x):
    return np.sum(law(x) * tables, axis=-1)


def derivative(tables, x, members):
    """∂_A f at a point of each game."""
    total = 0.0
    for corner in coalitions(len(members)):
        at = x.copy()
        at[:, list(members)] = corner
        total = total + (-1.0) ** (len(members) - corner.sum()) * value(tables, at)
    return total


def gradient(tables, x):
    return np.stack([derivative(tables, x, [i]) for i in range(x.shape[-1])], axis=-1)


def hessian(tables, x):
    n = x.shape[-1]
    found = np.zeros((len(x), n, n))
    for i, j in combinations(range(n), 2):
        found[:, i, j] = found[:, j, i] = derivative(tables, x, [i, j])
    return found


def sigmoid(logits):
    return np.exp(-np.logaddexp(0, -logits))


def steps(tables, temperature, count):
    """x after so many steps of the paper's Alg. 1 from ½, and ∇f where the last one began."""
    x = np.full((len(tables), tables.shape[-1].bit_length() - 1), 0.5)
    for _ in range(count):
        slopes = gradient(tables, x)
        x = sigmoid(slopes / temperature[:, None])
    return x, slopes


def entropy(p):
    return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0), axis=-1)


def spread(x):
    """H of the product law."""
    return entropy(np.stack([x, 1 - x], axis=-1)).sum(axis=-1)


class Law:
    """p(S) ∝ exp(F(S)/T)·prior(S) of each table."""

    def __init__(self, tables, temperature, prior=None):
        n = tables.shape[-1].bit_length() - 1
        self.inside, self.tables, self.temperature = (
            coalitions(n).astype(float),
            tables,
            temperature,
        )
        self.logs = tables / temperature[:, None]
        if prior is not None:
            self.logs = self.logs + np.log(law(np.broadcast_to(prior, (len(tables), n))))
        self.log_z = logsumexp(self.logs, axis=-1)
        self.p = np.exp(self.logs - self.log_z[:, None])
        self.marginals = self.p @ self.inside
        self.pair_marginals = np.einsum("gs,si,sj->gij", self.p, self.inside, self.inside)
        self.mean = np.sum(self.p * tables, axis=-1)
        self.entropy = entropy(self.p)
        self.total_correlation = spread(self.marginals) - self.entropy

    def free_energy(self):
        """T [LSE over S∋i of F/T - LSE over S∌i of F/T]."""
        odds = [
            logsumexp(self.logs[:, inside > 0], axis=-1)
            - logsumexp(self.logs[:, inside == 0], axis=-1)
            for inside in self.inside.T
        ]
        return self.temperature[:, None] * np.stack(odds, axis=-1)

    def elbo(self, x):
        return np.sum(law(x) * self.logs, axis=-1) + spread(x)
