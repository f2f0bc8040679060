"""The surrogates that are tried, by name.

A surrogate is a game fitted to sampled pairs whose Shapley and Banzhaf values are known in
closed form. A new one is a file beside this one that fits it and registers itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeAlias

import fairfield.estimation.surrogates
from fairfield.core.arrays import FloatArray
from fairfield.estimation.surrogates.sample import Diagonal, Fit, Sample

# What is fitted game by game is tried for so many games at most, from so many pairs on, and
# from so many pairs per player on.
MOST_GAMES, FEWEST_PAIRS, PAIRS_PER_PLAYER = 4, 100, 3

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
    seconds: float = 0.0


_registered: dict[str, Surrogate] = {}


def register(surrogate: Surrogate) -> None:
    """Have a surrogate tried."""
    _registered[surrogate.name] = surrogate


@cache
def _load() -> None:
    """Import every module beside this one, so that the surrogates in it are registered."""
    path = fairfield.estimation.surrogates.__path__
    for module in iter_modules(path, "fairfield.estimation.surrogates."):
        import_module(module.name)


def surrogates() -> list[Surrogate]:
    """All surrogates, the quickest first."""
    _load()
    return sorted(_registered.values(), key=lambda each: each.seconds)


def enough(sample: Sample) -> bool:
    """Whether a sample is large enough for what is fitted game by game, and its games few."""
    pairs, players = sample.coalitions.shape
    fewest = max(FEWEST_PAIRS, PAIRS_PER_PLAYER * players)
    return len(sample.odd) <= MOST_GAMES and pairs >= fewest
