"""Estimates of a law from the samples of a run, jackknifed over its groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.special import expit
from fairfield.mcmc import diagnostics
from fairfield.mcmc.jackknife import Jackknifed
from fairfield.mcmc.landscape import FreePlayers
from fairfield.mcmc.sampler import Run
from fairfield.mcmc.tempering import Tempered
from fairfield.mean_field.elbo import entropy, log_odds, prior_energy
from fairfield.results.valuation import NORMAL

# So many independent samples show how far probabilities vary.
FEW = 100
# What is seen once or never may be as likely as if it were seen so many times more: errors of
# counts like the square root, with two more seen and two not (Agresti and Coull, 1998).
UNSEEN = 2


@dataclass(frozen=True)
class Estimates:
    """What can be read of p from a run; log weights and log Z are without the centre."""

    run: Run
    free: FreePlayers
    temperature: float
    prior: FloatArray | None

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Why estimates may be wrong by more than their errors, in sentences."""
        return diagnostics.of_run(self.run)

    @property
    def samples(self) -> Tempered:
        """The samples that estimates are made from."""
        return self.run.trusted.tempered

    @property
    def count(self) -> int:
        """How many samples there are, in all groups."""
        return self.samples.log_weights.size

    @cached_property
    def log_z(self) -> Jackknifed:
        """The bridges that stand, weighted by their precision."""
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
    def log_weight(self) -> Jackknifed:
        """E_p[log weight]."""
        found = Jackknifed.mean(self.samples.log_weights.mean(axis=0))
        # What no sample has seen may be as far as any coalition.
        return replace(found, least=UNSEEN * self.run.span / self.count)

    @cached_property
    def marginals(self) -> Jackknifed:
        """The mean of p(i | the others)."""
        found = Jackknifed.mean(self.samples.marginals).through(self.free.among_all)
        return replace(found, least=UNSEEN / self.count)

    @cached_property
    def log_odds(self) -> Jackknifed:
        """Of the free players, from E[p(i | others)] and E[p(not i | others)] as logarithms."""
        logs = self.samples.log_sums
        top = logs.max(axis=0)

        def odds(means: FloatArray) -> FloatArray:
            # Where one ladder has all of a sum, nothing is left without it: an infinite error.
            logs = np.log(np.maximum(means, np.finfo(float).tiny)) + top
            return np.asarray(logs[..., 0, :] - logs[..., 1, :])

        return Jackknifed.mean(np.exp(logs - top)).through(odds)

    @cached_property
    def mean(self) -> Jackknifed:
        """E_p[F], from E_p[log weight] without the prior's part."""
        log_prior = self.marginals.through(lambda p: prior_energy(p, log_odds(p), self.prior))
        return (self.log_weight - log_prior + self.run.centre).times(self.temperature)

    @cached_property
    def entropy(self) -> Jackknifed:
        """log Z - E_p[log weight]."""
        return self.log_z - self.log_weight

    @cached_property
    def total_correlation(self) -> Jackknifed:
        """Σ_i h(p_i) - H(p)."""
        apart = self.marginals.through(lambda p: entropy(log_odds(p))).unbiased()
        return apart - self.entropy

    @cached_property
    def pair_marginals(self) -> tuple[FloatArray, FloatArray]:
        """The mean of the groups' pair marginals, and its standard error."""
        size = len(self.free.fixed_in)
        total, squares = np.zeros((size, size)), np.zeros((size, size))
        for both in self.pairs():
            total += both
            squares += both**2
        groups = self.samples.log_odds.shape[1]
        mean = total / groups
        variance = np.maximum(squares / groups - mean**2, 0.0)
        np.fill_diagonal(mean, np.asarray(self.marginals.estimate))
        return mean, np.sqrt(variance / (groups - 1))

    def pairs(self) -> Iterator[FloatArray]:
        """p(i, j ∈ S) = E[z_j p(i | others)] as each group of samples has it: (n, n)."""
        odds, coalitions = self.samples.log_odds, self.samples.coalitions
        coalitions = coalitions[:: -(-len(coalitions) // len(odds))]
        for group in range(odds.shape[1]):
            inside = self.free.among_all(coalitions[:, group])
            chances = self.free.among_all(expit(odds[:, group]))
            both = chances.T @ inside / len(inside)
            both = (both + both.T) / 2
            np.fill_diagonal(both, chances.mean(axis=0))
            yield both

    def stderr(self, reading: str) -> FloatArray:
        """The standard error of an estimate, by its name.

        Of few groups the spread is itself uncertain: it is widened so that 95 % intervals of a normal law
        are those of Student's.
        """
        inflation = self.run.trusted.inflation * self._student
        if reading == "pair_marginals":
            chances, error = self.pair_marginals
            error = np.hypot(inflation * error, UNSEEN / self.count)
            return np.maximum(error, self._of_few(chances))
        error = np.asarray(inflation * getattr(self, reading).stderr)
        if reading == "marginals":
            known = np.asarray(self.marginals.estimate)
            return np.maximum(error, np.maximum(self._of_few(known), self._of_others(known, error)))
        if reading == "log_odds":
            rare = expit(-np.abs(self.log_odds.estimate))
            apart = self.stderr("marginals")[self.free.places] / (1 - rare)
            error = np.maximum(error, np.log1p(apart / rare))
            return self.free.among_all(error, 0.0, 0.0)
        return error

    @cached_property
    def _student(self) -> float:
        """By how much 95 % intervals from so many groups are wider than a normal law's."""
        from scipy.special import stdtrit

        groups = self.samples.log_odds.shape[1]
        return float(stdtrit(groups - 1, 0.975)) / NORMAL

    @cached_property
    def _independent(self) -> float:
        """How many independent samples would have the errors that marginals have together."""
        known = np.asarray(self.marginals.estimate)
        error = self.run.trusted.inflation * self.marginals.stderr
        return float(np.sum(known * (1 - known)) / np.sum(error**2))

    def _of_few(self, chances: FloatArray) -> FloatArray:
        """The standard errors of probabilities where few of the samples are independent, else 0.

        Their spread does not show how likely something is that none, or all, of a few have seen.
        """
        independent = self._independent
        if independent > FEW:
            return np.zeros(chances.shape)
        nearer = (independent * chances + UNSEEN) / (independent + 2 * UNSEEN)
        return np.asarray(np.sqrt(nearer * (1 - nearer) / (independent + 2 * UNSEEN)))

    def _of_others(self, chances: FloatArray, error: FloatArray) -> FloatArray:
        """√ of the mean of a player's variance and what those of all suggest; 0 if nothing varies.

        On a plateau a few samples beside its edge decide most probabilities. A player whom they
        miss by chance has a probability that is off, and an error that is too small for that.
        """
        varies = self.free.among_all(np.ptp(self.samples.marginals, axis=0) > 1e-9, 0, 0)
        typical = chances * (1 - chances) / self._independent
        return np.asarray(np.sqrt(varies * (error**2 + typical) / 2))
