"""What every criterion starts from and how its answer is put together."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from fairfield.boltzmann.exact import Partition
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.boltzmann.temperature import (
    OWN_SCALE,
    Relative,
    Temperature,
    absolute,
    check,
    resolve,
    scale_of,
)
from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Players
from fairfield.evaluation.evaluator import versions
from fairfield.evaluation.memory import out_of_reach
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.convert import as_game
from fairfield.mean_field.elbo import elbo, sigmoid
from fairfield.multilinear.choose import choose, table_of
from fairfield.multilinear.table import TableExtension
from fairfield.results.valuation import Valuation, as_number


@dataclass(frozen=True)
class Problem:
    """A game, the extension that answers for it, and the temperature it is read at.

    Criteria take a setting in place of a game, so that several of them share one table
    and one log Z. A game that is to be estimated has no extension; its temperature may
    wait for an estimate of Banzhaf's value.
    """

    game: Game
    known: Extension | None
    temperature: FloatArray | None
    options: Options
    evaluations: int
    prior: FloatArray | None = None
    # A temperature that is relative to Banzhaf values not known yet.
    pending: Relative | None = None
    started: float = field(default_factory=time.perf_counter)
    # How many worths the game had failed to find before.
    failed_before: int = 0
    # Sums over p(S) by temperature and prior, shared by all who use this setting.
    laws: dict[tuple[bytes, bytes], Partition | SampledLaw] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        game: Any,
        players: Players | None,
        temperature: Temperature | None,
        options: Keywords,
        *,
        as_table: bool = False,
    ) -> Problem:
        """A setting made for the game, or the given one with what is asked differently."""
        started = time.perf_counter()
        check(temperature)
        if isinstance(game, Problem):
            problem = replace(game, started=started, options=game.options.changed(options))
            given = temperature is not None and temperature is not OWN_SCALE
        else:
            chosen = Options().changed(options)
            played = as_game(game, players)
            before = played.failures
            known, evaluations = choose(played, chosen, as_table=as_table)
            problem = cls(
                played, known, None, chosen, evaluations, started=started, failed_before=before
            )
            given = True
        if as_table and not isinstance(problem.extension, TableExtension):
            table, more = table_of(problem.game, problem.options)
            extension = TableExtension.of(table)
            problem = replace(problem, known=extension, evaluations=problem.evaluations + more)
        unsettled = problem.temperature is None and problem.pending is None
        if temperature is not None and (given or unsettled):
            problem = problem.at(temperature)
        return problem

    def at(self, temperature: Temperature) -> Problem:
        """The same game at this temperature."""
        if self.known is not None:
            return replace(self, temperature=resolve(temperature, self.known))
        if isinstance(temperature, Relative):
            return replace(self, temperature=None, pending=temperature)
        return replace(self, temperature=absolute(temperature, self.game.batch), pending=None)

    @property
    def sampled(self) -> bool:
        """Whether values are to be estimated, all worths being more than the budget allows."""
        return self.known is None

    @property
    def extension(self) -> Extension:
        """The exact extension; for a criterion that cannot be estimated, the budget's end."""
        if self.known is None:
            raise out_of_reach(self.game, self.options)
        return self.known

    def needs_temperature(self) -> FloatArray:
        """The temperature, where the criterion cannot do without."""
        if self.temperature is None:
            raise ValueError("this criterion needs a temperature; pass temperature=")
        return self.temperature

    def partition(self) -> Partition | SampledLaw | None:
        """Sums over p(S), where they are asked for and within reach.

        From a table unless they are refused; of a closed form only by ``decoupling=True``.
        """
        asked, table = self.options.decoupling, isinstance(self.extension, TableExtension)
        if self.temperature is None or asked is False or not (table or asked):
            return None
        return self.law()

    def law(self) -> Partition | SampledLaw:
        """Sums over p(S), exactly from a table, else by sampling; computed once."""
        temperature = self.needs_temperature()
        key = temperature.tobytes(), b"" if self.prior is None else self.prior.tobytes()
        if key not in self.laws:
            self.laws[key] = (
                Partition(self.extension, temperature, self.prior)
                if isinstance(self.extension, TableExtension)
                else SampledLaw(self.game, self.extension, temperature, self.prior, self.options)
            )
        return self.laws[key]

    def _rounding(self) -> list[str]:
        """A sentence on what rounding for the closed form may have moved, if there was any."""
        most = self.extension.coarseness
        if not most:
            return []
        # Shown to two digits, so never less than it is.
        bound = f"at most {1.05 * most:.2g}" if isfinite(most) else "an amount that is not known"
        return [f"votes were rounded for the closed form, which moves a Banzhaf value by {bound}"]

    def failures(self) -> list[str]:
        """A sentence on the worths that the game could not find and filled in, if there are any."""
        count = self.game.failures - self.failed_before
        if not count:
            return []
        worths = "one worth" if count == 1 else f"{count:,} worths"
        which = "that" if count == 1 else "the first"
        return [
            f"{worths} could not be found and took the fallback, {which} of {self.game.first_failure}"
        ]

    def estimated_marginals(self, criterion: str, values: FloatArray) -> dict[str, Any]:
        temperature = self.temperature
        if temperature is None and self.pending is not None:
            if criterion != "banzhaf":
                raise ValueError(
                    f"a relative temperature needs Banzhaf values, which {criterion} under a budget "
                    "does not know; pass temperature= as a number in the units of the worths"
                )
            temperature = self.pending.factor * scale_of(values)
        if temperature is None:
            return {}
        return {
            "marginals": sigmoid(values / temperature[..., None]),
            "temperature": as_number(temperature),
        }

    def about(self) -> dict[str, Any]:
        """What a valuation tells of its game and its making."""
        return {
            "players": self.game.players,
            "game": repr(self.game),
            "prior": None if self.prior is None else sigmoid(self.prior),
            "data": self.game.data,
            "labels": self.game.labels,
            "seconds": time.perf_counter() - self.started,
            "seed": self.options.seed,
            "versions": versions(),
        }

    def valuation(
        self,
        criterion: str,
        values: FloatArray,
        logits: FloatArray | None = None,
        covariance: FloatArray | None = None,
        **rest: Any,
    ) -> Valuation:
        """The valuation of these values, with what the temperature adds to it.

        ``logits`` are those of the marginals, λ + value/T unless they are given;
        ``covariance`` is that of the values, where errors of the worths are passed on.
        """
        empty, grand = self.extension.ends()
        if self.game.nulls is not None:
            # What sums of equal worths leave of a null player is rounding.
            scale = np.abs(empty) + np.abs(grand) + np.abs(values).max(axis=-1)
            rounding = np.abs(values) <= 1e-12 * scale[..., None]
            values = np.where(self.game.nulls & rounding, 0.0, values)
        if covariance is not None:
            # Rounding may leave a variance of 0 a little below it.
            variances = np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0)
            rest.update(stderr=np.sqrt(variances), covariance=covariance)
        rounded = self._rounding()
        about = {
            **self.about(),
            "method": self.extension.method,
            "stops": np.full(
                self.extension.batch, "exact for the rounded game" if rounded else "exact"
            ),
            **self._energies(values, logits),
            **rest,
        }
        for told in [*rounded, *self.failures()]:
            about["stops"] = np.asarray(np.strings.add(about["stops"], f"; {told}"))
        return Valuation(
            criterion=criterion,
            values=values,
            empty=as_number(empty),
            grand=as_number(grand),
            evaluations=self.evaluations,
            **about,
        )

    def _energies(self, values: FloatArray, logits: FloatArray | None) -> dict[str, Any]:
        """Marginals, their ELBO, log Z and decoupling error."""
        if self.temperature is None:
            return {}
        if logits is None:
            logits = (0.0 if self.prior is None else self.prior) + values / self.temperature[
                ..., None
            ]
        x = sigmoid(logits)
        known: dict[str, Any] = {"marginals": x, "temperature": as_number(self.temperature)}
        if self.options.decoupling is False:
            return known
        value, _ = self.extension.centred(x)
        height = elbo(value, logits, self.temperature, self.prior)
        known["elbo"] = as_number(height + self.extension.offset / self.temperature)
        law = self.partition()
        if law is not None:
            known["log_z"] = as_number(law.log_z)
            known["decoupling_error"] = as_number(law.gap_of(height))
        if isinstance(law, SampledLaw):
            known["log_z_stderr"] = as_number(law.stderr("log_z"))
        return known
