"""Games of few interactions, as trees and programs have them, recovered from some of their worths.

What is fitted to some coalitions is taken for the game where it predicts others to rounding, which nothing was
chosen by. That none of N such worths differs has a chance below 5 % where more than 3 in N coalitions do (rule of
three); what is rarer may be missing, and ``exact`` says so.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import IntArray
from fairfield.estimation.corrections import is_stepped
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.prior.kernels import signs_of
from fairfield.estimation.surrogates.polynomial import Polynomial, columns
from fairfield.estimation.surrogates.registry import Surrogate, surrogate
from fairfield.estimation.surrogates.sparse import sparse_fit

# At least so many coalitions are held back, of sizes that tell of interactions; the first so many others are
# looked at. Of few different worths (those of votes) they say too little.
HELD_BACK, LOOKED_AT, FEW_WORTHS = 60, 2000, 4
# Larger shares are tried as well: the largest of which the rest is enough to find the game vouches for it.
SHARES = (0.25, 0.5, 0.75)
# Digits that a prediction may miss, in units of the largest worth.
ROUNDING = 1e-12
# Draws around one point may not tell interactions from each other: the largest condition of their columns.
DISTINCT = 1e3


def exact(held_back: int) -> str:
    """What is certain of a game that predicts so many worths, which it was not chosen by."""
    return f"exact: {held_back:,} worths that were held back are predicted to rounding; {unseen(held_back)}"


def unseen(count: int) -> str:
    """What so many worths, all as predicted, leave open: 5 % of such samples miss what 3 in so many show."""
    return f"what fewer than 1 coalition in {count // 3:,} shows may be missing"


@surrogate("few interactions", lambda sampled: sampled.noise is None, seconds=0.1)
def few_interactions(sampled: Sampled, seed: int, rival: float) -> Surrogate | None:
    """A polynomial in few interactions, the game itself where it can be recovered."""
    (worths,) = sampled.worths
    polynomial, held_back = recovered(sampled, seed)
    inside = outside = np.zeros_like(worths)
    if polynomial is None:
        few = slice(0, LOOKED_AT)
        found = sparse_fit(sampled.rows[few], worths[few], seed, rival, sampled.groups[few])
        if found is None:
            return None
        # What only seems to be the game, since too few worths could be held back, would have no error.
        if found.exact and found.polynomial.degree > 1:
            return None
        polynomial = found.polynomial
        inside = worths - polynomial.predict(sampled.rows)
        outside = np.append(found.outside, inside[LOOKED_AT:])
    name = f"a polynomial in {len(polynomial.support):,} interactions"
    return Surrogate(name, [polynomial], 1.0, inside, outside, held_back)


def recovered(sampled: Sampled, seed: int) -> tuple[Polynomial | None, int]:
    """The polynomial in few interactions that is the game, as far as so many worths tell."""
    coalitions = sampled.rows
    # Coalitions whose complements are not known tell most, so that others are held back.
    telling = np.roll(np.arange(len(coalitions)), -2 * sampled.pairs)[
        np.roll(sampled.middle, -2 * sampled.pairs)
    ]
    best: Polynomial | None = None
    vouch = 0
    if len(telling) < HELD_BACK or is_stepped(sampled.worths, FEW_WORTHS)[0]:
        return best, vouch
    for count in sorted({HELD_BACK, *(max(HELD_BACK, int(p * len(telling))) for p in SHARES)}):
        held = telling[-count:]
        if sampled.anywhere:
            # The last draws crowd around one point, where the game may be simpler than elsewhere.
            held = telling[np.linspace(0, len(telling) - 1, count).astype(int)]
        found = _predicting(sampled, held, seed)
        if found is None:
            break
        best, vouch = found, count
    if best is None or not sampled.anywhere:
        return best, vouch
    if np.linalg.cond(columns(signs_of(coalitions), best.support)) > DISTINCT:
        return None, 0
    return best, vouch


def _predicting(sampled: Sampled, held: IntArray, seed: int) -> Polynomial | None:
    """What is fitted to some worths and predicts all, those held back included, to rounding."""
    coalitions, (worths,), groups = sampled.rows, sampled.worths, sampled.groups
    some = np.flatnonzero(~np.isin(groups, groups[held]))[:LOOKED_AT]
    if not len(some):
        return None
    # No rival is as good as what predicts to rounding, so the first fold decides.
    fit = sparse_fit(coalitions[some], worths[some], seed, 0.0, groups[some])
    if fit is None or not fit.exact:
        return None
    found = fit.polynomial
    if np.abs(worths - found.predict(coalitions)).max() > ROUNDING * np.abs(worths).max():
        return None
    return found
