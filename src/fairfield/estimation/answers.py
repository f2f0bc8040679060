"""From answers for the games of a sample to the estimate of their values, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairfield.estimation.corrections import Answer, smallest, stacked
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.loop import Estimate
from fairfield.estimation.over_rows import read_linearly
from fairfield.estimation.surrogates.few_interactions import exact, unseen
from fairfield.results.valuation import as_number

# Error bars from fewer coalitions per player are unreliable.
RELIABLE = 6
# What is less than this share of the largest worth is rounding, and nothing.
ROUNDING = 1e-13
# Errors below this share of the range of the worths, a hundred-thousandth, say that these follow a rule: a prior
# is no surer than that.
EXPLAINED = 1e-5


def estimate_of(
    sampled: Sampled,
    answers: Sequence[Sequence[Answer]],
    batch: tuple[int, ...],
    held_back: int,
    every: int,
    remarks: tuple[str, ...] = (),
) -> Estimate:
    """The values by the answer with the smallest errors, game by game; answers are listed fit by fit.

    So many worths that were ``held_back`` vouch for games that were recovered. Values are read from ``every``
    so many coalitions, if all are known. ``remarks`` are others than that.
    """
    best, count, players = stacked([smallest(each) for each in answers]), *sampled.rows.shape
    shape = (*batch, players)
    rounding = ROUNDING * np.abs(sampled.worths).max(axis=1, keepdims=True)
    least = min(RELIABLE * players + 2, every)
    few = (
        f"{count:,} coalitions are few for {players} players, and the error bars are not to be "
        f"trusted; {least:,} coalitions are the least for that"
    )
    if held_back:
        remarks = (exact(held_back),)
    elif count < every and (best.spread() <= (EXPLAINED * np.ptp(sampled.worths)) ** 2).all():
        remarks = (f"{count:,} worths are explained to a hundred-thousandth; {unseen(count)}",)
    return Estimate(
        values=np.where(np.abs(best.values) > rounding, best.values, 0.0).reshape(shape),
        covariance=best.errors.reshape(*shape, players),
        method=best.method,
        warnings=() if held_back or count >= least else (few,),
        remarks=remarks,
        more={
            "empty": as_number(sampled.worths[:, 0].reshape(batch)),
            "grand": as_number(sampled.worths[:, 1].reshape(batch)),
        },
        linear=read_linearly(sampled.rows, answers),
    )


def adding_up(answer: Answer, sampled: Sampled) -> Answer:
    """With what all players gain, F(N) - F(∅), shared out evenly."""
    gain = sampled.worths[:, 1] - sampled.worths[:, 0]
    noise = None if sampled.noise is None else sampled.noise[:, :2].sum(axis=1)
    return answer.sharing(gain, noise)
