"""Neural set functions, F(S) = ρ(Σ_{i∈S} φ(v_i)), as games; needs PyTorch.

φ and ρ are small networks and v_i the features of player i, so one function serves many
ground sets. Any set function that is continuous in the features has this form, given a wide
enough sum.

Source: Zaheer, Kottur, Ravanbakhsh, Póczos, Salakhutdinov, Smola, Deep Sets, NeurIPS 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import names
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, GameInfo, Players, Traits
from fairfield.core.runtime.imports import needed_for


def import_torch() -> Any:
    """PyTorch, or an error that says how to install it."""
    with needed_for("a neural set function"):
        import torch
    return torch


def deep_sets(features: int, width: int) -> Any:
    """The network of φ, from features to ``width`` numbers, and ρ, from their sum to a worth.

    ELU units make worths smooth, so the steps of mean-field inference can be differentiated.
    """
    nn = import_torch().nn

    class DeepSets(nn.Module):  # type: ignore[misc, name-defined]  # torch is imported where used
        """Worths (..., m) of coalitions (..., m, n) of players with features (..., n, d)."""

        def __init__(self) -> None:
            super().__init__()
            self.phi = nn.Sequential(
                nn.Linear(features, width), nn.ELU(), nn.Linear(width, width), nn.ELU()
            )
            self.rho = nn.Sequential(nn.Linear(width, width), nn.ELU(), nn.Linear(width, 1))

        def forward(self, inside: Any, given: Any) -> Any:
            return self.rho(inside @ self.phi(given))[..., 0]

    return DeepSets().double()


class DeepSetsGame(Game):
    """The worths of a neural set function on one ground set, or on a batch of them.

    ``features`` (n, d) describe the players; (k, n, d) are k ground sets, a batch of games.
    ``on(features)`` is the same set function on other ground sets.
    """

    traits = Traits(opaque=False)
    info = GameInfo(advice="give a budget to sample it, or play on fewer players")

    def __init__(
        self, network: Any, features: ArrayLike, *, players: Players | None = None, note: str = ""
    ) -> None:
        self.network, self.note = network, note
        # PyTorch refuses arrays that run backwards.
        self.features = np.asarray(features, dtype=float, order="C")
        if self.features.ndim not in (2, 3) or not np.isfinite(self.features).all():
            raise ValueError(
                f"features of shape {self.features.shape} were given; they must be finite "
                "numbers, one row per player (n, d), or (ground sets, n, d)"
            )
        wanted = next(network.phi.parameters()).shape[1]
        if self.features.shape[-1] != wanted:
            raise ValueError(
                f"each player has {self.features.shape[-1]} features; the set function takes "
                f"{wanted}"
            )
        self.players = names(players, self.features.shape[-2])
        self.batch = self.features.shape[:-2]

    def on(self, features: ArrayLike, *, players: Players | None = None) -> DeepSetsGame:
        """The same set function on other players."""
        return DeepSetsGame(self.network, features, players=players, note=self.note)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        torch = import_torch()
        inside = torch.as_tensor(np.asarray(coalitions, dtype=float))
        with torch.no_grad():
            return np.asarray(self.network(inside, torch.as_tensor(self.features)))

    def describe(self) -> dict[str, Any]:
        weights = [part.detach().numpy() for part in self.network.parameters()]
        return {**super().describe(), "numbers": digest(self.features, *weights)}

    def __repr__(self) -> str:
        return super().__repr__() + (f", {self.note}" if self.note else "")
