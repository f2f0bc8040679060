"""Importing fairfield is cheap and pulls in nothing that may not be there."""

import subprocess
import sys

HEAVY = (
    "sklearn",
    "pandas",
    "matplotlib",
    "plotly",
    "numba",
    "torch",
    "dask",
    "ray",
    "shap",
    "shapiq",
    "joblib",
    "tqdm",
    "scipy",
)


def test_optional_packages_are_imported_where_used():
    code = f"import sys, fairfield; fairfield.plots.bar; print([m for m in {HEAVY} if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_every_public_name_exists_and_is_told():
    import fairfield as ff

    for name in ff.__all__:
        assert getattr(ff, name).__doc__, name
    assert ff.__all__ == sorted(ff.__all__)
