"""Whether a learned law puts probability where neither the data nor the noise have any.

Noise contrast does not see huge coalitions that are never observed; sums of many attractions
may make them likely. Its constant c is then no longer -log Z, and a lower bound of log Z
shows it, at the cost of three mean-field solutions.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import elbo
from fairfield.mean_field.solvers import solve, start_points

# Nats by which a bound of log Z may exceed -c, for errors of estimation.
SLACK = 0.5
# Inference starts with all players at ½, at .01 and at .99.
STARTS = 3


def is_sound(game: Game, constant: FloatArray) -> bool:
    """Whether the bound of log Z does not exceed -c; True where there is no constant c."""
    return not len(constant) or bound_of_log_z(game) <= SLACK - float(constant[0])


def bound_of_log_z(game: Game) -> float:
    """The highest ELBO found at temperature 1, a lower bound of log Z.

    >>> import fairfield as ff
    >>> pair = ff.PairwiseGame([-3.0, -3.0], [[0.0, 8.0], [8.0, 0.0]])
    >>> round(bound_of_log_z(pair), 2), round(ff.Boltzmann(pair, 1.0).log_z, 2)
    (2.01, 2.14)
    """
    extension = game.extension()
    assert extension is not None  # models have closed forms
    temperature = np.ones(())
    bounds = []
    for start in start_points(STARTS, extension.players, 0):
        found = solve(anderson, extension, start, temperature, None)
        bounds.append(elbo(extension.value(found.x[0]), found.logits[0], temperature, None))
    return float(max(bounds))
