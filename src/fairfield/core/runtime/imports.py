"""Optional packages, and the error where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# The extra of fairfield that brings a package.
EXTRAS = {
    "sklearn": "ml",
    "pandas": "ml",
    "numba": "trees",
    "matplotlib": "plots",
    "plotly": "report",
    "pyarrow": "cli",
    "skops": "models",
    "onnxruntime": "models",
    "distributed": "dask",
    "ray": "ray",
    "torch": "learning",
    "tenacity": "remote",
}
# Packages that no extra brings: the user has chosen them.
OTHERS = ("catboost", "lightgbm", "shap", "shapiq", "xgboost")
# The name under which a package is installed, where it is another.
INSTALLED_AS = {"sklearn": "scikit-learn"}


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Imports that ``what`` needs; where one is missing, the error says what to install.

    >>> with needed_for("a picture"):
    ...     raise ModuleNotFoundError(name="matplotlib")
    Traceback (most recent call last):
    ImportError: a picture needs matplotlib: pip install 'fairfield[plots]'
    """
    try:
        yield
    except ModuleNotFoundError as reason:
        package = (reason.name or "").partition(".")[0]
        if package not in (*EXTRAS, *OTHERS):
            raise
        name = INSTALLED_AS.get(package, package)
        source = f"'fairfield[{EXTRAS[package]}]'" if package in EXTRAS else name
        raise ImportError(f"{what} needs {name}: pip install {source}", name=package) from reason
