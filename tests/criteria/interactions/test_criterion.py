"""The registry of criteria of interactions."""

import pytest

import fairfield as ff
from fairfield.criteria.interactions import criterion
from fairfield.criteria.interactions.diagonal import Diagonal, Shapley


def test_each_has_a_name_and_a_meaning():
    known = criterion.registry()
    assert next(iter(known)) == "shapley"
    for name, kind in known.items():
        assert kind.name == name
        assert kind.meaning.endswith(".")
    assert known["shapley"].meaning != known["banzhaf"].meaning


def test_a_new_one_is_a_class(monkeypatch):
    monkeypatch.setattr(criterion, "_registered", dict(criterion.registry()))

    @criterion.register
    class Chained(Diagonal):
        """|A| ∫ t^(|A|-1) g(t) dt: the chaining interaction index."""

        name = "chained"
        meaning = "Coalitions in which the players come last."

        def rule(self, size, order, degree):
            at, shares = Shapley().rule(size, order, degree + size - 1)
            return at, shares * size * at ** (size - 1)

    found = ff.interactions([0, 0, 0, 0, 0, 0, 0, 1.0], "chained")
    assert found.values == pytest.approx([2 / 3] * 3)
    with pytest.raises(ValueError, match="a criterion of interactions 'shapley' already"):
        criterion.register(type("Other", (Shapley,), {}))
