"""Sums of games, and of their multilinear extensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.copies import measured
from fairfield.core.extension import Extension
from fairfield.core.game import NO_FAILURES, Game, GameInfo, Measured, Traits


class Combination(Game):
    """Σ c·F over games on the same players; its extension is the sum of theirs.

    A game that occurs more than once is one term. The errors of different noisy games
    count as independent: the variance of a worth is Σ c²·Var F.
    """

    def __init__(self, terms: Iterable[tuple[float, Game]]) -> None:
        self.terms = _gathered(terms)
        first = self.terms[0][1]
        for _, game in self.terms:
            if game.players != first.players or game.batch != first.batch:
                raise ValueError(
                    f"games are added over the same players; {first!r} and {game!r} differ"
                )
        if not all(np.isfinite(factor) for factor, _ in self.terms):
            raise ValueError("a game is scaled by a finite number; NaN or infinity was given")
        self.players, self.batch = first.players, first.batch
        self.traits = _joint_traits([game.traits for _, game in self.terms])
        shown = first.info
        self.info = replace(shown, worth_name="", unit="", advice=GameInfo.advice)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.measure(coalitions).worths

    def measure(self, coalitions: BoolArray) -> Measured:
        parts = [(factor, measured(game, coalitions)) for factor, game in self.terms]
        noise = [c**2 * part.variances for c, part in parts if part.variances is not None]
        # Rows of two games may be those of two test sets.
        (factor, only), *more = parts
        by_row = None if more or only.by_row is None else factor * only.by_row
        failures = sum((part.failures for _, part in parts), NO_FAILURES)
        # A worth that fails in two games is one worth.
        failures = replace(failures, count=min(failures.count, len(coalitions)))
        return Measured(
            cast(FloatArray, sum(c * part.worths for c, part in parts)),
            cast(FloatArray, sum(noise)) if noise else None,
            failures,
            by_row,
        )

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray] | None:
        parts = [(factor, game.contributions(coalitions)) for factor, game in self.terms]
        known = [(factor, *part) for factor, part in parts if part is not None]
        if len(known) < len(parts):
            return None
        worths = cast(FloatArray, sum(c * worth for c, worth, _ in known))
        return worths, cast(FloatArray, sum(c * steps for c, _, steps in known))

    def table(self, progress: bool | None = None) -> Any:
        if self.traits.noisy:
            return None  # variances come with the worths, coalition by coalition
        total: Any = 0.0
        for factor, game in self.terms:
            table = game.table(progress)
            if table is None:
                return None
            total = total + factor * table
        return total

    def extension(self) -> Extension | None:
        parts = [(factor, game.extension()) for factor, game in self.terms]
        closed = [(factor, part) for factor, part in parts if part is not None]
        return CombinedExtension(closed) if len(closed) == len(parts) else None

    def describe(self) -> dict[str, Any]:
        terms = [{"factor": c, **game.describe()} for c, game in self.terms]
        return {**super().describe(), "terms": terms}


def _gathered(terms: Iterable[tuple[float, Game]]) -> tuple[tuple[float, Game], ...]:
    """The terms of a sum of games, those of sums within it too, every game once."""
    factors: dict[int, tuple[float, Game]] = {}
    for factor, game in terms:
        for own, part in game.terms if isinstance(game, Combination) else ((1.0, game),):
            before = factors.get(id(part), (0.0, part))[0]
            factors[id(part)] = before + factor * own, part
    return tuple(factors.values())


def _joint_traits(traits: Sequence[Traits]) -> Traits:
    """The traits of a sum of games with these traits."""
    device = traits[0].device
    nulls = [each.nulls for each in traits if each.nulls is not None]
    return Traits(
        block=min((each.block for each in traits if each.block), default=None),
        device=device if all(each.device == device for each in traits) else None,
        noisy=any(each.noisy for each in traits),
        opaque=any(each.opaque for each in traits),
        test_rows=traits[0].test_rows if len(traits) == 1 else 0,
        # A player who adds nothing to any of the games adds nothing to their sum.
        nulls=np.logical_and.reduce(nulls) if len(nulls) == len(traits) else None,
    )


class CombinedExtension(Extension):
    """Σ c·f: the extension is linear in the game."""

    def __init__(self, terms: Sequence[tuple[float, Extension]]) -> None:
        self.terms = tuple(terms)
        first = self.terms[0][1]
        self.players, self.batch = first.players, first.batch
        self.degree = max(part.degree for _, part in self.terms)
        self.dense = min(part.dense for _, part in self.terms)
        self.coarseness = sum(abs(c) * part.coarseness for c, part in self.terms)
        self.coarseness_from = next((f.coarseness_from for _, f in self.terms if f.coarseness), "")
        self.method = " + ".join(dict.fromkeys(part.method for _, part in self.terms))

    def hessian(self, x: ArrayLike) -> FloatArray:
        return cast(FloatArray, sum(c * part.hessian(x) for c, part in self.terms))

    def shapley(self) -> FloatArray:
        return cast(FloatArray, sum(c * part.shapley() for c, part in self.terms))

    @property
    def offset(self) -> FloatArray:
        return cast(FloatArray, sum(c * part.offset for c, part in self.terms))

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        parts = [(c, *part.centred(x)) for c, part in self.terms]
        value = cast(FloatArray, sum(c * value for c, value, _ in parts))
        return value, cast(FloatArray, sum(c * gradient for c, _, gradient in parts))

    def rows(self, chosen: slice | NDArray[np.int64]) -> Extension:
        return CombinedExtension([(c, part.rows(chosen)) for c, part in self.terms])
