"""Diagnostics of a run: why its estimates may be wrong by more than their standard errors.

A sampler cannot detect a part of p that none of its chains has visited; but chains that
climbed from two bases, ladders started by both, and chains that descend from where these
ended rarely miss the same part. So estimates that must agree are compared, by tests that
permute what would be exchangeable if the chains had converged.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.mcmc.sampler import HOT, LEAST_OVERLAP, Run

# A difference of this many standard errors does not come about by chance.
TOO_FAR = 4.5
# Standard errors inflated by more than this are not reliable.
MOST_INFLATION = 2.5
# Ladders that make the variance of all, at least.
FEW_LADDERS = 4
# Permutations of a test: it fails if none of them is as extreme as the observed order.
PERMUTATIONS = 500


def of_run(run: Run) -> tuple[str, ...]:
    """The reasons to distrust a run, in sentences; none if its estimates agree."""
    return (*_of_log_z(run), *_of_samples(run))


def _of_log_z(run: Run) -> list[str]:
    if not run.standing:
        best = max(run.overlaps)
        return [
            "log Z is not reliable: the weights of chains that climb to the law and of chains that "
            f"descend from it overlap by {best:.2g}, {LEAST_OVERLAP} is needed; raise the budget or "
            "the temperature"
        ]
    below = run.least - float(run.trusted.bridges[0].log_z.estimate)
    if below > TOO_FAR * float(run.trusted.bridges[0].log_z.stderr) + 1e-9:
        return [
            f"log Z is not reliable: it is {below:.3g} below the ELBO of a product law; raise the budget"
        ]
    hot, near = run.bridges
    if len(run.standing) == 2:
        what, gap = "annealing from two bases", hot.log_z - near.log_z
    else:
        what = "annealing to the ladders of two bases"
        bridge = run.bridges[run.standing[0]]
        ways = [bridge.among(run.started_by(k)).log_z for k in range(2)]
        gap = ways[0] - ways[1]
    if abs(float(gap.estimate)) > TOO_FAR * float(gap.stderr) + 1e-9:
        return [
            f"log Z is not reliable: {what} differs by {gap.estimate:.3g}, "
            f"{abs(gap.estimate / gap.stderr):.0f} standard errors; raise the budget"
        ]
    return []


def _of_samples(run: Run) -> list[str]:
    found = []
    tempered = run.trusted.tempered
    half = len(tempered.log_weights) // 2
    rise = tempered.log_weights[half:].mean(axis=0) - tempered.log_weights[:half].mean(axis=0)
    moves = (tempered.chances[1] - tempered.chances[0], rise[:, None])
    if any(_is_extreme(each, np.ones(len(rise))) for each in moves):
        found.append(
            "the chains have not converged: the two halves of the run differ by more than chance "
            "allows; raise the budget"
        )
    if _is_uneven(tempered.log_weights.mean(axis=0)):
        found.append(
            "few of the chains have seen a part of the law that matters, so standard errors may be too "
            "small; raise the budget or the temperature"
        )
    if run.trusted.inflation > MOST_INFLATION:
        found.append(
            "the samples descend from few chains and are correlated with them, so their standard "
            "errors may be too small; raise the budget or the temperature"
        )
    if run.standing != [HOT]:
        seen = (run.tempered.marginals, run.tempered.log_weights.mean(axis=0)[:, None])
        signs = np.resize([1.0, -1.0], len(run.tempered.marginals))
        if any(_is_extreme(each - each.mean(axis=0), signs) for each in seen):
            found.append(
                "the chains do not mix: their estimates depend on the base they started from; "
                "raise the budget or the temperature"
            )
    return found


def _is_uneven(means: FloatArray) -> bool:
    """Whether a few ladders make most of the variance: (Σd²)²/Σd⁴ is g/3 of g normal ones."""
    squares = (means - means.mean()) ** 2
    if squares.max() <= (1e-9 * (1 + np.abs(means).max())) ** 2:  # rounding
        return False
    return bool(squares.sum() ** 2 < FEW_LADDERS * (squares**2).sum())


def _is_extreme(rows: FloatArray, signs: FloatArray) -> bool:
    """Whether the sum of the rows with these signs is longer than with any random signs."""
    spread = rows.std(axis=0)
    real = spread > 1e-9 * (1 + np.abs(rows).max(axis=0))  # rounding is no difference
    if not real.any():
        return False
    scaled = rows[:, real] / spread[real]
    rng = np.random.default_rng(0)
    # Signs that add up like those given: permuted where they are balanced, free otherwise.
    others = rng.permuted(np.tile(signs, (PERMUTATIONS, 1)), axis=1)
    if abs(signs.sum()) > 1:
        others = rng.choice([-1.0, 1.0], size=others.shape)
    far = np.sum((others @ scaled) ** 2, axis=1)
    return bool(np.sum((signs @ scaled) ** 2) > far.max())
