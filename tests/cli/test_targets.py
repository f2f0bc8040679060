"""Targets are classes or numbers, as they look or as the task says."""

import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

from fairfield.cli.messages import InputError  # noqa: E402
from fairfield.cli.targets import Task, is_classes  # noqa: E402

STARS, SHARES, WORDS = [1, 2, 3] * 4, [0.5, 1.5] * 6, ["no", "yes"] * 6


@pytest.mark.parametrize(
    ("target", "task", "expected"),
    [
        (STARS, "auto", True),
        (STARS, "regression", False),
        (list(range(30)), "auto", False),
        (list(range(30)), "classification", True),
        (SHARES, "auto", False),
        (WORDS, "auto", True),
        (WORDS, "classification", True),
        ([True, False], "auto", True),
    ],
)
def test_what_a_target_is(target, task, expected):
    assert is_classes(pd.Series(target), Task(task), "t.csv") is expected


@pytest.mark.parametrize(
    ("target", "task", "sentence"),
    [(WORDS, "regression", "is not numbers, which"), (SHARES, "classification", "has fractions")],
)
def test_what_a_target_cannot_be(target, task, sentence):
    with pytest.raises(InputError, match=sentence):
        is_classes(pd.Series(target, name="y"), Task(task), "t.csv")
