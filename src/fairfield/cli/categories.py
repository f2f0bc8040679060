"""The categories that a model was fitted to, as columns of tables from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfield.cli.messages import InputError
from fairfield.cli.tables import underscored
from fairfield.core.coalitions import spell
from fairfield.games.features.pipelines import look_inside

if TYPE_CHECKING:
    import pandas as pd

Categories = dict[str, list[Any]]


def categories_of(model: Any) -> Categories:
    """The categorical columns of a booster, and the categories of each; other models ask for none."""
    inside = look_inside(model)
    model = model if inside.transforms else inside.model
    if hasattr(model, "get_booster"):
        model = model.get_booster()
    model = getattr(model, "booster_", model)
    if getattr(model, "pandas_categorical", None):  # LightGBM
        # One that was fitted, not read, does not say which columns they are; its text does.
        read = type(model)(model_str=model.model_to_string())
        columns = [read.feature_name()[int(at)] for at in read.params["categorical_feature"]]
        return dict(zip(columns, model.pandas_categorical, strict=True))
    if "c" in (getattr(model, "feature_types", None) or ()):  # XGBoost
        listed = model.get_categories(export_to_arrow=True).to_arrow()
        return {name: each.to_pylist() for name, each in listed if each is not None}
    return {}


def texts_of(known: Categories) -> list[str]:
    """The columns whose categories are texts, though they may look like numbers in a file."""
    return [name for name, listed in known.items() if any(isinstance(c, str) for c in listed)]


def in_categories(table: pd.DataFrame, known: Categories, path: Path) -> pd.DataFrame:
    """The table with these columns as categories; what is none of them is refused."""
    import pandas as pd

    table = table.copy()
    for name, listed in known.items():
        own = next(each for each in table.columns if underscored(each) == underscored(name))
        strange = table[own].notna() & ~table[own].isin(listed)
        if strange.any():
            raise InputError(
                f"column {own!r} of {path} holds {table[own][strange].tolist()[0]!r}, and the model was "
                f"fitted to {spell(listed)}; leave out such rows, or leave the cells empty"
            )
        table[own] = pd.Categorical(table[own], categories=listed)
    return table
