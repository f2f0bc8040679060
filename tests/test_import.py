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


def test_keywords_are_told_in_one_place():
    """Whoever takes the keywords of the computation says where they are explained."""
    import inspect

    import fairfield as ff

    def takes_keywords(name):
        try:
            parameters = inspect.signature(getattr(ff, name)).parameters.values()
        except (TypeError, ValueError):  # modules, and errors
            return False
        return any(each.name == "options" and each.kind is each.VAR_KEYWORD for each in parameters)

    taking = [getattr(ff, name) for name in ff.__all__ if takes_keywords(name)]
    assert len(taking) > 12
    for each in taking:
        assert "fairfield.Options" in each.__doc__, each.__name__
    for name in inspect.signature(ff.Options).parameters:
        assert f"``{name}``:" in ff.Options.__doc__, name
