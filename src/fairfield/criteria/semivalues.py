"""Criteria that average marginal contributions with fixed weights.

    φ_i = Σ_{S ∌ i} w(|S|) [F(S+i) - F(S)],   Σ_s C(n-1, s) w(s) = 1.

Each is a reading of ∇f on the diagonal: Banzhaf at ½, leave-one-out at 1, Beta values
(Shapley among them) integrated against a Beta law.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Players
from fairfield.criteria.streamed import streamed
from fairfield.estimation.loop import Estimator, estimated
from fairfield.estimation.paired import Paired
from fairfield.estimation.permutations import Permutations
from fairfield.estimation.surrogates.sample import Law
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.convert import as_game
from fairfield.games.given.table import TableGame
from fairfield.multilinear import size_weights as by_size
from fairfield.multilinear.grand import near_grand
from fairfield.multilinear.table import TableExtension
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation


@dataclass(frozen=True)
class Beta:
    """Size weights w(s) = B(s+b, n-1-s+a) / B(a, b); large a favours small coalitions."""

    a: float
    b: float

    def by_size(self, players: int) -> FloatArray:
        """The weight of one coalition of each size 0 … n-1."""
        from scipy.special import betaln

        size = np.arange(players)
        logs = betaln(size + self.b, players - 1 - size + self.a) - betaln(self.a, self.b)
        return np.asarray(np.exp(logs))

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Points on the diagonal and weights: exact for polynomials of degree 2·count - 1."""
        from scipy.special import roots_jacobi

        # The diagonal variable has law Beta(b, a); Jacobi weights are (1-u)^α (1+u)^β.
        at, weights = roots_jacobi(count, self.a - 1, self.b - 1)
        return (1 + at) / 2, weights / weights.sum()


Weights: TypeAlias = Beta | ArrayLike


def beta(a: float, b: float) -> Beta:
    """The weights of the Beta(a, b) value; beta(1, 1) is Shapley's.

    >>> beta(1, 1).by_size(3).round(4).tolist()
    [0.3333, 0.1667, 0.3333]
    """
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise ValueError(f"beta({a}, {b}): both numbers must be above 0 and finite")
    return Beta(float(a), float(b))


