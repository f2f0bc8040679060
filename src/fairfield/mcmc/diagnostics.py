"""Why the estimates of a run may be wrong by more than their errors, in sentences.

A sampler that has missed a part of the law cannot know; but chains that climbed from two
bases, ladders started by both, and chains that descend from where these ended rarely miss
the same part. So what they must agree on is compared, by tests that exchange what would be
alike if all were well.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.mcmc.sampler import HOT, LEAST_OVERLAP, Run

# A difference of this many standard errors does not come about by chance.
TOO_FAR = 4.5
# Errors that had to be stretched by more than this are not errors any more.
MOST_KINSHIP = 2.5
# Exchanges tried: where none of them looks as odd as what was seen, something is wrong.
EXCHANGES = 500


def of_run(run: Run) -> tuple[str, ...]:
    """All that is to be said against a run."""
    return (*_of_log_z(run), *_of_samples(run))


def _of_log_z(run: Run) -> list[str]:
    if HOT not in run.standing:
        best = run.overlaps[HOT]
        return [
            "log Z is not sure: chains that climb to the law and chains that descend from it "
            f"overlap by {best:.2g}, {LEAST_OVERLAP} is needed; raise the budget or the temperature"
        ]
    hot, near = run.bridges
    if len(run.standing) == 2:
        said, gap = "annealing from two bases", hot.log_z - near.log_z
    else:
        said = "annealing to where two bases led"
        ways = [hot.among(run.started_by(k)).log_z for k in range(2)]
        gap = ways[0] - ways[1]
    if abs(float(gap.estimate)) > TOO_FAR * float(gap.stderr) + 1e-9:
        return [
            f"log Z is not sure: {said} differs by {gap.estimate:.3g}, "
            f"{abs(gap.estimate / gap.stderr):.0f} standard errors; raise the budget"
        ]
    return []


def _of_samples(run: Run) -> list[str]:
    said = []
    tempered = run.trusted.tempered
    half = len(tempered.heights) // 2
    rise = tempered.heights[half:].mean(axis=0) - tempered.heights[:half].mean(axis=0)
    moves = (tempered.chances[1] - tempered.chances[0], rise[:, None])
    if any(_is_odd(each, np.ones(len(rise))) for each in moves):
        said.append(
            "the chains have not settled: the two halves of the run differ by more than chance "
            "allows; raise the budget"
        )
    if run.trusted.kinship > MOST_KINSHIP:
        said.append(
            "the samples descend from few chains, and remember it: their errors may be off; raise "
            "the budget or the temperature"
        )
    if run.standing != [HOT]:
        seen = (tempered.marginals, tempered.heights.mean(axis=0)[:, None])
        if any(
            _is_odd(each - each.mean(axis=0), np.resize([1.0, -1.0], len(each))) for each in seen
        ):
            said.append(
                "the chains do not mix: what they found depends on which base they started from; "
                "raise the budget or the temperature"
            )
    return said


def _is_odd(rows: FloatArray, signs: FloatArray) -> bool:
    """Whether the rows, added with these signs, go farther than with any random signs."""
    spread = rows.std(axis=0)
    real = spread > 1e-9 * (1 + np.abs(rows).max(axis=0))  # rounding is no difference
    if not real.any():
        return False
    scaled = rows[:, real] / spread[real]
    rng = np.random.default_rng(0)
    # Signs that add up like those given: permuted where they are balanced, free otherwise.
    others = rng.permuted(np.tile(signs, (EXCHANGES, 1)), axis=1)
    if abs(signs.sum()) > 1:
        others = rng.choice([-1.0, 1.0], size=others.shape)
    far = np.sum((others @ scaled) ** 2, axis=1)
    return bool(np.sum((signs @ scaled) ** 2) > far.max())
