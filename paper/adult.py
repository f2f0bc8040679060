"""Adult / Census Income as the paper encodes it, and the paper's models of it.

Becker and Kohavi 1996, doi 10.24432/C5XW20, CC BY 4.0.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import BoolArray

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("xgboost", "logistic", "mlp")
TRAINING_ROWS = 32_561
COLUMNS = {
    "age": "Age", "workclass": "Workclass", "education-num": "Education-Num",
    "marital-status": "Marital Status", "occupation": "Occupation", "relationship": "Relationship",
    "race": "Race", "sex": "Sex", "capital-gain": "Capital Gain", "capital-loss": "Capital Loss",
    "hours-per-week": "Hours per week", "native-country": "Country",
}  # fmt: skip
RELATIONSHIPS = ("Not-in-family", "Unmarried", "Other-relative", "Own-child", "Husband", "Wife")


def load_adult(
    path: str | os.PathLike[str] | None = None, *, download: bool = True
) -> tuple[pd.DataFrame, BoolArray]:
    """The 32 561 training rows as the paper encodes them, and whether the income is above 50K.

    From ``path`` or the environment variable FAIRFIELD_DATA (the CSV file, or a folder that
    holds it), else from OpenML. Categories become the places of their sorted names, "?"
    first; relationships have an order of their own.
    """
    file = file_of(path)
    if file is None and not download:
        raise FileNotFoundError("Adult was not found; set FAIRFIELD_DATA to its folder or file")
    table = _from_openml() if file is None else _read(file)
    X = table[list(COLUMNS)].rename(columns=COLUMNS)
    for name in X.columns:
        if X[name].dtype.kind not in "if":
            names = list(RELATIONSHIPS) if name == "Relationship" else sorted(set(X[name]))
            X[name] = X[name].map({category: code for code, category in enumerate(names)})
    return X.astype(float), (table["income"].str.strip(". ") == ">50K").to_numpy()


def file_of(path: str | os.PathLike[str] | None) -> Path | None:
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


def fit(name: str, X: Any, y: BoolArray, seed: int = 0) -> Any:
    """A model with the paper's parameters (seed 0 among them), fitted to all training rows."""
    table = np.asarray(X)
    if name == "xgboost":
        from xgboost import XGBClassifier

        model: Any = XGBClassifier(
            base_score=0.5, tree_method="exact", random_state=seed, max_depth=6, n_estimators=100,
            learning_rate=0.300000012,
        )  # fmt: skip
    elif name == "logistic":
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(random_state=seed, solver="liblinear", C=0.5)
    elif name == "mlp":
        from sklearn.neural_network import MLPClassifier

        model = MLPClassifier(
            random_state=seed, max_iter=300, learning_rate_init=0.002, hidden_layer_sizes=(50, 50)
        )
    else:
        raise ValueError(f"there is no model {name!r}; choose from {', '.join(MODELS)}")
    return model.fit(table, y)
