"""Packages that are installed on request, and the sentence where one is missing."""

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
}
# What a package is called where it is installed.
CALLED = {"sklearn": "scikit-learn"}


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Imports that ``what`` cannot do without; where one fails, an error says what to install.

    >>> with needed_for("a picture"):
    ...     raise ModuleNotFoundError(name="matplotlib")
    Traceback (most recent call last):
    ImportError: a picture needs matplotlib: pip install 'fairfield[plots]'
    """
    try:
        yield
    except ModuleNotFoundError as reason:
        package = (reason.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise ImportError(
            f"{what} needs {CALLED.get(package, package)}: pip install 'fairfield[{EXTRAS[package]}]'",
            name=package,
        ) from reason
