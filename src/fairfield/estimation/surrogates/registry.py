"""The surrogates that are tried, by name.

A surrogate is a game fitted to sampled pairs whose Shapley and Banzhaf values are known in
closed form. A new one is a file beside this one that fits it and registers itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fairfield.core.arrays import FloatArray
from fairfield.core.registry import import_all, refuse_taken
from fairfield.estimation.surrogates.sample import Diagonal, Fit, Sample

# What is fitted game by game is tried for so many games at most, and from so many pairs on.
MOST_GAMES, FEWEST_PAIRS = 20, 25

# Fitted in view of the residuals (games, p) that the best so far leaves; None if hopeless.
Fitting: TypeAlias = Callable[[Sample, Diagonal, int, FloatArray], Fit | None]


@dataclass(frozen=True)
class Surrogate:
    """How a surrogate is fitted, and which samples it suits.

    ``seconds`` is what a fit is thought to take before there was one: trees load libraries.
    """

    name: str
    fit: Fitting
    suits: Callable[[Sample], bool]
    seconds: float


_registered: dict[str, Surrogate] = {}


def surrogate(
    name: str, suits: Callable[[Sample], bool], *, seconds: float = 0.0
) -> Callable[[Fitting], Fitting]:
    """Decorates the fit of a surrogate, which has it tried on the samples it suits."""

    def register(fit: Fitting) -> Fitting:
        taken = _registered.get(name)
        refuse_taken(f"a surrogate {name!r}", taken and taken.fit, fit)
        _registered[name] = Surrogate(name, fit, suits, seconds)
        return fit

    return register


def surrogates() -> list[Surrogate]:
    """All surrogates, the quickest first."""
    import_all("fairfield.estimation.surrogates")
    return sorted(_registered.values(), key=lambda each: each.seconds)


def enough(sample: Sample) -> bool:
    """Whether a sample is large enough for what is fitted game by game, and its games few."""
    return len(sample.odd) <= MOST_GAMES and len(sample.coalitions) >= FEWEST_PAIRS
