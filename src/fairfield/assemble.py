"""How an answer is written: from the values of a criterion to a valuation."""

from __future__ import annotations

import time
from math import isfinite
from typing import Any

import numpy as np

from fairfield.boltzmann.sampled import SampledLaw
from fairfield.core.arrays import FloatArray
from fairfield.core.game import NO_FAILURES, Failures, Game
from fairfield.core.service import Usage
from fairfield.core.special import expit
from fairfield.evaluation.evaluator import Spent, versions
from fairfield.evaluation.options import Separation
from fairfield.mean_field.elbo import elbo
from fairfield.mean_field.solvers import MeanField
from fairfield.multilinear.table import TableExtension
from fairfield.problem import Problem
from fairfield.results.comparison import NOISE_IN_ERRORS
from fairfield.results.valuation import NORMAL, Valuation, as_number
from fairfield.results.words import Words

# Criteria whose values are read from worths, not from the closed form of a rounded game.
FROM_WORTHS = ("leave_one_out",)
# Values that differ by less than this share of the largest may be equal.
ROUNDING = 1e-9


def assemble(
    problem: Problem,
    criterion: str,
    values: FloatArray,
    solved: MeanField | None = None,
    covariance: FloatArray | None = None,
    **found: Any,
) -> Valuation:
    """The valuation of exact values, with what the temperature adds to it.

    The logits of the marginals are λ + value/T, unless a fixed point was ``solved`` for;
    ``covariance`` is that of the values, where errors of the worths are passed on.
    """
    extension = problem.extension
    empty, grand = extension.ends()
    nulls = problem.game.traits.nulls
    if nulls is not None:
        # What sums of equal worths leave of a null player is rounding.
        scale = np.abs(empty) + np.abs(grand) + np.abs(values).max(axis=-1)
        rounding = np.abs(values) <= 1e-12 * scale[..., None]
        values = np.where(nulls & rounding, 0.0, values)
    stderr = errors_of(covariance)
    stop, *sentences = stops_of(problem, stderr, criterion)
    sentences += missed(problem, values, stderr, covariance)
    about = {
        "method": extension.method,
        "empty": as_number(empty),
        "grand": as_number(grand),
        "stops": np.full(extension.batch, stop),
        **_energies(problem, values, solved),
        **found,
    }
    for sentence in sentences:
        about["stops"] = np.asarray(np.strings.add(about["stops"], f"; {sentence}"))
    return write(problem, criterion, values, covariance, problem.source.spent.failures, **about)


def assemble_gradient(problem: Problem, criterion: str, share: float) -> Valuation:
    """The valuation of ∇f where every player joins with the same probability."""
    extension = problem.extension
    at = np.full(extension.players, share)
    covariance = extension.gradient_covariance(at)
    return assemble(problem, criterion, extension.gradient(at), covariance=covariance)


def assemble_few(
    problem: Problem,
    criterion: str,
    values: FloatArray,
    covariance: FloatArray | None,
    worths: FloatArray,
    spent: Spent,
    method: str,
) -> Valuation:
    """The valuation of exact values that a few ``worths`` gave, those of ∅ and N at its ends."""
    stderr = errors_of(covariance)
    sentences = [
        *_exact(problem.game, spent.failures, stderr),
        *spent.failures.sentences(),
        *missed(problem, values, stderr, covariance),
    ]
    return write(
        problem,
        criterion,
        values,
        covariance,
        spent.failures,
        method=method,
        empty=as_number(worths[..., 0]),
        grand=as_number(worths[..., -1]),
        stops=np.full(problem.game.batch, "; ".join(sentences)),
        evaluations=spent.evaluations,
        **marginals(problem, values),
    )


def write(
    problem: Problem,
    criterion: str,
    values: FloatArray,
    covariance: FloatArray | None = None,
    failures: Failures = NO_FAILURES,
    **found: Any,
) -> Valuation:
    """The valuation of these values, with what every valuation says of its game and making."""
    found["usage"] = failures.usage.facts()
    if failures.stored:
        found["method"] += f", {failures.stored:,} worths read from a store"
    if covariance is not None:
        found = {"stderr": errors_of(covariance), "covariance": covariance, **found}
    about: dict[str, Any] = {
        **presentation(problem.game),
        "players": problem.game.players,
        "prior": None if problem.prior is None else expit(problem.prior),
        "seconds": time.perf_counter() - problem.started,
        "seed": problem.options.seed,
        "versions": versions(),
        "evaluations": problem.source.spent.evaluations,
    }
    if problem.game.traits.service is not None:
        # Where nothing was asked for, zeros.
        found["usage"] = Usage().numbers() | found["usage"]
    return Valuation(criterion=criterion, values=values, **{**about, **found})


def presentation(game: Game) -> dict[str, Any]:
    """What a valuation shows of its game."""
    info = game.info
    shown = {"data": info.data, "labels": info.labels, "outputs": info.outputs}
    return {"game": repr(game), "words": Words.of(info), **shown}


def marginals(problem: Problem, values: FloatArray, banzhaf: bool = False) -> dict[str, Any]:
    """Marginals σ(λ + value/T) and T, where there is one.

    A pending temperature is settled by values that are ``banzhaf`` values.
    """
    temperature = (problem.settled(values) if banzhaf else problem).temperature
    if temperature is None:
        return {}
    logits = _logits(problem, values, temperature)
    return {"marginals": expit(logits), "temperature": as_number(temperature)}


