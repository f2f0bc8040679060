"""Which surrogate is read: the one from which, with the prior over games, unseen worths are predicted best.

A game of few interactions is found exactly, where there is one. Else surrogates are tried, nothing, a
polynomial in few interactions, players of unequal weight and boosted trees among them; the prior is given what each of
them leaves.
"""

from __future__ import annotations

from math import inf

import numpy as np

from fairfield.estimation.corrections import SMALLEST
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.fitted import SOLVED, Fitted
from fairfield.estimation.pace import Pace
from fairfield.estimation.prior.mean_game import MeanGame
from fairfield.estimation.surrogates.registry import nothing, surrogates, tell_of_surrogates
from fairfield.evaluation.threads import one_blas_thread

# Surrogates are fitted to so many games at most.
MOST_GAMES = 20
# Fewer coalitions per player are few for a surrogate: they hardly show its errors.
MANY = 20
# Few draws choose between surrogates by luck: of so many, errors must differ twice as clearly.
DOUBT = 10
PRIOR = "prior"


def share_of_odd(sampled: Sampled) -> float:
    """How much of what the prior leaves of pairs, which it was not given, is odd: complements pay below ½.

    With m worths the values err by 2/m times what is odd if these are pairs, by 1/m times all of it if they
    are not.
    """
    pairs = slice(2, 2 * sampled.pairs)
    with one_blas_thread():
        left = (
            MeanGame.given(sampled, sampled.worths)
            .outside[:, pairs]
            .reshape(len(sampled.worths), -1, 2)
        )
    weights = sampled.weights[pairs].reshape(-1, 2).sum(axis=1)
    odd, even = (left[..., 0] - left[..., 1]) ** 2 @ weights, (left.sum(axis=2)) ** 2 @ weights
    return float(np.mean(odd / np.maximum(odd + even, SMALLEST)))


class Fitter:
    """Fits games of one design after another, surrogates as long as time lasts."""

    def __init__(self, seed: int) -> None:
        self.seed = seed % 2**32  # scikit-learn takes no more
        self._pace = Pace({each.name: each.seconds for each in surrogates()} | {PRIOR: 0.1})

    def fits(self, sampled: Sampled, until: float = inf) -> list[Fitted]:
        """What the worths of a sample say of its games, together or one by one.

        Surrogates that would not be fitted by ``until`` (of ``time.perf_counter``) are left out.
        """
        count, games = len(sampled.rows), len(sampled.worths)
        if games > MOST_GAMES or sampled.is_whole:
            with self._pace.timed(PRIOR, count):
                prior = MeanGame.given(sampled, sampled.worths)
            return [Fitted(sampled, nothing(np.zeros(count)), prior, prior)]
        return [self._fit(sampled.of(game), until) for game in range(games)]

    def is_late(self, sampled: Sampled, until: float) -> bool:
        """Whether not even the prior would be fitted by then."""
        return not self._pace.fits(PRIOR, len(sampled.rows), until)

    def _fit(self, sampled: Sampled, until: float) -> Fitted:
        """The surrogate of one game from which, with the prior, unseen worths are predicted best."""
        count, (worths,) = len(sampled.rows), sampled.worths
        with self._pace.timed(PRIOR, count):
            prior = MeanGame.given(sampled, sampled.worths)
            best = Fitted(sampled, nothing(worths), prior, prior)
        for each in surrogates() if tell_of_surrogates(sampled) else ():
            assert best.rest is not None
            if not best.rest.error[0]:
                break
            # Of two that leave but rounding the later one is taken, which may be the game.
            nothing_left = SOLVED**2 * float(np.var(sampled.worths))
            rival = max(float(np.mean(best.rest.outside**2)), nothing_left)
            if not each.recovers and rival <= nothing_left:
                continue
            if not each.suits(sampled) or not self._pace.fits(each.name, count, until):
                continue
            with self._pace.timed(each.name, count):
                found = each.fit(sampled, self.seed, rival)
            if found is None:
                continue
            if found.exact:
                return Fitted(sampled, found, None, prior)
            if not self._pace.fits(PRIOR, count, until):
                continue
            rest = MeanGame.given(sampled, found.outside[None])
            factor = each.clearly if count >= MANY * sampled.rows.shape[1] else each.from_few
            factor *= sampled.judges / (sampled.judges + DOUBT)
            other = (
                max(best.rest.error[0], nothing_left)
                if each.recovers
                else factor * best.rest.error[0]
            )
            if rest.error[0] < min(factor * prior.error[0], other):
                best = Fitted(sampled, found, rest, prior)
        return best
