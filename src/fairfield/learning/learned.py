"""Games that were learned from coalitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import whole
from fairfield.core.extension import Extension
from fairfield.core.game import Game, GameInfo, Player, Traits
from fairfield.core.special import expit
from fairfield.learning.fitting import Fit
from fairfield.learning.law import Gain
from fairfield.learning.observed import observe

MEANING = (
    "worths are log-probabilities up to a constant: a value is below 0 where a player is in fewer "
    "than half of the coalitions; by popularity alone one in a share p of them is worth "
    "log p/(1 - p), and reports show p beside the players"
)


class LearnedGame(Game):
    """A game learned from coalitions: ``form`` in closed form, found by ``fit``.

    At temperature 1 its Boltzmann law p(S) ∝ exp(F(S)) is the learned law of the observed
    coalitions. ``constant`` is the estimate of -log Z, where the objective gives one.
    ``frequencies`` are the shares of coalitions that hold each player, where the variational
    index starts; ``gain`` says how much better the law is than that of independent players on
    held-out data, None where none were held out.
    """

    def __init__(
        self,
        form: Game,
        model: str,
        objective: str,
        fit: Fit,
        constant: float | None,
        frequencies: FloatArray,
        gain: Gain | None = None,
    ) -> None:
        self.form, self.model, self.objective, self.fit = form, model, objective, fit
        self.constant, self.frequencies, self.gain = constant, frequencies, gain
        self.players = form.players
        self.traits = Traits(opaque=False, start=frequencies)
        self.info = GameInfo(data=frequencies.round(4), note=f"{MEANING}; {self.verdict}")

    @property
    def verdict(self) -> str:
        """Whether the law is better than that of independent players, in a sentence."""
        if self.model == "linear":
            return "players are independent"
        if self.gain is None:
            return "nothing was held out to judge the law by"
        return str(self.gain)

    def fill_in(self, coalition: Iterable[Player], k: int = 5) -> list[tuple[Player, float]]:
        """The k players most likely to be in with these, each with its probability given them.

        The probability is that of one more player, σ(F(S+i) - F(S)), the others as they are.

        >>> import fairfield as ff
        >>> seen = 40 * [["tea", "milk"], ["tea", "milk"], ["tea"], ["coffee"], ["milk"], []]
        >>> [player for player, _ in ff.learn(seen, strength=1.0).fill_in(["tea"], k=1)]
        ['milk']
        """
        extension = self.extension()
        assert extension is not None  # models have closed forms
        inside = observe([list(coalition)], self.players).coalitions[0]
        gains = extension.gradient(inside.astype(float))
        order = np.argsort(np.where(inside, np.inf, -gains), kind="stable")
        most = min(whole("k", k), int(np.count_nonzero(~inside)))
        return [(self.players[i], float(expit(gains[i]))) for i in order[:most]]

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.form.worths(coalitions)

    def extension(self) -> Extension | None:
        return self.form.extension()

    def describe(self) -> dict[str, Any]:
        return self.form.describe()

    def __repr__(self) -> str:
        worse = self.gain is not None and self.gain.is_loss
        return (
            f"LearnedGame: {self.model} by {self.objective}, {len(self.players)} players, "
            f"strength {self.fit.strength:g}, {self.fit.stop} ({self.fit.steps} steps)"
            f"{', worse than independent players on held-out data' if worse else ''}"
        )
