"""The variational index from a budget of coalitions.

Draws come in batches, each at the point x that all before it suggest. The index of a surrogate is found
exactly. Weighted least squares over all draws reads f, ∇f and ∇²f at x, of the worths or of
what a surrogate leaves; the index of that quadratic model is the next
point, as far as the draws support it (their effective size stays above a twentieth). So
the last model is fitted where its own index lies, and

    s = ĝ(σ(s/T)),   Cov(s) ≈ B Cov(ĝ) Bᵀ,   B = (I - HD/T)⁻¹,   D = diag x(1-x).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from fairfield.boltzmann.sampled import ReliabilityWarning
from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.runtime.notices import warn
from fairfield.core.special import expit
from fairfield.estimation.at_points.adaptive import ENOUGH, PLENTY, TRUSTED, Draws, Found
from fairfield.estimation.at_points.elsewhere import leads_elsewhere
from fairfield.estimation.at_points.guides import Guide
from fairfield.estimation.at_points.log_z import weighed, weighed_beside
from fairfield.estimation.at_points.reading import Control, Reading, read
from fairfield.estimation.loop import Estimate
from fairfield.estimation.samplers.registry import sampler
from fairfield.games.set_functions.pairwise import PairwiseExtension
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import elbo, log_odds
from fairfield.mean_field.solvers import MeanField
from fairfield.problem import Problem
from fairfield.results.valuation import as_number

# The least share of the draws that must be effective at a point for them to point the way there.
REACH = 0.05
# A model holds at its own index when that is this close to where it was fitted; to draw there
# it need not be as close. So many are tried for an estimate, so many for the next point.
CLOSE, NEAR = 1e-4, 1e-2
MOST_MODELS, FEW_MODELS = 16, 3
# An index whose errors are this share of it is not followed beyond the draws.
UNSURE = 0.3
# From fewer effective draws neither log Z nor its error is to be trusted.
FEW_EFFECTIVE = 100
# Beyond these logits the other side is never drawn.
FAR = 36.0


@dataclass(frozen=True)
class _Model:
    """The extension of a game around x, fitted to all draws, and the index of this model.

    ``apart`` is how far from x the index lies, ``next`` are the logits nearest to it that the
    draws support.
    """

    reading: Reading
    index: MeanField
    apart: float
    next: FloatArray

    @property
    def holds(self) -> bool:
        """Whether the model was fitted where its own index lies."""
        return self.apart <= CLOSE


@dataclass(frozen=True)
class _Index(Found):
    """The index of one game by the last model."""

    saddle: bool


@sampler("auto", "variational_index")
@sampler("surrogate", "variational_index")
class IndexEstimator(Draws):
    """Estimates the variational index."""

    def __init__(
        self, problem: Problem, start: FloatArray, steps: None = None, *, helped: bool = True
    ) -> None:
        super().__init__(problem, start, helped=helped)
        self.logits = np.clip(log_odds(self.start), -FAR, FAR)
        self.guesses = np.zeros_like(self.start)

    def points(self) -> tuple[FloatArray, IntArray]:
        """The index so far; ½ where the temperature waits for Banzhaf's value."""
        x = np.full_like(self.start, 0.5) if self.temperature is None else expit(self.logits)
        return np.where(self.certain, expit(self.prior), x), np.arange(len(x))

    def update(self) -> None:
        """Move every game towards its index."""
        for game in range(len(self.start)):
            guide = self.guide(game) if self.fewer_than(ENOUGH) else None
            if guide is not None:
                self.logits[game] = self._index_of(guide, game)
                self.guesses[game] = guide.control.extension.gradient(expit(self.logits[game]))
                continue
            model = self._model(game, self.logits[game], FEW_MODELS, NEAR)
            self.logits[game] = np.clip(model.next, -FAR, FAR)
            self.guesses[game] = model.reading.slopes.gradient

    def _model(
        self,
        game: int,
        start: FloatArray,
        most: int,
        enough: float,
        control: Control | None = None,
    ) -> _Model:
        """The last of models that are each fitted where the index of the one before lies.

        It is ``enough`` that its own index is so close.
        """
        temperature = self.needed_temperature()[game]
        logits = np.where(self.certain, self.prior, start)
        pace, nearest = 1.0, np.inf
        gradient = self.guesses[game]
        for _ in range(most):
            x = expit(logits)
            reading = read(self.pool, x, game, gradient, control)
            gradient, hessian = reading.slopes.gradient, reading.hessian
            model = PairwiseExtension(gradient - hessian @ x, hessian)
            index = mean_field.solve(anderson, model, x, temperature, self.prior)
            target = np.where(self.certain, self.prior, np.clip(index.logits[0], -FAR, FAR))
            apart = float(np.max(np.abs(expit(target) - x)))
            # A model whose index is no nearer than the last one's asks for shorter steps.
            pace, nearest = (pace / 2 if apart > nearest else pace), min(apart, nearest)
            nearer = target if apart <= CLOSE else self._within_reach(logits, target, pace)
            if apart <= enough or (nearer == logits).all():
                break
            logits = nearer
        return _Model(reading, index, apart, nearer)

    def _index_of(self, guide: Guide, game: int) -> FloatArray:
        """The index of a surrogate as logits, exactly.

        Where the errors are nearly as large as the values it is only followed as far as the draws reach.
        """
        T, extension = self.needed_temperature()[game], guide.control.extension
        index = mean_field.solve(anderson, extension, self.start[game], np.asarray(T), self.prior)
        logits = np.where(self.certain, self.prior, np.clip(index.logits[0], -FAR, FAR))
        if guide.rest is None:
            return logits
        x = expit(logits)
        covariance = guide.rest.covariance([(x, _through(extension.hessian(x), x * (1 - x), T))])
        if np.trace(covariance) <= UNSURE * np.sum(index.gradient[0] ** 2):
            return logits
        start = np.where(self.certain, self.prior, log_odds(self.start[game]))
        return self._within_reach(np.clip(start, -FAR, FAR), logits, 1.0)

    def _solve(self, game: int, until: float) -> _Index:
        """The index of a game, by what has the smallest errors."""
        guide = self.guide(game, until)
        if guide is None:
            return self._corrected(game, None)
        few = self.fewer_than(PLENTY)
        if guide.rest is None or few:
            alone = self._alone(guide, game)
            if guide.rest is None or not self.shown(expit(alone.logits)):
                return alone
        rivals = [self._corrected(game, None)]
        if guide.jumps:
            return rivals[0]
        if not self.repeats:
            rivals.append(self._corrected(game, guide))
        if few and guide.bare:
            rivals.append(alone)
        return min(rivals, key=lambda each: np.trace(each.covariance))

    def _alone(self, guide: Guide, game: int) -> _Index:
        """The index of a surrogate, its errors those of the games that are left possible."""
        T, extension = self.needed_temperature()[game], guide.control.extension
        x = expit(self._index_of(guide, game))
        gradient, hessian = extension.gradient(x), extension.hessian(x)
        steps = [(x, _through(hessian, x * (1 - x), T))]
        covariance, weights, readings = self.left_open(guide, game, steps)
        at = self.prior + gradient / T
        return _Index(
            values=gradient,
            covariance=covariance,
            logits=at,
            level=float(extension.value(x)),
            residual=float(np.abs(expit(at) - x).max()),
            readings=readings,
            weights=weights,
            by=guide.name,
            saddle=_is_saddle(hessian, x * (1 - x), T),
        )

    def _corrected(self, game: int, guide: Guide | None) -> _Index:
        """The index of a game by draws, or by a surrogate and what draws say of the rest."""
        temperature = self.needed_temperature()[game]
        control = None if guide is None else guide.control
        model = self._model(game, self.logits[game], MOST_MODELS, CLOSE, control)
        reading = model.reading
        gradient, hessian, x = reading.slopes.gradient, reading.hessian, reading.slopes.columns.x
        at = model.index.logits[0] if model.holds else self.prior + gradient / temperature
        step = expit(at) - x if model.holds else np.zeros_like(x)
        spread = expit(at) * expit(-at)
        through = _through(hessian, spread, temperature)
        return _Index(
            values=model.index.gradient[0] if model.holds else gradient,
            covariance=through @ reading.covariance() @ through.T,
            logits=at,
            level=float(reading.slopes.value + step @ (gradient + hessian @ step / 2)),
            residual=float(model.index.residual[0]) if model.holds else model.apart,
            readings=[reading],
            weights=reading.weights @ through.T,
            by="" if guide is None else f"{guide.name}, corrected by least squares",
            saddle=_is_saddle(hessian, spread, temperature),
        )

    def _within_reach(self, logits: FloatArray, target: FloatArray, share: float) -> FloatArray:
        """This share of the way to the target, or as far as the draws reach."""
        enough = REACH * self.pool.drawn / len(self.start)
        while share > 0.01:
            nearer = np.where(logits == target, target, logits + share * (target - logits))
            if self.pool.effective(expit(nearer)) >= enough:
                return nearer
            share /= 2
        return logits

    def estimate(self, until: float = inf) -> Estimate:
        """The index of the last model, with its errors by the delta method."""
        found = [self._solve(game, until) for game in range(len(self.start))]
        warned = []
        if any(each.residual > CLOSE for each in found):
            warned.append(
                "the draws did not reach the fixed point yet, so the errors are not to be trusted; "
                "raise the budget"
            )
        if any(each.saddle for each in found):
            warned.append(
                "the ELBO has no maximum at the point found, so the errors are not to be trusted"
            )
        if any(self._leads_elsewhere(game, each) for game, each in enumerate(found)):
            warned.append(
                "within the errors the ELBO has several fixed points, and the index may be that of another "
                "than was found, so the errors are not to be trusted; raise the budget or the temperature"
            )
        law = self._law(found) if self.problem.options.decoupling else {}
        return self.estimated(found, self.batches, warned, **law)

    def _leads_elsewhere(self, game: int, found: _Index) -> bool:
        guide = self.guide(game) if found.readings else None
        if guide is None:
            return False
        errors = np.sqrt(np.diagonal(found.covariance))
        point = expit(found.logits), found.values, errors
        rng = np.random.default_rng([self.problem.options.seed, game])
        T = self.needed_temperature()[game]
        return leads_elsewhere(guide, self.start[game], T, self.prior, point, rng)

    def _law(self, found: list[_Index]) -> dict[str, Any]:
        """log Z and the decoupling error log Z - ELBO, from the same draws.

        The ELBO is flat at the index, so of its error only that of f(x)/T counts; the standard error is
        the larger one of the two.
        """
        pool, prior, rows = self.pool, self.problem.prior, []
        for game, (each, T) in enumerate(zip(found, self.needed_temperature(), strict=True)):
            rivals = [weighed(pool, game, T, prior)]
            guide = self.guide(game)
            if guide is not None and self.pool.sizes.any():
                rng = np.random.default_rng([self.problem.options.seed, self.batches, game])
                rivals.append(weighed_beside(guide, pool, game, T, prior, rng))
            best = min(rivals, key=lambda rival: rival.variance)
            level = each.readings[0].slopes.level_influence() if each.readings else 0.0
            variance = max(best.variance, best.less(level / T, pool.counts))
            height = float(elbo(np.asarray(each.level), each.logits, T, prior))
            rows.append((best.log_z, max(0.0, best.log_z - height), np.sqrt(variance)))
            if best.effective < max(FEW_EFFECTIVE, TRUSTED * best.drawn):
                warn(
                    f"{self.problem.game!r}: log Z is not sure: of {best.drawn:,} draws only "
                    f"{best.effective:,.0f} are effective, {FEW_EFFECTIVE} and a fifth of all are "
                    "needed; raise the budget or the temperature",
                    ReliabilityWarning,
                )
        names = ("log_z", "decoupling_error", "log_z_stderr")
        columns = zip(*rows, strict=True)
        return {n: as_number(self.shaped(each)) for n, each in zip(names, columns, strict=True)}


def _through(hessian: FloatArray, spread: FloatArray, temperature: float) -> FloatArray:
    """What an error of the gradient becomes at the fixed point: (I - HD/T)⁻¹."""
    return np.asarray(np.linalg.inv(np.eye(len(spread)) - hessian * spread / temperature))


def _is_saddle(hessian: FloatArray, spread: FloatArray, temperature: float) -> bool:
    root = np.sqrt(spread)
    return bool(np.linalg.eigvalsh(root[:, None] * hessian * root)[-1] / temperature >= 1)


@sampler("least-squares", "variational_index")
def from_draws(problem: Problem, start: FloatArray, steps: None) -> IndexEstimator:
    """The index from draws alone."""
    return IndexEstimator(problem, start, helped=False)
