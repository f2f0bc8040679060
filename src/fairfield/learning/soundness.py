"""Whether a learned law has weight where neither the data nor the noise have ever been.

Noise contrast is blind to huge coalitions that nobody forms; sums of many attractions may
make them likely all the same. Its constant c then no longer is -log Z, and a lower bound of
log Z gives it away, at the cost of three mean-field solutions.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import elbo

# Nats by which a bound of log Z may exceed what the constant says, for errors of estimation.
SLACK = 0.5
# Where inference starts: ½, almost nobody, almost everybody.
STARTS = 3


def is_sound(game: Game, constant: FloatArray) -> bool:
    """Whether no bound of log Z exceeds -c; True where there is no constant c."""
    return not len(constant) or bound_of_log_z(game) <= SLACK - float(constant[0])


def bound_of_log_z(game: Game) -> float:
    """The highest ELBO found at temperature 1: log Z is no smaller.

    >>> import fairfield as ff
    >>> pair = ff.PairwiseGame([-3.0, -3.0], [[0.0, 8.0], [8.0, 0.0]])
    >>> round(bound_of_log_z(pair), 2), round(ff.Boltzmann(pair, 1.0).log_z, 2)
    (2.01, 2.14)
    """
    extension = game.extension()
    assert extension is not None  # models have closed forms
    temperature = np.ones(())
    found = [
        mean_field.solve(anderson, extension, start, temperature, None)
        for start in mean_field.start_points(STARTS, extension.players, 0)
    ]
    return max(
        float(elbo(extension.value(each.x[0]), each.logits[0], temperature, None)) for each in found
    )
