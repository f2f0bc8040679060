"""What every criterion starts from and how its answer is put together."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fairfield.energy.partition import Partition
from fairfield.energy.product import entropy, prior_energy, sigmoid
from fairfield.energy.temperature import Temperature, resolve
from fairfield.evaluation.evaluate import versions
from fairfield.evaluation.how import How
from fairfield.extension.choose import choose
from fairfield.extension.table import TableExtension
from fairfield.game import Extension, FloatArray, Game, Players, as_game
from fairfield.valuation import Valuation, as_number


@dataclass(frozen=True)
class Setting:
    """A game, the extension that answers for it, and the temperature it is read at.

    Criteria take a setting in place of a game, so that several of them share one table
    and one log Z.
    """

    game: Game
    extension: Extension
    heat: FloatArray | None
    how: How
    evaluations: int
    prior: FloatArray | None = None
    started: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(
        cls,
        game: Any,
        players: Players | None,
        temperature: Temperature | None,
        how: dict[str, Any],
        prior: FloatArray | None = None,
    ) -> Setting:
        """The setting itself if it is one already, else one made for the game."""
        if isinstance(game, Setting):
            return game
        started = time.perf_counter()
        wishes = How.of(how)
        played = as_game(game, players)
        extension, evaluations = choose(played, wishes)
        heat = None if temperature is None else resolve(temperature, extension)
        return cls(played, extension, heat, wishes, evaluations, prior, started)

    def needs_heat(self) -> FloatArray:
        """The temperature, where the criterion cannot do without."""
        if self.heat is None:
            raise ValueError("this criterion needs a temperature; pass temperature=")
        return self.heat

    @cached_property
    def partition(self) -> Partition | None:
        """Sums over p(S), where they are asked for and within reach."""
        if self.heat is None or not self.how.decoupling:
            return None
        if not isinstance(self.extension, TableExtension):
            return None
        return Partition(self.extension, self.heat, self.prior)

    def valuation(self, criterion: str, values: FloatArray, **rest: Any) -> Valuation:
        """The valuation of these values, with what the temperature adds to it."""
        seconds = time.perf_counter() - self.started
        empty, grand = self.extension.ends()
        if self.game.nulls is not None:
            # What sums of equal worths leave of a null player is rounding.
            scale = np.abs(empty) + np.abs(grand) + np.abs(values).max(axis=-1)
            rounding = np.abs(values) <= 1e-12 * scale[..., None]
            values = np.where(self.game.nulls & rounding, 0.0, values)
        about = {**self._energies(values), **rest}
        return Valuation(
            criterion=criterion,
            players=self.game.players,
            values=values,
            method=self.extension.method,
            game=repr(self.game),
            empty=as_number(empty),
            grand=as_number(grand),
            data=self.game.data,
            evaluations=self.evaluations,
            seconds=seconds,
            seed=self.how.seed,
            versions=versions(),
            **{"stops": np.full(self.extension.batch, "exact"), **about},
        )

    def _energies(self, values: FloatArray) -> dict[str, Any]:
        """Marginals σ(λ + value/T), their ELBO, log Z and decoupling error."""
        if self.heat is None:
            return {}
        tilt = 0.0 if self.prior is None else self.prior
        logits = tilt + values / self.heat[..., None]
        x = sigmoid(logits)
        known: dict[str, Any] = {"marginals": x, "temperature": as_number(self.heat)}
        if not self.how.decoupling:
            return known
        value, _ = self.extension.centred(x)
        height = value / self.heat + entropy(logits) + prior_energy(x, logits, self.prior)
        offset = self.extension.offset / self.heat
        known["elbo"] = as_number(height + offset)
        if self.partition is not None:
            gap = self.partition.log_z - offset - height
            known["log_z"] = as_number(self.partition.log_z)
            known["decoupling_error"] = as_number(np.maximum(gap, 0.0))
        return known
