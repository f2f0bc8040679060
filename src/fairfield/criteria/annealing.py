"""The criteria as the temperature falls: from Banzhaf's values to an assignment of 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fairfield.boltzmann.temperature import Relative, Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Players
from fairfield.core.runtime.imports import needed_for
from fairfield.criteria.calls.compare import Criteria, calls_of, compared
from fairfield.criteria.criterion import USUAL, Call
from fairfield.criteria.variational_index import VariationalIndex
from fairfield.evaluation.options import Keywords
from fairfield.mean_field.continuation import critical_temperatures, predicted
from fairfield.problem import resolve
from fairfield.results.comparison import Comparison
from fairfield.results.display import Columns, number, text_table
from fairfield.results.valuation import Valuation

if TYPE_CHECKING:
    import pandas as pd

# Multiples of the game's own scale: from values close to Banzhaf's to marginals close to 0 or 1.
LADDER = tuple(np.geomspace(10.0, 0.1, 21))


@dataclass(frozen=True, repr=False)
class Annealing:
    """Comparisons along falling temperatures.

    ``critical`` are the temperatures at which the variational index of one game splits
    (T = λ_max(D^½HD^½) on its path: equal players part, or could) or jumps; of several
    indices, and of batches, they are not looked for.
    """

    temperatures: FloatArray
    comparisons: tuple[Comparison, ...]
    critical: tuple[float, ...] = ()

    def values(self, criterion: str = "variational_index") -> FloatArray:
        """The values at every temperature: (temperatures, *batch, n)."""
        return self._stacked(criterion, "values")

    def marginals(self, criterion: str = "variational_index") -> FloatArray:
        """The marginals at every temperature: (temperatures, *batch, n)."""
        return self._stacked(criterion, "marginals")

    def decoupling_errors(self, criterion: str = "variational_index") -> FloatArray:
        """The decoupling error at every temperature: (temperatures, *batch)."""
        return self._stacked(criterion, "decoupling_error")

    def _stacked(self, criterion: str, what: str) -> FloatArray:
        return np.stack([np.asarray(getattr(each[criterion], what)) for each in self.comparisons])

    @property
    def _rungs(self) -> list[float]:
        return [float(np.mean(temperature)) for temperature in self.temperatures]

    def to_frame(self) -> pd.DataFrame:
        """One line per temperature and player, one column per criterion."""
        with needed_for("to_frame"):
            import pandas as pd
        frames = [each.to_frame() for each in self.comparisons]
        return pd.concat(frames, keys=self._rungs, names=["temperature"])

    def __repr__(self) -> str:
        columns: Columns = {"temperature": list(self._rungs)}
        for name in self.comparisons[0]:
            errors = [each[name].decoupling_error for each in self.comparisons]
            columns[f"decoupling error, {name}"] = [
                None if error is None else float(np.mean(error)) for error in errors
            ]
        critical = ", ".join(number(t) for t in self.critical)
        return text_table(columns, [f"critical temperatures: {critical}"] if critical else [])


def annealing(
    game: Any,
    temperatures: Sequence[Temperature] | None = None,
    *,
    criteria: str | Criteria = USUAL,
    players: Players | None = None,
    **options: Unpack[Keywords],
) -> Annealing:
    """The criteria along falling temperatures, each index followed from one to the next.

    At the highest temperature the variational index is close to Banzhaf's value, and starts
    where the criterion says; then each answer predicts the start of the next,
    θ + (1/T' - 1/T) dθ/dβ. By default 21 temperatures from 10 to 0.1 times the game's scale.
    Of one game, followed by one index, ``critical`` temperatures in between are found.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> path = ff.annealing([0, 1, 1, 5], temperatures=[100.0, 1.0])
    >>> path.values()[:, 0].round(2)
    array([2.52, 3.94])
    """
    calls = calls_of(criteria)
    steps: Sequence[Temperature] = (
        [Relative(c) for c in LADDER] if temperatures is None else temperatures
    )
    if not len(steps):
        raise ValueError("no temperatures were given; give at least one")
    base = resolve(game, players, None, options)
    base.check_exact()
    posed = [base.at(step) for step in steps]
    for call in calls:
        call.problem(posed[0])  # checks its arguments
    falling = [each.needs_temperature() for each in posed]
    falling.sort(key=lambda temperature: -float(np.mean(temperature)))
    comparisons: list[Comparison] = []
    for k, temperature in enumerate(falling):
        found = compared(calls, base.at(temperature), criteria)
        comparisons.append(found)
        if k + 1 < len(falling):
            calls = [
                _ahead(call, valuation, base.extension, temperature, falling[k + 1])
                for call, valuation in zip(calls, found.values(), strict=True)
            ]
    path = Annealing(np.stack(falling), tuple(comparisons))
    followed = [(name, call) for name, call in zip(found, calls, strict=True) if _index(call)]
    if base.extension.batch or len(followed) != 1:
        return path
    ((name, call),) = followed
    critical = critical_temperatures(
        base.extension, path.temperatures, path.marginals(name), call.problem(base).prior
    )
    return replace(path, critical=tuple(critical))


def _index(call: Call) -> VariationalIndex | None:
    """The index that is followed: not one at a temperature of its own, and no other criterion."""
    index = call.criterion
    return index if isinstance(index, VariationalIndex) and call.temperature is None else None


def _ahead(
    call: Call,
    found: Valuation,
    extension: Extension,
    temperature: FloatArray,
    colder: FloatArray,
) -> Call:
    """An index looked for where its answer at this temperature predicts it; others as they are."""
    index = _index(call)
    if index is None:
        return call
    start = predicted(extension, np.asarray(found.marginals), temperature, colder)
    return replace(call, criterion=replace(index, start=start))
