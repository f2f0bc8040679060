"""What a criterion of interactions is, and the one registry of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.registry import import_all, refuse_taken
from fairfield.problem import Problem

# A coalition, by the places of its players.
Place: TypeAlias = tuple[int, ...]


class Read(NamedTuple):
    """Interactions (*batch, coalitions), their standard errors, and why it stopped if not exact."""

    values: FloatArray
    stderr: ArrayLike = 0.0
    stop: str = ""


@dataclass(frozen=True)
class InteractionCriterion:
    """How coalitions are valued beyond their parts.

    A new one is a file beside this one with a class under :func:`register` that has a ``name``, one
    sentence of ``meaning`` and ``exact``. ``start`` is where the index is looked for, by those
    that read it.
    """

    start: ArrayLike | None = None
    name: ClassVar[str]
    # One sentence: what the interaction of a coalition says.
    meaning: ClassVar[str]
    # Whether there is one for every size up to the order, or for that size alone.
    every_size: ClassVar[bool] = False
    # Whether those of all sizes sum to F(N) - F(∅).
    adds_up: ClassVar[bool] = False
    # Whether it depends on the temperature.
    thermal: ClassVar[bool] = False
    # Whether the strongest pairs can be looked for without listing all.
    searchable: ClassVar[bool] = False

    def exact(self, problem: Problem, sets: Sequence[Place], order: int) -> Read:
        """The interactions of these coalitions, of a problem whose extension can be read."""
        raise NotImplementedError

    def points(self, problem: Problem, order: int) -> tuple[FloatArray, FloatArray]:
        """Where ∂_A f of pairs is read, (points, n), and with which weights, if it is searchable."""
        raise NotImplementedError

    def baseline(self, extension: Extension, order: int) -> FloatArray:
        """What is worth without any interaction: F(∅)."""
        return extension.ends()[0]


Kind = TypeVar("Kind", bound=type[InteractionCriterion])

_registered: dict[str, type[InteractionCriterion]] = {}


def register(kind: Kind) -> Kind:
    """Make a criterion of interactions known by its name; use it as the decorator of its class."""
    refuse_taken(f"a criterion of interactions {kind.name!r}", _registered.get(kind.name), kind)
    _registered[kind.name] = kind
    return kind


def registry() -> dict[str, type[InteractionCriterion]]:
    """All criteria of interactions by their names, Shapley's first."""
    import_all("fairfield.criteria.interactions")
    return dict(sorted(_registered.items(), key=lambda item: (item[0] != "shapley", item[0])))


def no_errors(extension: Extension) -> float:
    """0 for exact interactions, NaN where errors of the worths are not passed on."""
    return 0.0 if getattr(extension, "noise", None) is None else np.nan
