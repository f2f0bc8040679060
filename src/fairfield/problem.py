"""What is asked of a game: a frozen problem, every argument of which is checked at once.

Nothing is evaluated before the extension, or a temperature relative to it, is first read;
so whatever is wrong with an argument is raised before a single worth is paid for.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fairfield.boltzmann.exact import ExactLaw
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.boltzmann.temperature import RELATIVE, Relative, Temperature, absolute, scale_of
from fairfield.boltzmann.temperature import resolve as resolve_temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Players
from fairfield.core.runtime.cached import cached
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.memory import out_of_reach
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.convert import as_game
from fairfield.multilinear.choose import Source, table_refused
from fairfield.multilinear.table import TableExtension

ProblemLaw: TypeAlias = ExactLaw | SampledLaw


@dataclass(frozen=True)
class Problem:
    """A game, the source of its worths, a temperature, a prior and options.

    ``given`` is the temperature as the user gave it, ``prior`` holds log-odds. Problems
    that differ in temperature, prior or options share one source, so worths are evaluated
    once and log Z is summed once for all criteria that are read from them.
    """

    game: Game
    source: Source
    options: Options
    given: Temperature | None = None
    prior: FloatArray | None = None
    started: float = field(default_factory=time.perf_counter)
    # Whether a game without a scale for a relative temperature is valued without one.
    optional: bool = False
    # Evaluates worths for all criteria of one call; each has its own where there is none.
    evaluator: Evaluator | None = None
    # Sums over p(S) by what they depend on, shared by all problems of one source.
    laws: dict[Hashable, ProblemLaw] = field(default_factory=dict)

    @property
    def estimated(self) -> bool:
        """Whether values are to be estimated, all worths being more than the budget allows."""
        return self.source.estimated

    @property
    def extension(self) -> Extension:
        """The exact extension; reading it evaluates the table where there is no closed form."""
        if self.estimated:
            raise out_of_reach(self.game, self.options)
        return self.source.extension

    @property
    def pending(self) -> Relative | None:
        """A temperature relative to Banzhaf values that are still to be estimated."""
        return self.given if self.estimated and isinstance(self.given, Relative) else None

    @cached
    def temperature(self) -> FloatArray | None:
        """T of each game; None where none was given, and while a relative one is pending."""
        if self.given is None or self.pending is not None:
            return None
        if self.estimated:
            return absolute(self.given, self.game.batch)
        extension = self.extension
        try:
            return resolve_temperature(self.given, extension)
        except ValueError:  # every Banzhaf value is 0; all else was refused before
            if not self.optional:
                raise
            return None

    def settled(self, banzhaf: FloatArray) -> Problem:
        """The same problem, a pending temperature settled by estimated Banzhaf values.

        Where these are all 0 it is left to what needs it, which also sees the worths.
        """
        if self.pending is None:
            return self
        if not banzhaf.any(axis=-1).all():
            return self.at(None) if self.optional else self
        return self.at(self.pending.factor * scale_of(banzhaf))

    def check_exact(self) -> None:
        """Refuse what only exact values can answer, before the first worth."""
        if self.estimated:
            raise out_of_reach(self.game, self.options)
        self.source.check()

    def needs_temperature(self) -> FloatArray:
        """The temperature, for a criterion that cannot do without."""
        if self.temperature is None:
            raise ValueError("this criterion needs a temperature; pass temperature=")
        return self.temperature

    def at(self, temperature: Temperature | None) -> Problem:
        """The same problem at another temperature, checked."""
        by_game = Relative if self.estimated else RELATIVE
        if temperature is not None and not isinstance(temperature, by_game):
            absolute(temperature, self.game.batch)
        return replace(self, given=temperature)

    def changed(self, keywords: Keywords) -> Problem:
        """The same problem with other options."""
        if not keywords:
            return self
        chosen = self.options.changed(keywords)
        chosen.check_players(len(self.game.players))
        return replace(self, options=chosen)

    def evaluating(self) -> AbstractContextManager[Evaluator]:
        """The evaluator of this call, or one of its own."""
        if self.evaluator is None:
            return Evaluator(self.game, self.options)
        return nullcontext(self.evaluator)

    def law(self) -> ProblemLaw:
        """Sums over p(S), exactly from a table, else by sampling; computed once."""
        temperature, extension = self.needs_temperature(), self.extension
        prior = b"" if self.prior is None else self.prior.tobytes()
        key = id(extension), temperature.tobytes(), prior
        if key not in self.laws:
            self.laws[key] = (
                ExactLaw(extension, temperature, self.prior)
                if isinstance(extension, TableExtension)
                else SampledLaw(self.game, extension, temperature, self.prior, self.options)
            )
        return self.laws[key]

    def with_exact_law(self) -> Problem:
        """The same problem read from the table of all worths, where that is within reach.

        Sums over p(S) have no closed form; the law of a game that has one, but too many
        players for a table, is sampled.
        """
        sampled = self.source.tableless and table_refused(self.game, self.options)
        return self if sampled else replace(self, source=self.source.as_table())

    def played(self) -> Game:
        """The game, as the table of its worths where that is what answers for it."""
        return self.source.played()


def resolve(
    game: Any,
    players: Players | None = None,
    temperature: Temperature | None = None,
    options: Keywords | Options | None = None,
) -> Problem:
    """The problem that these arguments pose, all of them checked, no worth evaluated."""
    started = time.perf_counter()
    chosen = options if isinstance(options, Options) else Options().changed(options or {})
    played = as_game(game, players)
    chosen.check_players(len(played.players))
    if chosen.spend is not None and played.traits.service is None:
        raise ValueError(
            f"spend= caps the calls of a service, and {played!r} calls none; leave it out"
        )
    service = played.traits.service
    if service is not None and service.auto and not chosen.estimates:
        raise ValueError(
            f"{played!r}: repeats='auto' shares out a limited number of answers; give budget=, "
            "tolerance=, seconds= or spend="
        )
    return Problem(played, Source(played, chosen), chosen, started=started).at(temperature)
