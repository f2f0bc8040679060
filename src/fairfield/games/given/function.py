"""Games whose worths come from a function."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, device_named, on_host
from fairfield.core.game import Game, Players, Traits, Worths, name_players
from fairfield.games.given.tabulate import tabulate


class FunctionGame(Game):
    """A game whose worths come from a function ``bool[m, n] -> float[m]``.

    With a ``device`` ("cuda", or a device of PyTorch, CuPy or JAX) the function is given
    coalitions as an array there and returns worths there; the table of all worths is
    filled in place and stays on the device, in the precision of the worths.

    >>> game = FunctionGame(lambda S: S.sum(axis=1) ** 2, players=["ann", "bob"])
    >>> game.worths(np.array([[True, True]])).tolist()
    [4.0]
    """

    def __init__(
        self, function: Worths, players: Players, *, name: str | None = None, device: Any = None
    ) -> None:
        if not callable(function):
            raise TypeError(f"a worth function was expected, {type(function).__name__} was given")
        self.function = function
        self.players = name_players(players)
        self.name = name or getattr(function, "__qualname__", type(function).__name__)
        self.traits = Traits(device=device)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        # Copies both ways: a function may write into its argument, or answer in one buffer.
        lent = np.array(coalitions)
        if self.traits.device is None:
            worths = self._checked(np.asarray(self.function(lent)), len(coalitions))
            return np.array(worths, dtype=float)
        xp, device = device_named(self.traits.device)
        # PyTorch on the host shares memory with NumPy, both ways.
        return np.array(on_host(self._on_device(xp.asarray(lent, device=device))))

    def table(self, progress: bool | None = None) -> Any:
        if self.traits.device is None:
            return None
        return tabulate(self._on_device, len(self.players), self.traits.device, progress)

    def _on_device(self, coalitions: Any) -> Any:
        return self._checked(self.function(coalitions), coalitions.shape[0])

    def _checked(self, worths: Any, count: int) -> Any:
        xp = array_api_compat.array_namespace(worths)
        if xp.isdtype(worths.dtype, "complex floating"):
            raise ValueError(
                f"the worth function {self.name} returned complex worths; make them real"
            )
        if tuple(worths.shape) != (count,):
            raise ValueError(
                f"the worth function {self.name} returned shape {tuple(worths.shape)} for "
                f"{count} coalitions; it takes a bool array (m, n) and must return m worths"
            )
        return worths

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "function": self.name}
