"""Games that are sampled, and what estimates of them are compared with."""

import numpy as np

import brute
import fairfield as ff
from fairfield.core.coalitions import rows_of
from fairfield.estimation.surrogates.sample import Diagonal, Sample

PLAYERS = 9
SIGNS = brute.coalitions(PLAYERS) - 0.5
DIAGONALS = {"shapley": Diagonal.shapley, "banzhaf": Diagonal.banzhaf}


def sampled(criterion, table, **options):
    """A table as a function, so that it is sampled."""
    game = ff.TableGame(table)
    return criterion(game.worths, players=len(game.players), **{"budget": 200, **options})


def sample_of(table, law, pairs, seed=0):
    """Random pairs of a game with all that surrogates want to know."""
    rng = np.random.default_rng(seed)
    players = len(table).bit_length() - 1
    S = rng.random((pairs, players)) < 0.5
    worths = ff.TableGame(table).worths
    both = np.stack([worths(S), worths(~S)])
    odd = (both[0] - both[1]) / 2
    places = 2 + np.arange(2 * pairs).reshape(-1, 2)
    return Sample(S, odd[None], both[None], places, np.full(pairs, 1 / pairs), np.zeros(pairs))


def hidden(table):
    """A table as a function, so that it is sampled."""
    return lambda S: table[rows_of(S)]


def errors(found, exact):
    """Distances from the exact values in standard errors, rounding aside."""
    rounding = 1e-9 * np.abs(exact).max()
    return np.abs(found.values - exact) / (found.stderr + rounding)


class Batch(ff.Game):
    """Games on the same coalitions, without a closed form."""

    def __init__(self, tables):
        self.tables, self.batch = tables, tables.shape[:-1]
        self.players = tuple(range(tables.shape[-1].bit_length() - 1))

    def worths(self, coalitions):
        return self.tables[..., rows_of(coalitions)]


GAINS = np.random.default_rng(3).random((12, 4))


def covered(S):
    """Facility location of twelve players: every column is served by its best player."""
    return np.where(S[:, :, None], GAINS, 0.0).max(axis=1).sum(axis=1)


NONE = np.zeros((1, 8), dtype=bool)


def fill(pool, table, points, rare=NONE, fresh=60, most=None, seed=0):
    rng = np.random.default_rng(seed)
    asked = pool.plan(points, np.arange(len(points)) * 0, fresh, 8 * fresh, rare, rng)[:most]
    pool.tell(asked, table[None, rows_of(asked)])
    return asked
