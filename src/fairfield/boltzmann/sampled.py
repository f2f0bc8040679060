"""The law p(S) ∝ exp(F(S)/T)·prior of one game too large for a table, by sampling.

The same readings as :class:`fairfield.boltzmann.exact.Partition`, each with a standard
error, jackknifed over groups of independent samples.
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
from fairfield.mcmc import diagnostics as diagnostics
from fairfield.mcmc.bases import Mixture, mean_field_modes
from fairfield.mcmc.gibbs import Path
from fairfield.mcmc.jackknife import Jackknifed
from fairfield.mcmc.landscape import (
    Contributions,
    Landscape,
    from_extension,
    from_game,
    from_worths,
)
from fairfield.mcmc.sampler import Run, Sampler
from fairfield.mcmc.tempering import Tempered
from fairfield.mean_field.elbo import CERTAIN, elbo, entropy, log_odds, prior_energy, sigmoid
from fairfield.mean_field.solvers import start_points

# Coalitions looked at where no budget is given.
USUAL_BUDGET = 2_000_000
# Starts of the mean-field laws that make up the near base.
STARTS = 5
# A run in doubt is followed by one of this many times the steps, while the budget lasts.
GROWTH = 4
# Gibbs steps that part a draw from the sample it starts at, times the players in a block.
SWEEPS = 3
# Pairs are read from at most this many samples per ladder.
PAIRED = 100


class ReliabilityWarning(UserWarning):
    """An estimate may be wrong by more than its standard error."""


class SampledLaw:
    """log Z, marginals and draws of the law of one game, estimated, with standard errors.

    ``temperature`` is T, ``prior`` holds log-odds (None: none). Nothing is computed before it is
    asked for; then one run serves all readings. Each look at a coalition counts against
    the budget: one where a closed form tells all contributions at once, n + 1 worths else.
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
        self.game, self.extension, self.temperature, self.prior = (
            game,
            extension,
            temperature,
            prior,
        )
        self.options = options
        self.evaluations = 0
        fixed = np.zeros(len(game.players)) if prior is None else prior
        self._free = np.flatnonzero(np.abs(fixed) < CERTAIN)
        self._inside = (fixed == CERTAIN) * 1.0

    # ------------------------------------------------------------------------ the run

    @cached_property
    def contributions(self) -> Contributions | None:
        """A way to all contributions at once, the game's own or its closed form's."""
        own = from_game(self.game)
        if own is not None or self.extension is None:
            return own
        return from_extension(self.extension)

    def _source(self) -> AbstractContextManager[Contributions]:
        """Contributions, from the worths of all neighbours if there is no better way."""
        known = self.contributions
        return self._evaluated() if known is None else nullcontext(known)

    @contextmanager
    def _evaluated(self) -> Iterator[Contributions]:
        with Evaluator(self.game, replace(self.options, progress=False)) as evaluator:
            yield from_worths(evaluator)

    def _landscape(self, contributions: Contributions) -> Landscape:
        count = len(self.game.players)
        cost = count + 1 if self.contributions is None else 1
        return Landscape(
            contributions, float(self.temperature), self.prior, count, self._centre, cost
        )

    def _near(self, landscape: Landscape) -> Mixture | None:
        if self.extension is None:
            return None
        starts = start_points(STARTS, len(self.game.players), self.options.seed)
        lean = np.zeros(len(self.game.players)) if self.prior is None else self.prior
        modes = mean_field_modes(self.extension, float(self.temperature), lean, starts)
        return Mixture(modes.logits[:, landscape.free], modes.shares)

    @cached_property
    def _centre(self) -> float:
        """F/T of one coalition, which log weights leave out: large offsets cost digits."""
        with self._source() as contributions:
            worths, _ = contributions(self._inside[None] > 0)
        return float(worths[0] / self.temperature)

    @cached_property
    def run(self) -> Run:
        """The run behind all estimates, repeated with more steps while it is in doubt."""
        rng = np.random.default_rng(self.options.seed)
        effort = 1.0
        with self._source() as contributions, self._bar() as tick:
            landscape = self._landscape(contributions)
            landscape.budget = self.options.budget or USUAL_BUDGET * landscape.cost
            hot, near = Mixture.product(landscape.lean), self._near(landscape)
            sampler = Sampler(landscape, hot, near, tick)
            while True:
                before = sampler.left()
                found = sampler.run(effort, rng)
                said = diagnostics.of_run(found)
                effort *= GROWTH
                if not said or sampler.left() < GROWTH * (before - sampler.left()):
                    break
        self.evaluations += landscape.spent
        for sentence in said:
            warnings.warn(f"{self.game!r}: {sentence}", ReliabilityWarning, stacklevel=2)
        return found

    @contextmanager
    def _bar(self) -> Iterator[Callable[[], None]]:
        from tqdm.auto import tqdm

        hidden = None if self.options.progress is None else not self.options.progress
        delay = 0 if self.options.progress else 1
        with tqdm(desc="sampling", unit=" steps", disable=hidden, delay=delay, leave=False) as bar:
            yield lambda: bar.update(1) and None

    @property
    def _samples(self) -> Tempered:
        return self.run.trusted.tempered

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that say why an estimate may be wrong by more than its error."""
        return diagnostics.of_run(self.run)

    # ----------------------------------------------------------- estimates and errors

    @cached_property
    def _pooled(self) -> Jackknifed:
        """log Z - centre/T: the bridges that stand, weighted by their precision."""
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
    def _height(self) -> Jackknifed:
        """E_p[log weight] - centre/T."""
        return Jackknifed.mean(self._samples.heights.mean(axis=0))

    @cached_property
    def _chances(self) -> Jackknifed:
        return Jackknifed.mean(self._samples.marginals).through(self._among_all)

    @cached_property
    def _entropy(self) -> Jackknifed:
        return replace(self._pooled - self._height, least=self._pooled.least)

    @cached_property
    def _correlation(self) -> Jackknifed:
        apart = self._chances.through(lambda p: entropy(log_odds(p))).unbiased()
        return replace(apart - self._entropy, least=self._pooled.least)

    @cached_property
    def _mean(self) -> Jackknifed:
        tilt = self._chances.through(lambda p: prior_energy(p, log_odds(p), self.prior))
        return (self._height - tilt + self._centre).times(float(self.temperature))

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
        seen = self._samples.coalitions
        seen = seen[:: -(-len(seen) // PAIRED)]
        with self._source() as contributions:
            landscape = self._landscape(contributions)
            for group in range(seen.shape[1]):
                inside = landscape.whole(seen[:, group])
                chances = landscape.means(landscape.look(seen[:, group])[1])
                both = chances.T @ inside / len(inside)
                both = (both + both.T) / 2
                np.fill_diagonal(both, chances.mean(axis=0))
                yield both
            self.evaluations += landscape.spent

    def log_odds(self) -> tuple[FloatArray, FloatArray]:
        """log p_i/(1-p_i) of the players that are free, and its standard error.

        From E[p(i | others)] and E[p(not i | others)], each in the log domain.
        """
        logs = self._samples.log_sums
        top = logs.max(axis=0)

        def odds(means: FloatArray) -> FloatArray:
            # Where one ladder saw it all, nothing is left without it: an error without end.
            logs = np.log(np.maximum(means, np.finfo(float).tiny)) + top
            return np.asarray(logs[..., 0, :] - logs[..., 1, :])

        found = Jackknifed.mean(np.exp(logs - top)).through(odds)
        estimate = np.asarray(found.estimate)
        # What no sample has seen may still be as likely as one sample in all.
        unseen = np.log1p(1 / (self.samples * sigmoid(-np.abs(estimate))))
        return estimate, np.maximum(self.run.trusted.kinship * found.stderr, unseen)

    @property
    def samples(self) -> int:
        """How many samples there are of the law, in all groups."""
        return self._samples.heights.size

    def _among_all(self, free: FloatArray) -> FloatArray:
        """Numbers of the free players among those of the fixed ones, who are in or out."""
        every = np.broadcast_to(self._inside, (*free.shape[:-1], len(self._inside))).copy()
        every[..., self._free] = free
        return every

    def stderr(self, reading: str) -> FloatArray:
        """The standard error of a reading, by its name."""
        # What no sample has seen may still be as likely as one sample in all.
        seen = 1 / self.samples
        kinship = self.run.trusted.kinship
        if reading == "pair_marginals":
            return np.maximum(kinship * self._pairs[1], seen)
        known = {
            "log_z": self._pooled,
            "marginals": replace(self._chances, least=seen),
            "mean": self._mean,
            "entropy": self._entropy,
            "total_correlation": self._correlation,
        }
        return np.asarray(kinship * known[reading].stderr)

    # ----------------------------------------------------------------------- readings

    @property
    def log_z(self) -> FloatArray:
        """log Σ_S exp(F(S)/T)·prior(S)."""
        return np.asarray(self._pooled.estimate + self._centre)

    @property
    def marginals(self) -> FloatArray:
        """p(i ∈ S): the mean of p(i | the others) over the samples."""
        return np.asarray(self._chances.estimate)

    @property
    def pair_marginals(self) -> FloatArray:
        """p(i, j ∈ S), with the marginals on the diagonal."""
        return self._pairs[0]

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
                f"{self.game!r} has no closed form, so the ELBO is not known exactly; "
                "value the game with a budget instead, or use a game with a closed form"
            )
        return elbo(self.extension.value(sigmoid(logits)), logits, self.temperature, self.prior)

    def gap(self, logits: FloatArray) -> FloatArray:
        """KL(q ‖ p) = log Z - ELBO; its standard error is that of log Z."""
        return np.maximum(self.log_z - self.elbo(logits), 0.0)

    def gap_of(self, height: FloatArray) -> FloatArray:
        """log Z less an ELBO that leaves out the extension's offset/T."""
        offset = 0.0 if self.extension is None else self.extension.offset / self.temperature
        return np.maximum(self.log_z - offset - height, 0.0)

    def log_share(self, worths: FloatArray) -> FloatArray:
        """F/T - log Z of worths (m,)."""
        return np.asarray(worths / self.temperature - self._centre - self._pooled.estimate)

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """Coalitions (count, n): samples of the run, each moved on by some sweeps of its own."""
        seen = self._samples.coalitions.reshape(-1, len(self._free))
        start = seen[rng.integers(0, len(seen), count)]
        rate = float(self._samples.rate)
        with self._source() as contributions:
            landscape = self._landscape(contributions)
            path = Path(landscape, Mixture.product(landscape.lean))
            chains = path.at(start)
            for _ in range(max(1, int(SWEEPS / rate)) if count else 0):
                chains, _ = path.step(chains, np.ones(count), np.full(count, rate), rng)
            self.evaluations += landscape.spent
        return landscape.whole(chains.inside)
