"""Learning the worths of a game from observed coalitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from fairfield.boltzmann.sampled import ReliabilityWarning
from fairfield.core.arrays import FloatArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import spell
from fairfield.core.game import Game, Players
from fairfield.core.runtime.notices import warn
from fairfield.evaluation.progress import bar
from fairfield.learning.fitting import MIDDLE, Fit, Penalised, minimise, redraw, search
from fairfield.learning.law import Gain, gain_on
from fairfield.learning.learned import LearnedGame
from fairfield.learning.models import Diversity, Model, Pairwise
from fairfield.learning.objectives import Contrast, Flips, Likelihood, Loss
from fairfield.learning.observed import Observed, observe
from fairfield.learning.soundness import is_sound
from fairfield.mean_field.elbo import log_odds

MODELS: dict[str, Callable[[int, int], Model]] = {
    "linear": lambda players, _: Model(players),
    "pairwise": lambda players, _: Pairwise(players),
    "flid": lambda players, dimensions: Diversity(players, dimensions),
    "fldc": lambda players, dimensions: Diversity(players, dimensions, dimensions),
}
OBJECTIVES: dict[str, Callable[[Model, Observed, int, np.random.Generator], Loss]] = {
    "pseudolikelihood": lambda model, seen, noise, rng: Flips(model, seen),
    "ratio-matching": lambda model, seen, noise, rng: Flips(model, seen, squared=True),
    "nce": Contrast.of,
    "likelihood": lambda model, seen, noise, rng: Likelihood(model, seen),
}
# Objectives of one player at a time, given all others.
FLIPS = ("pseudolikelihood", "ratio-matching")
# Where every player is always in, or always out, only their frequencies can be learned.
NOTHING = Fit(np.zeros(0), 0.0, (), "no player varies, so none interacts")


def learn(
    coalitions: Any,
    model: str = "pairwise",
    objective: str | None = None,
    *,
    players: Players | None = None,
    strength: float | None = None,
    held_out: float = 0.2,
    dimensions: int = 10,
    noise: int = 10,
    starts: int = 4,
    redraws: int = 12,
    steps: int = 500,
    seed: int = 0,
    progress: bool | None = None,
) -> LearnedGame:
    """The game whose Boltzmann law at temperature 1 explains the observed coalitions.

    ``coalitions``: a matrix of 0 and 1 with one row per coalition (NumPy, SciPy sparse,
    DataFrame), or a list of lists of players. ``model``:

        "linear"     F(S) = Σ_{i∈S} a_i, independent players
        "pairwise"   and Σ_{i<j∈S} J_ij
        "flid"       and - Σ_d (Σ_{i∈S} W_id - max_{i∈S} W_id), W ≥ 0: players repeat each other
        "fldc"       and + Σ_d (Σ_{i∈S} V_id - max_{i∈S} V_id), V ≥ 0: and complement each other

    with ``dimensions`` columns of W, and of V. ``objective``: "pseudolikelihood", "nce"
    (``noise`` coalitions of independent players for each observation), "ratio-matching",
    or "likelihood" (exact, up to 20 players). The default is "pseudolikelihood", or "nce" where
    the law of that is worse than the law of independent players on held-out data; a law that is
    still worse is warned of, and said to be in every table and report (``verdict``).

    Interactions are shrunk by ``strength``, the inverse variance of their Gaussian prior.
    By default it is the one with the lowest loss on a share ``held_out`` of the data (with
    "nce", among those whose law has no weight far from data and noise). The losses of FLID
    and FLDC have many minima: of ``starts`` fits from random points the best is kept, and
    one of its columns is redrawn, ``redraws`` times, wherever that lowers the loss. Players
    who are in no coalition, or in all, take part in no interaction; each has the log-odds of
    (k + ½)/(N + 1).

    A step costs O(m n²) for pairs, m distinct coalitions of n players, and O(m n D)
    for FLID and FLDC.

    >>> import fairfield as ff
    >>> kinds = [["tea", "milk"], ["tea", "milk"], ["tea"], ["coffee"], ["coffee", "milk"], []]
    >>> game = ff.learn(40 * kinds, strength=1.0)
    >>> ff.variational_index(game, temperature=1.0).ranking()
    ['tea', 'milk', 'coffee']
    >>> [pair for pair, _ in ff.interactions(game).top(2)]
    [('coffee', 'tea'), ('milk', 'tea')]
    """
    _check(model, objective, strength)
    counts = {"dimensions": dimensions, "noise": noise, "starts": starts, "steps": steps}
    for name, count in counts.items():
        whole(name, count)
    whole("redraws", redraws, 0)
    seen = observe(coalitions, players)

    how = _Recipe(
        model, strength, held_out, dimensions, noise, starts, redraws, steps, seed, progress
    )
    game = how.learn(seen, objective or "pseudolikelihood")
    if objective is None and game.gain is not None and game.gain.is_loss:
        other = how.learn(seen, "nce")
        assert other.gain is not None  # as there is one of the first
        game = max((other.gain.mean, other), (game.gain.mean, game), key=lambda each: each[0])[1]
    if game.gain is not None and game.gain.is_loss:
        remedy = f"a strength= above {game.fit.strength:g}, or model='linear', may help"
        warn(f"{game.verdict}; {remedy}", ReliabilityWarning)
    return game


@dataclass(frozen=True)
class _Recipe:
    """How a game is learned, but for the objective."""

    model: str
    strength: float | None
    held_out: float
    dimensions: int
    noise: int
    starts: int
    redraws: int
    steps: int
    seed: int
    progress: bool | None

    def learn(self, seen: Observed, objective: str) -> LearnedGame:
        """The game that the objective finds."""
        some = seen.among(seen.varying)
        family = MODELS[self.model](len(some.players), self.dimensions)
        # What players who never vary, and so join independently, add to log Z.
        log_z_of_others = float(-np.log1p(-seen.shrunk_frequencies()[~seen.varying]).sum())
        if not some.players:
            form, constant = family.game(np.zeros(0), seen), None
            if objective == "nce":
                constant = -log_z_of_others
            return LearnedGame(form, self.model, objective, NOTHING, constant, seen.frequencies)
        if family.interactions and objective in FLIPS:
            _warn_of_tied(some, objective)
        fit, gain = self._fit(some, family, objective)
        theta, added = np.split(fit.theta, [family.interacting.stop])
        constant = float(added[0]) - log_z_of_others if len(added) else None
        form = family.game(theta, seen)
        return LearnedGame(form, self.model, objective, fit, constant, seen.frequencies, gain)

    def _fit(self, some: Observed, family: Model, objective: str) -> tuple[Fit, Gain | None]:
        """The parameters, and what their law gains on held-out data if their strength is chosen there."""
        rng = np.random.default_rng(self.seed)

        def loss_of(part: Observed) -> Loss:
            return OBJECTIVES[objective](family, part, self.noise, rng)

        def law_of(theta: FloatArray) -> tuple[Game, FloatArray]:
            own, constant = np.split(theta, [family.interacting.stop])
            return family.game(own, some), constant

        with bar(None, "steps", self.progress) as shown:
            tick = shown.update
            if self.strength is not None or not family.interactions:
                whole_loss = Penalised(loss_of(some), self.strength or 0.0)
                return self._best(whole_loss, some, rng, tick), None
            part, rest = some.split(self.held_out, rng)
            train, test = loss_of(part), loss_of(rest)
            begun = self._best(Penalised(train, MIDDLE), some, rng, tick)
            found = search(
                train, test, begun.theta, self.steps, tick, lambda theta: is_sound(*law_of(theta))
            )
            final = Penalised(loss_of(some), found.strength)
            fit = minimise(final, found.theta, self.steps, tick)
            fit = redraw(final, fit, self.redraws, rng, self.steps, tick)
        alone = Model(len(some.players)).game(log_odds(part.shrunk_frequencies()), some)
        gain = gain_on(law_of(found.theta)[0], alone, rest, self.seed)
        return replace(fit, held_out=found.held_out), gain

    def _best(
        self,
        penalised: Penalised,
        some: Observed,
        rng: np.random.Generator,
        tick: Callable[[], object],
    ) -> Fit:
        """The best fit from independent players, with interactions to begin with."""
        family, linear = penalised.loss.model, log_odds(some.shrunk_frequencies())
        points = [
            penalised.loss.start(np.concatenate([linear, family.start(rng)]))
            for _ in range(self.starts if family.columns else 1)  # one where the loss is convex
        ]
        fits = [minimise(penalised, point, self.steps, tick) for point in points]
        fit = min(fits, key=lambda each: each.losses[-1])
        return redraw(penalised, fit, self.redraws, rng, self.steps, tick)


def _warn_of_tied(some: Observed, objective: str) -> None:
    if tied := some.tied():
        warn(
            f"of the players {spell(tied)} each determines the others; {objective} predicts one "
            "given all others, and cannot learn how often they are in: use objective='nce' or "
            "'likelihood', or make them one player"
        )


def _check(model: str, objective: str | None, strength: float | None) -> None:
    for what, given, offered in (("model", model, MODELS), ("objective", objective, OBJECTIVES)):
        if given is not None and given not in offered:
            raise ValueError(f"there is no {what} {given!r}; choose from {', '.join(offered)}")
    if strength is not None and not (isinstance(strength, Real) and 0 <= strength < np.inf):
        raise ValueError(f"strength={strength!r} was given; it must be a finite number, 0 or more")
