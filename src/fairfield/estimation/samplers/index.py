"""The variational index from a budget of coalitions.

Draws come in batches, each at the point x that all before it suggest. Weighted least squares
over all of them reads f, ∇f and ∇²f at x; the index of that quadratic model is the next
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
from fairfield.core.runtime.imports import needed_for
from fairfield.core.runtime.notices import warn
from fairfield.core.special import expit
from fairfield.estimation.at_points.adaptive import TRUSTED, Draws, Found
from fairfield.estimation.at_points.draws import effective_size, log_law
from fairfield.estimation.at_points.reading import Control, Reading, read
from fairfield.estimation.loop import Estimate
from fairfield.estimation.samplers.registry import sampler
from fairfield.estimation.surrogates.trees import tree_control
from fairfield.evaluation.threads import one_blas_thread
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
# Boosted trees are used where they leave this share of the variance, by draws they have not seen.
WORTHWHILE = 0.8
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
    control: Control | None

    @property
    def holds(self) -> bool:
        """Whether the model was fitted where its own index lies."""
        return self.apart <= CLOSE


@dataclass(frozen=True)
class _Index(Found):
    """The index of one game by the last model."""

    saddle: bool
    helped: bool


@sampler("auto", "variational_index")
@sampler("least-squares", "variational_index")
class IndexEstimator(Draws):
    """Estimates the variational index."""

    def __init__(
        self, problem: Problem, start: FloatArray, steps: None = None, *, surrogate: bool = False
    ) -> None:
        super().__init__(problem, start)
        self.surrogate = surrogate
        self.logits = np.clip(log_odds(self.start), -FAR, FAR)
        self.guesses = np.zeros_like(self.start)

    def points(self) -> tuple[FloatArray, IntArray]:
        """The index so far; ½ where the temperature waits for Banzhaf's value."""
        x = np.full_like(self.start, 0.5) if self.temperature is None else expit(self.logits)
        return np.where(self.certain, expit(self.prior), x), np.arange(len(x))

    def update(self) -> None:
        """Move every game towards its index."""
        for game in range(len(self.start)):
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
        return _Model(reading, index, apart, nearer, control)

    def _best(self, game: int) -> _Model:
        """The model of the game, with boosted trees to help where they are sure to."""
        plain = self._model(game, self.logits[game], MOST_MODELS, CLOSE)
        if not self.surrogate:
            return plain
        pool, seed = self.pool, self.problem.options.seed
        # One thread: the same bits on every machine.
        with one_blas_thread():
            control = tree_control(pool.inside, pool.worths[game], pool.times(), seed)
        helped = self._model(game, plain.next, MOST_MODELS, CLOSE, control)
        better = helped.reading.spread() < WORTHWHILE * plain.reading.spread()
        return helped if better and helped.apart <= max(CLOSE, plain.apart) else plain

    def _solve(self, game: int) -> _Index:
        """The index of a game, with its covariance by the delta method."""
        temperature, model = self.needed_temperature()[game], self._best(game)
        reading = model.reading
        gradient, hessian, x = reading.slopes.gradient, reading.hessian, reading.slopes.columns.x
        at = model.index.logits[0] if model.holds else self.prior + gradient / temperature
        step = expit(at) - x if model.holds else np.zeros_like(x)
        spread = expit(at) * expit(-at)
        root = np.sqrt(spread)
        top = np.linalg.eigvalsh(root[:, None] * hessian * root)[-1] / temperature
        through = np.linalg.inv(np.eye(len(x)) - hessian * spread / temperature)
        return _Index(
            values=model.index.gradient[0] if model.holds else gradient,
            covariance=through @ reading.covariance() @ through.T,
            logits=at,
            level=float(reading.slopes.value + step @ (gradient + hessian @ step / 2)),
            residual=float(model.index.residual[0]) if model.holds else model.apart,
            readings=[reading],
            weights=reading.weights @ through.T,
            saddle=bool(top >= 1),
            helped=model.control is not None,
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
        found = [self._solve(game) for game in range(len(self.start))]
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
        trees = " beside boosted trees" if any(each.helped for each in found) else ""
        law = self._law(found) if self.problem.options.decoupling else {}
        return self.estimated(found, self.batches, warned, trees, **law)

    def _law(self, found: list[_Index]) -> dict[str, Any]:
        """log Z and the decoupling error log Z - ELBO, from the same draws.

            Z = Σ_S exp(E(S)) = E[exp(E(S))/q(S)],   S drawn from q

        E is F/T plus the log prior, q the law of all draws. Where q is far from p a few draws
        decide, Z comes out too small and its error too; their effective number says so. A mode
        that q never draws is missed unseen. The ELBO is flat at the index, so of its error only
        that of f(x)/T counts; the standard error is the larger one of the two.
        """
        pool, prior, rows = self.pool, self.problem.prior, []
        log_prior = 0.0 if prior is None else log_law(pool.inside, expit(prior))
        for each, worths, temperature in zip(
            found, pool.worths, self.needed_temperature(), strict=True
        ):
            logs = worths / temperature + log_prior - pool.log_mixture()
            drawn = pool.counts > 0
            top = float(np.max(logs, initial=-np.inf, where=drawn))
            weights = np.where(drawn, np.exp(np.minimum(logs - top, 0.0)), 0.0)
            mean = float(pool.counts @ weights / pool.counts.sum())
            shifts = (weights / mean - 1) / pool.counts.sum()
            apart = shifts - each.readings[0].slopes.level_influence() / temperature
            variance = max(pool.counts @ shifts**2, pool.counts @ apart**2)
            log_z = top + float(np.log(mean))
            height = float(elbo(np.asarray(each.level), each.logits, temperature, prior))
            rows.append((log_z, max(0.0, log_z - height), np.sqrt(variance)))
            effective = effective_size(weights, pool.counts)
            if effective < max(FEW_EFFECTIVE, TRUSTED * pool.drawn):
                warn(
                    f"{self.problem.game!r}: log Z is not sure: of {pool.drawn:,} draws only "
                    f"{effective:,.0f} are effective, {FEW_EFFECTIVE} and a fifth of all are "
                    "needed; raise the budget or the temperature",
                    ReliabilityWarning,
                )
        names = ("log_z", "decoupling_error", "log_z_stderr")
        columns = zip(*rows, strict=True)
        return {n: as_number(self.shaped(each)) for n, each in zip(names, columns, strict=True)}


@sampler("surrogate", "variational_index")
def with_trees(problem: Problem, start: FloatArray, steps: None) -> IndexEstimator:
    """The index with boosted trees as control variate, where they help."""
    with needed_for("sampler='surrogate'"):
        import sklearn  # noqa: F401
    return IndexEstimator(problem, start, surrogate=True)
