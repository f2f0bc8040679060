"""Definitions, spelled out by enumeration: what the exact code is compared with."""

from itertools import combinations
from math import factorial

import numpy as np


def coalitions(n):
    return np.array([[row >> i & 1 for i in range(n)] for row in range(2**n)], dtype=bool)


def law(x):
    return np.where(coalitions(len(x)), x, 1 - np.asarray(x)).prod(axis=1)


def value(table, x):
    return law(x) @ table


def derivative(table, members, x):
    """Σ_L (-1)^(|A|-|L|) f(x with L in and A∖L out)."""
    total = 0.0
    for corner in coalitions(len(members)):
        at = np.array(x, dtype=float)
        at[list(members)] = corner
        total += (-1.0) ** (len(members) - corner.sum()) * value(table, at)
    return total


def gradient(table, x):
    return np.array([derivative(table, [i], x) for i in range(len(x))])


def hessian(table, x):
    n = len(x)
    pairs = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        pairs[i, j] = pairs[j, i] = derivative(table, [i, j], x)
    return pairs


def contributions(table, i):
    """F(S+i) - F(S) and |S| for every S without i."""
    n = len(table).bit_length() - 1
    rows = [row for row in range(2**n) if not row >> i & 1]
    return (
        np.array([table[row | 1 << i] - table[row] for row in rows]),
        np.array([row.bit_count() for row in rows]),
    )


def semivalue(table, weights):
    n = len(table).bit_length() - 1
    out = []
    for i in range(n):
        gains, sizes = contributions(table, i)
        out.append(np.asarray(weights)[sizes] @ gains)
    return np.array(out)


def shapley(table):
    n = len(table).bit_length() - 1
    return semivalue(table, [factorial(s) * factorial(n - s - 1) / factorial(n) for s in range(n)])


def banzhaf(table):
    n = len(table).bit_length() - 1
    return semivalue(table, np.full(n, 0.5 ** (n - 1)))


def shapley_interaction(table, members):
    """The paper's sum over T ⊆ N∖S."""
    n, k = len(table).bit_length() - 1, len(members)
    inside = sum(1 << i for i in members)
    total = 0.0
    for row in range(2**n):
        if row & inside:
            continue
        t = row.bit_count()
        change = 0.0
        for size in range(k + 1):
            for part in combinations(members, size):
                change += (-1) ** (k - size) * table[row | sum(1 << i for i in part)]
        total += factorial(n - t - k) * factorial(t) / factorial(n - k + 1) * change
    return total


def moebius(table):
    n = len(table).bit_length() - 1
    return np.array(
        [
            sum((-1) ** ((s ^ r).bit_count()) * table[r] for r in range(2**n) if r & s == r)
            for s in range(2**n)
        ]
    )


def beta_weights(n, a, b):
    """∫ t^s (1-t)^(n-1-s) dBeta(b, a)(t), by products of rising factorials."""

    def rising(z, k):
        return np.prod([z + j for j in range(k)])

    return [rising(b, s) * rising(a, n - 1 - s) / rising(a + b, n - 1) for s in range(n)]


def boltzmann(table, temperature, prior=None):
    weights = np.exp((table - table.max()) / temperature)
    if prior is not None:
        weights = weights * law(prior)
    return weights / weights.sum()


def flid(rng, n, d=4):
    """A facility location diversity game as in the paper: F(N) = 0."""
    w = 2 * rng.random((n, d))
    u = (w.sum() - w.max(axis=0).sum()) / n
    z = coalitions(n)
    best = np.array([w[row].max(axis=0).sum() if row.any() else 0.0 for row in z])
    return z @ (u - w.sum(axis=1)) + best


def supermodular(rng, n):
    j = np.triu(rng.random((n, n)), 1)
    z = coalitions(n).astype(float)
    return np.einsum("ki,ij,kj->k", z, j, z) + z @ rng.normal(-n / 5, 1, n)


def coverage_minus_cost(rng, n, elements=20):
    cover, importance = rng.random((elements, n)) < 0.3, rng.random(elements)
    z = coalitions(n)
    return np.array([importance @ cover[:, row].any(axis=1) for row in z]) - z @ rng.random(n)


def mixed(rng, n):
    j = np.triu(rng.normal(size=(n, n)), 1)
    z = coalitions(n).astype(float)
    pairs = np.einsum("ki,ij,kj->k", z, j, z)
    return pairs + z @ rng.normal(size=n) + 0.3 * rng.normal(size=2**n)


FAMILIES = {
    "flid": flid,
    "supermodular": supermodular,
    "coverage minus cost": coverage_minus_cost,
    "mixed": mixed,
}