def _logits(problem: Problem, values: FloatArray, temperature: FloatArray) -> FloatArray:
    scaled = values / temperature[..., None]
    return scaled if problem.prior is None else problem.prior + scaled


def _energies(problem: Problem, values: FloatArray, solved: MeanField | None) -> dict[str, Any]:
    """Marginals, their ELBO, log Z and decoupling error.

    log Z from a table unless it is refused, of a closed form only by ``decoupling=True``.
    """
    temperature, asked = problem.temperature, problem.options.decoupling
    if temperature is None:
        return {}
    extension = problem.extension
    if solved is None:
        logits = _logits(problem, values, temperature)
        x = expit(logits)
    else:
        x, height = solved.x.reshape(values.shape), solved.elbo.reshape(extension.batch)
    found: dict[str, Any] = {"marginals": x, "temperature": as_number(temperature)}
    if asked is False:
        return found
    if solved is None:
        height = elbo(extension.centred(x)[0], logits, temperature, problem.prior)
    found["elbo"] = as_number(height + extension.offset / temperature)
    if asked or isinstance(extension, TableExtension):
        law = problem.law()
        found["log_z"] = as_number(law.log_z)
        found["decoupling_error"] = as_number(law.gap_of(height))
        if isinstance(law, SampledLaw):
            found["log_z_stderr"] = as_number(law.stderr("log_z"))
    return found


def missed(
    problem: Problem,
    values: FloatArray,
    stderr: FloatArray | None,
    covariance: FloatArray | None = None,
) -> list[str]:
    """That exact values of noisy worths are not within the tolerance, if there is one.

    Of other worths only test rows could say anything else, and a tolerance is none of theirs.
    """
    tolerance = problem.options.tolerance
    if tolerance is None or not problem.game.traits.noisy:
        return []
    if stderr is None or np.isnan(stderr).any():
        return ["whether the tolerance was met is not known: these values have no standard errors"]
    within = is_within(tolerance, values, stderr, covariance)
    return [] if within else ["the tolerance was not met"]


def is_within(
    tolerance: float | Separation,
    values: FloatArray,
    stderr: FloatArray,
    covariance: FloatArray | None,
) -> bool:
    """Whether the values (*batch, n) of every game are known to within the tolerance."""
    if not isinstance(tolerance, Separation):
        return bool(NORMAL * np.max(stderr) <= tolerance)
    assert covariance is not None  # only players are separated, and these have one
    values = values if tolerance.end == "top" else -values
    order, best = np.argsort(-values, axis=-1, kind="stable"), np.zeros(values.shape, dtype=bool)
    np.put_along_axis(best, order[..., : tolerance.count], True, axis=-1)
    gaps = values[..., :, None] - values[..., None, :]
    own = stderr**2
    # Rounding may leave less than nothing of equal players.
    variances = np.maximum(own[..., :, None] + own[..., None, :] - 2 * covariance, 0.0)
    apart = best[..., :, None] & ~best[..., None, :]
    # What rounding leaves between equal players separates nothing.
    rounding = ROUNDING * np.abs(values).max(axis=-1)[..., None, None]
    return bool((gaps > np.maximum(NORMAL * np.sqrt(variances), rounding))[apart].all())


def errors_of(covariance: FloatArray | None) -> FloatArray | None:
    """The standard errors (*batch, n) of a covariance (*batch, n, n), if there is one."""
    if covariance is None:
        return None
    # Rounding may leave a variance of 0 a little below it.
    return np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))


def stops_of(problem: Problem, stderr: FloatArray | None, criterion: str = "") -> list[str]:
    """That a closed form or a table was read, and what must be said of the worths.

    ``stderr`` are the errors of what was read, NaN or None where there are none.
    """
    rounded, failures = _rounded(problem, criterion), problem.source.spent.failures
    values_too = bool(rounded) and criterion not in FROM_WORTHS
    exact, *noise = _exact(problem.game, failures, stderr, values_too)
    return [exact, *rounded, *noise, *failures.sentences()]


def _exact(
    game: Game, failures: Failures, stderr: FloatArray | None, rounded: bool = False
) -> list[str]:
    """In what sense exact values are exact, and that noise is in no errors where that is so."""
    if game.traits.service is not None:
        return ["exact for these answers"]  # a service may answer otherwise next time
    if game.traits.noisy:
        if stderr is None or np.isnan(stderr).any():
            return ["worths are known but for noise", "the noise of the worths is in no errors"]
        return [NOISE_IN_ERRORS]
    if failures.count:
        return ["exact for the game with fallbacks"]
    return ["exact for the rounded game" if rounded else "exact"]


def _rounded(problem: Problem, criterion: str) -> list[str]:
    """A sentence on what rounding for the closed form may have moved, if there was any."""
    most, known_from = problem.extension.coarseness, problem.extension.coarseness_from
    rounded = "the game was rounded for its closed form"
    if not most:
        return []
    if criterion in FROM_WORTHS:
        if problem.temperature is None:
            return []
        return [
            f"{rounded}, from which what depends on the temperature is read, but not the values"
        ]
    if not isfinite(most):
        return [f"{rounded}, which moves values by an unknown amount"]
    # Shown to two digits, so never less than it is.
    known = f", as {known_from} show," if known_from else ""
    moved = f"{rounded}, which{known} moves a Banzhaf value by at most {1.05 * most:.2g}"
    return [moved if criterion == "banzhaf" else f"{moved}, and these values by an unknown amount"]
