"""The surrogates that are tried, by name.

A surrogate is a game fitted to sampled worths that is read in closed form. A new one is a file beside this
one that fits it and registers itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.registry import import_all, refuse_taken
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.corrections import Answer
from fairfield.estimation.designs.design import Sampled

# From fewer coalitions none is fitted, nor from fewer per player that show interactions: what is left out
# would tell too little of it.
FEWEST, SHOWING = 24, 0.5


class Answering(Protocol):
    """Readings of sets (k, size) along the diagonal, with their variances or whole covariance."""

    def __call__(self, along: Along, sets: Sets, *, whole: bool) -> Answer: ...


class Part(Protocol):
    """A game that is read along the diagonal in closed form, and at coalitions."""

    def predict(self, coalitions: BoolArray) -> FloatArray:
        """The worths (m,) of coalitions (m, n)."""
        ...

    def read(self, along: Along, sets: Sets) -> FloatArray:
        """The values or interactions of sets (k, size), (k,)."""
        ...

    def found(self, size: int) -> Sets:
        """The coalitions of this size whose interactions are not 0, where these are few; else none."""
        ...

    def extension(self) -> Extension:
        """Its extension, which is read anywhere."""
        ...


@dataclass(frozen=True)
class Surrogate:
    """A game like the sampled one: ``scale`` times the mean of its parts.

    ``inside`` and ``outside`` (m,) are what it leaves of the worths, and what a part leaves that was
    fitted without them. Where it is the game, so many worths that were ``held_back`` are predicted to rounding.
    A ``dense`` one has interactions of all players, and all of them a little wrong. One may be a
    prior of its own, with kernels that are no part of it, and have an ``answer`` with errors.
    """

    name: str
    parts: Sequence[Part]
    scale: float
    inside: FloatArray
    outside: FloatArray
    held_back: int = 0
    dense: bool = False
    answer: Answering | None = None

    @property
    def exact(self) -> bool:
        """Whether it is the game."""
        return self.held_back > 0

    def read(self, along: Along, sets: Sets) -> FloatArray:
        """The values or interactions of sets (k, size), (k,)."""
        parts = [part.read(along, sets) for part in self.parts]
        return np.asarray(self.scale * np.mean(parts, axis=0)) if parts else np.zeros(len(sets))

    def found(self, size: int) -> Sets:
        """The coalitions of this size whose interactions are not 0, as far as they are few."""
        every = {tuple(each) for part in self.parts for each in part.found(size).tolist()}
        return np.array(sorted(every), dtype=np.int64).reshape(-1, size)


def nothing(worths: FloatArray) -> Surrogate:
    """The game 0, which leaves all of the worths (m,)."""
    return Surrogate("", (), 1.0, worths, worths)


# Fits one game of a sample, by a seed; None if it does far worse than a rival, whose mean squared error of
# prediction is given.
Fit: TypeAlias = Callable[[Sampled, int, float], Surrogate | None]


@dataclass(frozen=True)
class Fitting:
    """How a surrogate is fitted, and which samples it suits.

    ``seconds`` is what a fit is thought to take before there was one: trees load libraries. It is used where
    squares of errors of prediction are less by the factor ``clearly``, from few coalitions by ``from_few``.
    One that ``recovers`` games may be the sampled game itself, as a kernel never is.
    """

    name: str
    fit: Fit
    suits: Callable[[Sampled], bool]
    seconds: float
    clearly: float
    from_few: float
    recovers: bool


_registered: dict[str, Fitting] = {}


def surrogate(
    name: str,
    suits: Callable[[Sampled], bool],
    *,
    seconds: float = 0.0,
    clearly: float = 0.5,
    from_few: float = 0.5,
    recovers: bool = True,
) -> Callable[[Fit], Fit]:
    """Decorates the fit of a surrogate, which has it tried on the samples it suits."""

    def register(fit: Fit) -> Fit:
        taken = _registered.get(name)
        refuse_taken(f"a surrogate {name!r}", taken and taken.fit, fit)
        _registered[name] = Fitting(name, fit, suits, seconds, clearly, from_few, recovers)
        return fit

    return register


def surrogates() -> list[Fitting]:
    """All surrogates, the quickest first."""
    import_all("fairfield.estimation.surrogates")
    return sorted(_registered.values(), key=lambda each: each.seconds)


def tell_of_surrogates(sampled: Sampled) -> bool:
    """Whether the worths of a sample are enough to choose a surrogate by."""
    showing = int(np.count_nonzero(sampled.middle))
    return len(sampled.rows) >= FEWEST and showing >= int(SHOWING * sampled.rows.shape[1])
