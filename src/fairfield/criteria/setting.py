"""What every criterion starts from and how its answer is put together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from fairfield.criteria.estimates import Estimator, run
from fairfield.display import joined
from fairfield.energy.partition import Partition
from fairfield.energy.product import elbo, sigmoid
from fairfield.energy.sampled import SampledLaw
from fairfield.energy.temperature import (
    OWN_SCALE,
    Relative,
    Temperature,
    absolute,
    check,
    resolve,
    scale_of,
)
from fairfield.evaluation.evaluate import versions
from fairfield.evaluation.how import How, Keywords
from fairfield.evaluation.memory import out_of_reach
from fairfield.extension.choose import choose, table_of
from fairfield.extension.table import TableExtension
from fairfield.game import Game, Players
from fairfield.given_games import as_game
from fairfield.multilinear import Extension, FloatArray
from fairfield.valuation import Valuation, as_number


@dataclass(frozen=True)
class Setting:
    """A game, the extension that answers for it, and the temperature it is read at.

    Criteria take a setting in place of a game, so that several of them share one table
    and one log Z. A game that is to be estimated has no extension; its temperature may
    wait for an estimate of Banzhaf's value.
    """

    game: Game
    known: Extension | None
    heat: FloatArray | None
    how: How
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
        how: Keywords,
        *,
        as_table: bool = False,
    ) -> Setting:
        """A setting made for the game, or the given one with what is asked differently."""
        started = time.perf_counter()
        check(temperature)
        if isinstance(game, Setting):
            setting = replace(game, started=started, how=game.how.changed(how))
            given = temperature is not None and temperature is not OWN_SCALE
        else:
            wishes = How().changed(how)
            played = as_game(game, players)
            before = played.failures
            known, evaluations = choose(played, wishes, as_table=as_table)
            setting = cls(
                played, known, None, wishes, evaluations, started=started, failed_before=before
            )
            given = True
        if as_table and not isinstance(setting.extension, TableExtension):
            table, more = table_of(setting.game, setting.how)
            extension = TableExtension.of(table)
            setting = replace(setting, known=extension, evaluations=setting.evaluations + more)
        unsettled = setting.heat is None and setting.pending is None
        if temperature is not None and (given or unsettled):
            setting = setting.at(temperature)
        return setting

    def at(self, temperature: Temperature) -> Setting:
        """The same game at this temperature."""
        if self.known is not None:
            return replace(self, heat=resolve(temperature, self.known))
        if isinstance(temperature, Relative):
            return replace(self, heat=None, pending=temperature)
        return replace(self, heat=absolute(temperature, self.game.batch), pending=None)

    @property
    def sampled(self) -> bool:
        """Whether values are to be estimated, all worths being more than the budget allows."""
        return self.known is None

    @property
    def extension(self) -> Extension:
        """The exact extension; for a criterion that cannot be estimated, the budget's end."""
        if self.known is None:
            raise out_of_reach(self.game, self.how)
        return self.known

    def needs_heat(self) -> FloatArray:
        """The temperature, where the criterion cannot do without."""
        if self.heat is None:
            raise ValueError("this criterion needs a temperature; pass temperature=")
        return self.heat

    def partition(self) -> Partition | SampledLaw | None:
        """Sums over p(S), where they are asked for and within reach.

        From a table unless they are refused; of a closed form only by ``decoupling=True``.
        """
        asked, table = self.how.decoupling, isinstance(self.extension, TableExtension)
        if self.heat is None or asked is False or not (table or asked):
            return None
        return self.law()

    def law(self) -> Partition | SampledLaw:
        """Sums over p(S), exactly from a table, else by sampling; computed once."""
        heat = self.needs_heat()
        key = heat.tobytes(), b"" if self.prior is None else self.prior.tobytes()
        if key not in self.laws:
            self.laws[key] = (
                Partition(self.extension, heat, self.prior)
                if isinstance(self.extension, TableExtension)
                else SampledLaw(self.game, self.extension, heat, self.prior, self.how)
            )
        return self.laws[key]

    def estimates(self, criterion: str, estimator: Estimator) -> Iterator[Valuation]:
        """Valuations after each round of an estimator; the last tells why it stopped."""
        for standing in run(self.game, estimator, self.how):
            estimate = standing.estimate
            stop = standing.stop or f"under way after {standing.coalitions:,} coalitions"
            about: dict[str, Any] = {**self._about(), **estimate.more}
            if "marginals" not in about:
                about |= self._estimated_marginals(criterion, estimate.values)
            yield Valuation(
                criterion=criterion,
                values=estimate.values,
                stderr=estimate.stderr,
                covariance=estimate.covariance,
                method=estimate.method,
                stops=np.full(
                    self.game.batch, joined([stop, *estimate.warnings, *self._failures()])
                ),
                evaluations=self.evaluations + standing.evaluations,
                **about,
            )

    def _rounding(self) -> list[str]:
        """A sentence on what rounding for the closed form may have moved, if there was any."""
        most = self.extension.coarseness
        if not most:
            return []
        # Shown to two digits, so never less than it is.
        bound = f"at most {1.05 * most:.2g}" if isfinite(most) else "an amount that is not known"
        return [f"votes were rounded for the closed form, which moves a Banzhaf value by {bound}"]

    def _failures(self) -> list[str]:
        """A sentence on the worths that the game could not find and filled in, if there are any."""
        count = self.game.failures - self.failed_before
        if not count:
            return []
        worths = "one worth" if count == 1 else f"{count:,} worths"
        which = "that" if count == 1 else "the first"
        return [
            f"{worths} could not be found and took the fallback, {which} of {self.game.first_failure}"
        ]

    def _estimated_marginals(self, criterion: str, values: FloatArray) -> dict[str, Any]:
        heat = self.heat
        if heat is None and self.pending is not None:
            if criterion != "banzhaf":
                raise ValueError(
                    f"a relative temperature needs Banzhaf values, which {criterion} under a budget "
                    "does not know; pass temperature= as a number in the units of the worths"
                )
            heat = self.pending.factor * scale_of(values)
        if heat is None:
            return {}
        return {"marginals": sigmoid(values / heat[..., None]), "temperature": as_number(heat)}

    def _about(self) -> dict[str, Any]:
        """What a valuation tells of its game and its making."""
        return {
            "players": self.game.players,
            "game": repr(self.game),
            "prior": None if self.prior is None else sigmoid(self.prior),
            "data": self.game.data,
            "labels": self.game.labels,
            "seconds": time.perf_counter() - self.started,
            "seed": self.how.seed,
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
            **self._about(),
            "method": self.extension.method,
            "stops": np.full(
                self.extension.batch, "exact for the rounded game" if rounded else "exact"
            ),
            **self._energies(values, logits),
            **rest,
        }
        for told in [*rounded, *self._failures()]:
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
        if self.heat is None:
            return {}
        if logits is None:
            logits = (0.0 if self.prior is None else self.prior) + values / self.heat[..., None]
        x = sigmoid(logits)
        known: dict[str, Any] = {"marginals": x, "temperature": as_number(self.heat)}
        if self.how.decoupling is False:
            return known
        value, _ = self.extension.centred(x)
        height = elbo(value, logits, self.heat, self.prior)
        known["elbo"] = as_number(height + self.extension.offset / self.heat)
        law = self.partition()
        if law is not None:
            known["log_z"] = as_number(law.log_z)
            known["decoupling_error"] = as_number(law.gap_of(height))
        if isinstance(law, SampledLaw):
            known["log_z_stderr"] = as_number(law.stderr("log_z"))
        return known
