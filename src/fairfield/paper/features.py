"""The paper's study of features: who carries the prediction of an income above 50 000 dollars.

Adult / Census Income (Becker and Kohavi 1996, doi 10.24432/C5XW20), 12 features; XGBoost,
logistic regression and a multi-layer perceptron with the paper's parameters; the worth of
a coalition of features is the mean predicted probability of the true label over 100
background rows; T = 0.1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfield.coalitions import BoolArray, IntArray, rows_of
from fairfield.comparison import Comparison
from fairfield.criteria.compare import compare
from fairfield.criteria.variational import variational_values
from fairfield.game import FloatArray, TableGame
from fairfield.games.features import FeatureGame
from fairfield.plots.criteria import mean_ranks

if TYPE_CHECKING:
    import pandas as pd

TEMPERATURE = 0.1
CRITERIA = ("variational_index", "shapley", "banzhaf")
MODELS = ("xgboost", "logistic", "mlp")
TRAINING_ROWS = 32_561
COLUMNS = {
    "age": "Age", "workclass": "Workclass", "education-num": "Education-Num",
    "marital-status": "Marital Status", "occupation": "Occupation", "relationship": "Relationship",
    "race": "Race", "sex": "Sex", "capital-gain": "Capital Gain", "capital-loss": "Capital Loss",
    "hours-per-week": "Hours per week", "native-country": "Country",
}  # fmt: skip
RELATIONSHIPS = ("Not-in-family", "Unmarried", "Other-relative", "Own-child", "Husband", "Wife")
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
# The iterations its table reports, counted from 0; it prints ‖Δx‖₂/n.
STEPS = (0, 2, 3, 5, 9, 10)


def load_adult(
    path: str | os.PathLike[str] | None = None, *, download: bool = True
) -> tuple[pd.DataFrame, BoolArray]:
    """The 32 561 training rows as the paper encodes them, and whether the income is above 50K.

    From ``path`` or the environment variable FAIRFIELD_DATA (the CSV file, or a folder that
    holds it), else from OpenML. Categories become the places of their sorted names, "?"
    first; relationships have an order of their own.
    """
    file = _find(path)
    if file is None and not download:
        raise FileNotFoundError("Adult was not found; set FAIRFIELD_DATA to its folder or file")
    table = _from_openml() if file is None else _read(file)
    X = table[list(COLUMNS)].rename(columns=COLUMNS)
    for name in X.columns:
        if X[name].dtype.kind not in "if":
            names = list(RELATIONSHIPS) if name == "Relationship" else sorted(set(X[name]))
            X[name] = X[name].map({category: code for code, category in enumerate(names)})
    return X.astype(float), (table["income"].str.strip(". ") == ">50K").to_numpy()


def _find(path: str | os.PathLike[str] | None) -> Path | None:
    """The CSV file that was asked for, if there is one."""
    given = path or os.environ.get("FAIRFIELD_DATA")
    if not given:
        return None
    place = Path(given)
    names = ("adult_train.csv.gz", "adult_train.csv")
    found = [place, *(place / name for name in names), *(place / "adult" / name for name in names)]
    for file in found:
        if file.is_file():
            return file
    raise FileNotFoundError(
        f"there is no adult_train.csv.gz in {place}; give the file or its folder"
    )


def _read(file: Path) -> pd.DataFrame:
    import pandas as pd

    table: pd.DataFrame = pd.read_csv(file, skipinitialspace=True, keep_default_na=False)
    missing = {*COLUMNS, "income"} - set(table.columns)
    if missing:
        raise ValueError(f"{file} lacks the columns {sorted(missing)}; a header is needed")
    return table


def _from_openml() -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    table: pd.DataFrame = fetch_openml("adult", version=2, as_frame=True).frame
    table = table.rename(columns={"class": "income"})
    for name in table.columns:
        if table[name].dtype.kind not in "if":
            table[name] = table[name].astype(object).fillna("?")
    # Training and test rows come as one table, in either order; this row begins the first.
    for start in (0, len(table) - TRAINING_ROWS):
        if table["fnlwgt"].iloc[start] == 77516:
            return table.iloc[start : start + TRAINING_ROWS].reset_index(drop=True)
    raise ValueError("OpenML's table is not in the known order; give the file by FAIRFIELD_DATA")


def fit(name: str, X: Any, y: BoolArray) -> Any:
    """A model with the paper's parameters, fitted to all training rows."""
    table = np.asarray(X)
    if name == "xgboost":
        from xgboost import XGBClassifier

        model: Any = XGBClassifier(
            base_score=0.5, tree_method="exact", random_state=0, max_depth=6, n_estimators=100,
            learning_rate=0.300000012,
        )  # fmt: skip
    elif name == "logistic":
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(random_state=0, solver="liblinear", C=0.5)
    elif name == "mlp":
        from sklearn.neural_network import MLPClassifier

        model = MLPClassifier(
            random_state=0, max_iter=300, learning_rate_init=0.002, hidden_layer_sizes=(50, 50)
        )
    else:
        raise ValueError(f"there is no model {name!r}; choose from {', '.join(MODELS)}")
    return model.fit(table, y)


@dataclass(frozen=True)
class Study:
    """What one model says of some rows.

    ``curves`` hold per criterion the mean probability of the true label (rows, n + 1) when
    the most valuable features are removed first; ``steps`` are ‖x^k - x^(k-1)‖₂/n (11, rows)
    of the paper's iteration.
    """

    model: str
    accuracy: float
    rows: IntArray
    labels: BoolArray
    comparison: Comparison
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
        """Features with their mean rank over the rows of one label, the best first."""
        valuation = self.comparison[criterion]
        ranks = mean_ranks(valuation.values[self.labels == label])
        order = np.argsort(ranks, kind="stable")
        return [(str(valuation.players[i]), float(ranks[i])) for i in order]

    def convergence(self) -> tuple[FloatArray, FloatArray]:
        """Median and mean over the rows of the step differences the paper's table shows."""
        shown = self.steps[list(STEPS)]
        return np.median(shown, axis=1), shown.mean(axis=1)


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
    game = FeatureGame(trained, table[chosen], background, output="label", y=y[chosen])
    names = [str(name) for name in getattr(X, "columns", range(table.shape[1]))]
    played = TableGame(game.table(progress), names)
    found = compare(played, criteria=CRITERIA, temperature=temperature)
    steps = variational_values(played, max(STEPS) + 1, temperature=temperature)
    return Study(
        model=model,
        accuracy=float((trained.predict(table) == y).mean()),
        rows=chosen,
        labels=y[chosen],
        comparison=found,
        curves={name: _removal(played.worth_table, v.values) for name, v in found.items()},
        steps=steps.step_differences(squared=False),
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
