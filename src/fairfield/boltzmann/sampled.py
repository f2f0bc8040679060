"""The law p(S) ∝ exp(F(S)/T)·prior of one game too large for a table, by sampling.

Every reading is an estimate, with a standard error jackknifed over groups of independent
samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options
from fairfield.evaluation.progress import bar
from fairfield.mcmc import diagnostics
from fairfield.mcmc.bases import Mixture, mean_field_modes
from fairfield.mcmc.gibbs import Path
from fairfield.mcmc.jackknife import Jackknifed
from fairfield.mcmc.landscape import (
    Contributions,
    FreePlayers,
    Landscape,
    from_extension,
    from_game,
    from_worths,
)
from fairfield.mcmc.sampler import LEAST_VISITS, Run, Sampler
from fairfield.mcmc.tempering import Tempered
from fairfield.mean_field.elbo import CERTAIN, elbo, entropy, log_odds, prior_energy, sigmoid
from fairfield.mean_field.solvers import start_points

# Coalitions visited where no budget is given.
USUAL_BUDGET = 2_000_000
# Starts of the mean-field laws that make up the near base.
STARTS = 5
# A run with warnings is followed by one of this many times the steps, while the budget lasts.
GROWTH = 4
# Gibbs steps between a draw and the sample it starts at, times the share of players in a block.
SWEEPS = 3


class ReliabilityWarning(UserWarning):
    """An estimate may be wrong by more than its standard error."""


class SampledLaw:
    """The law of one game, estimated, with standard errors.

    ``temperature`` is T, ``prior`` holds log-odds (None: none). Nothing is computed before the
    first reading; then one run serves all of them. Each visit to a coalition counts against
    the budget: 1 where a closed form gives all contributions at once, n + 1 worths otherwise.
    """

    def __init__(
        self,
        game: Game,
        extension: Extension | None,
        temperature: FloatArray,
        prior: FloatArray | None,
        options: Options,
    ) -> None:
        if game.batch:
            raise ValueError(
                f"{game!r}: sampling takes one game at a time; pass one game of the batch"
            )
        self.game, self.extension, self.options = game, extension, options
        self.temperature, self.prior = temperature, prior
        self.evaluations = 0
        self._free = FreePlayers(prior, len(game.players))
        if not len(self._free):
            raise ValueError("the prior fixes every player; leave at least one of them free")
        # A way to all contributions at once, the game's own or its closed form's.
        self.contributions = from_game(game)
        if self.contributions is None and extension is not None:
            self.contributions = from_extension(extension)
        self._visit = 1 if self.contributions is not None else len(game.players) + 1
        self._evaluator: Evaluator | None = None

    # ------------------------------------------------------------------------ the run

    @cached_property
    def run(self) -> Run:
        """The run behind all estimates, repeated with more steps while it has warnings."""
        budget = self.options.budget or USUAL_BUDGET * self._visit
        if budget < LEAST_VISITS * self._visit:
            unit = "worths" if self._visit > 1 else "coalitions"
            raise ValueError(
                f"a budget of {budget:,} is too small to sample the law of {len(self.game.players)} "
                f"players, which takes at least {LEAST_VISITS * self._visit:,} {unit}; raise it"
            )
        rng, effort = np.random.default_rng(self.options.seed), 1.0
        with self._source() as contributions, self._bar() as tick:
            worths, _ = contributions(self._free.fixed_in[None])
            landscape = self._landscape(contributions, float(worths[0] / self.temperature))
            hot = Mixture.product(self._free.bias)
            sampler = Sampler(landscape, hot, self._near(), budget // self._visit, tick)
            while True:
                before = sampler.left()
                found = sampler.run(effort, rng)
                reasons = diagnostics.of_run(found)
                effort *= GROWTH
                if not reasons or sampler.left() < GROWTH * (before - sampler.left()):
                    break
        self.evaluations += landscape.visits * self._visit
        for sentence in reasons:
            warnings.warn(f"{self.game!r}: {sentence}", ReliabilityWarning, stacklevel=2)
        return found

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Why readings may be wrong by more than their errors, in sentences."""
        return diagnostics.of_run(self.run)

    def _source(self) -> AbstractContextManager[Contributions]:
        """Contributions, from the worths of all neighbours if there is no better way."""
        return self._evaluated() if self.contributions is None else nullcontext(self.contributions)

    @contextmanager
    def _evaluated(self) -> Iterator[Contributions]:
        # An evaluator keeps the worths it has found; one with a store finds them there.
        if self._evaluator is None or self.options.store is not None:
            # The budget is counted here, in visits.
            options = replace(self.options, progress=False, budget=None)
            self._evaluator = Evaluator(self.game, options)
        with self._evaluator as evaluator:
            yield from_worths(evaluator)

    def _landscape(self, contributions: Contributions, centre: float) -> Landscape:
        T = float(self.temperature)
        return Landscape(contributions, T, self.prior, self._free, centre)

    def _near(self) -> Mixture | None:
        if self.extension is None:
            return None
        starts = start_points(STARTS, len(self.game.players), self.options.seed)
        modes = mean_field_modes(self.extension, self.temperature, self.prior, starts)
        return Mixture(modes.logits[:, self._free.places], modes.shares)

    @contextmanager
    def _bar(self) -> Iterator[Callable[[], None]]:
        with bar(None, "sampling", self.options.progress, unit=" steps") as shown:
            yield lambda: shown.update(1) and None

    # ----------------------------------------------------------- estimates and errors

    @property
    def _samples(self) -> Tempered:
        return self.run.trusted.tempered

    @property
    def samples(self) -> int:
        """How many samples of the law there are, in all groups."""
        return self._samples.log_weights.size

    @cached_property
    def _log_z(self) -> Jackknifed:
        """log Z - centre: the bridges that stand, weighted by their precision."""
        parts = [bridge.log_z for bridge in self.run.trusted.bridges]
        weights = np.array([1 / float(part.stderr) ** 2 for part in parts])
        weights /= weights.sum()
        least = min(part.least for part in parts)
        if self.warnings:
            ends = [end for bridge in self.run.bridges for end in bridge.ends]
            least = float(np.ptp(ends)) / 2
        return Jackknifed(
            weights @ np.array([part.estimate for part in parts]),
            weights @ np.array([part.replicates for part in parts]),
            least,
        )

    @cached_property
    def _log_weight(self) -> Jackknifed:
        """E_p[log weight] - centre."""
        return Jackknifed.mean(self._samples.log_weights.mean(axis=0))

    @cached_property
    def _chances(self) -> Jackknifed:
        # What no sample has seen may still be as likely as one sample in all.
        found = Jackknifed.mean(self._samples.marginals).through(self._free.among_all)
        return replace(found, least=1 / self.samples)

    @cached_property
    def _entropy(self) -> Jackknifed:
        return replace(self._log_z - self._log_weight, least=self._log_z.least)

    @cached_property
    def _correlation(self) -> Jackknifed:
        apart = self._chances.through(lambda p: entropy(log_odds(p))).unbiased()
        return replace(apart - self._entropy, least=self._log_z.least)

    @cached_property
    def _mean(self) -> Jackknifed:
        log_prior = self._chances.through(lambda p: prior_energy(p, log_odds(p), self.prior))
        return (self._log_weight - log_prior + self.run.centre).times(float(self.temperature))

    @cached_property
    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        """The mean of the groups' pair marginals, and its standard error."""
        count = len(self.game.players)
        total, squares = np.zeros((count, count)), np.zeros((count, count))
        groups = 0
        for both in self.pairs():
            total += both
            squares += both**2
            groups += 1
        mean = total / groups
        variance = np.maximum(squares / groups - mean**2, 0.0)
        np.fill_diagonal(mean, self.marginals)
        return mean, np.sqrt(variance / (groups - 1))

    def pairs(self) -> Iterator[FloatArray]:
        """p(i, j ∈ S) = E[z_j p(i | others)] as each group of samples has it: (n, n)."""
        odds, coalitions = self._samples.log_odds, self._samples.coalitions
        coalitions = coalitions[:: -(-len(coalitions) // len(odds))]
        for group in range(odds.shape[1]):
            inside = self._free.among_all(coalitions[:, group])
            chances = self._free.among_all(sigmoid(odds[:, group]))
            both = chances.T @ inside / len(inside)
            both = (both + both.T) / 2
            np.fill_diagonal(both, chances.mean(axis=0))
            yield both

    @cached_property
    def _log_odds(self) -> Jackknifed:
        """From E[p(i | others)] and E[p(not i | others)], each in the log domain."""
        logs = self._samples.log_sums
        top = logs.max(axis=0)

        def odds(means: FloatArray) -> FloatArray:
            # Where one ladder has all of a sum, nothing is left without it: an infinite error.
            logs = np.log(np.maximum(means, np.finfo(float).tiny)) + top
            return np.asarray(logs[..., 0, :] - logs[..., 1, :])

        return Jackknifed.mean(np.exp(logs - top)).through(odds)

    def stderr(self, reading: str) -> FloatArray:
        """The standard error of a reading, by its name."""
        inflation = self.run.trusted.inflation
        if reading == "pair_marginals":
            return np.maximum(inflation * self._pairs[1], 1 / self.samples)
        if reading == "log_odds":
            # What no sample has seen may still be as likely as one sample in all.
            rare = sigmoid(-np.abs(self._log_odds.estimate))
            unseen = np.log1p(1 / (self.samples * rare))
            error = np.maximum(inflation * self._log_odds.stderr, unseen)
            return self._free.among_all(error, 0.0, 0.0)
        estimates = {
            "log_z": self._log_z,
            "marginals": self._chances,
            "mean": self._mean,
            "entropy": self._entropy,
            "total_correlation": self._correlation,
        }
        return np.asarray(inflation * estimates[reading].stderr)

    # ----------------------------------------------------------------------- readings

    @property
    def log_z(self) -> FloatArray:
        """log Σ_S exp(F(S)/T)·prior(S)."""
        return np.asarray(self._log_z.estimate + self.run.centre)

    @property
    def marginals(self) -> FloatArray:
        """p(i ∈ S): the mean of p(i | the others) over the samples."""
        return np.asarray(self._chances.estimate)

    @property
    def pair_marginals(self) -> FloatArray:
        """p(i, j ∈ S), with the marginals on the diagonal."""
        return self._pairs[0]

    @property
    def log_odds(self) -> FloatArray:
        """log p_i/(1-p_i), ±CERTAIN for players that the prior fixes."""
        return self._free.among_all(np.asarray(self._log_odds.estimate), CERTAIN, -CERTAIN)

    @property
    def mean(self) -> FloatArray:
        """E_p[F]."""
        return np.asarray(self._mean.estimate)

    @property
    def entropy(self) -> FloatArray:
        """H(p) = log Z - E_p[log weight]."""
        return np.asarray(self._entropy.estimate)

    @property
    def total_correlation(self) -> FloatArray:
        """Σ_i h(p_i) - H(p)."""
        return np.maximum(self._correlation.estimate, 0.0)

    def elbo(self, logits: FloatArray) -> FloatArray:
        """f(x)/T + H(x) + E_q[log prior] of the product law with these logits."""
        if self.extension is None:
            raise ValueError(
                f"{self.game!r} has no closed form, so its ELBO cannot be computed exactly; "
                "value the game with a budget, or use a game with a closed form"
            )
        return elbo(self.extension.value(sigmoid(logits)), logits, self.temperature, self.prior)

    def gap(self, logits: FloatArray) -> FloatArray:
        """KL(q ‖ p) = log Z - ELBO; its standard error is that of log Z."""
        height = self.elbo(logits)
        return np.maximum(self.log_z - height, 0.0)

    def gap_of(self, height: FloatArray) -> FloatArray:
        """log Z less an ELBO that leaves out the extension's offset/T."""
        offset = 0.0 if self.extension is None else self.extension.offset / self.temperature
        return np.maximum(self.log_z - offset - height, 0.0)

    def log_share(self, worths: FloatArray) -> FloatArray:
        """F/T - log Z of worths (m,)."""
        return np.asarray(worths / self.temperature - self.run.centre - self._log_z.estimate)

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """Coalitions (count, n): samples of the run, each moved on by some Gibbs steps.

        Worths count against a budget of their own, of the same size as that of the run.
        """
        self._check_draws(count, SWEEPS)
        seen = self._samples.coalitions.reshape(-1, len(self._free))
        start = seen[rng.integers(0, len(seen), count)]
        rate = float(self._samples.rate)
        steps = max(1, int(SWEEPS / rate)) if count else 0
        self._check_draws(count, steps)
        with self._source() as contributions:
            landscape = self._landscape(contributions, self.run.centre)
            path = Path(landscape, Mixture.product(self._free.bias))
            chains = path.at(start)
            for _ in range(steps):
                chains, _ = path.step(chains, np.ones(count), np.full(count, rate), rng)
        self.evaluations += landscape.visits * self._visit
        return self._free.among_all(chains.inside)

    def _check_draws(self, count: int, steps: int) -> None:
        needed, budget = count * (1 + steps) * self._visit, self.options.budget
        if self.contributions is None and budget is not None and needed > budget:
            raise ValueError(
                f"{count:,} draws need {needed:,} worths, the budget allows {budget:,}; draw fewer, "
                "or raise the budget"
            )