@streamed
def shapley(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Iterator[Valuation]:
    """Sh_i = ∫₀¹ ∂_i f(t, …, t) dt: the mean marginal contribution over random orders.

    Weights 1/(n C(n-1, |S|)). One pass over a table, O(2^n).

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.shapley(lambda S: S.sum(axis=1) >= 2, players=["ann", "bob", "eve"]).values.round(4)
    array([0.3333, 0.3333, 0.3333])
    """
    problem = Problem.of(game, players, temperature, options)
    if problem.sampled:
        count = len(problem.game.players)
        yield from _estimates("shapley", problem, np.full(count, 1 / count))
    else:
        extension = problem.extension
        yield problem.valuation(
            "shapley", extension.shapley(), covariance=extension.shapley_covariance()
        )


@streamed
def banzhaf(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Iterator[Valuation]:
    """Ba_i = ∂_i f(½): the mean marginal contribution over all coalitions alike.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.banzhaf(lambda S: S @ [2, 1, 1] >= 3, players=3).values
    array([0.75, 0.25, 0.25])
    """
    problem = Problem.of(game, players, temperature, options)
    count = len(problem.game.players)
    if problem.sampled:
        yield from _estimates(
            "banzhaf", problem, _shares(np.full(count, 0.5 ** (count - 1)), count)
        )
    else:
        yield _read_at(0.5, problem, "banzhaf")


def leave_one_out(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Valuation:
    """∂_i f(1) = F(N) - F(N - i): what is lost when one player leaves.

    Without a temperature n + 2 worths are enough, for any number of players.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.leave_one_out(lambda S: S.any(axis=1), players=2).values
    array([0., 0.])
    """
    if temperature is None and not isinstance(game, Problem):
        problem = _near_grand(as_game(game, players), options)
    else:
        problem = Problem.of(game, players, temperature, options)
    return _read_at(1.0, problem, "leave_one_out")


def _near_grand(game: Game, options: Keywords) -> Problem:
    """A setting that knows no more than it must."""
    started, chosen, before = time.perf_counter(), Options().changed(options), game.failures
    if isinstance(game, TableGame) or game.extension() is not None:
        return Problem.of(game, None, None, options)
    extension, evaluations = near_grand(game, chosen)
    return Problem(
        game, extension, None, chosen, evaluations, started=started, failed_before=before
    )


@streamed
def semivalue(
    game: Any,
    weights: Weights,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Iterator[Valuation]:
    """Σ_{S ∌ i} w(|S|) [F(S+i) - F(S)] for weights by size, or for ``beta(a, b)``.

    ``weights[s]`` is the weight of one coalition of size s = 0 … n-1; a semivalue has
    Σ_s C(n-1, s) weights[s] = 1, and that is checked.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.semivalue(lambda S: S.any(axis=1), [0.25, 0.25, 0.25], players=3).values
    array([0.25, 0.25, 0.25])
    """
    problem = Problem.of(game, players, temperature, options)
    count = len(problem.game.players)
    name, by_count = "semivalue", np.empty(0)
    if isinstance(weights, Beta):
        name, by_count = f"beta({weights.a:g}, {weights.b:g})", weights.by_size(count)
    else:
        by_count = _checked(weights, count)
    if problem.sampled:
        yield from _estimates(name, problem, _shares(by_count, count))
    elif isinstance(problem.extension, TableExtension):
        yield _by_size(problem, problem.extension, by_count, name)
    elif isinstance(weights, Beta):
        yield problem.valuation(name, _along_diagonal(problem.extension, weights))
    else:
        raise ValueError(
            f"{problem.game!r} has a closed form, which knows beta(a, b) weights but no others; "
            "use those, or a table of the game"
        )


def _read_at(t: float, problem: Problem, name: str) -> Valuation:
    """∇f at one point (t, …, t) of the diagonal."""
    extension, at = problem.extension, np.full(problem.extension.players, t)
    return problem.valuation(
        name, extension.gradient(at), covariance=extension.gradient_covariance(at)
    )


def _by_size(problem: Problem, table: TableExtension, weights: FloatArray, name: str) -> Valuation:
    """The semivalue of a table with these weights by size."""
    return problem.valuation(
        name,
        by_size.semivalue(table, weights),
        covariance=by_size.semivalue_covariance(table, weights),
    )


def _along_diagonal(extension: Extension, weights: Beta) -> FloatArray:
    """∫ ∇f(t, …, t) dBeta(t), exact by Gauss–Jacobi."""
    at, shares = weights.nodes(-(-extension.degree // 2))
    readings = [
        w * extension.gradient(np.full(extension.players, t))
        for t, w in zip(at, shares, strict=True)
    ]
    return np.asarray(np.sum(readings, axis=0))


def _shares(weights: ArrayLike, players: int) -> FloatArray:
    """C(n-1, s) w(s), the weight of all coalitions of each size together."""
    from scipy.special import betaln

    size = np.arange(players)
    log_counts = -betaln(size + 1, players - size) - np.log(players)
    with np.errstate(divide="ignore"):  # a weight of 0 has a share of 0
        return np.asarray(np.exp(log_counts + np.log(weights)))


def _estimates(criterion: str, problem: Problem, shares: FloatArray) -> Iterator[Valuation]:
    """The criterion by the sampler that was asked for."""
    count, options = len(problem.game.players), problem.options
    samplers: dict[str, Callable[[], Estimator]] = {
        "permutation": lambda: Permutations(count, shares, options.seed)
    }
    if criterion in ("shapley", "banzhaf"):
        law = Law.shapley(count) if criterion == "shapley" else Law.banzhaf(count)
        paired = partial(Paired, count, law, options.seed, noisy=problem.game.noisy)
        samplers["surrogate"] = paired
        samplers["regression"] = partial(paired, surrogates=False)
    samplers["auto"] = samplers.get("surrogate", samplers["permutation"])
    if options.sampler not in samplers:
        raise ValueError(
            f"there is no sampler {options.sampler!r} for {criterion}; choose from {', '.join(samplers)}"
        )
    return estimated(problem, criterion, samplers[options.sampler]())


def _checked(weights: ArrayLike, players: int) -> FloatArray:
    given = np.asarray(weights, dtype=float)
    if given.shape != (players,) or not np.isfinite(given).all():
        raise ValueError(
            f"weights of shape {given.shape} were given; {players} players need {players} finite "
            f"weights, for coalitions of size 0 to {players - 1}"
        )
    total = float(given @ [comb(players - 1, size) for size in range(players)])
    if (given < 0).any() or not np.isclose(total, 1.0, rtol=1e-6):
        raise ValueError(
            f"the weights must be at least 0 and Σ_s C(n-1, s)·weights[s] must be 1, it is {total:g}; "
            "divide them by that"
        )
    return given
