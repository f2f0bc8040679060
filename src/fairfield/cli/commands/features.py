"""``fairfield features``: what each feature adds to a model's predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from typer import Argument, Option

from fairfield.cli.categories import categories_of, in_categories, texts_of
from fairfield.cli.messages import InputError
from fairfield.cli.model_files import columns_of, read_model, width_of
from fairfield.cli.options import EvaluationOptions
from fairfield.cli.registry import command
from fairfield.cli.show import value
from fairfield.cli.tables import Delimiter, column, columns_like, read_table, underscored
from fairfield.games.choose import game_of

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """
**Examples**

`fairfield features model.json people.csv --rows 0:20 --report features.html`

`fairfield features model.skops people.csv --rows 3,17 --background train.csv --target income`

`fairfield features model.onnx people.csv --output 1 --criterion shapley --csv values.csv`
"""
MODEL = "XGBoost (.json, .ubj), LightGBM (.txt), skops, ONNX; pickle or joblib with --trust-pickle."
ROWS = "Which rows, counted from 0: 3,17 or 0:20, or all."
BACKGROUND = "The rows that replace absent features: a file, or how many rows of DATA to draw."
OUTPUT = "The class to explain, a column of the output, probability or margin; all: each of them."
TARGET = "A column of DATA that is no feature."
TRUST_TYPE = (
    "A type in a skops file that may be made, beside those known to be safe; may be repeated."
)
TRUST = "Open a pickle or joblib file, which may run any code of its author."


@command(EXAMPLES)
def features(
    model: Annotated[Path, Argument(help=MODEL, metavar="MODEL")],
    rows_file: Annotated[
        Path, Argument(help="Rows to explain: CSV or Parquet.", metavar="DATA.csv")
    ],
    options: EvaluationOptions,
    rows: Annotated[str, Option(help=ROWS)] = "0:10",
    background: Annotated[str, Option(help=BACKGROUND)] = "100",
    output: Annotated[str | None, Option(help=OUTPUT)] = None,
    target: Annotated[str | None, Option(help=TARGET)] = None,
    trust: Annotated[list[str] | None, Option(help=TRUST_TYPE, metavar="TYPE")] = None,
    trust_pickle: Annotated[bool, Option("--trust-pickle", help=TRUST)] = False,
    delimiter: Delimiter = None,
) -> None:
    """What each feature adds to a model's prediction, row by row."""
    fitted = read_model(model, trust_pickle=trust_pickle, trusted=trust or [])
    known = categories_of(fitted)

    def features_in(path: Path) -> pd.DataFrame:
        table = read_table(path, delimiter=delimiter, texts=texts_of(known))
        if path == rows_file and target is not None:
            column(table, target, path)
        return in_categories(_features(table, target, fitted, model, path), known, path)

    table = features_in(rows_file)
    if background.strip().lstrip("-").isdigit():
        others = _drawn(int(background), table, options.seed)
    else:
        path = Path(background)
        others = columns_like(features_in(path), table, path)
    chosen = table.iloc[_places(rows, len(table))]
    value(game_of(fitted, chosen, others, output=_class(output, fitted)), options)


def _features(
    table: pd.DataFrame, target: str | None, fitted: Any, model: Path, path: Path
) -> pd.DataFrame:
    """The columns that the model takes, in its order; where it does not say, all but the target."""
    names, width = columns_of(fitted), width_of(fitted)
    if names is None:
        left = table.drop(columns=target, errors="ignore") if target is not None else table
        if width not in (None, left.shape[1]):
            raise InputError(
                f"{model} takes {width} columns and {path} has {left.shape[1]}; leave out the "
                "others, the target with --target"
            )
        return left
    known = {underscored(name): name for name in table.columns if name != target}
    for name in names:
        if underscored(name) not in known:
            raise InputError(f"{model} needs the column {name!r}, which {path} lacks")
    return table[[known[underscored(name)] for name in names]]


def _drawn(count: int, table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Rows whose values take the place of absent features."""
    if count < 1:
        raise InputError(f"--background {count} draws no rows; give a number from 1 on, or a file")
    drawn = np.random.default_rng(seed).choice(len(table), min(count, len(table)), replace=False)
    return table.iloc[np.sort(drawn)]


def _places(rows: str, count: int) -> list[int]:
    """Row numbers from ``3,17``, ``0:20`` or ``all``."""
    places: list[int] = []
    for part in rows.split(","):
        text = part.strip()
        try:
            if text == "all":
                places += range(count)
            elif ":" in text:
                start, _, end = text.partition(":")
                places += range(int(start or 0), min(int(end or count), count))
            else:
                places.append(int(text))
        except ValueError:
            raise InputError(
                f"--rows {rows}: {text!r} is neither a number nor a range like 0:20"
            ) from None
    for place in places:
        if not 0 <= place < count:
            raise InputError(
                f"--rows {rows}: there is no row {place}; the rows are 0 to {count - 1}"
            )
    if not places:
        raise InputError(f"--rows {rows} picks no row; the rows are 0 to {count - 1}")
    return places


def _class(output: str | None, fitted: Any) -> Any:
    """The class by its own type: labels of classes may be numbers."""
    if output is None or output == "probability":
        return output
    for label in np.asarray(getattr(fitted, "classes_", [])).tolist():
        if str(label) == output:
            return label
    return int(output) if output.isdigit() else output
