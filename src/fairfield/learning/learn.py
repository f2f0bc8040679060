"""Learning the worths of a game from observed coalitions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import spell
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Players, Traits
from fairfield.evaluation.progress import bar
from fairfield.learning.fitting import MIDDLE, Fit, Penalised, minimise, redraw, search
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


class LearnedGame(Game):
    """A game learned from coalitions: ``form`` in closed form, found by ``fit``.

    At temperature 1 its Boltzmann law p(S) ∝ exp(F(S)) is the learned law of the observed
    coalitions. ``constant`` is the estimate of -log Z, where the objective gives one.
    """

    traits = Traits(opaque=False)

    def __init__(
        self, form: Game, model: str, objective: str, fit: Fit, constant: float | None
    ) -> None:
        self.form, self.model, self.objective, self.fit = form, model, objective, fit
        self.constant = constant
        self.players = form.players

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.form.worths(coalitions)

    def extension(self) -> Extension | None:
        return self.form.extension()

    def describe(self) -> dict[str, Any]:
        return self.form.describe()

    def __repr__(self) -> str:
        return (
            f"LearnedGame: {self.model} by {self.objective}, {len(self.players)} players, "
            f"strength {self.fit.strength:g}, {self.fit.stop} ({self.fit.steps} steps)"
        )


def learn(
    coalitions: Any,
    model: str = "pairwise",
    objective: str = "pseudolikelihood",
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
    or "likelihood" (exact, up to 20 players).

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
    some = seen.among(seen.varying)
    family = MODELS[model](len(some.players), dimensions)
    # What players who never vary, and so join independently, add to log Z.
    log_z_of_others = float(-np.log1p(-seen.shrunk_frequencies()[~seen.varying]).sum())
    if not some.players:
        constant = -log_z_of_others if objective == "nce" else None
        return LearnedGame(family.game(np.zeros(0), seen), model, objective, NOTHING, constant)
    tied = some.tied() if family.interactions and objective in FLIPS else ()
    if tied:
        warnings.warn(
            f"of the players {spell(tied)} each determines the others; {objective} predicts one "
            "given all others, and cannot learn how often they are in: use objective='nce' or "
            "'likelihood', or make them one player",
            stacklevel=2,
        )
    rng = np.random.default_rng(seed)

    def loss_of(part: Observed) -> Loss:
        return OBJECTIVES[objective](family, part, noise, rng)

    def best(penalised: Penalised, tick: Callable[[], object]) -> Fit:
        # Independent players with interactions to begin with; one start where the loss is convex.
        linear = log_odds(some.shrunk_frequencies())
        points = [
            penalised.loss.start(np.concatenate([linear, family.start(rng)]))
            for _ in range(starts if family.columns else 1)
        ]
        fits = [minimise(penalised, point, steps, tick) for point in points]
        fit = min(fits, key=lambda each: each.losses[-1])
        return redraw(penalised, fit, redraws, rng, steps, tick)

    def sound(theta: FloatArray) -> bool:
        own, constant = np.split(theta, [family.interacting.stop])
        return is_sound(family.game(own, some), constant)

    with bar(None, "steps", progress) as shown:
        tick = shown.update
        if strength is None and family.interactions:
            train, rest = map(loss_of, some.split(held_out, rng))
            begun = best(Penalised(train, MIDDLE), tick)
            found = search(train, rest, begun.theta, steps, tick, sound)
            final = Penalised(loss_of(some), found.strength)
            fit = minimise(final, found.theta, steps, tick)
            fit = redraw(final, fit, redraws, rng, steps, tick)
            fit = replace(fit, held_out=found.held_out)
        else:
            fit = best(Penalised(loss_of(some), strength or 0.0), tick)
    theta, added = np.split(fit.theta, [family.interacting.stop])
    constant = float(added[0]) - log_z_of_others if len(added) else None
    return LearnedGame(family.game(theta, seen), model, objective, fit, constant)


def _check(model: str, objective: str, strength: float | None) -> None:
    for what, given, offered in (("model", model, MODELS), ("objective", objective, OBJECTIVES)):
        if given not in offered:
            raise ValueError(f"there is no {what} {given!r}; choose from {', '.join(offered)}")
    if strength is not None and not (isinstance(strength, Real) and 0 <= strength < np.inf):
        raise ValueError(f"strength={strength!r} was given; it must be a finite number, 0 or more")
