"""The paper's study of features: what carries the prediction of an income on Adult.

The worth of a coalition of features is the mean predicted probability of the true label
over 100 background rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fairfield as ff
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import rows_of
from fairfield.core.fingerprint import digest
from paper.kept import kept
from paper.readings import factor, read
from paper.run import CRITERIA, Run

TEMPERATURES = (0.1, 0.5)
STEPS = 11
# Rows of a unit of work: a table of 4096 worths each.
BLOCK = 1000
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


@dataclass(frozen=True)
class Study:
    """What one model says of some rows at one temperature.

    By criterion: ``values`` (rows, n), decoupling ``errors`` (rows), and the probability of
    the true label (rows, n + 1) as the most valuable features are removed, in the ``right``
    order and ``mirrored`` as the released code does. ``steps`` are ‖x^k - x^(k-1)‖²/n (11,
    rows) of the paper's iteration.
    """

    model: str
    accuracy: float
    temperature: float
    features: tuple[str, ...]
    rows: IntArray
    labels: BoolArray
    values: dict[str, FloatArray]
    errors: dict[str, FloatArray]
    right: dict[str, FloatArray]
    mirrored: dict[str, FloatArray]
    steps: FloatArray

    def lowest_error(self) -> dict[str, float]:
        """The share of rows in which a criterion has the smallest decoupling error."""
        return _shares(self.errors, 1e-9)

    def fastest(self, *, mirrored: bool = False) -> dict[str, float]:
        """The share of rows in which a criterion's curve is lowest on average; ties count in part."""
        curves = self.mirrored if mirrored else self.right
        return _shares({name: c[:, 1:].mean(axis=1) for name, c in curves.items()}, 1e-12)

    def left(self, *, mirrored: bool = False) -> dict[str, float]:
        """The mean probability left over the removals and the rows, by criterion."""
        curves = self.mirrored if mirrored else self.right
        return {name: float(c[:, 1:].mean()) for name, c in curves.items()}

    def ranking(self, criterion: str, label: bool) -> list[tuple[str, float]]:
        """Features with their mean value over the rows of one label, the largest first.

        So ordered, the rows reproduce what the paper says of its average rankings.
        """
        mean = self.values[criterion][self.labels == label].mean(axis=0)
        return [(self.features[i], float(mean[i])) for i in np.argsort(-mean, kind="stable")]

    def place(self, criterion: str, feature: str, label: bool = True) -> int:
        """The rank of a feature among the mean values of one label."""
        return [name for name, _ in self.ranking(criterion, label)].index(feature) + 1

    def places(self, criterion: str, feature: str) -> IntArray:
        """The rank of a feature in every row by the size of its value, as waterfall plots sort."""
        values = np.abs(self.values[criterion])
        own = values[:, [self.features.index(feature)]]
        return np.asarray((values > own).sum(axis=1) + 1)

    def convergence(self, reading: str) -> FloatArray:
        """The step differences of every row (6, rows) by one of the ``READINGS``."""
        return read(self.steps, len(self.features), reading)

    def apart(self, reading: str) -> FloatArray:
        """By what factor each row (rows) differs at most from the paper's line."""
        return np.asarray(factor(self.convergence(reading), PAPER_CONVERGENCE[self.model]))


def study(
    model: str,
    trained: Any,
    X: Any,
    y: BoolArray,
    rows: Sequence[int] | IntArray,
    run: Run,
    store: str | None = None,
) -> dict[float, Study]:
    """What a fitted model says of some rows of the data, by temperature.

    Kept under the name ``store``, where one is given, in units of 1000 rows. Cost: 4096 worths a
    row, for all of the 32 561 rows 10 minutes of one core with XGBoost, 1 and 5 with the others.
    """
    table, chosen = np.asarray(X, dtype=float), np.asarray(rows, dtype=np.int64)
    parts = []
    for start in range(0, len(chosen), BLOCK):
        block = chosen[start : start + BLOCK]
        read_block = partial(_read, trained, table, y, block, run)
        if store is None:
            parts.append(read_block())
        else:
            fitted = f"{model} {trained.get_params()}"
            describes = f"{digest(table, y, block, np.array(fitted))}"
            parts.append(kept(run, f"{store}-{start}", describes, read_block))
    held = {key: np.concatenate([part[key] for part in parts]) for key in parts[0] if "/" in key}
    accuracy = float((trained.predict(table) == y).mean())
    features = tuple(str(name) for name in getattr(X, "columns", range(table.shape[1])))

    def by_criterion(kind: str, temperature: float) -> dict[str, FloatArray]:
        return {name: held[_key(kind, name, temperature)] for name in CRITERIA}

    return {
        temperature: Study(
            model,
            accuracy,
            temperature,
            features,
            chosen,
            y[chosen],
            *(
                by_criterion(kind, temperature)
                for kind in ("values", "errors", "right", "mirrored")
            ),
            held[f"steps/{temperature}"].T,
        )
        for temperature in TEMPERATURES
    }


def _key(kind: str, criterion: str, temperature: float) -> str:
    """The name of an array in a store; Shapley's and Banzhaf's values have no temperature."""
    always = criterion != CRITERIA[0] and kind != "errors"
    return f"{kind}/{criterion}" if always else f"{kind}/{criterion}/{temperature}"


def _read(
    trained: Any, table: FloatArray, y: BoolArray, rows: IntArray, run: Run
) -> dict[str, FloatArray]:
    """All that is read off the tables of some rows, rows first."""
    from sklearn.utils import resample

    background = resample(table, n_samples=100, random_state=0)
    game = ff.FeatureGame(trained, table[rows], background, output="label", y=y[rows])
    played = ff.TableGame(game.table(run.progress))
    played.traits = replace(played.traits, nulls=game.traits.nulls)
    found = {}
    for temperature in TEMPERATURES:
        compared = ff.compare(played, criteria=CRITERIA, temperature=temperature)
        for name, v in compared.items():
            found[_key("values", name, temperature)] = v.values
            found[_key("errors", name, temperature)] = np.asarray(v.decoupling_error)
            found[_key("right", name, temperature)] = removed(played.worth_table, v.values)
            found[_key("mirrored", name, temperature)] = removed(
                played.worth_table, v.values[:, ::-1]
            )
        steps = ff.variational_values(played, STEPS, temperature=temperature, decoupling=False)
        found[f"steps/{temperature}"] = steps.step_differences().T
    return found


def sample_rows(y: BoolArray, count: int, seed: int = 0) -> IntArray:
    """Row numbers drawn without replacement, in order."""
    return np.sort(np.random.default_rng(seed).choice(len(y), size=count, replace=False))


def removed(worths: FloatArray, values: FloatArray) -> FloatArray:
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
