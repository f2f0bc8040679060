"""Games as sums of tables over few of their players: F(S) = Σ_k T_k(S ∩ P_k)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairfield.core.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Part:
    """Terms over equally many players: ``worths`` (k, 2^d) over the ``players`` (k, d).

    ``games`` (k,) are the games of a batch that they belong to, its axes counted as one.
    """

    games: IntArray
    players: IntArray
    worths: FloatArray


@dataclass(frozen=True, eq=False)
class Division:
    """How a game is divided into parts, before any of their worths is evaluated.

    It costs as much as this many ``evaluations`` of worths would, and keeps this many
    ``numbers``. ``parts(progress)`` evaluates them; ``progress`` is that of ``Game.table``.
    """

    evaluations: int
    numbers: int
    parts: Callable[[bool | None], Sequence[Part]]
