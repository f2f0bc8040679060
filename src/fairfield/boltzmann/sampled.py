"""The law p(S) ∝ exp(F(S)/T)·prior of one game too large for a table, by sampling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.core.runtime.notices import warn
from fairfield.core.special import expit
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options
from fairfield.evaluation.progress import bar
from fairfield.mcmc import diagnostics
from fairfield.mcmc.bases import Mixture, mean_field_modes
from fairfield.mcmc.estimates import Estimates
from fairfield.mcmc.gibbs import Path
from fairfield.mcmc.landscape import (
    Contributions,
    FreePlayers,
    Landscape,
    from_extension,
    from_game,
    from_worths,
)
from fairfield.mcmc.sampler import LEAST_VISITS, Run, Sampler
from fairfield.mean_field.elbo import CERTAIN, elbo
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
        shown = bar(None, "sampling", self.options.progress, unit=" steps")
        with self._source() as contributions, shown as steps:
            worths, _ = contributions(self._free.fixed_in[None])
            landscape = self._landscape(contributions, float(worths[0] / self.temperature))
            landscape.tick = steps.update
            if self.extension is not None:
                ends = np.stack(self.extension.ends()) / self.temperature
                landscape.spans(ends - landscape.centre)
            hot = Mixture.product(self._free.bias)
            sampler = Sampler(landscape, hot, self._near(landscape.centre), budget // self._visit)
            while True:
                before = sampler.left()
                found = sampler.run(effort, rng)
                reasons = diagnostics.of_run(found)
                effort *= GROWTH
                if not reasons or sampler.left() < GROWTH * (before - sampler.left()):
                    break
        self.evaluations += landscape.visits * self._visit
        for sentence in reasons:
            warn(f"{self.game!r}: {sentence}", ReliabilityWarning)
        return found

    @contextmanager
    def _source(self) -> Iterator[Contributions]:
        """Contributions, from the worths of all neighbours if there is no better way."""
        if self.contributions is not None:
            yield self.contributions
            return
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

    def _near(self, centre: float) -> Mixture | None:
        if self.extension is None:
            return None
        starts = start_points(STARTS, len(self.game.players), self.options.seed)
        modes = mean_field_modes(self.extension, self.temperature, self.prior, starts)
        least = modes.least + float(self.extension.offset / self.temperature) - centre
        return Mixture(modes.logits[:, self._free.places], modes.shares, least)

    # ----------------------------------------------------------------------- readings

    @cached_property
    def estimates(self) -> Estimates:
        """All that is read of the law, from the samples of the run."""
        return Estimates(self.run, self._free, float(self.temperature), self.prior)

    @property
    def samples(self) -> int:
        return self.estimates.count

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.estimates.warnings

    @property
    def log_z(self) -> FloatArray:
        return np.asarray(self.estimates.log_z.estimate + self.run.centre)

    @property
    def marginals(self) -> FloatArray:
        return np.asarray(self.estimates.marginals.estimate)

    @property
    def pair_marginals(self) -> FloatArray:
        return self.estimates.pair_marginals[0]

    @property
    def log_odds(self) -> FloatArray:
        free = np.asarray(self.estimates.log_odds.estimate)
        return self._free.among_all(free, CERTAIN, -CERTAIN)

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.estimates.mean.estimate)

    @property
    def entropy(self) -> FloatArray:
        return np.asarray(self.estimates.entropy.estimate)

    @property
    def total_correlation(self) -> FloatArray:
        return np.maximum(self.estimates.total_correlation.estimate, 0.0)

    def stderr(self, reading: str) -> FloatArray:
        return self.estimates.stderr(reading)

    def elbo(self, logits: FloatArray) -> FloatArray:
        if self.extension is None:
            raise ValueError(
                f"{self.game!r} has no closed form, so its ELBO cannot be computed exactly; "
                "value the game with a budget, or use a game with a closed form"
            )
        return elbo(self.extension.value(expit(logits)), logits, self.temperature, self.prior)

    def gap(self, logits: FloatArray) -> FloatArray:
        height = self.elbo(logits)  # refused before a run
        return np.maximum(self.log_z - height, 0.0)

    def gap_of(self, height: FloatArray) -> FloatArray:
        offset = 0.0 if self.extension is None else self.extension.offset / self.temperature
        return np.maximum(self.log_z - offset - height, 0.0)

    def log_share(self, worths: FloatArray) -> FloatArray:
        log_z = self.estimates.log_z.estimate
        return np.asarray(worths / self.temperature - self.run.centre - log_z)

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """Coalitions (count, n): samples of the run, each moved on by some Gibbs steps.

        Worths count against a budget of their own, of the same size as that of the run; where it
        does not allow for all of these steps there are fewer, with a warning.
        """
        allowed = self._steps_allowed(count)
        samples = self.estimates.samples
        seen = samples.coalitions.reshape(-1, len(self._free))
        start = seen[rng.integers(0, len(seen), count)]
        rate = float(samples.rate)
        steps = max(1, int(SWEEPS / rate)) if count else 0
        if steps > allowed:
            warn(
                f"{self.game!r}: {count:,} draws are {allowed:,} steps from samples of the run, {steps:,} "
                "would make them nearly independent of these; draw fewer, or raise the budget",
                ReliabilityWarning,
            )
            steps = allowed
        with self._source() as contributions:
            landscape = self._landscape(contributions, self.run.centre)
            path = Path(landscape, Mixture.product(self._free.bias))
            chains = path.at(start)
            for _ in range(steps):
                chains, _ = path.step(chains, 1.0, rate, rng)
        self.evaluations += landscape.visits * self._visit
        return self._free.among_all(chains.inside)

    def _steps_allowed(self, count: int) -> int:
        """The steps of each draw that the budget allows; too few are refused before a run."""
        budget = self.options.budget
        if self.contributions is not None or budget is None or not count:
            return SWEEPS * len(self._free)  # blocks have at least one player
        least = count * (1 + SWEEPS) * self._visit
        if least > budget:
            raise ValueError(
                f"{count:,} draws need at least {least:,} worths, the budget allows {budget:,}; draw "
                "fewer, or raise the budget"
            )
        return budget // (count * self._visit) - 1
