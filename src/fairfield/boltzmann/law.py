"""Laws: what can be read of a distribution p(S) ∝ exp(F(S)/T)·prior of coalitions.

One protocol for three of them: sums over a table (:mod:`~fairfield.boltzmann.exact`), samples
(:mod:`~fairfield.boltzmann.sampled`), and the samples of some of the players
(:mod:`~fairfield.boltzmann.marginal`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fairfield.boltzmann.exact import ExactLaw
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.boltzmann.temperature import RELATIVE, Temperature, absolute, resolve
from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Game
from fairfield.evaluation.options import Options
from fairfield.mcmc.landscape import from_game
from fairfield.multilinear.choose import table_of, table_refused
from fairfield.multilinear.table import TableExtension


class Law(Protocol):
    """The distribution of coalitions of a game, or of each game of a batch.

    ``temperature`` is shaped like the batch, ``prior`` holds log-odds (n,). Readings rest on
    ``samples`` (0: they are exact), and ``warnings`` says in sentences why they may be wrong
    by more than ``stderr`` of their name.
    """

    @property
    def temperature(self) -> FloatArray: ...
    @property
    def prior(self) -> FloatArray | None: ...
    @property
    def samples(self) -> int: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    def stderr(self, reading: str, /) -> FloatArray: ...

    @property
    def log_z(self) -> FloatArray:
        """log Σ_S exp(F(S)/T)·prior(S)."""

    @property
    def marginals(self) -> FloatArray:
        """p(i ∈ S), (*batch, n)."""

    @property
    def pair_marginals(self) -> FloatArray:
        """p(i, j ∈ S), (*batch, n, n), with the marginals on the diagonal."""

    @property
    def log_odds(self) -> FloatArray:
        """log p_i/(1-p_i), (*batch, n), ±CERTAIN for players that the prior fixes."""

    @property
    def mean(self) -> FloatArray:
        """E_p[F]."""

    @property
    def entropy(self) -> FloatArray:
        """H(p) in nats."""

    @property
    def total_correlation(self) -> FloatArray:
        """Σ_i h(p_i) - H(p)."""

    def elbo(self, logits: FloatArray, /) -> FloatArray:
        """f(x)/T + H(x) + E_q[log prior] of the product law with these logits."""

    def gap(self, logits: FloatArray, /) -> FloatArray:
        """KL(q ‖ p) = log Z - ELBO of the product law with these logits."""

    def gap_of(self, height: FloatArray, /) -> FloatArray:
        """log Z less an ELBO that leaves out the extension's offset/T."""

    def log_share(self, worths: FloatArray, /) -> FloatArray:
        """F/T - log Z of worths (*batch, m)."""

    def draw(self, count: int, rng: np.random.Generator, /) -> BoolArray:
        """Coalitions (*batch, count, n) drawn from p."""


def law_of(
    game: Game, temperature: Temperature, prior: FloatArray | None, options: Options
) -> tuple[Game, ExactLaw | SampledLaw]:
    """The law of a game, and the game that it is read from.

    Exact from the game's table where that is within reach, else sampled. Arguments are
    checked before the first worth is evaluated.
    """
    if not isinstance(temperature, RELATIVE):
        temperature = absolute(temperature, game.batch)
    extension = game.extension()
    sampled = extension is not None or from_game(game) is not None or options.budget is not None
    if not (sampled and table_refused(game, options)):
        table, _ = table_of(game, options)
        exact = TableExtension.of(table)
        return table, ExactLaw(exact, resolve(temperature, exact), prior)
    T = absolute(temperature, game.batch) if extension is None else resolve(temperature, extension)
    return game, SampledLaw(game, extension, T, prior, options)
