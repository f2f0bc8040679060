"""Definitions, spelled out by enumeration: what the exact code is compared with."""

from itertools import combinations, permutations
from math import comb, factorial

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


def discrete_derivative(table, members, row):
    """Σ_{B⊆A} (-1)^|A∖B| F(S ∪ B), for the coalition S in a row of the table."""
    return sum(
        (-1) ** (len(members) - size) * table[row | sum(1 << i for i in part)]
        for size in range(len(members) + 1)
        for part in combinations(members, size)
    )


def up_to(n, order):
    return [a for size in range(1, order + 1) for a in combinations(range(n), size)]


def aggregated_shapley_interactions(table, order):
    """k-SII: Σ B_|B| SII(A∪B) over the B beside A with |A∪B| ≤ k."""
    n, numbers = len(table).bit_length() - 1, [1, -1 / 2, 1 / 6, 0, -1 / 30]
    found = []
    for a in up_to(n, order):
        beside = [i for i in range(n) if i not in a]
        found.append(
            sum(
                numbers[size] * shapley_interaction(table, (*a, *b))
                for size in range(order - len(a) + 1)
                for b in combinations(beside, size)
            )
        )
    return np.array(found)


def shapley_taylor_interactions(table, order):
    """Dividends below the order; at it, the mean of Δ_A F(those before A) over all orders."""
    n = len(table).bit_length() - 1
    found = []
    for a in up_to(n, order):
        if len(a) < order:
            found.append(discrete_derivative(table, a, 0))
            continue
        total = 0.0
        for before in permutations(range(n)):
            first = min(before.index(i) for i in a)
            row = sum(1 << i for i in before[:first])
            total += discrete_derivative(table, a, row)
        found.append(total / factorial(n))
    return np.array(found)


def faithful_interactions(table, order, weights, *, bound):
    """The polynomial Σ I(A) Π z_i nearest to F in these weights by size, with its constant.

    ``bound`` makes it exact for the empty and the grand coalition, by Lagrange multipliers.
    """
    n = len(table).bit_length() - 1
    z = coalitions(n)
    columns = np.array([z[:, list(a)].all(axis=1) for a in [(), *up_to(n, order)]]).T.astype(float)
    by = np.asarray(weights)[z.sum(axis=1)]
    gram, right = columns.T @ (by[:, None] * columns), columns.T @ (by * table)
    if bound:
        ends = columns[[0, -1]]
        gram = np.block([[gram, ends.T], [ends, np.zeros((2, 2))]])
        right = np.append(right, table[[0, -1]])
    return np.linalg.solve(gram, right)[: columns.shape[1]]


def faithful_shapley_interactions(table, order):
    n = len(table).bit_length() - 1
    inner = [1 / (comb(n, s) * s * (n - s)) for s in range(1, n)]
    return faithful_interactions(table, order, [0.0, *inner, 0.0], bound=True)


def faithful_banzhaf_interactions(table, order):
    n = len(table).bit_length() - 1
    return faithful_interactions(table, order, np.ones(n + 1), bound=False)


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


def _together(order, members):
    places = sorted(order.index(i) for i in members)
    return places[-1] - places[0] == len(places) - 1


def owen(table, unions):
    """The mean contribution over all orders in which each of the unions is a run."""
    n = len(table).bit_length() - 1
    orders = [o for o in permutations(range(n)) if all(_together(o, u) for u in unions)]
    values = np.zeros(n)
    for order in orders:
        row = 0
        for i in order:
            values[i] += table[row | 1 << i] - table[row]
            row |= 1 << i
    return values / len(orders)
