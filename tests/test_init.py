"""``import fairfield`` is cheap, and its names come from where the stub says."""

import inspect
import json
import subprocess
import sys

import pytest

import fairfield as ff

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


def fresh(code: str):
    """What ``code`` prints as JSON in a new interpreter."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def test_importing_loads_neither_rooms_nor_other_packages():
    loaded = fresh(
        "import sys, json; before = set(sys.modules); import fairfield;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    others = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert others == {"fairfield"}
    assert [name for name in loaded if name.startswith("fairfield")] == ["fairfield"]


@pytest.mark.parametrize("name", ff.__all__)
def test_every_public_name_is_there(name):
    assert name in dir(ff)
    value = getattr(ff, name)
    assert value is getattr(ff, name)
    assert name in ("axioms", "learning", "plots") or value.__name__ == name


def test_a_function_is_not_hidden_by_a_module_imported_first():
    code = (
        "import json, fairfield, fairfield.cli.app, fairfield.reports, fairfield.explanations;"
        "print(json.dumps([n for n in fairfield.__all__ if not n in ('axioms', 'learning', 'plots')"
        " and not callable(getattr(fairfield, n))]))"
    )
    assert fresh(code) == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'fairfield' has no attribute 'shaply'"):
        ff.shaply  # noqa: B018


def test_optional_packages_are_imported_where_used():
    code = (
        "import sys, fairfield; [getattr(fairfield, name) for name in fairfield.__all__];"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_every_public_name_exists_and_has_a_docstring():
    for name in ff.__all__:
        assert getattr(ff, name).__doc__, name
    assert ff.__all__ == sorted(ff.__all__)


def test_keywords_are_explained_in_one_place():
    """Whoever takes the keywords of the computation says where they are explained."""

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
