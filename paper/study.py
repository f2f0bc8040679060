"""The paper's study of features: what carries the prediction of an income on Adult.

The worth of a coalition of features is the mean predicted probability of the true label
over 100 background rows; T = 0.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fairfield as ff
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import rows_of
from paper.adult import fit
from paper.readings import factor, read
from paper.run import CRITERIA

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPERATURE = 0.1
# What the paper prints.
PAPER_ACCURACY = {
    "xgboost": 0.8934307914376094,
    "logistic": 0.8418967476428857,
    "mlp": 0.8614600288688923,
}
PAPER_CONVERGENCE = {
    "xgboost": (0.0066, 1.68e-5, 8.71e-7, 2.35e-9, 1.75e-14, 9.25e-16),
    "logistic": (0.0092, 2.63e-5, 1.44e-6, 4.31e-9, 2.14e-15, 1.28e-16),
    "mlp": (0.0040, 4.86e-6, 1.86e-7, 2.84e-10, 6.82e-16, 3.20e-17),
}  # fmt: skip
STEPS = 11


@dataclass(frozen=True)
class Study:
    """What one model says of some rows.

    ``curves`` hold per criterion the mean probability of the true label (rows, n + 1) when
    the most valuable features are removed first; ``steps`` are ‖x^k - x^(k-1)‖²/n (11, rows)
    of the paper's iteration.
    """

    model: str
    accuracy: float
    rows: IntArray
    labels: BoolArray
    comparison: ff.Comparison
    curves: dict[str, FloatArray]
    steps: FloatArray

    def errors(self) -> dict[str, FloatArray]:
        """The decoupling error of every row by criterion."""
        return {name: np.asarray(v.decoupling_error) for name, v in self.comparison.items()}

    def lowest_error(self) -> dict[str, float]:
        """The share of rows in which a criterion has the smallest decoupling error."""
        return _shares(self.errors(), 1e-9)

    def fastest(self, removals: int | None = None) -> dict[str, float]:
        """The share of rows in which a criterion's curve is lowest on average; ties count in part.

        Over the first so many removals; by default over all of them.
        """
        last = None if removals is None else removals + 1
        return _shares({name: c[:, 1:last].mean(axis=1) for name, c in self.curves.items()}, 1e-12)

    def drop(self, removals: int | None = None) -> dict[str, float]:
        """The mean probability left over the removals and the rows, by criterion."""
        last = None if removals is None else removals + 1
        return {name: float(c[:, 1:last].mean()) for name, c in self.curves.items()}

    def ranking(self, criterion: str, label: bool) -> list[tuple[str, float]]:
        """Features with their mean value over the rows of one label, the largest first.

        So ordered, the rows reproduce what the paper says of its average rankings.
        """
        means = self.comparison[criterion].mean(by=self.labels.tolist())
        mean = means.mean[means.labels.index(label)]
        order = np.argsort(-mean, kind="stable")
        return [(str(means.players[i]), float(mean[i])) for i in order]

    def convergence(self, reading: str) -> FloatArray:
        """The step differences of every row (6, rows) by one of the ``READINGS``."""
        return read(self.steps, len(self.comparison["shapley"].players), reading)

    def nearest(self, reading: str) -> tuple[int, float]:
        """The row nearest to the paper's line, and by what factor they differ at most."""
        apart = factor(self.convergence(reading), PAPER_CONVERGENCE[self.model], above=0.0)
        return int(self.rows[apart.argmin()]), float(apart.min())


def study(
    model: str,
    X: Any,
    y: BoolArray,
    rows: Sequence[int] | IntArray,
    *,
    fitted: Any = None,
    temperature: float = TEMPERATURE,
    progress: bool | None = None,
) -> Study:
    """The paper's figures and tables for one model over some rows of the data."""
    from sklearn.utils import resample

    table, chosen = np.asarray(X, dtype=float), np.asarray(rows, dtype=np.int64)
    trained = fit(model, table, y) if fitted is None else fitted
    background = resample(table, n_samples=100, random_state=0)
    game = ff.FeatureGame(trained, table[chosen], background, output="label", y=y[chosen])
    names = [str(name) for name in getattr(X, "columns", range(table.shape[1]))]
    played = ff.TableGame(game.table(progress), names)
    played.info = replace(played.info, data=game.info.data)
    played.traits = replace(played.traits, nulls=game.traits.nulls)
    found = ff.compare(played, criteria=CRITERIA, temperature=temperature)
    steps = ff.variational_values(played, STEPS, temperature=temperature)
    return Study(
        model=model,
        accuracy=float((trained.predict(table) == y).mean()),
        rows=chosen,
        labels=y[chosen],
        comparison=found,
        curves={name: _removal(played.worth_table, v.values) for name, v in found.items()},
        steps=steps.step_differences(),
    )


def sample_rows(y: BoolArray, count: int, seed: int = 0) -> IntArray:
    """Row numbers drawn without replacement, in order."""
    return np.sort(np.random.default_rng(seed).choice(len(y), size=count, replace=False))


def _removal(worths: FloatArray, values: FloatArray) -> FloatArray:
    """Worths of what is left as players go, the most valuable first: (rows, n + 1)."""
    count = values.shape[1]
    place = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1)
    left: NDArray[np.bool_] = place[:, None, :] >= np.arange(count + 1)[:, None]
    return np.take_along_axis(worths, rows_of(left), axis=1)


def _shares(found: dict[str, FloatArray], room: float) -> dict[str, float]:
    """How often each is the smallest; those within ``room`` of it share the row."""
    table = np.stack(list(found.values()))
    smallest = table <= table.min(axis=0) + room
    credit = smallest / smallest.sum(axis=0)
    return dict(zip(found, credit.mean(axis=1).tolist(), strict=True))


def draw(found: Study, row: int = 0) -> dict[str, Figure]:
    """The paper's figures for a study, by name.

    Removal curves and waterfalls of one of its rows (the number in the study), and box
    plots and average ranks over the rows of each label.
    """
    from matplotlib.figure import Figure

    count = len(found.comparison["shapley"].players)
    shares = np.arange(count + 1) / count
    own = ff.Comparison({name: v[row] for name, v in found.comparison.items()})
    removal = Figure(figsize=(24, 5), layout="constrained")
    first, *others = removal.subplots(1, 1 + len(own), width_ratios=[1, *[1.2] * len(own)])
    ff.plots.curves(
        [ff.Curve(name, shares, curve[row]) for name, curve in found.curves.items()],
        first,
        errors=own,
    )
    first.set(xlabel="share of the features removed", ylabel="probability of the true label")
    for ax, valuation in zip(others, own.values(), strict=True):
        ff.plots.waterfall(valuation, ax)
    statistics = Figure(figsize=(20, 11), layout="constrained")
    axes = statistics.subplots(2, 2)
    for column, label in enumerate((True, False)):
        here = ff.Comparison(
            {name: v[found.labels == label] for name, v in found.comparison.items()}
        )
        ff.plots.box(here, axes[0, column]).set_title(
            f"income {'above' if label else 'at most'} 50K"
        )
        ff.plots.ranks(here, axes[1, column])
    return {f"removal_{found.model}": removal, f"statistics_{found.model}": statistics}
